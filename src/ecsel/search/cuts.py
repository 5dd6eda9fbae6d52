"""Cuts of a column: round numbers near its quantiles, for thresholds that people can remember.

Near each of the quantiles .1, .25, .5, .75 and .9 the number with the fewest digits is taken among those within three
percentiles; of equally short ones the nearest. A cut never lies on a value that occurs next to another one: it is
rounded inside the gap between neighbouring values. Centres, from which distances |x − c| are measured, may lie within
six percentiles.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from ecsel._typing import Floats

QUANTILES = (0.1, 0.25, 0.5, 0.75, 0.9)
REACH, CENTRE_REACH = 0.03, 0.06
"""How far from a quantile, in shares of rows, a cut or a centre may lie: a distance hardly changes with its centre."""
MIN_DISTINCT = 6
"""Columns of fewer different values have indicators of their own."""


def round_cuts(values: Floats, weights: Floats) -> tuple[float, ...]:
    """Return the cuts of a column, sorted.

    >>> round_cuts(np.arange(100.0), np.ones(100))
    (10.0, 24.0, 50.0, 74.0, 90.0)
    """
    distinct, share = _distribution(values, weights)
    if len(distinct) < MIN_DISTINCT:
        return ()
    cuts = set()
    for q in QUANTILES:
        low, high = (int(np.searchsorted(share, at - 1e-12)) for at in (max(q - REACH, 0.0), min(q + REACH, 1.0)))
        middle = int(np.searchsorted(share, q - 1e-12))
        # x > cut puts the rows up to `middle` on one side: any number up to the next value is the same cut
        bottom, top = float(distinct[min(low, len(distinct) - 2)]), float(distinct[min(high + 1, len(distinct) - 1)])
        cut = round_between(bottom, top, float(distinct[min(middle, len(distinct) - 2)]))
        if distinct[0] < cut < distinct[-1]:
            cuts.add(cut)
    return tuple(sorted(cuts))


def round_centres(values: Floats, weights: Floats) -> tuple[float, ...]:
    """Return typical values of a column, from which distances are measured: round numbers near the five quantiles.

    The middle one stands first. A column of few different values has none.

    >>> round_centres(np.arange(100.0), np.ones(100))
    (50.0, 10.0, 20.0, 70.0, 90.0)
    """
    distinct, share = _distribution(values, weights)
    if len(distinct) < MIN_DISTINCT:
        return ()
    centres = []
    for q in sorted(QUANTILES, key=lambda q: q != 0.5):
        ends = (q - CENTRE_REACH, q, q + CENTRE_REACH)
        low, near, high = (float(distinct[min(int(np.searchsorted(share, at)), len(distinct) - 1)]) for at in ends)
        centres.append(round_between(low, high, near) if low < high else near)
    return tuple(dict.fromkeys(centres))


def _distribution(values: Floats, weights: Floats) -> tuple[Floats, Floats]:
    """Return the different values, sorted, and the share of the rows up to each."""
    distinct, places = np.unique(values, return_inverse=True)
    return distinct, np.cumsum(np.bincount(places, weights=weights)) / weights.sum()


def round_between(low: float, high: float, near: float) -> float:
    """Return the number of fewest digits in [low, high), of equally short ones the nearest to a given one."""
    if low <= 0.0 < high:
        return 0.0
    for digits in range(1, 17):
        power = 10.0 ** (np.floor(np.log10(max(abs(low), abs(high)))) - digits + 1)
        found = [float(f"{k * power:.{digits}g}") for k in range(int(np.ceil(low / power)), int(np.ceil(high / power)))]
        found = [each for each in found if low <= each < high]
        if found:
            return min(found, key=lambda each: (abs(each - near), each))
    return near
