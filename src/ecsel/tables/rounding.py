"""Numbers with few digits: near a number inside an interval, and the next ones below and above it."""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal

_MAX_DIGITS = 17
"""Every double differs from its neighbours within this many significant digits."""


def round_inside(value: float, low: float, high: float) -> float:
    """Return the value rounded to the fewest significant digits that leave it in [low, high].

    Examples
    --------
    >>> round_inside(37.4123, 36.7, 38.1), round_inside(2013.0, 2012.8, 2013.2)
    (37.0, 2013.0)
    """
    for digits in range(1, _MAX_DIGITS):
        rounded = float(f"{value:.{digits - 1}e}")
        if low <= rounded <= high:
            return rounded
    return value


def floor_digits(value: float, digits: int) -> float:
    """Return the largest number of so many significant digits that is not above the value.

    Examples
    --------
    >>> floor_digits(1987.0, 3), floor_digits(-1987.0, 2)
    (1980.0, -2000.0)
    """
    return _to_digits(value, digits, ROUND_FLOOR)


def ceil_digits(value: float, digits: int) -> float:
    """Return the smallest number of so many significant digits that is not below the value.

    Examples
    --------
    >>> ceil_digits(12345.6, 2), ceil_digits(0.0301, 2)
    (13000.0, 0.031)
    """
    return _to_digits(value, digits, ROUND_CEILING)


def _to_digits(value: float, digits: int, rounding: str) -> float:
    if value == 0 or not math.isfinite(value):
        return value
    exact = Decimal(value)
    unit = Decimal(1).scaleb(exact.adjusted() - digits + 1)
    return float((exact / unit).to_integral_value(rounding) * unit)
