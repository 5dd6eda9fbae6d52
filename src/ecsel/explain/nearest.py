"""The nearest point that fulfils a goal: min Σ_j w_j |t_j − t⁰_j| subject to g(t) ≥ 0 and bounds, for many starts.

Sequential linear programming with a trust region. At each point g is replaced by g + ⟨∇g, d⟩; the linear programme
that remains has one constraint and a box, so it is a fractional knapsack: coordinates are moved in the order of gain
per cost |∇g_j|/w_j until the constraint holds. A step is kept when cost + ρ·max(0, −g) falls, ρ being twice the
largest price of the constraint that was met; a start is done when the linear programme promises no more. Every start
ends on the boundary, where its segment to t⁰ crosses it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ecsel.explain.crossing import crossing

if TYPE_CHECKING:
    from ecsel.explain.level_choices import Choices
    from ecsel.explain.search_space import BoolArray, IntArray, Space
    from ecsel.signomial.columns import FloatArray

ITERATIONS = 24
TOLERANCE = 1e-5
"""A start stops when a step changes its cost by less than this share, or would by the linear programme."""
WIDER, NARROWER = 1.5, 0.3
"""What becomes of the trust region after a step that is kept and after one that is not."""

PATIENCE = 4
"""A start is given up when so many steps like the one it is promised would leave it too dear."""


class Segments(NamedTuple):
    """Segments from a point that does not fulfil the goal, or is the row itself, to one that does."""

    bad: FloatArray
    good: FloatArray
    which: IntArray
    """For each segment the position of its choice of levels, which also tells its row."""


class _Walk(NamedTuple):
    """The starts that are under way, and where they are."""

    start: IntArray
    origin: FloatArray
    low: FloatArray
    high: FloatArray
    fixed: FloatArray
    slack: FloatArray
    budget: FloatArray
    points: FloatArray
    lack: FloatArray
    """What g still lacks, slack − g."""
    gradient: FloatArray
    spent: FloatArray
    price: FloatArray
    radius: FloatArray
    going: BoolArray


def nearest_points(
    space: Space,
    starts: FloatArray,
    which: IntArray,
    allowed: BoolArray,
    choices: Choices,
    slack: FloatArray,
    limit: FloatArray,
) -> Segments:
    """Return segments from rows to points with g ≥ slack near them, for the starts that reach one.

    `allowed` (starts, columns) tells which coordinates may move, `which` the choice of levels; `slack` and what is too
    dear to be of interest, `limit`, are by row.
    """
    numbers, row = space.numbers, choices.row[which]
    origin, fixed, least = numbers.start[row], choices.fixed[which], slack[row]
    low, high = np.where(allowed, numbers.low[row], origin), np.where(allowed, numbers.high[row], origin)
    points = np.clip(starts, low, high)
    g, gradient = space.margin_and_gradient(points, fixed)
    lack, spent, budget = least - g, numbers.distance(points, origin), limit[row] - choices.price[which]
    here, radius, going = np.arange(len(points)), 0.3 * (high - low), np.ones(len(points), dtype=bool)
    price = np.zeros(len(points))
    walk = _Walk(here, origin, low, high, fixed, least, budget, points, lack, gradient, spent, price, radius, going)
    for _ in range(ITERATIONS):
        walk = _step(space, walk)
        n_going = np.count_nonzero(walk.going)
        if 2 * n_going <= walk.going.size:  # arrays that shrink by halves are cheap to copy
            points[walk.start], lack[walk.start] = walk.points, walk.lack
            walk = _Walk._make(each[walk.going] for each in walk)
        if not n_going:
            break
    points[walk.start], lack[walk.start] = walk.points, walk.lack
    good = lack <= 0
    for stretch in (1.001, 1.05, 1.5):  # a point that just misses is pushed on
        if good.all():
            break
        pushed = np.clip(origin + stretch * (points - origin), low, high)
        points = np.where(good[:, None], points, pushed)
        good |= space.margin(points, fixed) >= least
    return Segments(origin[good], points[good], which[good])


def _step(space: Space, walk: _Walk) -> _Walk:
    """Propose a step for every start, keep those that make it better, and widen or narrow the trust regions."""
    proposal, expected, marginal = _knapsack(walk, space.numbers.cost)
    price = np.maximum(walk.price / 2, 2 * marginal)  # an early price may be far too high: it is forgotten again
    merit = walk.spent + price * np.maximum(walk.lack, 0.0)
    spent = space.numbers.distance(proposal, walk.origin)
    saved = merit - spent
    promise = saved - price * np.maximum(expected, 0.0)
    enough = TOLERANCE * (1 + merit)
    going = walk.going & (promise > enough) & (merit - PATIENCE * promise <= walk.budget)
    if not np.count_nonzero(going):
        return walk._replace(going=going)
    g, gradient = space.margin_and_gradient(proposal, walk.fixed)
    lack = walk.slack - g
    gain = saved - price * np.maximum(lack, 0.0)
    kept = gain > 0
    better = going & kept
    along = better[:, None]
    return walk._replace(
        points=np.where(along, proposal, walk.points),
        lack=np.where(better, lack, walk.lack),
        gradient=np.where(along, gradient, walk.gradient),
        spent=np.where(better, spent, walk.spent),
        price=price,
        radius=walk.radius * np.where(kept, WIDER, NARROWER)[:, None],
        going=going & (~kept | (gain > enough)),
    )


def _knapsack(walk: _Walk, cost: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the cheapest points of the boxes where ⟨∇g, d⟩ makes up for what g lacks, what it will lack, its price."""
    points, gradient = walk.points, walk.gradient
    floor, ceiling = np.maximum(walk.low, points - walk.radius), np.minimum(walk.high, points + walk.radius)
    cheapest = np.minimum(np.maximum(walk.origin, floor), ceiling)
    need = walk.lack - np.einsum("ij,ij->i", gradient, cheapest - points)
    size = np.abs(gradient)
    move = np.where(gradient > 0, ceiling, floor) - cheapest
    gain = size * np.abs(move)
    price = cost / np.maximum(size, 1e-200)
    at = price.argsort(axis=1) + cost.size * np.arange(len(price))[:, None]
    sorted_gain = gain.take(at)
    before = np.add.accumulate(sorted_gain, axis=1) - sorted_gain
    share = np.empty_like(gain)
    share.put(at, (need[:, None] - before) / np.where(sorted_gain > 0, sorted_gain, np.inf))
    np.minimum(np.maximum(share, 0.0, out=share), 1.0, out=share)
    marginal = np.maximum.reduce((share > 0) * price, axis=1, initial=0.0)
    return cheapest + share * move, need - np.einsum("ij,ij->i", share, gain), marginal


def to_boundary(space: Space, segments: Segments, choices: Choices, slack: FloatArray) -> FloatArray:
    """Return the points of the segments with g ≥ slack that lie next to where it ceases to hold."""
    fixed, least = choices.fixed[segments.which], slack[choices.row[segments.which]]
    step = segments.good - segments.bad

    def beyond(share: FloatArray) -> FloatArray:
        return space.margin(segments.bad + share[:, None] * step, fixed) - least

    return segments.bad + crossing(beyond, len(step))[:, None] * step
