"""Tables that come batch by batch: the contract, and a table in memory cut into slices.

A source is read from its first row to its last, as often as it is asked; a batch is a data frame or an array with the
labels and weights of its rows. Nothing else is known about where rows are kept.
"""

from __future__ import annotations

import operator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import reduce
from typing import TYPE_CHECKING, Any, Protocol

import narwhals.stable.v2 as nw
import numpy as np

from ecsel.distributed.packing import pack_source
from ecsel.fitting.rows.chunks import CHUNK_ROWS
from ecsel.tables.reading import RawTable, read_table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from ecsel.distributed.packing import Packer
    from ecsel.fitting.rows.stored import StoredBlocks


@dataclass(frozen=True, slots=True)
class Batch:
    """Consecutive rows: the table, the labels, the weights (None: ones) and the position of the first row."""

    X: Any
    labels: NDArray[Any]
    weights: NDArray[np.float64] | None
    first: int


class Source(Protocol):
    """What a fit beyond memory reads from."""

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        ...

    @property
    def weighted(self) -> bool:
        """Whether rows have weights."""
        ...

    @property
    def in_file(self) -> bool:
        """Whether packed rows should go to a temporary file rather than to memory."""
        ...

    def batches(self) -> Iterator[Batch]:
        """Read all rows in order."""
        ...


def pick_rows(X: Any, rows: NDArray[np.intp] | slice) -> Any:
    """Return some rows of an array or a data frame, as the same kind of table."""
    if isinstance(X, np.ndarray):
        return X[rows]
    if isinstance(X, RawTable) and isinstance(rows, slice):
        return X.slice(rows)
    frame = nw.from_native(X, eager_only=True)
    return (frame[rows] if isinstance(rows, slice) else frame[rows.tolist()]).to_native()


def stack_rows(parts: list[Any]) -> Any:
    """Return the rows of several tables of one kind as one table."""
    if isinstance(parts[0], np.ndarray):
        return np.concatenate(parts)
    return nw.concat([nw.from_native(part, eager_only=True) for part in parts]).to_native()


def sum_over(batches: Iterator[Batch], function: Callable[[Any, NDArray[Any], NDArray[np.float64] | None], Any]) -> Any:
    """Return the sum of a function of table, labels and weights over batches, in their order."""
    total: Any = None
    for batch in batches:
        part = function(batch.X, batch.labels, batch.weights)
        total = part if total is None else total + part
    return total


@dataclass(frozen=True)
class TableSource:
    """A table in memory."""

    X: Any
    labels: NDArray[Any]
    weights: NDArray[np.float64] | None
    in_file: bool = False

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return len(self.labels)

    @property
    def weighted(self) -> bool:
        """Whether rows have weights."""
        return self.weights is not None

    def pack(self, packer: Packer, *, n_threads: int) -> StoredBlocks:
        """Encode and pack all rows."""
        return pack_source(replace(self, X=read_table(self.X)), packer, n_threads=n_threads)

    def sum_batches(self, function: Callable[..., Any], *, n_threads: int = 1) -> Any:
        """Return the sum of a function of table, labels and weights over all rows, added up in their order."""
        with ThreadPoolExecutor(n_threads) as threads:
            parts = threads.map(lambda batch: function(batch.X, batch.labels, batch.weights), self.batches())
            return reduce(operator.add, parts)

    def batches(self) -> Iterator[Batch]:
        """Yield slices, which are views where the table allows it."""
        for first in range(0, self.n_rows, CHUNK_ROWS):
            rows = slice(first, min(first + CHUNK_ROWS, self.n_rows))
            weights = None if self.weights is None else self.weights[rows]
            yield Batch(pick_rows(self.X, rows), self.labels[rows], weights, first)
