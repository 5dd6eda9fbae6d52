"""Rows that are packed once and unpacked at every pass: in memory, or in a temporary file.

In a file the chunks take about half the size of the table in double precision; they are read by plain reads, which use
what memory the system can spare and need none of the process.
"""

from __future__ import annotations

import itertools
import tempfile
import threading
import weakref
from typing import TYPE_CHECKING, BinaryIO, TypeVar, cast

import numpy as np

from ecsel.fitting.rows.blocks import on_pool_thread, thread_pool
from ecsel.fitting.rows.chunks import Chunk
from ecsel.fitting.rows.unpacking import Unpacker

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from ecsel.fitting.rows.blocks import Block
    from ecsel.fitting.rows.chunks import Bytes, Layout, Tally

S = TypeVar("S")
T = TypeVar("T")


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
            return [function(block) for block in self._unpack.blocks(item[0], self._data(item[0]), item[1])]

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
