"""Numbers that stand for a missing value: −999, 9999, −1 in a column that is otherwise not negative.

A code is taken for one where it is frequent (at least `MIN_ROWS` rows and `MIN_SHARE` of them), an extreme of the
column and isolated: further from the nearest other value than the other values are from each other. Below zero, −1 and
−9 need no such distance where all other values are 0 or more and reach 10, if they are no whole numbers, or if the code
is `CROWDED` times as frequent as the least of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ecsel.tables.features import Level

ISOLATED = frozenset(sign * (10**k - 1) for k in range(3, 10) for sign in (-1, 1)) | {-99.0}
"""Codes that must lie apart: 999, 9999, … and their negatives, and −99."""
BELOW_ZERO = (-1.0, -9.0)
MIN_ROWS, MIN_SHARE = 5, 0.002
LARGE = 10.0
"""Other values must reach this for −1 to be no value among them, as it is in {−1, 0, 1}."""
CROWDED = 3
"""A whole number below zero that merely continues the others would not be this many times as frequent as the next."""


def find_missing_codes(values: NDArray[np.float64]) -> tuple[Level, ...]:
    """Return the codes for missing values in a column of numbers.

    Examples
    --------
    >>> find_missing_codes(np.array([3.5, 7.0, 12.0, 20.5] * 10 + [-999.0] * 5))
    (-999,)
    >>> find_missing_codes(np.array([0.0, 1.0, -1.0] * 10))
    ()
    """
    rest = values[np.isfinite(values)]
    least = max(MIN_ROWS, MIN_SHARE * values.size)
    found: list[int] = []
    while rest.size:
        code = next((c for c in _extremes(rest) if _is_code(c, rest, least)), None)
        if code is None:
            break
        found.append(int(code))
        rest = rest[rest != code]
    return tuple(sorted(found))


def _extremes(values: NDArray[np.float64]) -> list[float]:
    ends = (float(values.min()), float(values.max()))
    return [end for end in ends if end in ISOLATED or end in BELOW_ZERO]


def _is_code(code: float, values: NDArray[np.float64], least: float) -> bool:
    is_code = values == code
    count = int(np.count_nonzero(is_code))
    if count < least or count == values.size:
        return False
    rest = values[~is_code]
    low, high = float(rest.min()), float(rest.max())
    if code in BELOW_ZERO:
        whole = bool((rest == np.floor(rest)).all())
        return low >= 0 and high >= LARGE and not (whole and count <= CROWDED * np.count_nonzero(rest == low))
    gap = low - code if code < low else code - high
    return low < high and gap > high - low
