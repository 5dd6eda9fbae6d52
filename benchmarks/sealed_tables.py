"""The tables of the two lists, ready for the methods: data frames, with class codes or numbers to predict.

Of the tuning list only tables that were opened before are read: some of the others share their rows with sealed ones.
The regression tables to develop on are those of `benchmarks/laws_real.py`. A sealed table is refused when its content
is not the one that was sealed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from benchmarks import laws_real
from benchmarks.sealed_list import SEALED, TUNING, content_hash, read_list, read_sealed
from benchmarks.sealed_read import common_folder
from benchmarks.tables import SOURCES, Columns, Table, load
from benchmarks.unseen import keel_folder, read_keel

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from benchmarks.sealed_read import Kind

ListName = Literal["tuning", "sealed"]
OPENED_BEFORE = {"cpu_performance": "cpu"}
"""Sealed tables whose rows a benchmark of laws had fitted before the list was written: they are not run."""


@dataclass(frozen=True, slots=True)
class Numbers(Columns):
    """Columns and the numbers to predict."""

    y: NDArray[np.float64]


def names_in(listed: ListName, task: Kind) -> list[str]:
    """Return the names of the tables that are run, the small ones first."""
    if listed == "sealed":
        rows = [row for row in read_list(SEALED) if row["task"] == task and row["name"] not in OPENED_BEFORE]
    elif task == "regression":
        return list(laws_real.TABLES)
    else:
        rows = [row for row in read_list(TUNING) if row["opened"] == "yes"]
    return [row["name"] for row in sorted(rows, key=lambda row: int(row["rows"]))]


def needs_data(listed: ListName, task: Kind, name: str) -> bool:
    """Whether a table is read from the folder that `--data` names."""
    return listed == "tuning" and task == "classification" and name in SOURCES


def read_table(listed: ListName, task: Kind, name: str, data: Path | None) -> Table | Numbers:
    """Return one table of a list."""
    if listed == "sealed":
        return _sealed(task, name)
    if task == "regression":
        return Numbers(name, *laws_real.read_table(name))
    if name in SOURCES:
        if data is None:
            raise ValueError(f"{name} is read from the folder that --data names")
        return load(data, name)
    return read_keel(keel_folder() / f"{name}.dat")


def _sealed(task: Kind, name: str) -> Table | Numbers:
    listed = next(row for row in read_list(SEALED) if (row["task"], row["name"]) == (task, name))
    found = read_sealed(common_folder(), task, name)
    if content_hash(found.X, found.target) != listed["sha256"]:
        raise ValueError(f"{name} is not the table that was sealed")
    if task == "regression":
        return Numbers(name, found.X, found.target.to_numpy(np.float64))
    codes = np.unique(found.target.to_numpy(), return_inverse=True)[1]
    return Table(name, found.X, codes.astype(np.intp))
