"""Rows that are packed once and unpacked tile by tile at every pass: in memory, or in a temporary file.

A chunk of encoded rows keeps each feature as numbers, or as one byte a row where the feature has few different values
(indicators, hours, counts), with its class codes and weights. A tile is unpacked into standardised logs just before it
is used, into a buffer that stays in the cache. In a file the chunks take about half the size of the table in double
precision; they are read by plain reads, which use what memory the system can spare and need none of the process.
"""

from __future__ import annotations

import itertools
import tempfile
import threading
import weakref
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, BinaryIO, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from ecsel.fitting.blocks import TILE_ROWS, Block, Coordinates, on_pool_thread, thread_pool

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

Array = NDArray[np.floating]
Bytes = NDArray[np.uint8]
S = TypeVar("S")
T = TypeVar("T")

CHUNK_ROWS = 8 * TILE_ROWS
MOST_VALUES = 256


@dataclass(frozen=True, slots=True)
class Layout:
    """How rows are packed: the precision, the values of features that have few (None for the others), classes, weights.

    `reference` is a value near the mean of each log feature, from which deviations are summed.
    """

    dtype: np.dtype[Any]
    values: tuple[Array | None, ...]
    n_classes: int
    weighted: bool
    reference: NDArray[np.float64]

    @classmethod
    def learn(cls, log_features: Array, dtype: Any, n_classes: int, *, weighted: bool) -> Layout:
        """Look at a sample of log features (features × rows) for those with few values."""
        values: list[Array | None] = []
        for u in log_features.astype(dtype):
            different = np.unique(u)
            values.append(different if len(different) <= MOST_VALUES and len(u) > 4 * len(different) else None)
        return cls(np.dtype(dtype), tuple(values), n_classes, weighted, log_features.mean(axis=1, dtype=np.float64))

    @property
    def code_dtype(self) -> np.dtype[Any]:
        """The smallest integers that hold the class codes."""
        return np.dtype(np.uint8 if self.n_classes <= 256 else np.int32)


@dataclass(frozen=True, slots=True)
class Tally:
    """Sums over rows: weights, by class and in all; weighted deviations of the logs from the reference, and squares."""

    classes: NDArray[np.float64]
    first: NDArray[np.float64]
    second: NDArray[np.float64]
    n_rows: int

    def __add__(self, other: Tally) -> Tally:
        """Add the sums of other rows."""
        return Tally(
            self.classes + other.classes,
            self.first + other.first,
            self.second + other.second,
            self.n_rows + other.n_rows,
        )

    def coordinates(self, reference: NDArray[np.float64]) -> Coordinates:
        """Return the mean and the standard deviation of each log feature."""
        total = self.classes.sum()
        shift = self.first / total
        variance = np.maximum(self.second / total - shift * shift, 0.0)
        mean = reference + shift
        return Coordinates(mean, np.where(variance > 1e-20 * (1 + mean * mean), np.sqrt(variance), 1.0))


@dataclass(frozen=True, slots=True)
class Chunk:
    """Packed rows: which features are bytes, and the bytes of all, or where they are in a file."""

    n_rows: int
    coded: tuple[bool, ...]
    data: Bytes | None
    place: int = 0
    size: int = 0


def pack(layout: Layout, log_features: Array, codes: NDArray[np.integer], w: Array | None) -> tuple[Chunk, Tally]:
    """Pack some rows; a feature with a value that the sample did not have is kept as numbers here."""
    wide: list[Array] = []
    narrow: list[Bytes] = []
    coded: list[bool] = []
    weights = np.ones(len(codes)) if w is None else w.astype(np.float64)
    first, second = np.empty(len(log_features)), np.empty(len(log_features))
    for j, (u, values) in enumerate(zip(log_features.astype(layout.dtype, copy=False), layout.values, strict=True)):
        at = None if values is None else _positions(u, values)
        coded.append(at is not None)
        if at is None:
            wide.append(u)
        else:
            narrow.append(at)
        first[j], second[j] = _moments(u, at, values, weights, w is not None, layout.reference[j])
    classes = np.bincount(codes, weights=weights, minlength=layout.n_classes)
    parts = [*wide, *([w.astype(layout.dtype)] if layout.weighted and w is not None else [])]
    tail = [np.ascontiguousarray(codes, dtype=layout.code_dtype), *narrow]
    data = np.concatenate([np.ascontiguousarray(part).view(np.uint8) for part in [*parts, *tail]])
    tally = Tally(classes.astype(np.float64), first, second, len(codes))
    return Chunk(len(codes), tuple(coded), data, size=len(data)), tally


def _positions(u: Array, values: Array) -> Bytes | None:
    """Return the position of each number among the values, None where one is none of them."""
    if len(values) == 2:
        at = (u == values[1]).view(np.uint8)
        return at if np.count_nonzero(u == values[0]) + np.count_nonzero(at) == len(u) else None
    at = np.minimum(np.searchsorted(values, u), len(values) - 1).astype(np.uint8)
    return at if np.array_equal(values[at], u) else None


def _moments(
    u: Array, at: Bytes | None, values: Array | None, weights: Array, weighted: bool, reference: float
) -> tuple[float, float]:
    if at is not None and values is not None:
        totals = np.bincount(at, weights=weights if weighted else None, minlength=len(values))
        places = values.astype(np.float64) - reference
        return float(totals @ places), float(totals @ (places * places))
    deviation = u.astype(np.float64) - reference
    return float(weights @ deviation), float(weights @ (deviation * deviation))


class StoredBlocks:
    """Packed chunks as row blocks; made by `StoredBlocks.of`."""

    def __init__(
        self, layout: Layout, chunks: list[Chunk], tally: Tally, file: BinaryIO | None, *, n_threads: int
    ) -> None:
        self.layout, self.tally, self.n_threads = layout, tally, n_threads
        self.n_features, self.n_rows, self.dtype = len(layout.values), tally.n_rows, layout.dtype
        self.coordinates = tally.coordinates(layout.reference)
        self._chunks, self._file, self._reading = chunks, file, threading.Lock()
        self._firsts = [0, *itertools.accumulate(chunk.n_rows for chunk in chunks)][:-1]
        self._unpack = Unpacker.of(layout, self.coordinates, float(tally.classes.sum()))

    @classmethod
    def of(
        cls, layout: Layout, packed: Iterable[tuple[Chunk, Tally]], *, n_threads: int, in_file: bool = False
    ) -> StoredBlocks:
        """Keep chunks as they come, in memory or in an unnamed temporary file that ends with the process."""
        file = _unnamed_file() if in_file else None
        chunks: list[Chunk] = []
        tally: Tally | None = None
        for chunk, part in packed:
            tally = part if tally is None else tally + part
            if file is not None and chunk.data is not None:
                place = file.tell()
                file.write(chunk.data.tobytes())
                chunk = Chunk(chunk.n_rows, chunk.coded, None, place, chunk.size)  # noqa: PLW2901 - the bytes are let go
            chunks.append(chunk)
        if tally is None:
            raise ValueError("The table has no rows.")
        blocks = cls(layout, chunks, tally, file, n_threads=n_threads)
        if file is not None:
            weakref.finalize(blocks, file.close)
        return blocks

    def map(self, function: Callable[[Block], T]) -> list[T]:
        """Apply `function` tile by tile, on threads over chunks; results come in the order of the tiles."""
        work = list(zip(self._chunks, self._firsts, strict=True))

        def on_chunk(item: tuple[Chunk, int]) -> list[T]:
            return [function(block) for block in self._unpack.tiles(item[0], self._data(item[0]), item[1])]

        if self.n_threads == 1 or len(work) == 1 or on_pool_thread():
            return [result for item in work for result in on_chunk(item)]
        return [result for results in thread_pool(self.n_threads).map(on_chunk, work) for result in results]

    def each(self, function: Callable[[S], T], items: Iterable[S]) -> list[T]:
        """Apply `function` to every item."""
        return [function(item) for item in items]

    def _data(self, chunk: Chunk) -> Bytes:
        if self._file is None or chunk.data is not None:
            return cast("Bytes", chunk.data)
        with self._reading:  # one file, one place in it
            self._file.seek(chunk.place)
            return np.frombuffer(self._file.read(chunk.size), np.uint8)


def _unnamed_file() -> BinaryIO:
    """Return a temporary file that lives as long as the blocks that hold it."""
    return cast("BinaryIO", tempfile.TemporaryFile(prefix="ecsel-"))


@dataclass(frozen=True)
class Unpacker:
    """From packed rows to blocks of standardised logs; weights are divided by their total."""

    layout: Layout
    tables: tuple[Array | None, ...]
    centre: Array
    scale: Array
    total: float
    _buffers: threading.local = field(default_factory=threading.local, repr=False, compare=False)

    @classmethod
    def of(cls, layout: Layout, coordinates: Coordinates, total: float) -> Unpacker:
        """Standardise the values of coded features once."""
        centre = coordinates.centre.astype(layout.dtype)
        scale = (1 / coordinates.spread).astype(layout.dtype)
        tables = tuple(
            None if values is None else (values - centre[j]) * scale[j] for j, values in enumerate(layout.values)
        )
        return cls(layout, tables, centre, scale, total)

    def __reduce__(self) -> tuple[Any, ...]:
        """Travel without the buffers."""
        return Unpacker, (self.layout, self.tables, self.centre, self.scale, self.total)

    def tiles(self, chunk: Chunk, data: Bytes, first: int) -> Iterator[Block]:
        """Yield the blocks of a chunk; a block is overwritten by the next one of the same thread."""
        n, layout = chunk.n_rows, self.layout
        width = layout.dtype.itemsize
        n_wide = len(chunk.coded) - sum(chunk.coded)
        numbers = data[: (n_wide + layout.weighted) * n * width].view(layout.dtype).reshape(-1, n)
        rest = data[(n_wide + layout.weighted) * n * width :]
        codes = rest[: n * layout.code_dtype.itemsize].view(layout.code_dtype)
        narrow = rest[n * layout.code_dtype.itemsize :].reshape(-1, n)
        count = max(-(-n // TILE_ROWS), 1)
        edges = np.linspace(0, n, count + 1).astype(int)
        uniform = np.full(min(n, TILE_ROWS), 1 / self.total, layout.dtype)
        for a, b in itertools.pairwise(edges.tolist()):
            v = self._buffer()[:, : b - a]
            wide, coded = iter(numbers), iter(narrow)
            for j, is_coded in enumerate(chunk.coded):
                if is_coded:
                    self._look_up(j, next(coded)[a:b], v[j])
                else:
                    np.subtract(next(wide)[a:b], self.centre[j], out=v[j])
                    v[j] *= self.scale[j]
            w = numbers[-1][a:b] * layout.dtype.type(1 / self.total) if layout.weighted else uniform[: b - a]
            yield Block(v, codes[a:b], w, first + a)

    def _look_up(self, j: int, at: Bytes, out: Array) -> None:
        table = self.tables[j]
        assert table is not None  # noqa: S101 - a coded feature has values
        if len(table) == 2:
            np.multiply(at, table[1] - table[0], out=out)
            out += table[0]
        else:
            np.take(table, at, out=out, mode="clip")

    def _buffer(self) -> Array:
        if not hasattr(self._buffers, "v"):
            self._buffers.v = np.empty((len(self.tables), TILE_ROWS), self.layout.dtype)
        buffer: Array = self._buffers.v
        return buffer
