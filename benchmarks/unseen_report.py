"""The page of the unseen tables: mean ranks, and weighted F1, log-loss and CPU seconds table by table."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from benchmarks.classification_report import OURS, RIVAL, peers, rank_part, read_blocks, values_of
from benchmarks.classification_task import KEY
from benchmarks.results import ResultFile, Row, markdown_table

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from benchmarks.classification_report import Block

NOTE = f"""
Means over the folds, weighted F1 in percent; the best of a row is bold. CPU seconds are those of tuning and fitting on
one thread, {OURS}'s over {RIVAL}'s.
"""


def write_report(folder: Path, methods: Sequence[str], n_folds: int, *, about: str) -> str:
    """Write `unseen.md` from what is on file and return its text."""
    path = folder / "unseen.csv"
    tables = list(dict.fromkeys(row["table"] for row in ResultFile(path, KEY).rows))
    blocks = read_blocks(path, tables, methods)
    complete = {pair for pair, rows in blocks.items() if len(rows) == n_folds}
    parts = ["# Unseen tables", about, *rank_part(blocks, complete, methods)]
    full = [table for table in tables if all((table, method) in complete for method in methods)]
    if full:
        parts += [
            "### Every table",
            NOTE,
            _every_table(blocks, full, methods),
            _verdict(blocks, full, methods),
        ]
    text = "\n\n".join(part.strip() for part in [*parts, peers()]) + "\n"
    (folder / "unseen.md").write_text(text, encoding="utf-8")
    return text


def _mean(blocks: Block, table: str, method: str, column: str) -> float:
    return float(values_of(blocks[table, method], column).mean())


def _every_table(blocks: Block, tables: Sequence[str], methods: Sequence[str]) -> str:
    rows: list[Row] = []
    columns = {"table": "table"}
    columns |= {f"f1 {method}": f"F1, {method}" for method in methods}
    columns |= {f"log_loss {method}": f"log-loss, {method}" for method in methods}
    columns |= {"cpu": "CPU seconds"}
    for table in tables:
        row = {"table": table}
        for column, sign, factor, digits in (("f1", -1, 100, 2), ("log_loss", 1, 1, 4)):
            figures = {method: factor * _mean(blocks, table, method, column) for method in methods}
            best = min(sign * figure for figure in figures.values() if not np.isnan(figure))
            for method, figure in figures.items():
                text = "dnf" if np.isnan(figure) else f"{figure:.{digits}f}"
                row[f"{column} {method}"] = f"**{text}**" if sign * figure == best else text
        row["cpu"] = f"{_cpu_ratio(blocks, table):.2f}"
        rows.append(row)
    return markdown_table(rows, columns)


def _cpu_ratio(blocks: Block, table: str) -> float:
    return _mean(blocks, table, OURS, "cpu_seconds") / _mean(blocks, table, RIVAL, "cpu_seconds")


def _verdict(blocks: Block, tables: Sequence[str], methods: Sequence[str]) -> str:
    """Return in words how often our model is ahead of each other method, and how long it takes."""
    parts = []
    for method in methods:
        if method != OURS:
            gains = [_mean(blocks, t, OURS, "f1") - _mean(blocks, t, method, "f1") for t in tables]
            ratios = [_mean(blocks, t, OURS, "log_loss") / _mean(blocks, t, method, "log_loss") for t in tables]
            parts.append(
                f"{method}: higher F1 on {sum(gain > 0 for gain in gains)} of {len(tables)} tables "
                f"({100 * float(np.nanmean(gains)):+.2f} points in the mean), lower log-loss on "
                f"{sum(ratio < 1 for ratio in ratios)} ({100 * (float(np.nanmedian(ratios)) - 1):+.1f} % in the median)"
            )
    seconds = [_cpu_ratio(blocks, table) for table in tables]
    return (
        f"{OURS} against {'; '.join(parts)}. It takes {np.median(seconds):.2f} times the CPU seconds of {RIVAL} in the "
        f"median, {max(seconds):.2f} times at most."
    )
