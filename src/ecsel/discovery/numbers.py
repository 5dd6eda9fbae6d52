"""Simple numbers: which values a coefficient may be rounded to, and what it costs to name them.

    p/q                 1.0 + 1.7 ln|p| + 2 ln q
    (p/q) pi^e          the same + 2.0 + 1.0 |e|,   e = ±1, ±2
    s-digit decimal     1.8 + 2.3 s + 0.8 |decade|
"""

import math
from fractions import Fraction

import numpy as np

from ecsel.discovery.lattice import Floats

_DENOMINATORS = np.arange(1, 13)
_PI_DENOMINATORS = np.array([1, 2, 3, 4, 5, 6, 8, 9, 12, 16, 32])
_PI_POWERS = (1, -1, 2, -2)
_DIGITS = (1, 2, 3, 4)
_SHIFTS = np.array([0, -1, 1])


def _grid() -> tuple[Floats, Floats, Floats]:
    """Return unit (1/q or pi^e/q), base cost and shift of every way to write p times a unit near a number."""
    unit, cost, shift = [], [], []
    for q in _DENOMINATORS:
        for s in _SHIFTS if q <= 2 else _SHIFTS[:1]:
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


def simple_numbers(value: float) -> tuple[Floats, Floats]:
    """Return simple numbers near a value and their description lengths.

    >>> values, costs = simple_numbers(0.4999)
    >>> float(values[np.argmin(costs + 100 * abs(values - 0.4999))])
    0.5
    """
    if not np.isfinite(value) or value == 0.0:
        return np.zeros(0), np.zeros(0)
    p = np.round(value / _UNIT) + _SHIFT
    ok = (p != 0) & (np.abs(p) < 1e6)
    values, costs = p[ok] * _UNIT[ok], _BASE_COST[ok] + 1.7 * np.log(np.abs(p[ok]))
    decade = math.floor(math.log10(abs(value)))
    decimals = np.array([float(f"{value:.{s - 1}e}") for s in _DIGITS])
    lengths = 1.8 + 2.3 * np.array(_DIGITS) + 0.8 * abs(decade)
    return np.concatenate([values, decimals]), np.concatenate([costs, lengths])


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
