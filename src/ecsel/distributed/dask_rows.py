"""Row blocks on Dask: rows stay with the workers, packed; what travels is θ one way and sums the other.

A partition is encoded and packed once and kept by its worker. For every sum a solver asks for, each partition adds up
its tiles, and the sums of the partitions are added by a tree. The order of additions is that of the partitions, so that
a fit does not depend on the number of workers. The recipe of each packed partition stays known to the scheduler: when a
worker is lost, others make its partitions again and the fit goes on.

Without a `distributed.Client` Dask's own scheduler of threads does the same work.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, reduce
from itertools import accumulate
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from ecsel.distributed.profiling import Profile
from ecsel.distributed.sources import Batch, pick_rows, sum_over
from ecsel.fitting.rows.blocks import Block, added, one_blas_thread
from ecsel.fitting.rows.chunks import CHUNK_ROWS
from ecsel.fitting.rows.unpacking import Unpacker

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from numpy.typing import NDArray

    from ecsel.distributed.packing import Packer
    from ecsel.fitting.rows.chunks import Chunk, Tally

S = TypeVar("S")
T = TypeVar("T")

FAN_IN = 8
"""Partial sums that one node of the tree adds up."""


def _dask() -> Any:
    try:
        import dask  # noqa: PLC0415 - optional
    except ImportError as error:
        raise ImportError('Dask collections need dask: pip install "ecsel[distributed]"') from error
    return dask


@dataclass(frozen=True)
class DaskSource:
    """The partitions of a Dask data frame or array with their labels and weights, and their lengths."""

    parts: tuple[Any, ...]
    lengths: tuple[int, ...]
    weighted: bool

    @classmethod
    def of(cls, X: Any, y: Any, sample_weight: Any) -> DaskSource:
        """Pair the partitions of table, labels and weights; labels and weights may be columns, given by name."""
        dask = _dask()
        if isinstance(y, str) or isinstance(sample_weight, str):
            X, y, sample_weight = _columns_by_name(X, y, sample_weight)
        tables, labels = _partitions(X, "X"), _partitions(y, "y")
        weights = [None] * len(tables) if sample_weight is None else _partitions(sample_weight, "sample_weight")
        for name, other in (("y", labels), ("sample_weight", weights)):
            if len(other) != len(tables):
                raise ValueError(
                    f"X has {len(tables)} partitions, but {name} has {len(other)}: repartition or rechunk them alike."
                )
        parts = tuple(dask.delayed(_as_batch)(*each) for each in zip(tables, labels, weights, strict=True))
        lengths = dask.compute(*(dask.delayed(_length)(part) for part in parts))
        kept = [(part, length) for part, length in zip(parts, lengths, strict=True) if length]
        if not kept:
            raise ValueError("The Dask collection has no rows.")
        return cls(tuple(part for part, _ in kept), tuple(length for _, length in kept), sample_weight is not None)

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return sum(self.lengths)

    @property
    def firsts(self) -> list[int]:
        """The position of the first row of each partition."""
        return [0, *accumulate(self.lengths)][:-1]

    def profile(self) -> Profile:
        """Look at every partition where it is; only the rows that tell are brought here."""
        dask = _dask()
        stride = Profile.stride(self.n_rows)
        looks = [dask.delayed(_look)(part, first, stride) for part, first in zip(self.parts, self.firsts, strict=True)]
        found: Profile = tree_sum(looks).compute()
        return found

    def sum_batches(self, function: Any) -> Any:
        """Return the sum of a function of table, labels and weights over all partitions, added up by a tree."""
        dask = _dask()
        shared = dask.delayed(_Sum(function), traverse=False)
        return tree_sum([dask.delayed(_sum_part)(part, shared) for part in self.parts]).compute()

    def pack(self, packer: Packer, *, n_threads: int) -> DaskBlocks:
        """Encode and pack every partition and let the workers keep it."""
        dask = _dask()
        del n_threads  # the threads are those of the workers
        shared = dask.delayed(packer)
        packed = [dask.delayed(_pack)(part, shared) for part in self.parts]
        packed = list(dask.persist(*packed))
        tally: Tally = tree_sum([dask.delayed(_tally)(part) for part in packed]).compute()
        return DaskBlocks(packed, self.firsts, packer, tally)


class DaskBlocks:
    """Packed partitions with the workers as row blocks."""

    n_threads = 1

    def __init__(self, packed: list[Any], firsts: list[int], packer: Packer, tally: Tally) -> None:
        self.layout, self.tally = packer.layout, tally
        self.n_features, self.n_rows, self.dtype = len(packer.layout.values), tally.n_rows, packer.layout.dtype
        self.coordinates = tally.coordinates(packer.layout.reference)
        self._packed, self._firsts = packed, firsts

    @cached_property
    def _unpack(self) -> Any:
        return _dask().delayed(Unpacker.of(self.layout, self.coordinates, float(self.tally.classes.sum())))

    def map(self, function: Callable[[Block], T]) -> list[T]:
        """Return the sum of `function` over all blocks, as a list of one."""
        dask = _dask()
        shared = dask.delayed(_Sum(function), traverse=False)
        parts = [
            dask.delayed(_add_up)(packed, first, shared, self._unpack)
            for packed, first in zip(self._packed, self._firsts, strict=True)
        ]
        return [tree_sum(parts).compute()]

    def each(self, function: Callable[[S], T], items: Iterable[S]) -> list[T]:
        """Apply `function` to every item."""
        return [function(item) for item in items]

    def __reduce__(self) -> tuple[Any, ...]:
        """Travel as a description: a function that is sent to the rows may hold its problem, but not the rows."""
        return RowsElsewhere, (self.n_rows, self.n_features, self.dtype)


@dataclass(frozen=True)
class RowsElsewhere:
    """What a function knows of the rows once it has been sent to them."""

    n_rows: int
    n_features: int
    dtype: Any
    n_threads: int = 1


@dataclass(frozen=True)
class _Sum:
    """A function of blocks or batches on its way to the rows; Dask does not look inside."""

    function: Callable[..., Any]


def tree_sum(parts: list[Any]) -> Any:
    """Return the delayed sum of delayed parts, `FAN_IN` at a time."""
    dask = _dask()
    add = dask.delayed(_add)
    while len(parts) > 1:
        parts = [add(parts[i : i + FAN_IN]) for i in range(0, len(parts), FAN_IN)]
    return parts[0]


def _add(parts: list[Any]) -> Any:
    return reduce(added, parts)


def _partitions(collection: Any, option: str) -> list[Any]:
    """Return the partitions of a data frame, a series or an array (whole rows) as delayed objects."""
    if not hasattr(collection, "to_delayed"):
        raise TypeError(
            f"{option} must be a Dask data frame, series or array like X, or the name of a column of X, not "
            f"{type(collection).__name__}."
        )
    if getattr(collection, "ndim", 1) == 2 and hasattr(collection, "rechunk"):
        collection = collection.rechunk({1: -1})
    parts = collection.to_delayed()
    return list(np.asarray(parts, dtype=object).ravel())


def _columns_by_name(X: Any, y: Any, sample_weight: Any) -> tuple[Any, Any, Any]:
    names = list(getattr(X, "columns", ()))
    taken = [name for name in (y, sample_weight) if isinstance(name, str)]
    for name in taken:
        if name not in names:
            listed = ", ".join(map(repr, names[:10])) + (", …" if len(names) > 10 else "")
            raise ValueError(f"There is no column {name!r} in X, which has {listed or 'no names'}.")
    labels = X[y] if isinstance(y, str) else y
    weights = X[sample_weight] if isinstance(sample_weight, str) else sample_weight
    return X[[name for name in names if name not in taken]], labels, weights


def _as_batch(X: Any, labels: Any, weights: Any) -> Batch:
    y = np.asarray(labels)
    if len(y) != len(X):
        raise ValueError(f"A partition of X has {len(X)} rows, but its part of y has {len(y)}: repartition them alike.")
    w = None if weights is None else np.asarray(weights, dtype=np.float64)
    if w is not None and (not np.isfinite(w).all() or (w < 0).any()):
        raise ValueError("sample_weight must be finite and not negative.")
    return Batch(X, y.reshape(-1), w, 0)


def _length(batch: Batch) -> int:
    return len(batch.labels)


def _slices(batch: Batch, first: int) -> Iterator[Batch]:
    for start in range(0, len(batch.labels), CHUNK_ROWS):
        rows = slice(start, min(start + CHUNK_ROWS, len(batch.labels)))
        weights = None if batch.weights is None else batch.weights[rows]
        yield Batch(pick_rows(batch.X, rows), batch.labels[rows], weights, first + start)


def _look(batch: Batch, first: int, stride: int) -> Profile:
    profile = Profile()
    for part in _slices(batch, first):
        profile = profile.look(part, stride)
    return profile


def _pack(batch: Batch, packer: Packer) -> list[tuple[Chunk, Tally]]:
    return [packer(part) for part in _slices(batch, 0)]


def _sum_part(batch: Batch, shared: _Sum) -> Any:
    with one_blas_thread():
        return sum_over(_slices(batch, 0), shared.function)


def _tally(packed: list[tuple[Chunk, Tally]]) -> Tally:
    return reduce(added, (tally for _, tally in packed))


def _add_up(packed: list[tuple[Chunk, Any]], first: int, shared: _Sum, unpack: Unpacker) -> Any:
    """Return the sum over the tiles of a partition, in their order."""
    total: Any = None
    with one_blas_thread():
        for chunk, _ in packed:
            for block in unpack.blocks(chunk, _bytes(chunk), first):
                part = shared.function(block)
                total = part if total is None else added(total, part)
            first += chunk.n_rows
    return total


def _bytes(chunk: Chunk) -> NDArray[np.uint8]:
    assert chunk.data is not None  # noqa: S101 - workers keep chunks in memory
    return chunk.data
