"""What one cell of the classification benchmark is given: training rows, test rows and the inner folds for tuning.

- Protocol (b): 5 stratified shuffled folds, repeated five times on tables under 2000 rows and once on larger ones.
  Tuning has 30 trials on 5 inner folds; on tables over 10 000 rows 10 trials on 3 inner folds. Its criterion is the
  log-loss of the pooled out-of-fold probabilities.
- Protocol (a), the paper's: one stratified 80/20 split with seed 42, 30 trials on 5 inner folds. The paper does not
  name its criterion; here it is the weighted F1 of the out-of-fold predictions, the figure that its tables compare.

Inner folds are stratified and shuffled, and depend on the protocol, the table, the repeat and the fold alone: every
method is tuned on the same ones.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from sklearn.model_selection import StratifiedKFold, train_test_split

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

    from benchmarks.tables import Table

Split = tuple["NDArray[np.intp]", "NDArray[np.intp]"]
ProtocolName = Literal["a", "b"]
CRITERIA: dict[ProtocolName, Literal["log_loss", "f1"]] = {"a": "f1", "b": "log_loss"}
SMALL, LARGE = 2000, 10_000
PAPER_SEED = 42


@dataclass(frozen=True, slots=True)
class Cell:
    """One (protocol, table, method, fold): the unit that is measured, capped and stored."""

    protocol: ProtocolName
    table: str
    method: str
    repeat: int
    fold: int

    @property
    def key(self) -> dict[str, object]:
        """The columns by which its row is found again."""
        return {name: getattr(self, name) for name in self.__slots__}


KEY = Cell.__slots__


@dataclass(frozen=True, slots=True)
class Task:
    """The training rows of a cell in both forms, raw columns and numbers, and how to tune on them."""

    X: pd.DataFrame
    numbers: NDArray[np.float64]
    y: NDArray[Any]
    folds: list[Split]
    n_trials: int
    criterion: Literal["log_loss", "f1", "mse"]
    seed: int
    tuning_seconds: float = math.inf
    """Processor time after which no further trial is begun."""


def folds_of(protocol: ProtocolName, n_rows: int) -> list[tuple[int, int]]:
    """Return the (repeat, fold) pairs of a table, one repeat after the other."""
    if protocol == "a":
        return [(0, 0)]
    return [(repeat, fold) for repeat in range(5 if n_rows < SMALL else 1) for fold in range(5)]


def outer_split(cell: Cell, y: NDArray[np.intp]) -> Split:
    """Return the training and the test rows of a cell."""
    if cell.protocol == "a":
        train, test = train_test_split(np.arange(len(y)), test_size=0.2, stratify=y, random_state=PAPER_SEED)
        return train, test
    splits = StratifiedKFold(5, shuffle=True, random_state=cell.repeat).split(y, y)
    train, test = list(splits)[cell.fold]
    return train, test


def make_task(cell: Cell, table: Table, train: NDArray[np.intp]) -> Task:
    """Return what a method may see: the training rows and the inner folds over them."""
    reduced = cell.protocol == "b" and len(table.y) > LARGE
    seed = PAPER_SEED if cell.protocol == "a" else 10 * cell.repeat + cell.fold
    y = table.y[train]
    inner = StratifiedKFold(3 if reduced else 5, shuffle=True, random_state=seed)
    return Task(
        table.X.iloc[train].reset_index(drop=True),
        table.numbers[train],
        y,
        list(inner.split(y, y)),
        10 if reduced else 30,
        CRITERIA[cell.protocol],
        seed,
    )


def held_out_columns(table: Table, test: NDArray[np.intp], *, raw: bool) -> Any:
    """Return the test rows in the form that the method was trained on."""
    return table.X.iloc[test].reset_index(drop=True) if raw else table.numbers[test]
