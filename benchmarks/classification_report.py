"""The page of the classification benchmark: ranks, means and spreads of protocol (b), protocol (a) beside the paper.

Figures of the paper are in `classification_paper.csv` (its appendix; where two of its tables differ, the full one).
"""

from __future__ import annotations

import csv
import math
from importlib.metadata import packages_distributions
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.classification_task import KEY, folds_of
from benchmarks.ranks import critical_difference, friedman_p, largest_block, mean_ranks, wilson_interval
from benchmarks.results import ResultFile, Row, markdown_table, surroundings
from benchmarks.tables import SOURCES

if TYPE_CHECKING:
    from collections.abc import Sequence

PAPER = Path(__file__).parent / "classification_paper.csv"
OTHER_ROWS = {"compas", "loan"}
"""Tables that are not the paper's own rows."""
NEAR = 0.005
"""Half a point of weighted F1."""
OURS, RIVAL = "ECSEL (auto)", "XGBoost"
THRESHOLD = "ECSEL (auto with threshold)"
"""Our model with a threshold that is chosen on the inner folds: shown beside the field, not ranked in it."""
NESTED_NOTE = """
Mean ± standard deviation over the outer folds; percent, except log-loss and AUC. CPU seconds are those of tuning and
fitting on one thread, mean over the folds; other work ran on the machine, so the wall clock seconds in the CSV file are
longer. The paper's column is its F1 over the five folds of its own tuning.
"""
PAPER_NOTE = """
Percent on the test rows; weighted F1 and precision (weighted recall is the accuracy); intervals are Wilson's for the
number of test rows. “Paper” is the paper's figure of that method; beside ECSEL (auto) stands its ECSEL.
"""
Block = dict[tuple[str, str], list[Row]]
LIBRARIES = ["numpy", "scipy", "scikit-learn", "scikit-learn-intelex", "optuna", "xgboost-cpu", "interpret-core"]


def write_report(folder: Path, tables: Sequence[str], methods: Sequence[str], *, about: str) -> str:
    """Write `classification.md` from what is on file and return its text."""
    parts = ["# Classification", about, *nested_part(folder, tables, methods), *paper_part(folder, tables, methods)]
    text = "\n\n".join(part.strip() for part in [*parts, peers()]) + "\n"
    (folder / "classification.md").write_text(text, encoding="utf-8")
    return text


def peers() -> str:
    """Return one line about the libraries that were compared."""
    installed = {name for names in packages_distributions().values() for name in names}
    return surroundings(sorted(installed & set(LIBRARIES)))


def read_blocks(path: Path, tables: Sequence[str], methods: Sequence[str]) -> Block:
    """Return the rows of every (table, method) that has any, in the order of the benchmark."""
    rows = ResultFile(path, KEY).rows
    blocks = {(t, m): [r for r in rows if (r["table"], r["method"]) == (t, m)] for t in tables for m in methods}
    return {pair: found for pair, found in blocks.items() if found}


def values_of(rows: list[Row], column: str) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Return the figures of a column; NaN where a fold did not finish."""
    return np.array([float(row[column]) if row[column] else np.nan for row in rows])


def nested_part(folder: Path, tables: Sequence[str], methods: Sequence[str]) -> list[str]:
    """Return the section on protocol (b)."""
    blocks = read_blocks(folder / "classification_b.csv", tables, methods)
    if not blocks:
        return []
    complete = {pair for pair, rows in blocks.items() if len(rows) == len(folds_of("b", SOURCES[pair[0]].rows))}
    return [
        "## Protocol (b): nested cross-validation",
        *rank_part(blocks, complete, methods),
        *_aims_part(blocks, complete),
        "### Every table",
        NESTED_NOTE,
        _nested_table(blocks, complete),
    ]


def rank_part(blocks: Block, complete: set[tuple[str, str]], methods: Sequence[str]) -> list[str]:
    """Return mean ranks of the methods that were measured on the same tables, with Friedman's and Nemenyi's tests."""
    methods = [method for method in methods if method != THRESHOLD]
    field, in_all = largest_block(complete, [m for m in methods if any(pair[1] == m for pair in complete)])
    if len(field) < 2:
        return []
    shared = [table for table in dict.fromkeys(t for t, _ in blocks) if table in in_all]
    ranked: list[Row] = [{"method": method} for method in field]
    notes = []
    for column, name, sign in (("f1", "weighted F1", -1), ("log_loss", "log-loss", 1)):
        means = sign * _means(blocks, shared, field, column)
        for row, rank in zip(ranked, mean_ranks(means), strict=True):
            row[column] = f"{rank:.2f}"
        p = friedman_p(means)
        notes.append(f"{name}: Friedman p {'not defined' if np.isnan(p) else f'= {p:.3g}'}")
    ranked.sort(key=lambda row: float(row["f1"]) + float(row["log_loss"]))
    absent = [m for m in methods if m not in field]
    note = (
        f"1 is best. Two mean ranks differ significantly (Nemenyi, 5 %) when they are more than "
        f"{critical_difference(len(field), len(shared)):.2f} apart; {'; '.join(notes)}."
    )
    if absent:
        note += f" Not measured on all these tables, and so not ranked: {', '.join(absent)}."
    if OURS in field and all((table, THRESHOLD) in complete for table in shared):
        with_cut = [THRESHOLD if method == OURS else method for method in field]
        rank = mean_ranks(-_means(blocks, shared, with_cut, "f1"))[field.index(OURS)]
        note += f' With `threshold="weighted_f1"` the rank of {OURS} by weighted F1 is {rank:.2f}.'
    return [
        f"### Mean ranks over {len(shared)} tables: {', '.join(shared)}",
        markdown_table(ranked, {"method": "method", "f1": "rank by weighted F1", "log_loss": "rank by log-loss"}),
        note,
    ]


def _means(
    blocks: Block, tables: Sequence[str], methods: Sequence[str], column: str
) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    """Return the mean of every method (row) on every table; NaN, which ranks last, where a fold did not finish."""
    return np.array([[values_of(blocks[table, method], column).mean() for table in tables] for method in methods])


def _aims_part(blocks: Block, complete: set[tuple[str, str]]) -> list[str]:
    rows: list[Row] = []
    behind: dict[str, dict[str, bool]] = {OURS: {}, THRESHOLD: {}}
    for table in dict.fromkeys(t for t, _ in blocks):
        rivals = [m for t, m in blocks if t == table and m not in behind and (t, m) in complete]
        if (table, OURS) not in complete or not rivals:
            continue
        f1 = {m: float(values_of(blocks[table, m], "f1").mean()) for m in [*rivals, OURS]}
        loss = {m: float(values_of(blocks[table, m], "log_loss").mean()) for m in [*rivals, OURS]}
        best = max(rivals, key=lambda m: -np.inf if np.isnan(f1[m]) else f1[m])
        least = min(rivals, key=lambda m: np.inf if np.isnan(loss[m]) else loss[m])
        row = {
            "table": table,
            "f1": f"{100 * (f1[OURS] - f1[best]):+.2f} ({best})",
            "threshold": "",
            "log_loss": f"{loss[OURS] - loss[least]:+.4f} ({least})",
            "cpu": "",
        }
        behind[OURS][table] = not f1[OURS] >= f1[best] - NEAR
        if (table, THRESHOLD) in complete:
            cut = float(values_of(blocks[table, THRESHOLD], "f1").mean())
            row["threshold"] = f"{100 * (cut - f1[best]):+.2f}"
            behind[THRESHOLD][table] = not cut >= f1[best] - NEAR
        if (table, RIVAL) in complete:
            ours, theirs = (values_of(blocks[table, m], "cpu_seconds").mean() for m in (OURS, RIVAL))
            row["cpu"] = f"{ours / theirs:.2f}"
        rows.append(row)
    if not rows:
        return []
    columns = {
        "table": "table",
        "f1": "weighted F1, points against the best other",
        "threshold": 'with `threshold="weighted_f1"`',
        "log_loss": "log-loss against the best other",
        "cpu": f"CPU seconds / {RIVAL}'s",
    }
    verdict = f"Within half a point of the best, or above it, on {_reached(behind[OURS])} (the aim is all)."
    if behind[THRESHOLD]:
        verdict += (
            " ECSEL (paper) is the one other method that chooses a threshold for weighted F1; all the rest decide for "
            f"the most probable class. With one of its own our model is as near on {_reached(behind[THRESHOLD])}."
        )
    return [f"### {OURS} against the best of the others", markdown_table(rows, columns), verdict]


def _reached(behind: dict[str, bool]) -> str:
    """Return how many tables are not behind, and which are."""
    missed = [table for table, is_behind in behind.items() if is_behind]
    return f"{len(behind) - len(missed)} of {len(behind)} tables" + (f", not on {', '.join(missed)}" if missed else "")


def _nested_table(blocks: Block, complete: set[tuple[str, str]]) -> str:
    paper, rows = _paper(), list[Row]()
    for (table, method), found in blocks.items():
        theirs = paper.get((table, method), {})
        cv_f1 = f"{theirs['cv_f1']} ± {theirs['cv_f1_sd']}" if theirs.get("cv_f1") else ""
        late = sum(row["status"] != "ok" for row in found)
        expected = len(folds_of("b", SOURCES[table].rows))
        note = [f"{len(found)} of {expected} folds"] if (table, method) not in complete else []
        note += [f"{late} dnf"] if late else []
        rows.append(
            {
                "table": _marked(table),
                "method": method,
                **{c: _mean_and_std(found, c, 100) for c in ("accuracy", "f1", "minority_recall")},
                **{c: _mean_and_std(found, c, 1) for c in ("log_loss", "auc")},
                "cpu_seconds": _mean_and_std(found, "cpu_seconds", 1).partition(" ±")[0],
                "paper": cv_f1,
                "note": ", ".join(note),
            }
        )
    columns = {
        "table": "table",
        "method": "method",
        "accuracy": "accuracy",
        "f1": "weighted F1",
        "minority_recall": "minority recall",
        "log_loss": "log-loss",
        "auc": "AUC",
        "cpu_seconds": "CPU s",
        "paper": "paper's F1",
        "note": "note",
    }
    return markdown_table(rows, columns)


def _mean_and_std(rows: list[Row], column: str, factor: float) -> str:
    values = factor * values_of([row for row in rows if row["status"] == "ok"], column)
    if not len(values) or np.isnan(values).any():
        return "–"
    digits = 2 if factor == 100 or column == "cpu_seconds" else 4
    return f"{values.mean():.{digits}f} ± {values.std(ddof=1 if len(values) > 1 else 0):.{digits}f}"


def paper_part(folder: Path, tables: Sequence[str], methods: Sequence[str]) -> list[str]:
    """Return the section on protocol (a)."""
    blocks = read_blocks(folder / "classification_a.csv", tables, methods)
    if not blocks:
        return []
    paper, rows = _paper(), list[Row]()
    for (table, method), (row,) in blocks.items():
        n_test = math.ceil(0.2 * SOURCES[table].rows)
        # our own trainer has no row in the paper: it stands beside the paper's ECSEL
        theirs = paper.get((table, "ECSEL (paper)" if method in {OURS, THRESHOLD} else method), {})
        cells = {"table": _marked(table), "method": method}
        for column in ("accuracy", "f1", "precision", "recall", "minority_recall"):
            cells[column] = f"{100 * float(row[column]):.2f}" if row[column] else "–"
            cells[f"paper_{column}"] = theirs.get(column) or "–"
        for name, share in (("", row["accuracy"] and float(row["accuracy"])), ("paper_", _share(theirs))):
            low, high = wilson_interval(share, n_test) if isinstance(share, float) else (np.nan, np.nan)
            cells[f"{name}interval"] = f"{100 * low:.1f} – {100 * high:.1f}" if isinstance(share, float) else "–"
        cells["cpu_seconds"] = f"{float(row['cpu_seconds']):.1f}" if row["status"] == "ok" else "dnf"
        cells["fit_seconds"] = f"{float(row['fit_seconds']):.2f}" if row["status"] == "ok" else "dnf"
        cells["paper_seconds"] = theirs.get("seconds") or "–"
        rows.append(cells)
    names = {"accuracy": "accuracy", "f1": "F1", "precision": "precision", "minority_recall": "minority recall"}
    columns = {"table": "table", "method": "method"}
    for column, name in names.items():
        columns |= {column: name, f"paper_{column}": "paper"}
        if column == "accuracy":
            columns = {
                **{k: v for k, v in columns.items() if k != "paper_accuracy"},
                "interval": "95 %",
                "paper_accuracy": "paper",
                "paper_interval": "95 %",
            }
    columns |= {"cpu_seconds": "tuning and fit, CPU s", "fit_seconds": "fit, s", "paper_seconds": "paper's fit, s"}
    return [
        "## Protocol (a): the paper's split",
        *_paper_aims_part(blocks, paper),
        "### Every method",
        PAPER_NOTE,
        markdown_table(rows, columns),
    ]


def _paper_aims_part(blocks: Block, paper: dict[tuple[str, str], dict[str, str]]) -> list[str]:
    """Return where our model stands beside the paper's ECSEL and among the methods that finished."""
    rows: list[Row] = []
    for table in dict.fromkeys(t for t, method in blocks if method == OURS):
        f1 = {m: float(found[0]["f1"]) for (t, m), found in blocks.items() if t == table and found[0]["f1"]}
        field = [value for method, value in f1.items() if method not in {OURS, THRESHOLD}]
        share, theirs = float(blocks[table, OURS][0]["accuracy"]), _share(paper.get((table, "ECSEL (paper)"), {}))
        row = {"table": _marked(table), "place": _place(f1[OURS], field)}
        row["threshold"] = _place(f1[THRESHOLD], field) if THRESHOLD in f1 else ""
        row |= {"accuracy": f"{100 * share:.2f}", "paper": "–", "interval": "–", "within": "–"}
        if theirs is not None and table not in OTHER_ROWS:
            low, high = wilson_interval(theirs, math.ceil(0.2 * SOURCES[table].rows))
            row |= {"paper": f"{100 * theirs:.2f}", "interval": f"{100 * low:.1f} – {100 * high:.1f}"}
            row["within"] = "no" if share < low else "above" if share > high else "yes"
        rows.append(row)
    if not rows:
        return []
    within = [row["within"] for row in rows if row["within"] != "–"]
    first, cut = (sum(row[kind].startswith("1 of") for row in rows) for kind in ("place", "threshold"))
    columns = {
        "table": "table",
        "accuracy": f"accuracy of {OURS}",
        "paper": "the paper's ECSEL",
        "interval": "its 95 %",
        "within": "within",
        "place": "place by weighted F1",
        "threshold": 'with `threshold="weighted_f1"`',
    }
    verdict = (
        f"Within the interval of the paper's figure, or above it, on {sum(w != 'no' for w in within)} of {len(within)} "
        f"of its own tables (the aim is all). First among the methods that finished on {first} of {len(rows)} tables "
        "(the aim is more than four, the number in the paper)"
        + (f", with a threshold of its own on {cut}." if any(row["threshold"] for row in rows) else ".")
    )
    return [
        f"### {OURS} beside the paper's ECSEL",
        markdown_table(rows, columns),
        verdict,
    ]


def _place(f1: float, field: Sequence[float]) -> str:
    return f"{1 + sum(other > f1 for other in field)} of {1 + len(field)}"


def _share(theirs: dict[str, str]) -> float | None:
    return float(theirs["accuracy"]) / 100 if theirs.get("accuracy") else None


def _marked(table: str) -> str:
    return f"{table} (not the paper's rows)" if table in OTHER_ROWS else table


def _paper() -> dict[tuple[str, str], dict[str, str]]:
    with PAPER.open(encoding="utf-8", newline="") as file:
        return {(row["table"], row["method"]): row for row in csv.DictReader(file)}
