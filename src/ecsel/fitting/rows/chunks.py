"""Chunks of packed rows: each feature as numbers, or as one byte a row where it has few different values.

Indicators, hours and counts take a byte. A chunk lists, one after the other, the features kept as numbers, the weights
(where rows have any), the class codes, and the features kept as bytes; `unpacking` is the way back.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ecsel.fitting import kernel
from ecsel.fitting.rows.blocks import TILE_ROWS, Coordinates

if TYPE_CHECKING:
    from ecsel._typing import Array

Bytes = NDArray[np.uint8]

CHUNK_ROWS = 8 * TILE_ROWS
MAX_VALUES = 256


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
    def learn(cls, log_features: Array, n_classes: int, *, weighted: bool) -> Layout:
        """Look at a sample of log features (features × rows) for those with few values."""
        values: list[Array | None] = []
        for u in log_features:
            different = np.unique(u)
            values.append(different if len(different) <= MAX_VALUES and len(u) > 4 * len(different) else None)
        return cls(log_features.dtype, tuple(values), n_classes, weighted, log_features.mean(axis=1, dtype=np.float64))

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
    weights = None if w is None else w.astype(np.float64)
    first, second = np.empty(len(log_features)), np.empty(len(log_features))
    for j, (u, values) in enumerate(zip(log_features, layout.values, strict=True)):
        at, counts = (None, None) if values is None else _places(u, values)
        coded.append(at is not None)
        if at is None:
            wide.append(u)
        else:
            narrow.append(at)
        first[j], second[j] = _moments(u, (at, counts, values), weights, layout.reference[j])
    classes = np.bincount(codes, weights=weights, minlength=layout.n_classes)
    parts = [*wide, *([w.astype(layout.dtype)] if layout.weighted and w is not None else [])]
    tail = [np.ascontiguousarray(codes, dtype=layout.code_dtype), *narrow]
    data = np.concatenate([np.ascontiguousarray(part).view(np.uint8) for part in [*parts, *tail]])
    tally = Tally(classes.astype(np.float64), first, second, len(codes))
    return Chunk(len(codes), tuple(coded), data, size=len(data)), tally


Counts = NDArray[np.int64]


def _places(u: Array, values: Array) -> tuple[Bytes | None, Counts | None]:
    """Return the place of each number among the values and how often each occurs, None where one is none of them."""
    if kernel.compiled is not None and u.dtype == values.dtype == np.float32:
        at, counts = np.empty(len(u), np.uint8), np.empty(len(values), np.int64)
        known = kernel.compiled.places(u, np.require(values, requirements="A"), at, counts)  # it may have travelled
        if known >= 0:
            return (at, counts) if known == len(u) else (None, None)
    at = np.minimum(np.searchsorted(values, u), len(values) - 1).astype(np.uint8)
    if not np.array_equal(values[at], u):
        return None, None
    return at, np.bincount(at, minlength=len(values))


def _moments(
    u: Array,
    places: tuple[Bytes | None, Counts | None, Array | None],
    weights: NDArray[np.float64] | None,
    reference: float,
) -> tuple[float, float]:
    """Return the sums of weighted deviations from the reference, and of their squares."""
    at, counts, values = places
    if at is not None and counts is not None and values is not None:
        totals = counts if weights is None else np.bincount(at, weights=weights, minlength=len(values))
        apart = values.astype(np.float64) - reference
        return float(totals @ apart), float(totals @ (apart * apart))
    if weights is None and kernel.compiled is not None and u.dtype == np.float32:
        first, second = kernel.compiled.deviations(u, reference)
        return first, second
    deviation = u - u.dtype.type(reference)
    pull = deviation if weights is None else deviation * weights.astype(u.dtype)
    return float(np.add.reduce(pull)), float(np.dot(pull, deviation))
