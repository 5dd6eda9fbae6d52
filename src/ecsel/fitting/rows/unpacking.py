"""From packed rows back to standardised logs, no sooner than they are asked for.

A compiled pass (`sweeps`) reads the packed rows themselves; every other reader unpacks a block into a buffer that stays
in the cache.
"""

from __future__ import annotations

import itertools
import threading
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ecsel.fitting import kernel
from ecsel.fitting.rows.blocks import TILE_ROWS
from ecsel.fitting.rows.chunks import CHUNK_ROWS, MAX_VALUES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from ecsel._typing import Array
    from ecsel.fitting.rows.blocks import Coordinates
    from ecsel.fitting.rows.chunks import Bytes, Chunk, Layout


@dataclass(frozen=True)
class Unpacker:
    """How packed features become standardised logs; weights are divided by their total.

    `tables` (features × 256) are the standardised values of the features that are kept as bytes.
    """

    layout: Layout
    tables: Array
    centre: Array
    scale: Array
    total: float
    _buffers: threading.local = field(default_factory=threading.local, repr=False, compare=False)

    @classmethod
    def of(cls, layout: Layout, coordinates: Coordinates, total: float) -> Unpacker:
        """Standardise the values of coded features once."""
        centre = coordinates.centre.astype(layout.dtype)
        scale = (1 / coordinates.std).astype(layout.dtype)
        tables = np.zeros((len(centre), MAX_VALUES), layout.dtype)
        for j, values in enumerate(layout.values):
            if values is not None:
                tables[j, : len(values)] = (values - centre[j]) * scale[j]
        return cls(layout, tables, centre, scale, total)

    def __reduce__(self) -> tuple[Any, ...]:
        """Travel without the buffers."""
        return Unpacker, (self.layout, self.tables, self.centre, self.scale, self.total)

    def blocks(self, chunk: Chunk, data: Bytes, first: int) -> Iterator[PackedBlock]:
        """Yield the rows of a chunk: at once where a compiled pass reads them, else in tiles that fit the cache."""
        rows = CHUNK_ROWS if kernel.sweeps(self.layout.dtype, self.layout.n_classes) else TILE_ROWS
        edges = np.linspace(0, chunk.n_rows, max(-(-chunk.n_rows // rows), 1) + 1).astype(int)
        for a, b in itertools.pairwise(edges.tolist()):
            yield PackedBlock(self, chunk, data, a, b, first + a)

    def unpack(self, j: int, column: NDArray[Any], coded: bool, out: Array) -> None:
        """Write the standardised logs of a feature."""
        if not coded:
            np.subtract(column, self.centre[j], out=out)
            out *= self.scale[j]
        elif self.has_two_values(j):
            low, high = self.tables[j, :2]
            np.multiply(column, high - low, out=out)
            out += low
        else:
            np.take(self.tables[j], column, out=out)

    def has_two_values(self, j: int) -> bool:
        """Whether a feature is kept as bytes that are 0 or 1."""
        values = self.layout.values[j]
        return values is not None and len(values) == 2

    def buffer(self, n_rows: int) -> Array:
        """Return room for logs, which the next block of the same thread overwrites."""
        room: Array | None = getattr(self._buffers, "v", None)
        if room is None or room.shape[1] < n_rows:
            room = self._buffers.v = np.empty((len(self.centre), n_rows), self.layout.dtype)
        return room[:, :n_rows]


@dataclass(frozen=True)
class PackedBlock:
    """The rows from `start` to `stop` of a chunk."""

    unpacker: Unpacker
    chunk: Chunk
    data: Bytes
    start: int
    stop: int
    first: int

    @property
    def v(self) -> Array:
        """The standardised logs, in a buffer that the next block of the same thread overwrites."""
        return self._unpacked(slice(self.start, self.stop), self.unpacker.buffer(self.stop - self.start))

    def at(self, rows: NDArray[np.integer]) -> Array:
        """Return the standardised logs of some rows."""
        return self._unpacked(
            rows + self.start, np.empty((len(self.chunk.coded), len(rows)), self.unpacker.layout.dtype)
        )

    @cached_property
    def codes(self) -> NDArray[np.integer]:
        """The class codes."""
        layout = self.unpacker.layout
        begin = self._n_numbers * self.chunk.n_rows * layout.dtype.itemsize
        codes = self.data[begin : begin + self.chunk.n_rows * layout.code_dtype.itemsize].view(layout.code_dtype)
        return codes[self.start : self.stop]

    @cached_property
    def w(self) -> Array:
        """The weights, which sum to one over the whole table."""
        layout, share = self.unpacker.layout, 1 / self.unpacker.total
        if not layout.weighted:
            return np.full(self.stop - self.start, share, layout.dtype)
        return np.asarray(self._numbers[-1][self.start : self.stop] * layout.dtype.type(share))

    @property
    def _n_numbers(self) -> int:
        return len(self.chunk.coded) - sum(self.chunk.coded) + self.unpacker.layout.weighted

    @property
    def _numbers(self) -> Array:
        """The features that are kept as numbers, and the weights."""
        layout, n = self.unpacker.layout, self.chunk.n_rows
        return self.data[: self._n_numbers * n * layout.dtype.itemsize].view(layout.dtype).reshape(-1, n)

    def _unpacked(self, rows: slice | NDArray[np.integer], out: Array) -> Array:
        n_narrow = sum(self.chunk.coded)
        narrow = self.data[len(self.data) - n_narrow * self.chunk.n_rows :].reshape(n_narrow, self.chunk.n_rows)
        numbers, places = iter(self._numbers), iter(narrow)
        for j, coded in enumerate(self.chunk.coded):
            self.unpacker.unpack(j, next(places if coded else numbers)[rows], coded, out[j])
        return out
