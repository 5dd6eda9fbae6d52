"""From 0.1.0 to 0.2.0: what the tracked result files say of both, and which version measured which file."""

from __future__ import annotations

import csv
from collections import Counter
from dataclasses import dataclass
from statistics import fmean, median
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.classification_report import OURS
from benchmarks.classification_task import KEY
from benchmarks.readable_report import PERFECT
from benchmarks.results import ResultFile, Row, markdown_table

if TYPE_CHECKING:
    from pathlib import Path

BEFORE, NOW = "0.1.0", "0.2.0"
SOURCES = {"classification_b": "the paper's eleven tables", "unseen": "25 tables of KEEL"}


NOTE = f"""
Both defaults on the same outer folds; a dash was not measured. Log-losses below {PERFECT:g} are those of perfect
predictions and do not enter ratios.
"""


@dataclass(frozen=True, slots=True)
class Change:
    """The means of a table over the folds that both versions have."""

    table: str
    log_loss: tuple[float, float]
    f1: tuple[float, float]
    cpu_seconds: tuple[float, float]


def changes(folder: Path, source: str) -> list[Change]:
    """Return how the default of each version did on the tables of a source."""
    with (folder / "default_0_1_0.csv").open(encoding="utf-8", newline="") as file:
        before = {(r["table"], r["repeat"], r["fold"]): r for r in csv.DictReader(file) if r["source"] == source}
    now = {
        (row["table"], row["repeat"], row["fold"]): row
        for row in ResultFile(folder / f"{source}.csv", KEY).rows
        if row["method"] == OURS and row["status"] == "ok" and row["version"] == NOW
    }
    shared = [cell for cell in before if cell in now]

    def means(table: str, column: str) -> tuple[float, float]:
        cells = [cell for cell in shared if cell[0] == table]
        old, new = (fmean(float(rows[cell][column]) for cell in cells) for rows in (before, now))
        return old, new

    return [
        Change(table, means(table, "log_loss"), means(table, "f1"), means(table, "cpu_seconds"))
        for table in dict.fromkeys(cell[0] for cell in shared)
    ]


def versions_part(folder: Path) -> list[str]:
    """Return the section."""
    rows = [row for source, name in SOURCES.items() for row in _default_rows(changes(folder, source), name)]
    rows += _readable_rows(folder)
    columns = {"measure": "measure", "before": BEFORE, "now": NOW, "file": "from `benchmarks/results`"}
    return [
        f"## From {BEFORE} to {NOW}",
        NOTE,
        markdown_table(rows, columns),
        "### Which version measured what",
        "Rows of rivals, and of models that a version leaves as they were, are not measured again.",
        _files_table(folder),
    ]


def _default_rows(found: list[Change], name: str) -> list[Row]:
    if not found:
        return []
    noisy = [change.log_loss for change in found if max(change.log_loss) >= PERFECT]
    ratio = float(np.exp(fmean(np.log(new / old) for old, new in noisy)))
    lower = sum(new < old for old, new in (change.log_loss for change in found))
    f1 = [100 * fmean(change.f1[i] for change in found) for i in (0, 1)]
    cpu = [median(change.cpu_seconds[i] for change in found) for i in (0, 1)]
    files = "`default_0_1_0.csv`, `" + next(key for key, value in SOURCES.items() if value == name) + ".csv`"
    lines = [
        (f"log-loss, ratio (geometric mean), {name}", "1", f"{ratio:.3f}"),
        (f"lower log-loss, tables of {len(found)}", str(len(found) - lower), str(lower)),
        ("weighted F1, mean, %", f"{f1[0]:.2f}", f"{f1[1]:.2f}"),
        ("CPU seconds of a fit, median over the tables", f"{cpu[0]:.2f}", f"{cpu[1]:.2f}"),
    ]
    return [{"measure": what, "before": old, "now": new, "file": files} for what, old, new in lines]


def _readable_rows(folder: Path) -> list[Row]:
    rows = ResultFile(folder / "readable.csv", ("table",)).rows
    if not rows:
        return []

    def column(name: str) -> list[float]:
        return [float(row[name]) for row in rows]

    lines = [
        (
            f"factors a score, median / most of {len(rows)} tables",
            f"{median(column('factors')):.1f} / {max(column('factors')):.1f}",
        ),
        ("printed equation against model, largest gap in a probability", f"{max(column('gap')):.1e}"),
        ("Σ|pieces| over the range of a score, median", f"{median(column('cancellation')):.2f}"),
    ]
    return [{"measure": what, "before": "–", "now": now, "file": "`readable.csv`"} for what, now in lines]


def _files_table(folder: Path) -> str:
    rows: list[Row] = []
    for path in sorted(folder.glob("*.csv")):
        with path.open(encoding="utf-8", newline="") as file:
            counts = Counter(row.get("version", "") for row in csv.DictReader(file))
        if set(counts) != {""}:
            rows.append(
                {"file": f"`{path.name}`"} | {version: str(counts.get(version, "")) for version in (BEFORE, NOW)}
            )
    return markdown_table(rows, {"file": "file", BEFORE: f"rows by {BEFORE}", NOW: f"rows by {NOW}"})
