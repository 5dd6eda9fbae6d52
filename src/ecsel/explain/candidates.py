"""Candidates for counterfactuals: every kind of start is solved for; the nearest of each set of columns is kept."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ecsel.explain.level_choices import Choices, level_choices
from ecsel.explain.nearest import Segments, nearest_points, to_boundary
from ecsel.explain.rounding import round_integers
from ecsel.explain.starts import rank_within, scattered_points, single_moves

if TYPE_CHECKING:
    from ecsel.explain.search_space import BoolArray, IntArray, Space
    from ecsel.signomial.columns import FloatArray

CANDIDATES = 5
"""So many sets of columns are followed up for each answer that is wanted."""
LEEWAY = 2.0
"""Starts that stay this many times as dear as the last set that would be followed up are given up."""
SCANNED_CHOICES = 4
"""Choices of levels for which single moves and far points are looked at too."""


class Candidates(NamedTuple):
    """Points that fulfil the goal: coordinates of numbers, chosen levels, what they cost and which columns change."""

    row: IntArray
    points: FloatArray
    levels: IntArray
    distance: FloatArray
    changed: BoolArray
    """(candidates, columns of numbers and then of levels)."""


def search(space: Space, slack: FloatArray, n_answers: int) -> Candidates:
    """Return candidates that fulfil the goal with some slack (rows,): enough for so many answers to each row."""
    n = CANDIDATES * n_answers
    numbers = space.numbers
    choices = level_choices(space, slack)
    place = np.arange(choices.row.size) - np.searchsorted(choices.row, choices.row)
    scanned = np.flatnonzero(place < SCANNED_CHOICES)
    alone = single_moves(space, scanned, choices, slack)
    far = scattered_points(space, scanned, choices, slack)
    # what is known to reach the goal bounds what any other start may cost
    enough = np.flatnonzero(space.margin(numbers.start[choices.row], choices.fixed) >= slack[choices.row])
    alone_cost, far_cost = (_cost(space, choices, each.good, each.which) for each in (alone, far))
    reached_row = choices.row[np.concatenate([alone.which, far.which, enough])]
    reached = np.concatenate([alone_cost, far_cost, choices.price[enough]])
    limit = np.full(len(slack), np.inf)
    last = rank_within(reached_row, reached) == n - 1
    limit[reached_row[last]] = reached[last]
    # starts: levels with the rows' own numbers; no levels and all numbers but one; single moves; far points
    affordable = np.flatnonzero(choices.price <= limit[choices.row])
    unchanged, n_numbers = np.flatnonzero(place == 0), numbers.cost.size
    near = np.flatnonzero(rank_within(choices.row[alone.which], alone_cost) < n)
    which = np.concatenate([affordable, np.repeat(unchanged, n_numbers), alone.which[near], far.which])
    starts = numbers.start[choices.row[which]]
    starts[len(which) - near.size - far.which.size :] = np.concatenate([alone.good[near], far.good])
    allowed = np.ones(starts.shape, dtype=bool)
    but_one = np.arange(unchanged.size * n_numbers)
    allowed[affordable.size + but_one, but_one % max(n_numbers, 1)] = False
    together = nearest_points(space, starts, which, allowed, choices, slack, LEEWAY * limit)
    segments = Segments(*(np.concatenate(pair) for pair in zip(together, alone, strict=True)))
    points = to_boundary(space, segments, choices, slack)
    return _candidates(space, points, segments.which, choices, slack, n)


def _cost(space: Space, choices: Choices, points: FloatArray, which: IntArray) -> FloatArray:
    return space.numbers.distance(points, space.numbers.start[choices.row[which]]) + choices.price[which]


def _candidates(
    space: Space, points: FloatArray, which: IntArray, choices: Choices, slack: FloatArray, n: int
) -> Candidates:
    """Keep the nearest point of each set of changed columns, the n nearest sets of a row, and make integers whole."""
    numbers, row = space.numbers, choices.row[which]
    origin = numbers.start[row]
    points = np.where(np.abs(points - origin) * numbers.cost < 1e-12, origin, points)
    cost = _cost(space, choices, points, which)
    changed = _changed(points, origin, choices.levels[which])
    key = np.column_stack([row, np.packbits(changed, axis=1)])
    order = np.argsort(cost, kind="stable")
    nearest = order[np.unique(key[order], axis=0, return_index=True)[1]]
    nearest = nearest[rank_within(row[nearest], cost[nearest]) < n]
    row, which = row[nearest], which[nearest]
    points, found = round_integers(space, points[nearest], row, choices.fixed[which], slack[row])
    row, which, points = row[found], which[found], points[found]
    changed = _changed(points, numbers.start[row], choices.levels[which])
    return Candidates(row, points, choices.levels[which], _cost(space, choices, points, which), changed)


def _changed(points: FloatArray, origin: FloatArray, levels: IntArray) -> BoolArray:
    return np.concatenate([points != origin, levels >= 0], axis=1)
