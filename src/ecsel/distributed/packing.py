"""From batches to packed row blocks: each batch is encoded, its rows get codes and weights, and it is let go."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from ecsel.fitting.rows.blocks import one_blas_thread, thread_pool
from ecsel.fitting.rows.chunks import pack
from ecsel.fitting.rows.stored import StoredBlocks

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from numpy.typing import NDArray

    from ecsel.distributed.sources import Batch, Source
    from ecsel.fitting.rows.chunks import Chunk, Layout, Tally
    from ecsel.tables import TableEncoder

S = TypeVar("S")
T = TypeVar("T")


@dataclass(frozen=True)
class Packer:
    """How the rows of a batch become a chunk; `class_weights` multiply the weights of rows, None: all one."""

    encoder: TableEncoder
    layout: Layout
    classes: NDArray[Any]
    class_weights: NDArray[np.float64] | None

    def __call__(self, batch: Batch) -> tuple[Chunk, Tally]:
        """Encode and pack a batch."""
        logs = self.encoder.log_features(batch.X, self.layout.dtype, warn=False)
        codes = self._codes(batch.labels)
        weights = batch.weights
        if self.class_weights is not None:
            weights = self.class_weights[codes] * (1.0 if weights is None else weights)
        return pack(self.layout, logs, codes, weights)

    def _codes(self, labels: NDArray[Any]) -> NDArray[Any]:
        """Return the positions of labels among the classes; whole numbers without gaps need no search."""
        classes = self.classes
        if labels.dtype.kind + classes.dtype.kind == "ii" and int(classes[-1]) - int(classes[0]) == len(classes) - 1:
            return labels.astype(np.intp) - int(classes[0])  # wide enough for the span of any labels
        return np.searchsorted(classes, labels)


def pack_source(source: Source, packer: Packer, *, n_threads: int) -> StoredBlocks:
    """Read a source once and keep its rows packed, in memory or in a file."""
    with one_blas_thread():
        packed = map_ahead(packer, source.batches(), n_threads)
        return StoredBlocks.of(packer.layout, packed, n_threads=n_threads, in_file=source.in_file)


def map_ahead(function: Callable[[S], T], items: Iterable[S], n_threads: int) -> Iterator[T]:
    """Apply a function on threads, in order, with no more items in flight than threads and one."""
    if n_threads == 1:
        yield from map(function, items)
        return
    flying: deque[Any] = deque()
    for item in items:
        flying.append(thread_pool(n_threads).submit(function, item))
        if len(flying) > n_threads:
            yield flying.popleft().result()
    while flying:
        yield flying.popleft().result()
