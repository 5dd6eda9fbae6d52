"""Points to start from that reach the goal already, found without a gradient.

Single coordinates are scanned on their own, which finds the first crossing where g is not monotone; and points
scattered over the box find regions that the gradient at the row does not point to.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from ecsel.explain.nearest import Segments

if TYPE_CHECKING:
    from ecsel.explain.level_choices import Choices
    from ecsel.explain.search_space import BoolArray, IntArray, Space
    from ecsel.signomial.columns import FloatArray

SCAN = np.linspace(0.0, 1.0, 17) ** 1.5
"""Shares of the way to a bound at which single coordinates are looked at: denser near the row itself."""
SCATTERED, SCATTERED_KEPT = 128, 6
"""Points of the box that are looked at, and how many of them become starts."""


def rank_within(row: IntArray, *keys: FloatArray | IntArray) -> IntArray:
    """Return the place of each item among those of its row, sorted by the first key, then by the next.

    Examples
    --------
    >>> rank_within(np.array([0, 1, 0, 1]), np.array([0.5, 3.0, 0.2, 4.0])).tolist()
    [1, 0, 0, 1]
    """
    order = np.lexsort((*reversed(keys), row))
    place = np.arange(row.size)
    rank = np.empty(row.size, dtype=np.intp)
    rank[order] = place - np.searchsorted(row[order], row[order])
    return rank


def single_moves(space: Space, which: IntArray, choices: Choices, slack: FloatArray) -> Segments:
    """Return segments around the first crossing when one coordinate moves alone, up or down, for some choices."""
    numbers, row = space.numbers, choices.row[which]
    start = numbers.start[row]
    ends = np.stack([numbers.high[row], numbers.low[row]], axis=1)
    values = start[:, None, None] + SCAN[:, None] * (ends - start[:, None])[:, :, None]  # (choices, 2, steps, columns)
    logs = np.log(np.maximum(numbers.features_at(values), numbers.floor))
    logs -= logs[:, :1, :1]
    by_feature = logs[..., None] * space.moving
    if not numbers.one_each:
        by_feature = np.add.reduceat(by_feature, np.searchsorted(numbers.owner, np.arange(start.shape[1])), axis=3)
    own = choices.fixed[which] + space.number_logs(start)
    g = space.margin_of_logs(by_feature + own[:, None, None, None])
    reached = g >= slack[row][:, None, None, None]
    first = reached.argmax(axis=2)
    at, way, column = np.nonzero(first > 0)
    step = first[at, way, column]
    bad, good = start[at], start[at]
    line = np.arange(at.size)
    bad[line, column], good[line, column] = values[at, way, step - 1, column], values[at, way, step, column]
    return Segments(bad, good, which[at])


def scattered_points(space: Space, which: IntArray, choices: Choices, slack: FloatArray) -> Segments:
    """Return segments from rows to the cheapest of many points in the box that fulfil the goal, for some choices.

    Some coordinates of a point stay as they are, the others lie between the row and a bound; always the same points.
    """
    numbers = space.numbers
    start = numbers.start[:, None]
    up, share = _scattered_shares(numbers.cost.size)
    points = start + share * (np.where(up, numbers.high[:, None], numbers.low[:, None]) - start)
    row = choices.row[which]
    g = space.margin_of_logs(space.number_logs(points)[row] + choices.fixed[which][:, None])
    at, point = np.nonzero(g >= slack[row][:, None])
    kept = rank_within(row[at], numbers.distance(points, start)[row[at], point]) < SCATTERED_KEPT
    at, point = at[kept], point[kept]
    return Segments(numbers.start[row[at]], points[row[at], point], which[at])


@cache
def _scattered_shares(n_columns: int) -> tuple[BoolArray, FloatArray]:
    """Return for each point and coordinate whether it moves up, and how far; always the same."""
    rng = np.random.default_rng(0)
    shape = (SCATTERED, n_columns)
    up = rng.random(shape) >= 0.5
    share = np.minimum(1.0, 1.25 * rng.random(shape)) * (rng.random(shape) < 0.6)
    for each in (up, share):
        each.setflags(write=False)
    return up, share
