"""Columns of numbers: x' = scale·x + offset, its logarithm, and its elasticity with respect to x.

In-range values need no clipping: rounding is monotone, so x ≥ low implies scale·x + offset ≥ scale·low + offset in
floating point too. The extremes of a block therefore tell whether anything has to be done about it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ecsel import _compiled
from ecsel.tables.errors import (
    refuse_infinite,
    refuse_new_missing,
    refuse_not_positive,
    refuse_out_of_range,
    refuse_overflow,
)
from ecsel.tables.report import ColumnReport, OutOfRange

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from ecsel.tables.columns import NumericColumn
    from ecsel.tables.features import Feature, Level
    from ecsel.tables.raw import RawColumn

_SMALLEST, _LARGEST = 1e-30, 1e30
"""Beyond these a positive feature loses digits in single precision."""


def is_missing(values: NDArray[Any], missing_codes: Sequence[Level] = ()) -> NDArray[np.bool_]:
    """Return the mask of NaN and of the codes that stand for a missing value."""
    missing: NDArray[np.bool_] = np.isnan(values)
    if missing_codes:
        missing |= np.isin(values, missing_codes)
    return missing


@dataclass(frozen=True, slots=True)
class NumberJob:
    """The encoding of one numeric column."""

    column: NumericColumn
    features: tuple[Feature, ...]
    values: NDArray[Any]
    out_of_range: OutOfRange
    log: bool

    @classmethod
    def prepare(
        cls,
        column: NumericColumn,
        features: Sequence[Feature],
        raw: RawColumn,
        *,
        out_of_range: OutOfRange,
        log: bool,
    ) -> NumberJob:
        """Read the numbers; everything else happens block by block."""
        return cls(column, tuple(features), raw.numbers(), out_of_range, log)

    def encode(self, rows: slice, out: NDArray[Any]) -> ColumnReport:
        """Write the features of a block of rows."""
        block = np.require(self.values[rows], dtype=np.float64, requirements=["C", "A"])
        if self._write_plain(block, out):
            return ColumnReport(self.column.name, self.column.low, self.column.high)
        raw, missing, extremes = self._observed(block)
        report = self._count(raw, extremes)
        outside = report.n_below or report.n_above
        for row, feature in zip(out, self.features, strict=True):
            if feature.kind == "missing":
                positive = np.full_like(raw, feature.floor)
            else:
                positive = _image(feature, raw, may_overflow=bool(outside))
                if outside:
                    self._settle(feature, raw, positive, rows.start)
            if missing is not None:
                positive[missing] = feature.fill
            row[:] = positive
            if self.log:
                single = row.dtype == np.float32 and not outside and _fits_single(feature)
                np.log(row if single else positive, out=row, casting="same_kind")
        return report

    def _write_plain(self, block: NDArray[np.float64], out: NDArray[Any]) -> bool:
        """Write a block in which nothing is odd by the compiled loop; False where there is more to do."""
        compiled = _compiled.compiled
        if compiled is None or not self.log or out.dtype != np.float32 or self.column.missing_codes:
            return False
        for row, feature in zip(out, self.features, strict=True):
            if feature.kind == "missing" or not _fits_single(feature):
                return False
            low, high = compiled.log_image(block, feature.scale, feature.offset, row)
            if not (self.column.low <= low and high <= self.column.high):  # nor where the lowest is NaN
                return False
        return True

    def _count(self, raw: NDArray[np.float64], extremes: tuple[float, float]) -> ColumnReport:
        """Count the values outside the training range; a column that was constant in training has none that matter."""
        low, high = self.column.low, self.column.high
        if (low <= extremes[0] and extremes[1] <= high) or all(feature.kind == "missing" for feature in self.features):
            return ColumnReport(self.column.name, low, high)
        n_below, n_above = int(np.count_nonzero(raw < low)), int(np.count_nonzero(raw > high))
        return ColumnReport(self.column.name, low, high, n_below, n_above)

    def _observed(
        self, raw: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.bool_] | None, tuple[float, float]]:
        """Return the block with an in-range number in place of missing values, where they were, and its extremes."""
        missing = None
        low, high = float(raw.min()), float(raw.max())
        # The minimum of a block is NaN exactly when the block holds one.
        if self.column.missing_codes or math.isnan(low):
            missing = is_missing(raw, self.column.missing_codes)
            if missing.any() and any(feature.fill is None for feature in self.features):
                everywhere = is_missing(self.values, self.column.missing_codes)
                refuse_new_missing(self.column.name, int(np.count_nonzero(everywhere)))
            raw = np.where(missing, self.column.low, raw)
            low, high = float(raw.min()), float(raw.max())
        if math.isinf(low) or math.isinf(high):
            refuse_infinite(self.column.name, self.values)
        return raw, missing, (low, high)

    def _settle(
        self, feature: Feature, raw: NDArray[np.float64], positive: NDArray[np.float64], first_row: int
    ) -> None:
        """Clip, extrapolate or refuse a block that has values outside the training range."""
        if self.out_of_range == "clip":
            np.maximum(positive, feature.floor, out=positive)
        elif self.out_of_range == "error":
            at = int(np.argmax((raw < feature.low) | (raw > feature.high)))
            refuse_out_of_range(self.column, raw[at], first_row + at)
        elif positive.min() <= 0:
            at = int(np.argmin(positive))
            refuse_not_positive(feature, raw[at], first_row + at)
        if np.isinf(positive.max()):
            at = int(np.argmax(positive))
            refuse_overflow(feature, raw[at], first_row + at)

    def elasticity(self, out: NDArray[np.float64]) -> None:
        """Write d log x'/d log x = scale·x / x' over all rows; 0 where x' is held at a clip or a missing value."""
        raw, missing, extremes = self._observed(np.asarray(self.values, dtype=np.float64))
        report = self._count(raw, extremes)
        outside = report.n_below or report.n_above
        for row, feature in zip(out, self.features, strict=True):
            if feature.kind == "missing":
                row.fill(0.0)
                continue
            positive = _image(feature, raw, may_overflow=bool(outside))
            if outside:
                self._settle(feature, raw, positive, first_row=0)
            np.divide(feature.scale * raw, positive, out=row)
            if self.out_of_range == "clip":
                row[raw < feature.low if feature.scale > 0 else raw > feature.high] = 0.0
            if missing is not None:
                row[missing] = 0.0


def _fits_single(feature: Feature) -> bool:
    """Whether the feature's training range keeps its digits in single precision, in which logs are much faster."""
    filled = feature.floor if feature.fill is None else feature.fill
    return min(feature.floor, filled) > _SMALLEST and max(feature.ceiling, filled) < _LARGEST


def _image(feature: Feature, raw: NDArray[np.float64], *, may_overflow: bool) -> NDArray[np.float64]:
    if may_overflow:  # `_settle` refuses an overflow by name
        with np.errstate(over="ignore"):
            return raw * feature.scale + feature.offset
    positive = raw * feature.scale
    positive += feature.offset
    return positive
