"""Row blocks: a solver never sees N rows, it asks for a sum over blocks.

`ArrayBlocks` keeps the standardised logs v = (u − mean u)/sd u feature-major, (features × rows), and cuts them into
tiles that fit the cache. Tiles may be worked on by several threads; their results are added in the order of the tiles,
with BLAS held to one thread, so that the bits of a fit do not depend on the number of threads.
"""

from __future__ import annotations

import itertools
import os
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from ecsel._typing import Array

S = TypeVar("S")
T = TypeVar("T")

TILE_ROWS = 8192


class Block(Protocol):
    """Some rows, wherever they come from."""

    @property
    def v(self) -> Array:
        """Standardised logs (features × rows)."""
        ...

    @property
    def codes(self) -> NDArray[np.integer]:
        """Class codes."""
        ...

    @property
    def w(self) -> Array:
        """Weights, which sum to one over the whole table."""
        ...

    @property
    def first(self) -> int:
        """The position of the first row in the table."""
        ...

    def at(self, rows: NDArray[np.integer]) -> Array:
        """Return the standardised logs of some rows."""
        ...


@dataclass(frozen=True, slots=True)
class ArrayBlock:
    """Rows of arrays."""

    v: Array
    codes: NDArray[np.integer]
    w: Array
    first: int

    def at(self, rows: NDArray[np.integer]) -> Array:
        """Return the standardised logs of some rows."""
        return self.v[:, rows]


class RowBlocks(Protocol):
    """What a solver may ask of the rows, wherever they are kept."""

    n_rows: int
    n_features: int
    dtype: Any
    n_threads: int

    def map(self, function: Callable[[Block], T]) -> list[T]:
        """Apply `function` to every block; results come in the fixed order of the blocks.

        Rows that are not in memory may come back with the results of neighbouring blocks added up (see `added`).
        """
        ...

    def each(self, function: Callable[[S], T], items: Sequence[S]) -> list[T]:
        """Apply `function` to what an earlier `map` has left of every block, in the same order."""
        ...


def added(a: Any, b: Any) -> Any:
    """Add the results of two blocks: numbers and arrays in double precision, lists end to end, tuples by entries."""
    if isinstance(a, tuple):
        return tuple(added(x, y) for x, y in zip(a, b, strict=True))
    if isinstance(a, np.ndarray) and a.dtype.kind == "f":
        return np.add(a, b, dtype=np.float64)
    return a + b


@dataclass(frozen=True, slots=True)
class Coordinates:
    """The centre and standard deviation of each log feature: v = (u − centre)/std."""

    centre: Array
    std: Array

    @classmethod
    def of(cls, log_features: Array, w: Array) -> Coordinates:
        """Return weighted means and standard deviations; a feature that does not vary gets 1."""
        total = float(w.sum(dtype=np.float64))
        centre = np.empty(len(log_features))
        std = np.empty(len(log_features))
        for j, u in enumerate(log_features):
            centre[j] = mean = float(np.dot(w, u)) / total
            deviation = u - u.dtype.type(mean)
            variance = float(np.dot(w, deviation * deviation)) / total
            std[j] = np.sqrt(variance) if variance > 1e-20 * (1 + mean * mean) else 1.0
        return cls(centre, std)

    @classmethod
    def raw(cls, n_features: int) -> Coordinates:
        """Return v = u."""
        return cls(np.zeros(n_features), np.ones(n_features))


class ArrayBlocks:
    """Rows in memory, in tiles of `TILE_ROWS`.

    Examples
    --------
    >>> import numpy as np
    >>> blocks = ArrayBlocks(np.zeros((2, 3)), np.array([0, 1, 1]), np.full(3, 1 / 3))
    >>> blocks.n_rows
    3
    """

    def __init__(self, v: Array, codes: NDArray[np.integer], w: Array, *, n_threads: int = 1) -> None:
        self.v, self.codes, self.w = v, codes, w
        self.n_features, self.n_rows = v.shape
        self.dtype = v.dtype
        self.n_threads = n_threads

    @classmethod
    def standardised(
        cls, log_features: Array, codes: NDArray[np.integer], w: Array, coordinates: Coordinates, *, n_threads: int = 1
    ) -> ArrayBlocks:
        """Standardise a copy of the logs; weights are scaled to sum to one."""
        v = np.empty(log_features.shape, log_features.dtype)  # in C order, whatever the order of the logs
        for j, u in enumerate(log_features):
            np.subtract(u, u.dtype.type(coordinates.centre[j]), out=v[j])
            v[j] *= u.dtype.type(1 / coordinates.std[j])
        w = (w / w.sum(dtype=np.float64)).astype(v.dtype)
        return cls(v, codes, w, n_threads=n_threads)

    def map(self, function: Callable[[Block], T]) -> list[T]:
        """Apply `function` tile by tile, on threads where there are several tiles and threads."""
        return self.each(function, self._tiles)

    @cached_property
    def _tiles(self) -> list[ArrayBlock]:
        """Tiles of equal size; they depend on the number of rows alone, so that sums have one order."""
        count = max(-(-self.n_rows // TILE_ROWS), 1)
        edges = np.linspace(0, self.n_rows, count + 1).astype(int)
        cuts = [slice(a, b) for a, b in itertools.pairwise(edges)]
        return [ArrayBlock(self.v[:, s], self.codes[s], self.w[s], int(s.start)) for s in cuts]

    def each(self, function: Callable[[S], T], items: Sequence[S]) -> list[T]:
        """Apply `function` to every item, on threads where there are several."""
        if self.n_threads == 1 or len(items) == 1 or on_pool_thread():
            return [function(item) for item in items]
        return list(thread_pool(self.n_threads).map(function, items))

    def astype(self, dtype: Any) -> ArrayBlocks:
        """Return the same rows in another precision."""
        return ArrayBlocks(self.v.astype(dtype), self.codes, self.w.astype(dtype), n_threads=self.n_threads)

    def take(self, rows: NDArray[np.integer], weights: Array) -> ArrayBlocks:
        """Return the chosen rows with new weights, scaled to sum to one."""
        w = (weights / weights.sum(dtype=np.float64)).astype(self.dtype)
        v = np.ascontiguousarray(self.v[:, rows])
        return ArrayBlocks(v, self.codes[rows], w, n_threads=self.n_threads)


def thread_pool(n_threads: int) -> ThreadPoolExecutor:
    """Return the threads that share out row blocks; a forked process has none of its parent's and gets its own."""
    return _pool(n_threads, os.getpid())


@lru_cache(maxsize=4)
def _pool(n_threads: int, process: int) -> ThreadPoolExecutor:
    del process
    return ThreadPoolExecutor(n_threads, thread_name_prefix="ecsel")


def on_pool_thread() -> bool:
    """Whether the caller is one of these threads: work that it handed to its own pool could wait for ever."""
    return threading.current_thread().name.startswith("ecsel")


@lru_cache(maxsize=1)
def _blas() -> Any:
    from threadpoolctl import ThreadpoolController  # noqa: PLC0415 - scanning the loaded libraries is left to the first fit

    return ThreadpoolController()


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Hold BLAS to one thread: the blocks are the parallelism, and sums keep their order."""
    with _blas().limit(limits=1, user_api="blas"):
        yield
