"""The paper's tables of recovery and of classification, beside our result files."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from statistics import fmean, stdev
from typing import TYPE_CHECKING, Any

from benchmarks import classification_report, recovery_report
from benchmarks.classification_methods import METHODS
from benchmarks.recovery_data import TUNED
from benchmarks.results import ResultFile, markdown_table
from benchmarks.tables import SOURCES

if TYPE_CHECKING:
    from collections.abc import Sequence

FIGURES: dict[str, Any] = json.loads((Path(__file__).parent / "paper_figures.json").read_text(encoding="utf-8"))
PAPER_TABLES = tuple(FIGURES["tables"])

RECOVERY = """\
## Recovery of 58 equations (the paper's figure 1 and table of symbolic recovery)

Differences: the paper is given the number of terms, ours is not. Rows are drawn from the paper's ranges. The rivals'
figures are the paper's: their programs were not run here (gplearn and Operon were, on twelve equations:
`benchmarks/results/recovery.md`)."""

NEAR = """\
### Equations that the paper recovers in part, and high powers of one variable

The paper's mean squared errors are of the one run that it shows; ours are means over seeds 42–46 on the rows of
training, whose noise has variance 10⁻⁴: a smaller error than that would have fitted noise."""

NON_SIGNOMIAL = """\
### Equations that are no signomials

The paper fits 3, 5 or 10 terms and shows the best; ours chooses at most sixteen by cross-validation
(`criterion="prediction"`). R² of ours is on 2000 fresh noise-free points; the paper's may be one of training."""

TABLES = """\
## Classification: the tables

Columns are counted with the class. The paper's encoding is not fixed by its text; ours: text columns become levels
(one-hot for the rivals), everything else stays as the file has it."""

NESTED = """\
### Cross-validated F1

The paper's “CV F1” is that of the five folds on which it tuned; ours is of outer folds that tuning did not see
(nested, 30 trials on 5 inner folds; over 10 000 rows 10 on 3). So ours should be a little lower for the same
quality."""


NOT_SPLIT = (
    "Not measured yet: `python -m benchmarks classification --protocol a --data DIR` measures the full table and that "
    "of the per-class MLPs."
)


def parts(results: Path) -> list[str]:
    """Return the sections."""
    return [*recovery_parts(results), *classification_parts(results)]


def recovery_parts(results: Path) -> list[str]:
    """Return the sections on recovery."""
    rows = ResultFile(results / "recovery.csv", ("equation", "seed")).rows
    other = ResultFile(results / "recovery_non_signomial.csv", ("equation", "seed")).rows
    published = [
        {"method": f"{name} (paper)", "recovered": f"{rate:g} %", "seconds": f"{seconds:g}"}
        for name, (rate, seconds) in FIGURES["recovery"].items()
    ]
    return [
        RECOVERY,
        recovery_report.PROTOCOL,
        recovery_report.summary(rows),
        markdown_table(published, {"method": "method", "recovered": "recovered", "seconds": "mean seconds"}),
        "### Each equation",
        recovery_report.per_equation(rows),
        NEAR,
        near_misses(rows),
        NON_SIGNOMIAL,
        recovery_report.non_signomial(other),
    ]


def near_misses(rows: Sequence[dict[str, str]]) -> str:
    """Return the equations whose recovery the paper shows to be partial, and the Nguyen polynomials."""
    paper = FIGURES["near_misses"] | {name: {"recovery": 0, "mse": mse} for name, mse in FIGURES["nguyen"].items()}
    lines = []
    for name, theirs in paper.items():
        ours = [row for row in rows if row["equation"] == name and int(row["seed"]) in TUNED]
        if not ours:
            continue
        lines.append(
            {
                "name": name,
                "paper": f"{theirs['recovery']} %",
                "paper_mse": theirs["mse"],
                "ours": f"{100 * fmean(int(row['recovered']) for row in ours):.0f} %",
                "mse": f"{fmean(float(row['mse']) for row in ours):.2g}",
                "expression": f"`{ours[0]['expression']}`",
            }
        )
    names = {"name": "equation", "paper": "recovered (paper)", "ours": "recovered (ours)"}
    return markdown_table(
        lines, names | {"paper_mse": "MSE (paper)", "mse": "MSE (ours)", "expression": "ours, seed 42"}
    )


def classification_parts(results: Path) -> list[str]:
    """Return the sections on classification."""
    split = classification_report.paper_part(results, PAPER_TABLES, tuple(METHODS))
    if not split:
        split = [
            "### The paper's split (80/20, seed 42)",
            NOT_SPLIT,
        ]
    return [TABLES, tables(), *split, NESTED, nested(results)]


def tables() -> str:
    """Return the tables of the benchmark, the paper's shape beside ours."""
    why = {
        "compas": "the paper's 3518 rows were not found; ProPublica's two-year file with its own filter",
        "loan": "the paper's table is not at hand; other LendingClub loans",
        "ilpd": "gender is one column of text",
        "contraceptive": "the paper's encoding is not fixed by its text",
        "default": "the paper's encoding is not fixed by its text",
    }
    lines = [
        {
            "table": name,
            "paper": f"{theirs['rows']} × {theirs['columns']} ({theirs['classes']})",
            "ours": f"{SOURCES[name].rows} rows",
            "why": why.get(name, "the same rows"),
        }
        for name, theirs in FIGURES["tables"].items()
    ]
    names = {"table": "table", "paper": "paper: rows × columns (rows by class)", "ours": "ours", "why": "what differs"}
    return markdown_table(lines, names)


def nested(results: Path) -> str:
    """Return the nested F1 of our methods and of the paper's best baselines beside the paper's cross-validated F1."""
    with (Path(__file__).parent / "classification_paper.csv").open(encoding="utf-8", newline="") as file:
        paper = {(row["table"], row["method"]): row for row in csv.DictReader(file) if row["cv_f1"]}
    rows = ResultFile(results / "classification_b.csv", ("protocol", "table", "method", "repeat", "fold")).rows
    lines = []
    for (table, method), theirs in paper.items():
        line = {"table": table, "method": method, "paper": f"{theirs['cv_f1']} ± {theirs['cv_f1_sd']}"}
        line["ours"] = _mean_f1(rows, table, method)
        lines.append(line)
        if method == "ECSEL (paper)":
            own = _mean_f1(rows, table, "ECSEL (auto)")
            lines.append({"table": table, "method": "ECSEL (ours)", "paper": "–", "ours": own})
    return markdown_table(
        lines, {"table": "table", "method": "method", "paper": "F1 (paper)", "ours": "F1 (nested, ours)"}
    )


def _mean_f1(rows: Sequence[dict[str, str]], table: str, method: str) -> str:
    found = [float(r["f1"]) for r in rows if (r["table"], r["method"], r["status"]) == (table, method, "ok")]
    if not found:
        return "not measured"
    return f"{100 * fmean(found):.2f} ± {100 * stdev(found):.2f} ({len(found)} folds)"
