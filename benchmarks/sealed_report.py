"""The page of the sealed tables, or of those of the tuning list: ranks, strengths, groups of tables, every table."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING

import numpy as np

from benchmarks import sealed_sizes
from benchmarks.elo import elo
from benchmarks.ranks import critical_difference, friedman_p, largest_block, mean_ranks
from benchmarks.results import ResultFile, Row, markdown_table, surroundings
from benchmarks.sealed_cell import CLIP, FIELD, KEY, N_BINS
from benchmarks.sealed_methods import ABSENT, L1, OURS
from benchmarks.sealed_tables import OPENED_BEFORE

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from benchmarks.sealed_read import Kind

    Floats = NDArray[np.float64]

LIBRARIES = {
    "xgboost": "xgboost-cpu",
    "lightgbm": "lightgbm",
    "catboost": "catboost",
    "interpret.glassbox": "interpret-core",
    "sklearnex.ensemble": "scikit-learn-intelex",
    "imodels": "imodels",
    "pystreed": "pystreed",
    "HROCH": "HROCH",
    "pyoperon.sklearn": "pyoperon",
}
"""The distribution of what a method imports."""
TREES = ("XGBoost", "LightGBM")
RANKED = {"log_loss": ("log-loss", 1), "f1": ("weighted F1", -1), "auc": ("AUC", -1), "calibration_error": ("ECE", 1)}
SMALL, LARGE, RARE = 500, 2000, 0.1
NUMBERS_NOTE = """
R² is that of all held-out rows together, against the mean of their training rows. Two mean ranks differ significantly
(Nemenyi, 5 %) when they are more than {difference:.2f} apart.
"""


@dataclass(frozen=True, slots=True)
class Block:
    """The figures of methods that were measured on the same tables and folds."""

    methods: list[str]
    tables: list[str]
    folds: dict[str, int]
    """How many of the first folds all methods have, by table."""
    cells: dict[tuple[str, str, int], Row]

    @classmethod
    def of(cls, rows: list[Row], known: Sequence[str]) -> Block:
        """Return the largest full block of the rows, each table on as many of the first folds as all methods have."""
        cells = {(row["table"], row["method"], int(row["fold"])): row for row in rows}
        begun = {(table, method) for table, method, fold in cells if fold == 0}
        field, tables = largest_block(begun, [m for m in known if any(method == m for _, method in begun)])
        by_size = sorted(tables, key=lambda table: int(cells[table, field[0], 0]["rows"])) if field else []

        def shared_folds(table: str) -> int:
            return next(fold for fold in count() if any((table, method, fold) not in cells for method in field))

        return cls(field, by_size, {table: shared_folds(table) for table in by_size}, cells)

    def rows(self, table: str, method: str) -> list[Row]:
        """Return the folds of a pair."""
        return [self.cells[table, method, fold] for fold in range(self.folds[table])]

    def finished(self, table: str, method: str) -> bool:
        """Whether every fold has its figures."""
        return all(row["status"] == "ok" for row in self.rows(table, method))

    def means(self, column: str, tables: Sequence[str] | None = None, methods: Sequence[str] | None = None) -> Floats:
        """Return the means over the folds (methods, tables); NaN where a fold has not finished."""
        chosen = self.tables if tables is None else tables
        return np.array(
            [
                [
                    np.mean([float(row[column]) for row in self.rows(table, method)])
                    if self.finished(table, method)
                    else np.nan
                    for table in chosen
                ]
                for method in (self.methods if methods is None else methods)
            ]
        )

    def r2(self) -> Floats:
        """Return R² of all held-out rows of a table together (methods, tables)."""
        error, total = (self.means(name) for name in ("squared_error", "squared_total"))
        return np.asarray(1 - error / total)

    def about(self, table: str, column: str) -> float:
        """Return a property of a table."""
        return float(self.cells[table, self.methods[0], 0][column])


def read_block(folder: Path, listed: str, task: Kind) -> Block:
    """Return what is on file for a list and a task."""
    return Block.of(ResultFile(folder / f"{listed}_{task}.csv", KEY).rows, list(FIELD[task]))


def write_report(folder: Path, listed: str, *, about: str) -> str:
    """Write `sealed.md` or `tuning.md` from what is on file and return its text."""
    title = "Sealed tables" if listed == "sealed" else "The program of the sealed tables, on tables of the tuning list"
    parts = [f"# {title}", about]
    if listed == "sealed":
        parts.append(opened(folder))
    else:
        parts.append("**Defaults of this library were chosen on some of these tables. This page tests the program.**")
    parts += class_parts(read_block(folder, listed, "classification"), "##")
    parts += number_parts(read_block(folder, listed, "regression"), "##")
    parts += ["## What counts as a number to read", sealed_sizes.__doc__ or "", *absent(), peers(folder, listed)]
    text = "\n\n".join(part.strip() for part in parts if part) + "\n"
    (folder / f"{listed}.md").write_text(text, encoding="utf-8")
    return text


def opened(folder: Path) -> str:
    """Return when the sealed list was opened."""
    rows = ResultFile(folder / "sealed_opened.csv", ("version",)).rows
    if not rows:
        return "The sealed list has not been opened yet."
    days = ", ".join(f"on {row['date']} with version {row['version']}" for row in rows)
    other = ", ".join(f"`{name}` (the rows of `{known}` in `laws`)" for name, known in OPENED_BEFORE.items())
    text = f"The list was opened {days}. Not run, because a benchmark had fitted it before: {other}."
    return f"{text} {waiting(folder)}".strip()


def waiting(folder: Path) -> str:
    """Return which methods have no cell yet on how many of the tables that another method has: runs take sittings."""
    lines = []
    for task, field in FIELD.items():
        cells = {(row["table"], row["method"]) for row in ResultFile(folder / f"sealed_{task}.csv", KEY).rows}
        tables = {table for table, _ in cells}
        missing = {method: sum((table, method) not in cells for table in tables) for method in field}
        names = ", ".join(f"{method} ({n} of {len(tables)})" for method, n in missing.items() if n and tables)
        lines += [f"Tables of {task} that wait for a method: {names}."] if names else []
        lines += [] if tables else [f"The {task} tables wait for another sitting."]
    return " ".join(lines)


def absent() -> list[str]:
    """Return the lines on rivals that are not in the field."""
    return ["Tried and left out: " + "; ".join(f"{name} ({reason})" for name, reason in ABSENT.items()) + "."]


def peers(folder: Path, listed: str) -> str:
    """Return one line about the libraries of the methods on file, those that are installed here."""
    from importlib.metadata import packages_distributions

    used = {
        library
        for task, field in FIELD.items()
        for row in ResultFile(folder / f"{listed}_{task}.csv", KEY).rows
        for library in (field[row["method"]].libraries if row["method"] in field else ())
    }
    installed = {name for names in packages_distributions().values() for name in names}
    chosen = {LIBRARIES[name] for name in used if name in LIBRARIES} & installed
    return surroundings(["numpy", "scikit-learn", "scipy", *sorted(chosen)])


def class_parts(block: Block, level: str) -> list[str]:
    """Return the sections on classification."""
    if len(block.methods) < 2 or not block.tables:
        return []
    return [
        f"{level} Classification: {len(block.methods)} methods on {len(block.tables)} tables, {folds_text(block)}",
        aims_part(block),
        rank_table(block),
        rank_note(block),
        f"{level}# By kind of table",
        groups_note(),
        groups_table(block),
        f"{level}# Log-loss of every table",
        "Means over the folds; the best of a row is bold.",
        every_table(block, block.means("log_loss"), 1, 4),
        unfinished_part(block),
    ]


def folds_text(block: Block) -> str:
    """Return how many of the five folds were run."""
    numbers = sorted(set(block.folds.values()))
    return f"{numbers[0]} of five folds" if len(numbers) == 1 else f"{numbers[0]} to {numbers[-1]} of five folds"


def rank_table(block: Block) -> str:
    """Return ranks and strengths by log-loss with sizes and costs, then the other ranks; the best by log-loss first."""
    values = {name: sign * block.means(name) for name, (_, sign) in RANKED.items()}
    ranks = {name: mean_ranks(each) for name, each in values.items()}
    rating, low, high = elo(values["log_loss"])
    readable = [FIELD["classification"][method].kind == "interpretable" for method in block.methods]
    among = np.full(len(block.methods), np.nan)
    among[readable] = mean_ranks(values["log_loss"][readable])
    sizes, seconds = block.means("size"), block.means("cpu_seconds")
    rows: list[Row] = [
        {
            "method": block.methods[i],
            **{name: f"{each[i]:.2f}" for name, each in ranks.items()},
            "among": "" if np.isnan(among[i]) else f"{among[i]:.2f}",
            "elo": f"{rating[i]:.0f} ({low[i]:.0f}–{high[i]:.0f})",
            "left": f"{left(block)[i].mean():.3f}",
            "size": _median(sizes[i]),
            "cpu": _median(seconds[i], 1),
            "unfinished": str(int(np.isnan(sizes[i]).sum())),
        }
        for i in np.argsort(ranks["log_loss"])
    ]
    by_loss = {
        "method": "method",
        "log_loss": "rank, log-loss",
        "among": "among readable ones",
        "elo": "Elo (95 %)",
        "left": "uncertainty left",
        "size": "numbers to read",
        "cpu": "CPU s",
        "unfinished": "not finished",
    }
    others = {name: f"rank, {label}" for name, (label, _) in RANKED.items() if name != "log_loss"}
    return f"{markdown_table(rows, by_loss)}\n\n{markdown_table(rows, {'method': 'method'} | others)}"


def aims_part(block: Block) -> str:
    """Return what the sealed tables should show, and what they show."""
    if OURS not in block.methods:
        return ""
    values = block.means("log_loss")
    ranks = dict(zip(block.methods, mean_ranks(values), strict=True))
    field = FIELD["classification"]
    readable = [method for method in block.methods if field[method].kind == "interpretable"]
    among = dict(zip(readable, mean_ranks(block.means("log_loss", methods=readable)), strict=True))
    boxes = {method: ranks[method] for method in block.methods if field[method].kind == "black box"}
    first, *others = sorted(among, key=lambda method: among[method])
    next_ = others[0] if first == OURS and others else OURS
    rows = [
        {
            "aim": "first by log-loss among the readable methods",
            "measured": f"{first} is first ({among[first]:.2f}); {next_} has {among[next_]:.2f}",
            "verdict": "holds" if first == OURS else "missed",
        }
    ]
    if boxes:
        best = min(boxes, key=lambda method: boxes[method])
        behind, bound = ranks[OURS] - boxes[best], critical_difference(*values.shape)
        rows.append(
            {
                "aim": "not significantly behind the best black box",
                "measured": f"{behind:+.2f} ranks from {best}; significant from {bound:.2f} on",
                "verdict": "holds" if behind <= bound else "missed",
            }
        )
    sizes, uncertain = median_sizes(block), left(block).mean(axis=1)
    ours = block.methods.index(OURS)
    smaller = [
        method
        for i, method in enumerate(block.methods)
        if i != ours and sizes[i] <= sizes[ours] and uncertain[i] <= uncertain[ours]
    ]
    rows.append(
        {
            "aim": "the fewest numbers to read at equal quality",
            "measured": f"as short and as good: {', '.join(smaller) or 'none'}",
            "verdict": "missed" if smaller else "holds",
        }
    )
    return markdown_table(rows, {"aim": "aim", "measured": "measured", "verdict": "verdict"})


def median_sizes(block: Block) -> Floats:
    """Return the median size of every method over the tables that it has finished."""
    return np.array([np.median(known) if len(known := r[~np.isnan(r)]) else np.nan for r in block.means("size")])


def left(block: Block) -> Floats:
    """Return log-loss over the entropy of the classes (methods, tables); 1 where a fold has not finished."""
    entropy = np.array([block.about(table, "entropy") for table in block.tables])
    share = block.means("log_loss") / entropy
    return np.where(np.isnan(share), 1.0, share)


def rank_note(block: Block) -> str:
    """Return what the columns mean, and which differences are more than chance."""
    values = block.means("log_loss")
    k, n = values.shape
    readable = [FIELD["classification"][method].kind == "interpretable" for method in block.methods]
    p = friedman_p(values)
    p_text = "not defined" if np.isnan(p) else f"= {p:.3g}"
    return (
        f"1 is the best rank. Two mean ranks differ significantly (Nemenyi, 5 %) when they are more than "
        f"{critical_difference(k, n):.2f} apart, among the {sum(readable)} readable methods "
        f"{critical_difference(max(sum(readable), 2), n):.2f}; Friedman p {p_text} for log-loss. Elo: strengths of "
        f"Bradley and Terry with mean 1000, 400 points for odds of ten, intervals by drawing tables anew. ECE is the "
        f"expected calibration error of the most probable class over {N_BINS} bins of equal width. Log-loss counts no "
        f"probability as less than {CLIP:g}. Uncertainty left is the log-loss over the entropy of the classes, mean "
        f"over the tables: 1 knows nothing. Sizes and CPU seconds (tuning and fitting, one thread) are medians over "
        f"the tables that were finished."
    )


def groups(block: Block) -> dict[str, list[str]]:
    """Return the tables of each group: by rows, rarest class, and whether straight scores are enough."""
    rows = {table: block.about(table, "rows") for table in block.tables}
    rare = {table: block.about(table, "rarest") < RARE for table in block.tables}
    found = {
        f"under {SMALL} rows": [t for t in block.tables if rows[t] < SMALL],
        f"{SMALL} to {LARGE} rows": [t for t in block.tables if SMALL <= rows[t] <= LARGE],
        f"over {LARGE} rows": [t for t in block.tables if rows[t] > LARGE],
        "a rare class": [t for t in block.tables if rare[t]],
        "no rare class": [t for t in block.tables if not rare[t]],
    }
    trees = [method for method in TREES if method in block.methods]
    if L1 in block.methods and trees:
        straight = block.means("log_loss", methods=[L1])[0]
        best_tree = np.nanmin(
            np.where(np.isnan(other := block.means("log_loss", methods=trees)), np.inf, other), axis=0
        )
        is_straight = dict(zip(block.tables, straight <= best_tree, strict=True))
        found["straight"] = [t for t in block.tables if is_straight[t]]
        found["bent"] = [t for t in block.tables if not is_straight[t]]
    return {name: tables for name, tables in found.items() if tables}


def groups_note() -> str:
    """Return how the groups are defined."""
    return (
        f"Mean rank by log-loss, with Elo in brackets. A class is rare with under {100 * RARE:.0f} % of the rows. A "
        f"table is straight where {L1} has no higher log-loss than the better of {' and '.join(TREES)}, and bent "
        "elsewhere; our figures have no part in that."
    )


def groups_table(block: Block) -> str:
    """Return mean ranks and strengths within the groups."""
    rows: list[Row] = [{"method": method} for method in block.methods]
    headings = {"method": "method"}
    for name, tables in groups(block).items():
        values = block.means("log_loss", tables)
        ranks, (rating, _, _) = mean_ranks(values), elo(values, n_samples=2)
        headings[name] = f"{name} ({len(tables)})"
        for row, rank, strength in zip(rows, ranks, rating, strict=True):
            row[name] = f"{rank:.2f} ({strength:.0f})"
    return markdown_table(rows, headings)


def every_table(block: Block, values: Floats, sign: int, digits: int) -> str:
    """Return the figures of every table, the best of each bold."""
    rows: list[Row] = []
    for table, column in zip(block.tables, values.T, strict=True):
        best = np.nanmin(sign * column) if not np.isnan(column).all() else np.nan
        row = {"table": table, "rows": f"{block.about(table, 'rows'):.0f}", "folds": str(block.folds[table])}
        for method, value in zip(block.methods, column, strict=True):
            text = "–" if np.isnan(value) else f"{value:.{digits}f}"
            row[method] = f"**{text}**" if sign * value == best else text
        rows.append(row)
    return markdown_table(
        rows, {"table": "table", "rows": "rows", "folds": "folds"} | {method: method for method in block.methods}
    )


def unfinished_part(block: Block) -> str:
    """Return the pairs that did not finish, with the reason."""
    lines = []
    for table in block.tables:
        for method in block.methods:
            bad = [row for row in block.rows(table, method) if row["status"] != "ok"]
            if bad:
                lines.append(f"{method} on {table} ({bad[0]['note'] or 'time limit'})")
    return f"Not finished, and counted last: {'; '.join(lines)}." if lines else ""


def number_parts(block: Block, level: str) -> list[str]:
    """Return the sections on regression."""
    if len(block.methods) < 2 or not block.tables:
        return []
    r2 = block.r2()
    ranks, sizes, seconds = mean_ranks(-r2), block.means("size"), block.means("cpu_seconds")
    rating, low, high = elo(-r2)
    rows: list[Row] = [
        {
            "method": block.methods[i],
            "rank": f"{ranks[i]:.2f}",
            "elo": f"{rating[i]:.0f} ({low[i]:.0f}–{high[i]:.0f})",
            "r2": _median(r2[i], 3),
            "size": _median(sizes[i]),
            "cpu": _median(seconds[i], 1),
            "unfinished": str(int(np.isnan(r2[i]).sum())),
        }
        for i in np.argsort(ranks)
    ]
    headings = {
        "method": "method",
        "rank": "rank, R²",
        "elo": "Elo by R² (95 %)",
        "r2": "R², median",
        "size": "numbers to read, median",
        "cpu": "CPU s, median",
        "unfinished": "tables not finished",
    }
    return [
        f"{level} Regression: {len(block.methods)} methods on {len(block.tables)} tables, {folds_text(block)}",
        markdown_table(rows, headings),
        NUMBERS_NOTE.format(difference=critical_difference(*r2.shape)),
        f"{level}# R² of every table",
        every_table(block, r2, -1, 3),
        unfinished_part(block),
    ]


def _median(values: Floats, digits: int = 0) -> str:
    known = values[~np.isnan(values)]
    return f"{np.median(known):,.{digits}f}".replace(",", " ") if len(known) else "–"
