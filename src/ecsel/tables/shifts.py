"""What is added to a raw column before a power is taken of it, as in `log(glucose + 50)` and `(year - 2000)**2`.

Roots, logarithms and negative powers need x + s > 0. The shift s of a column with the least value m, the greatest M and
the upper quartile q is

- 0 where the column is positive and either M/m < 1000 or median/m < 30: its logarithm is tame as it is;
- 1 for counts with q < 50, log(x + 1);
- otherwise a round number near w − m with w = max((q − m)/4, (M − m)/400), so that the least value becomes about w: the
  bulk of the column then spans a factor of about five, and its logarithm separates it without crowding at the minimum.

Positive whole powers use x + o, where the origin o is 0 except for columns far from zero (years, timestamps), whose
powers would otherwise be straight lines with enormous coefficients.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from ecsel.tables.quantiles import quantiles
from ecsel.tables.rounding import ceil_digits, floor_digits

if TYPE_CHECKING:
    from numpy.typing import NDArray

MAX_RATIO, MAX_MEDIAN_RATIO = 1000.0, 30.0
"""A positive column below either ratio to its minimum needs no shift; measured on seventeen tables."""

COUNT_QUARTILE = 50.0
"""Whole numbers with an upper quartile below this are counts, whose logarithm is log(x + 1)."""

FAR_FROM_ZERO = 5.0
"""A column further from zero than this many of its ranges has an origin of its own."""

_NEAR = 1.6
"""A rounded shift may move the image of the minimum by this factor; 1, 2, 5, 10, … are never more than √2.5 away."""

_SMALLEST = 1e-300
"""A width below this is rounding noise."""


def column_shift(values: NDArray[np.float64], weights: NDArray[np.float64] | None = None) -> float:
    """Return the shift s of a column of finite numbers, of at most two digits and with x + s > 0 in every row.

    Examples
    --------
    >>> column_shift(np.array([18.0, 40.0, 90.0])), column_shift(np.array([0.0, 3.0, 12.0]))
    (0.0, 1.0)
    >>> column_shift(np.array([0.0, 99.5, 117.0, 140.5, 199.0]))
    50.0
    """
    values, weights = _counted(values, weights)
    if not values.size:
        return 0.0
    low, high = float(values.min()), float(values.max())
    median, upper = quantiles(values, (0.5, 0.75), weights)
    if low > 0 and (high / MAX_RATIO < low or median / MAX_MEDIAN_RATIO < low):
        return 0.0
    if low >= 0 and upper < COUNT_QUARTILE and bool((values == np.floor(values)).all()):
        return 1.0
    return _round_shift(low, max(upper / 4 - low / 4, high / 400 - low / 400, _SMALLEST))


def column_origin(values: NDArray[np.float64], weights: NDArray[np.float64] | None = None) -> float:
    """Return the origin o of a column of finite numbers: minus a round number just below its minimum, or 0.

    Examples
    --------
    >>> column_origin(np.array([2003.0, 2007.0, 2019.0])), column_origin(np.array([18.0, 40.0, 90.0]))
    (-2000.0, 0.0)
    """
    values, _ = _counted(values, weights)
    if not values.size:
        return 0.0
    low, high = float(values.min()), float(values.max())
    width = high - low
    if not 0 < FAR_FROM_ZERO * width < max(low, -high):
        return 0.0
    floors = (floor_digits(low, digits) for digits in range(1, 18))
    return -next((floor for floor in floors if low - floor <= width), low)


def _round_shift(low: float, width: float) -> float:
    """Return the roundest s that makes low + s about `width`: 1, 2 or 5 with zeros, else one digit, else two."""
    target = width - low
    power = math.floor(math.log10(target))
    for digits in ((1, 2, 5), range(1, 10), range(10, 100)):
        shifts = {float(f"{digit}e{power + step}") for digit in digits for step in (-1, 0, 1)}
        near = [s for s in shifts if width / _NEAR <= low + s <= width * _NEAR]
        if near:
            return min(near, key=lambda s: (abs(math.log((low + s) / width)), s))
    shift = ceil_digits(target, 2)
    # Of a column far below zero the width is lost in the digits of the minimum.
    return shift if low + shift > 0 else ceil_digits(math.nextafter(-low, math.inf), 2)


def _counted(
    values: NDArray[np.float64], weights: NDArray[np.float64] | None
) -> tuple[NDArray[np.float64], NDArray[np.float64] | None]:
    """Leave out rows of weight zero, which count for nothing."""
    if weights is None or weights.all():
        return values, weights
    return values[weights > 0], weights[weights > 0]
