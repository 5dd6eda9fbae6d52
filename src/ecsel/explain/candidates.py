"""Candidates for a counterfactual: every kind of start is solved for; the nearest of each set of columns is kept."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ecsel.explain.level_choices import level_choices
from ecsel.explain.nearest import Brackets, nearest_points, scattered_points, single_moves, to_boundary
from ecsel.explain.rounding import round_integers

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ecsel.explain.search_space import Space
    from ecsel.signomial.columns import FloatArray

CANDIDATES = 5
"""So many sets of columns are followed up for each answer that is wanted."""
LEEWAY = 1.3
"""Points that cost this many times as much as the answers are not made whole any more."""
SCANNED_CHOICES = 4
"""Choices of levels for which single moves and far points are looked at too."""


class Candidate(NamedTuple):
    """A point that fulfils the goal: coordinates of numbers, chosen levels, and what they change."""

    point: FloatArray
    choice: npt.NDArray[np.intp]
    distance: float
    changed: frozenset[int]


def search(space: Space, slack: float, n_answers: int) -> list[Candidate]:
    """Return candidates that fulfil the goal, nearest first: enough for so many answers."""
    n = CANDIDATES * n_answers
    numbers = space.numbers
    choices = level_choices(space, slack)
    fixed = space.fixed(choices)
    prices = space.category_cost(choices)
    alone = single_moves(space, fixed[:SCANNED_CHOICES], slack)
    far = scattered_points(space, fixed[:SCANNED_CHOICES], slack)
    # what is known to reach the goal bounds what the levels of any other start may cost
    enough = np.flatnonzero(space.margin(np.repeat(numbers.start[None], len(fixed), axis=0), fixed) >= slack)
    known = [np.abs(each.good - numbers.start) @ numbers.cost + prices[each.which] for each in (alone, far)]
    reached = np.sort(np.concatenate([*known, prices[enough]]))
    affordable = np.flatnonzero(prices <= (reached[n - 1] if reached.size >= n else np.inf))
    # starts: levels with the row's own numbers; no levels and all numbers but one; single moves; far points
    n_choices, n_numbers = affordable.size, numbers.start.size
    near = np.argsort(known[0], kind="stable")[:n]
    origin = np.repeat(numbers.start[None], n_choices + n_numbers, axis=0)
    starts = np.concatenate([origin, alone.good[near], far.good])
    which = np.concatenate([affordable, np.zeros(n_numbers, dtype=np.intp), alone.which[near], far.which])
    allowed = np.ones(starts.shape, dtype=bool)
    allowed[n_choices + np.arange(n_numbers), np.arange(n_numbers)] = False
    together = nearest_points(space, starts, which, fixed, allowed, slack)
    segments = Brackets(*(np.concatenate(pair) for pair in zip(together, alone, strict=True)))
    points = to_boundary(space, segments, fixed, slack)
    return _candidates(space, points, choices, fixed, segments.which, slack, n_answers)


def _candidates(
    space: Space,
    points: FloatArray,
    choices: npt.NDArray[np.intp],
    fixed: FloatArray,
    which: npt.NDArray[np.intp],
    slack: float,
    n_answers: int,
) -> list[Candidate]:
    """Name the changed columns, keep the nearest of each set of them, make integers whole, sort by distance.

    Whole integers seldom make a point cheaper, so the list ends where it holds the answers with some leeway.
    """
    numbers = space.numbers
    points = np.where(np.abs(points - numbers.start) * numbers.cost < 1e-12, numbers.start, points)
    cost = np.abs(points - numbers.start) @ numbers.cost + space.category_cost(choices[which])
    nearest: dict[tuple[bytes, bytes], Candidate] = {}
    for at in np.argsort(cost, kind="stable").tolist():
        choice = choices[which[at]]
        key = ((points[at] != numbers.start).tobytes(), (choice >= 0).tobytes())
        if key in nearest:
            continue
        if len(nearest) == CANDIDATES * n_answers or _settled(nearest.values(), cost[at] / LEEWAY, n_answers):
            break
        point: FloatArray | None = points[at]
        if numbers.integer.any():
            point = round_integers(space, points[at], fixed[which[at]], slack)
        if point is None:
            continue
        changed = set(numbers.columns[point != numbers.start].tolist())
        changed |= {c.column for c, level in zip(space.categories, choice, strict=True) if level >= 0}
        distance = float(np.abs(point - numbers.start) @ numbers.cost + space.category_cost(choice[None])[0])
        nearest[key] = Candidate(point, choice, distance, frozenset(changed))
    return sorted(nearest.values(), key=lambda candidate: candidate.distance)


def _settled(found: Iterable[Candidate], cost: float, n_answers: int) -> bool:
    """Whether enough candidates, none of whose columns contain another's, are at least as near as a cost."""
    near = sorted((each for each in found if each.distance <= cost), key=lambda each: each.distance)
    return len(_independent([(each, each.changed) for each in near])) >= n_answers


def _independent(pool: list[tuple[Any, frozenset[int]]]) -> list[tuple[Any, frozenset[int]]]:
    """Return the items of a sorted pool whose columns neither contain those of an earlier one nor are among them."""
    chosen: list[tuple[Any, frozenset[int]]] = []
    for item, columns in pool:
        if not any(columns <= earlier or columns >= earlier for _, earlier in chosen):
            chosen.append((item, columns))
    return chosen


def diverse(pool: list[tuple[Any, frozenset[int]]], n: int) -> list[tuple[Any, frozenset[int]]]:
    """Return up to n of a sorted pool, each of another set of columns.

    Sets that neither contain an earlier one nor are contained in it go first: to change age and income is no news
    where income alone will do.
    """
    chosen = _independent(pool)[:n]
    for item, columns in pool:
        if len(chosen) < n and columns not in [earlier for _, earlier in chosen]:
            chosen.append((item, columns))
    return sorted(chosen, key=lambda pair: pair[0].distance)
