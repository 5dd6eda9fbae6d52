"""The page of `readable`: each aim with the figure that was measured, and the printed equation of every table."""

from __future__ import annotations

import csv
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.classification_report import OURS, peers
from benchmarks.classification_task import KEY
from benchmarks.results import ResultFile, Row, markdown_table

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

LOGISTIC = "logistic regression"


def write_report(folder: Path, *, about: str) -> str:
    """Write `readable.md` from what is on file and return its text."""
    rows = ResultFile(folder / "readable.csv", ("table",)).rows
    parts = [
        "# Readable equations",
        about,
        "## Aims",
        _aims(rows, folder),
        "## Every table",
        _every_table(rows, folder),
    ]
    parts += ["## The equations", *(_equation(row) for row in rows), peers()]
    text = "\n\n".join(part.strip() for part in parts) + "\n"
    (folder / "readable.md").write_text(text, encoding="utf-8")
    return text


PERFECT = 0.005
"""Log-losses below this are those of perfect predictions: their ratio is one of strengths of a ridge."""


def _column(rows: list[Row], name: str) -> NDArray[np.float64]:
    return np.array([float(row[name]) for row in rows])


def nested_losses(folder: Path) -> dict[str, dict[str, float]]:
    """Return for each table the mean log-loss on outer folds of our default, of 0.1.0's and of logistic regression.

    Only folds that all three have count.
    """
    cells: dict[str, dict[str, dict[tuple[str, str], float]]] = {}
    with (folder / "default_0_1_0.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            fold = (row["repeat"], row["fold"])
            cells.setdefault(row["table"], {}).setdefault("0.1.0", {})[fold] = float(row["log_loss"])
    for name in ("classification_b", "unseen"):
        for row in ResultFile(folder / f"{name}.csv", KEY).rows:
            if row["status"] != "ok" or row["method"] not in {OURS, LOGISTIC}:
                continue
            if row["method"] == OURS and row["version"] == "0.1.0":
                continue
            own = cells.setdefault(row["table"], {}).setdefault(row["method"], {})
            own[row["repeat"], row["fold"]] = float(row["log_loss"])
    found = {}
    for table, methods in cells.items():
        if len(methods) < 3:
            continue
        folds = set.intersection(*(set(each) for each in methods.values()))
        found[table] = {name: float(np.mean([each[fold] for fold in folds])) for name, each in methods.items()}
    return found


def _aims(rows: list[Row], folder: Path) -> str:
    factors, gaps, cancelled = (_column(rows, name) for name in ("factors", "gap", "cancellation"))
    ratio = _column(rows, "cpu_seconds") / _column(rows, "xgboost_cpu_seconds")
    losses = nested_losses(folder)
    against = [np.log(each[OURS] / each["0.1.0"]) for each in losses.values()]
    noisy = [
        np.log(each[OURS] / each["0.1.0"]) for each in losses.values() if max(each[OURS], each["0.1.0"]) >= PERFECT
    ]
    worst = {table: each[OURS] / each[LOGISTIC] - 1 for table, each in losses.items()}
    lines = [
        ("printed equation = model, largest gap in probability", "≤ 1e-12", f"{gaps.max():.1e}"),
        ("factors a score, median / most", "≤ 8 / ≤ 20", f"{np.median(factors):.1f} / {factors.max():.1f}"),
        (
            "digits of a coefficient, median / most",
            "2, rarely 3",
            f"{np.median(_column(rows, 'digits_median')):.0f} / {_column(rows, 'digits').max():.0f}",
        ),
        ("cancellation, median", "≤ 3", f"{np.median(cancelled):.2f}"),
        (
            f"log-loss over that of the 0.1.0 default, geometric mean over {len(losses)} tables",
            "≤ .95",
            f"{np.exp(np.mean(against)):.3f}" if against else "–",
        ),
        (
            f"the same over the {len(noisy)} tables on which not both are below {PERFECT:g}",
            "",
            f"{np.exp(np.mean(noisy)):.3f}" if noisy else "–",
        ),
        (
            "worst table against logistic regression",
            "≤ 3 %",
            f"{max(worst.values()):+.1%} ({max(worst, key=lambda table: worst[table])})" if worst else "–",
        ),
        (
            "CPU of the fit over XGBoost's (150 × 3), median / most",
            "≤ 8 / ≤ 30",
            f"{np.median(ratio):.1f} / {ratio.max():.1f}",
        ),
        (
            "same columns / same pieces under another seed (Jaccard), mean",
            "≥ .95 / ≥ .85",
            f"{_column(rows, 'same_columns').mean():.2f} / {_column(rows, 'same_pieces').mean():.2f}",
        ),
    ]
    table = [{"measure": measure, "aim": aim, "measured": found} for measure, aim, found in lines]
    return markdown_table(table, {"measure": "measure", "aim": "aim", "measured": f"measured ({len(rows)} tables)"})


def _every_table(rows: list[Row], folder: Path) -> str:
    losses = nested_losses(folder)
    lines = []
    for row in rows:
        nested = losses.get(row["table"])
        lines.append(
            {
                "table": row["table"],
                "rows": row["rows"],
                "factors": f"{float(row['factors']):.1f}",
                "digits": row["digits"],
                "cancellation": f"{float(row['cancellation']):.1f}",
                "gap": f"{float(row['gap']):.0e}",
                "cpu": f"{float(row['cpu_seconds']):.2f}",
                "ratio": f"{float(row['cpu_seconds']) / float(row['xgboost_cpu_seconds']):.1f}",
                "columns": f"{float(row['same_columns']):.2f}",
                "pieces": f"{float(row['same_pieces']):.2f}",
                "ours": "" if nested is None else f"{nested[OURS]:.4f}",
                "before": "" if nested is None else f"{nested['0.1.0']:.4f}",
                "logistic": "" if nested is None else f"{nested[LOGISTIC]:.4f}",
            }
        )
    return markdown_table(
        lines,
        {
            "table": "table",
            "rows": "rows",
            "factors": "factors a score",
            "digits": "most digits",
            "cancellation": "cancellation",
            "gap": "gap",
            "cpu": "CPU s",
            "ratio": "× XGBoost",
            "columns": "same columns",
            "pieces": "same pieces",
            "ours": "log-loss",
            "before": "0.1.0",
            "logistic": LOGISTIC,
        },
    )


def _equation(row: Row) -> str:
    figures = (
        f"{float(row['factors']):.1f} factors a score",
        f"log-loss on inner folds {float(row['log_loss']):.4f}",
        f"{float(row['cpu_seconds']):.2f} CPU s",
    )
    return f"**{row['table']}**: {', '.join(figures)}\n\n```\n" + row["equations"].replace("; ", "\n") + "\n```"
