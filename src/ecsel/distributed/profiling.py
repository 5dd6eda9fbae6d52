"""One pass over a table that does not fit: the rows from which its columns and classes are learned.

`TableEncoder.fit` needs of a column its extremes, its quartiles, its levels and whether values are missing. A profile
keeps the rows that tell: every stride-th row (the sample that quartiles are taken from in memory too), and for each
column the rows of its least and largest number, the first row of every level and the first row without a value. These
extra rows get a weight of almost nothing, so that they move no quartile. What the kept rows teach is then what all
rows teach: extremes, levels and the presence of missing values exactly, quartiles from the sample.

Class totals are exact; a profile of one part is added to the profile of the next.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ecsel.distributed.sources import pick_rows, stack_rows
from ecsel.tables.dates import TYPED, instants, is_temporal
from ecsel.tables.reading import read_table
from ecsel.tables.scaling import QUANTILE_ROWS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ecsel.distributed.sources import Batch
    from ecsel.tables.raw import RawColumn

MAX_LEVELS = 1000
"""Levels of a column that are looked for in every batch: more are rare ones, which are one level together."""
WITNESS_WEIGHT = 1e-9
"""Weight of a row that is kept for an extreme or a level, beside sampled rows of weight about one."""


@dataclass(frozen=True)
class ColumnProfile:
    """What is known of a column so far: its extremes, its levels, whether a value was missing."""

    low: float = np.inf
    high: float = -np.inf
    levels: frozenset[Any] = frozenset()
    missing: bool = False

    def look(self, raw: RawColumn) -> tuple[ColumnProfile, list[int]]:
        """Return what is known after these values, and the rows that are witnesses of what was not known before."""
        if is_temporal(raw):
            moments = instants(raw, TYPED)
            return self._look_at_numbers(np.where(np.isnat(moments), np.nan, moments.astype(np.float64)))
        kind, _ = raw.kind_and_dtype()
        if kind == "number":
            return self._look_at_numbers(np.asarray(raw.numbers(), dtype=np.float64))
        if len(self.levels) > MAX_LEVELS:
            return self, []
        distinct = raw.distinct()
        codes = raw.recoded(distinct, range(len(distinct)), -1)
        rows = [int(np.argmax(codes == code)) for code, level in enumerate(distinct) if level not in self.levels]
        gap = bool((codes == -1).any())
        if gap and not self.missing:
            rows.append(int(np.argmax(codes == -1)))
        return replace(self, levels=self.levels | set(distinct), missing=self.missing or gap), rows

    def _look_at_numbers(self, values: NDArray[np.float64]) -> tuple[ColumnProfile, list[int]]:
        rows, seen = [], self
        low, high = float(values.min()), float(values.max())
        if np.isnan(low):
            gaps = np.isnan(values)
            if not self.missing:
                rows.append(int(np.argmax(gaps)))
            seen = replace(seen, missing=True)
            if gaps.all():
                return seen, rows
            low, high = float(np.nanmin(values)), float(np.nanmax(values))
        if low < seen.low:
            rows.append(int(np.flatnonzero(values == low)[0]))
        if high > seen.high:
            rows.append(int(np.flatnonzero(values == high)[0]))
        return replace(seen, low=min(low, seen.low), high=max(high, seen.high)), rows


@dataclass(frozen=True)
class Profile:
    """The kept rows with their weights and labels, what is known of columns, and the totals of labels."""

    parts: tuple[Any, ...] = ()
    weights: tuple[NDArray[np.float64], ...] = ()
    labels: tuple[NDArray[Any], ...] = ()
    seen: tuple[ColumnProfile, ...] = ()
    totals: tuple[tuple[Any, float], ...] = ()

    @staticmethod
    def stride(n_rows: int) -> int:
        """Return the distance of sampled rows, that of `tables.scaling.summarise`."""
        return max(1, n_rows // QUANTILE_ROWS)

    def look(self, batch: Batch, stride: int) -> Profile:
        """Return the profile after a batch."""
        n_rows = len(batch.labels)
        weights = np.ones(n_rows) if batch.weights is None else batch.weights
        counted = np.flatnonzero(weights > 0)
        if not len(counted):
            return replace(self, totals=add_totals(self.totals, label_totals(batch.labels, weights)))
        # A row of weight zero counts for nothing, not even as a witness.
        table = read_table(batch.X if len(counted) == n_rows else pick_rows(batch.X, counted))
        seen = self.seen or tuple(ColumnProfile() for _ in table.columns)
        found = [known.look(raw) for known, raw in zip(seen, table.columns, strict=True)]
        sampled = np.arange(-batch.first % stride, n_rows, stride)
        sampled = sampled[weights[sampled] > 0]
        witnesses = np.setdiff1d(counted[[row for _, rows in found for row in rows]], sampled)
        rows = np.concatenate([sampled, witnesses])
        share = np.concatenate([weights[sampled] * stride, np.full(len(witnesses), WITNESS_WEIGHT)])
        return Profile(
            (*self.parts, pick_rows(batch.X, rows)),
            (*self.weights, share),
            (*self.labels, batch.labels[rows]),
            tuple(known for known, _ in found),
            add_totals(self.totals, label_totals(batch.labels, weights)),
        )

    def __add__(self, other: Profile) -> Profile:
        """Join the kept rows of two parts of a table; what is known is only needed while looking."""
        return Profile(
            self.parts + other.parts,
            self.weights + other.weights,
            self.labels + other.labels,
            (),
            add_totals(self.totals, other.totals),
        )

    @property
    def table(self) -> Any:
        """The kept rows as one table."""
        return stack_rows(list(self.parts))

    @property
    def row_weights(self) -> NDArray[np.float64]:
        """Their weights."""
        return np.concatenate(self.weights)

    @property
    def row_labels(self) -> NDArray[Any]:
        """Their labels."""
        return np.concatenate(self.labels)


def label_totals(labels: NDArray[Any], weights: NDArray[np.float64]) -> tuple[tuple[Any, float], ...]:
    """Return the total weight of each label."""
    different, codes = np.unique(labels, return_inverse=True)
    totals = np.bincount(codes.reshape(-1), weights=weights, minlength=len(different))
    return tuple(zip(different.tolist(), totals.tolist(), strict=True))


def add_totals(a: tuple[tuple[Any, float], ...], b: tuple[tuple[Any, float], ...]) -> tuple[tuple[Any, float], ...]:
    """Add up the totals of two parts of a table."""
    totals = dict(a)
    for label, total in b:
        totals[label] = totals.get(label, 0.0) + total
    return tuple(totals.items())
