"""Where along many segments at once a goal begins to hold: regula falsi with the Illinois rule, kept from stalling.

With g(0) < 0 ≤ g(1) the next share is where the chord through both ends vanishes; an end that stays twice has its g
halved, which makes the other side move (order 1.44). Every fourth share is the middle, so that the bracket of a wild g
shrinks too. About ten evaluations take the place of the 34 of a bisection.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from ecsel._typing import Floats

WIDTH = 2.0**-34
"""Brackets end at this share of a segment, which is far below any unit that a person would change a column by."""
ROUNDS = 140
"""Four times the halvings that the width asks for: no g needs more."""
TINY = 1e-300


def crossing(g: Callable[[Floats], Floats], g_low: Floats, g_high: Floats, width: Floats | float = WIDTH) -> Floats:
    """Return shares with g ≥ 0 next to shares, within `width`, where it does not hold; 0 where it holds there.

    `g_low` and `g_high` are g(0) and g(1) ≥ 0.

    Examples
    --------
    >>> root = np.array([0.1, 0.5])
    >>> crossing(lambda share: share**3 - root**3, -(root**3), 1 - root**3).round(9)
    array([0.1, 0.5])
    """
    low, high = np.zeros(g_low.size), np.ones(g_low.size)
    high[g_low >= 0] = 0.0
    g_low = np.minimum(g_low, -TINY)  # below g_high for the segments that are done, too
    last = np.zeros(g_low.size, dtype=bool)  # whether the upper end moved last
    for attempt in range(1, ROUNDS):
        bracket = high - low
        going = bracket > width
        if not np.count_nonzero(going):
            break
        share = bracket * (0.5 if attempt % 4 == 0 else g_high / (g_high - g_low))
        share = np.maximum(low + width / 2, high - np.maximum(share, width / 2))
        value = g(share)
        holds = value >= 0
        weight = np.where(holds == last, 0.5, 1.0) if attempt > 1 else 1.0
        g_low, g_high = np.where(holds, weight * g_low, value), np.where(holds, value, weight * g_high)
        high, low = np.where(going & holds, share, high), np.where(going & ~holds, share, low)
        last = holds
    return high
