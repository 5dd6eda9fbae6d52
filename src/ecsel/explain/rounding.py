"""Whole numbers for columns of integers, and a last look around.

A continuous answer is rounded away from the row, which keeps it on the side it has reached wherever the score is
monotone. Then the cheapest neighbour is taken for as long as one fulfils the goal: one integer moved a unit back, or
moved back while another moves on. What is left of the continuous columns is pulled back to the boundary.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from ecsel.explain.crossing import crossing

if TYPE_CHECKING:
    from ecsel.explain.search_space import BoolArray, IntArray, Space
    from ecsel.signomial.columns import FloatArray

ROUNDS = 60


def round_integers(
    space: Space, points: FloatArray, row: IntArray, fixed: FloatArray, slack: FloatArray
) -> tuple[FloatArray, BoolArray]:
    """Return points whose integer columns are whole, and whether one was found near the given point at all."""
    numbers, found = space.numbers, np.ones(len(points), dtype=bool)
    moved = numbers.integer[row] & (points != numbers.start[row])
    at = np.flatnonzero(moved.any(axis=1))
    if not at.size:
        return points, found
    row, fixed, slack = row[at], fixed[at], slack[at]
    values, start = numbers.values(points[at]), numbers.values(numbers.start[row])
    rounded = np.where(values > start, np.ceil(values - 1e-9), np.floor(values + 1e-9))
    low, high = numbers.values(numbers.low[row]), numbers.values(numbers.high[row])
    whole = numbers.coordinates(np.where(moved[at], np.clip(rounded, np.ceil(low), np.floor(high)), values))
    found[at] = space.margin(whole, fixed) >= slack
    good = found[at]
    points = points.copy()
    points[at[good]] = _look_around(space, whole[good], row[good], fixed[good], slack[good])
    return points, found


def _look_around(space: Space, points: FloatArray, row: IntArray, fixed: FloatArray, slack: FloatArray) -> FloatArray:
    """Move every point to its cheapest neighbour with whole numbers for as long as there is one; then pull it back."""
    numbers = space.numbers
    going = np.arange(len(points))
    for _ in range(ROUNDS):
        origin = numbers.start[row[going]]
        neighbours = _neighbours(space, points[going], row[going])
        cost = numbers.distance(neighbours, origin[:, None])
        with np.errstate(invalid="ignore"):  # what has no coordinate is not inside
            cheaper = cost < (numbers.distance(points[going], origin) - 1e-12)[:, None]
            low, high = numbers.low[row[going]][:, None], numbers.high[row[going]][:, None]
            cheaper &= ((neighbours >= low) & (neighbours <= high)).all(axis=2)
        at, which = np.nonzero(cheaper)
        good = space.margin(neighbours[at, which], fixed[going[at]]) >= slack[going[at]]
        cost[:] = np.where(cheaper, cost, np.inf)
        cost[at[~good], which[~good]] = np.inf
        best = cost.argmin(axis=1) if cost.size else np.zeros(0, dtype=np.intp)
        better = np.isfinite(cost[np.arange(len(best)), best])
        if not better.any():
            break
        points[going[better]] = neighbours[better, best[better]]
        going = going[better]
    return _pull_back(space, points, row, fixed, slack)


def _neighbours(space: Space, points: FloatArray, row: IntArray) -> FloatArray:
    """Return (points, moves, columns) with one integer a unit nearer to the row, alone or while another moves a unit.

    Moves that do not exist for a point leave it where it is or make it dearer.
    """
    numbers = space.numbers
    back, on = _moves(numbers.cost.size, tuple(np.flatnonzero(numbers.integer.any(axis=0)).tolist()))
    values, start = numbers.values(points), numbers.values(numbers.start[row])
    movable = numbers.integer[row] & (numbers.low[row] < numbers.high[row])
    nearer = np.where(movable, np.clip(start - values, -1.0, 1.0), 0.0)
    return numbers.coordinates(values[:, None] + nearer[:, None] * back + movable[:, None] * on)


@cache
def _moves(n_columns: int, integers: tuple[int, ...]) -> tuple[FloatArray, FloatArray]:
    """Return (moves, columns) twice: which integer goes back, and which one goes on by how much."""
    unit = np.eye(n_columns)
    moves = [(unit[j], 0 * unit[j]) for j in integers]
    moves += [(unit[j], step * unit[i]) for j in integers for i in integers if i != j for step in (-1.0, 1.0)]
    back, on = np.array(moves).reshape(-1, 2, n_columns).transpose(1, 0, 2)
    return back, on


def _pull_back(space: Space, points: FloatArray, row: IntArray, fixed: FloatArray, slack: FloatArray) -> FloatArray:
    """Shrink the moves of the continuous columns as far as the goal allows, the integers staying."""
    home = np.where(space.numbers.integer[row], points, space.numbers.start[row])
    at = np.flatnonzero((home != points).any(axis=1))
    if at.size:
        home, step, fixed, slack = home[at], points[at] - home[at], fixed[at], slack[at]
        share = crossing(lambda share: space.margin(home + share[:, None] * step, fixed) - slack, at.size)
        points[at] = home + share[:, None] * step
    return points
