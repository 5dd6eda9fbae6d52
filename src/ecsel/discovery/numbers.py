"""Simple numbers: which values a coefficient may be rounded to, and what it costs to name them.

p/q                 1.0 + 1.7 ln|p| + 2 ln q
(p/q) pi^e          the same + 2.0 + 1.0 |e|,   e = ±1, ±2
s-digit decimal     1.8 + 2.3 s + 0.8 |decade|
a real number       1.5, beside its share of the criterion's parameter price
"""

import math
from fractions import Fraction

import numpy as np

from ecsel._typing import Floats

REAL = 1.5
"""Nats for saying that a coefficient is a real number."""
_DENOMINATORS = np.arange(1, 13)
_PI_DENOMINATORS = np.array([1, 2, 3, 4, 5, 6, 8, 9, 12, 16, 32])
_PI_POWERS = (1, -1, 2, -2)
_DIGITS = np.array([1.0, 2.0, 3.0, 4.0])
_SHIFTS = {1: (0, -1, 1, -2, 2, -3, 3), 2: (0, -1, 1)}


def _grid() -> tuple[Floats, Floats, Floats]:
    """Return unit (1/q or pi^e/q), base cost and shift of every way to write p times a unit near a number."""
    unit, cost, shift = [], [], []
    for q in _DENOMINATORS:
        for s in _SHIFTS.get(int(q), (0,)):
            unit.append(1.0 / q)
            cost.append(1.0 + 2.0 * math.log(q))
            shift.append(s)
    for e in _PI_POWERS:
        for q in _PI_DENOMINATORS:
            unit.append(math.pi**e / q)
            cost.append(1.0 + 2.0 * math.log(q) + 2.0 + abs(e))
            shift.append(0)
    return np.array(unit), np.array(cost), np.array(shift, dtype=float)


_UNIT, _BASE_COST, _SHIFT = _grid()


def simple_numbers(values: Floats) -> tuple[Floats, Floats]:
    """Return simple numbers near each value (values, choices) and their description lengths, infinite where none is.

    >>> near, costs = simple_numbers(np.array([0.4999]))
    >>> float(near[0, np.argmin(costs[0] + 100 * abs(near[0] - 0.4999))])
    0.5
    """
    column = np.where(np.isfinite(values) & (values != 0.0), values, np.nan)[:, None]
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        p = np.round(column / _UNIT) + _SHIFT
        costs = np.where((p != 0) & (np.abs(p) < 1e6), _BASE_COST + 1.7 * np.log(np.abs(p)), np.inf)
        decade = np.floor(np.log10(np.abs(column)))
        scale = 10.0 ** (decade - _DIGITS + 1.0)
        # Dividing by the reciprocal power gives the decimal's own float where multiplying would be one bit off.
        decimals = np.where(
            scale < 1.0, np.round(column / scale) / np.round(1.0 / scale), np.round(column / scale) * scale
        )
    lengths = np.broadcast_to(1.8 + 2.3 * _DIGITS + 0.8 * np.abs(decade), decimals.shape)
    near, length = np.concatenate([p * _UNIT, decimals], axis=1), np.concatenate([costs, lengths], axis=1)
    usable = np.isfinite(near) & np.isfinite(length)
    return np.where(usable, near, 0.0), np.where(usable, length, np.inf)


def significant_digits(values: Floats) -> Floats:
    """Return the number of significant digits of each value, infinite where it is no decimal of few digits.

    >>> significant_digits(np.array([0.23, -700.0, 1.25, 1 / 3]))
    array([ 2.,  1.,  3., inf])
    """
    size = np.abs(values)
    found = np.full(size.shape, np.inf)
    decade = np.floor(np.log10(np.where(size > 0, size, 1.0)))
    for s in _DIGITS[::-1]:
        scale = 10.0 ** (decade - s + 1.0)
        found = np.where(np.abs(np.round(size / scale) * scale - size) <= 1e-12 * size, s, found)
    return found


def name_number(value: float) -> tuple[Fraction, int] | None:
    """Return (r, e) with value = r pi^e for a simple rational r, ``None`` when there is none.

    >>> name_number(4 * math.pi), name_number(0.5), name_number(0.1234567)
    ((Fraction(4, 1), 1), (Fraction(1, 2), 0), None)
    """
    for power, denominators in ((0, _DENOMINATORS), *((e, _PI_DENOMINATORS) for e in _PI_POWERS)):
        for q in denominators:
            p = value / math.pi**power * int(q)
            if 1 <= abs(round(p)) < 1000 and abs(p - round(p)) <= 1e-12 * abs(p):
                return Fraction(round(p), int(q)), power
    return None
