"""The values of a numeric column that a model accepts: one closed interval of doubles.

A model refuses infinite values, values whose image x' = scale·x + offset overflows or, with
``out_of_range="extrapolate"``, is not positive, and with ``"error"`` all values outside of the training range. The
image is monotone in x, also after rounding, so what is accepted is an interval; its ends are found by bisection over
the doubles themselves, so that an export agrees with the model on every number there is.
"""

from __future__ import annotations

import math
import struct
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from ecsel.tables import Feature, NumericColumn
    from ecsel.tables.report import OutOfRange

LARGEST = sys.float_info.max


def accepted_interval(
    column: NumericColumn, features: Iterable[Feature], out_of_range: OutOfRange
) -> tuple[float, float]:
    """Return the smallest and the largest value that a column with these features accepts.

    Examples
    --------
    >>> from ecsel.tables import Feature, NumericColumn
    >>> age = Feature("age", "age", "numeric", scale=0.5, offset=-9.0, low=20.0, high=38.0, baseline=1.5)
    >>> accepted_interval(NumericColumn("age", "float", 20.0, 38.0, "minmax"), [age], "extrapolate")
    (18.000000000000004, 1.7976931348623157e+308)
    """
    smallest, largest = -LARGEST, LARGEST
    for feature in features:
        if feature.kind == "missing":
            continue
        if out_of_range == "error":
            return column.low, column.high

        def is_accepted(x: float, feature: Feature = feature) -> bool:
            image = feature.positive(x)
            # clipping takes care of small images, but of small ones only
            return image < math.inf and (out_of_range == "clip" or image > 0)

        smallest = max(smallest, _furthest(column.low, -LARGEST, is_accepted))
        largest = min(largest, _furthest(column.high, LARGEST, is_accepted))
    return smallest, largest


def _furthest(start: float, end: float, holds: Callable[[float], bool]) -> float:
    """Return the double furthest from start, towards end, up to which the predicate holds; it holds at start."""
    if holds(end):
        return end
    good, bad = _ordinal(start), _ordinal(end)
    while abs(bad - good) > 1:
        middle = (good + bad) // 2
        good, bad = (middle, bad) if holds(_double(middle)) else (good, middle)
    return _double(good)


def _ordinal(x: float) -> int:
    """Return the place of a double among all doubles, in order."""
    (bits,) = struct.unpack("<q", struct.pack("<d", x))
    return int(bits) if bits >= 0 else -(int(bits) & 0x7FFF_FFFF_FFFF_FFFF)


def _double(ordinal: int) -> float:
    """Return the double at a place: the inverse of `_ordinal`."""
    (x,) = struct.unpack("<d", struct.pack("<q", abs(ordinal)))
    return math.copysign(float(x), ordinal)
