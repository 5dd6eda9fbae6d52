"""Whole numbers for columns of integers, and a last look around.

A continuous answer is rounded away from the row, which keeps it on the side it has reached wherever the score is
monotone. Then the cheapest neighbour is taken for as long as one fulfils the goal: one integer moved a unit back, or
moved back while another moves on. What is left of the continuous columns is pulled back to the boundary.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ecsel.explain.crossing import crossing

if TYPE_CHECKING:
    from ecsel.explain.search_space import Space
    from ecsel.signomial.columns import FloatArray

ROUNDS = 60


def round_integers(space: Space, point: FloatArray, fixed: FloatArray, slack: float) -> FloatArray | None:
    """Return a point whose integer columns are whole, or None where none was found near the given one."""
    numbers = space.numbers
    moved = numbers.integer & (point != numbers.start)
    if not moved.any():
        return point
    values, start = numbers.values(point[None])[0], numbers.values(numbers.start[None])[0]
    away = np.sign(values - start)
    rounded = np.where(away > 0, np.ceil(values - 1e-9), np.floor(values + 1e-9))
    low, high = numbers.values(numbers.low[None])[0], numbers.values(numbers.high[None])[0]
    values = np.where(moved, np.clip(rounded, np.ceil(low), np.floor(high)), values)
    current = numbers.coordinates(values[None])[0]
    if not _fulfils(space, current[None], fixed, slack)[0]:
        return None
    for _ in range(ROUNDS):
        neighbours = _neighbours(space, current)
        cost = np.abs(neighbours - numbers.start) @ numbers.cost
        cheaper = cost < np.abs(current - numbers.start) @ numbers.cost - 1e-12
        inside = ((neighbours >= numbers.low) & (neighbours <= numbers.high)).all(axis=1)
        candidates = neighbours[cheaper & inside]
        candidates = candidates[_fulfils(space, candidates, fixed, slack)] if len(candidates) else candidates
        if not len(candidates):
            break
        current = candidates[np.argmin(np.abs(candidates - numbers.start) @ numbers.cost)]
    return _pull_back(space, current, fixed, slack)


def _fulfils(
    space: Space, points: FloatArray, fixed: FloatArray, slack: float
) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    return np.asarray(space.margin(points, fixed) >= slack)


def _neighbours(space: Space, current: FloatArray) -> FloatArray:
    """Return the points with one integer a unit nearer to the row, alone or while another integer moves a unit."""
    numbers = space.numbers
    values, start = numbers.values(current[None])[0], numbers.values(numbers.start[None])[0]
    whole = np.flatnonzero(numbers.integer & (numbers.low < numbers.high))
    back = [j for j in whole if values[j] != start[j]]
    result = []
    for j in back:
        nearer = values.copy()
        nearer[j] = values[j] - np.sign(values[j] - start[j]) if abs(values[j] - start[j]) > 1 else start[j]
        result.append(nearer)
        for i in whole:
            if i != j:
                for unit in (-1.0, 1.0):
                    other = nearer.copy()
                    other[i] += unit
                    result.append(other)
    neighbours = np.array(result).reshape(-1, values.size)
    if not numbers.logarithmic:
        return neighbours
    positive = (neighbours * numbers.log_slope + numbers.log_offset > 0).all(axis=1)
    return numbers.coordinates(neighbours[positive])


def _pull_back(space: Space, point: FloatArray, fixed: FloatArray, slack: float) -> FloatArray:
    """Shrink the moves of the continuous columns as far as the goal allows, the integers staying."""
    continuous = ~space.numbers.integer
    home = np.where(continuous, space.numbers.start, point)
    if (home == point).all():
        return point
    share = crossing(lambda share: space.margin(home + share[:, None] * (point - home), fixed) - slack, 1)
    return home + share * (point - home)
