"""The nearest point that fulfils a goal: min Σ_j w_j |t_j − t⁰_j| subject to g(t) ≥ 0 and bounds, for many starts.

Sequential linear programming with a trust region. At each point g is replaced by g + ⟨∇g, d⟩; the linear programme
that remains has one constraint and a box, so it is a fractional knapsack: coordinates are moved in the order of gain
per cost |∇g_j|/w_j until the constraint holds. A step is kept when cost + ρ·max(0, −g) falls, ρ being twice the
largest price of the constraint that was met. Every start ends on the boundary: its segment to t⁰ is bisected.

Single coordinates are also scanned and bisected on their own, which finds the first crossing where g is not monotone;
and points scattered over the box find regions that the gradient at the row does not point to.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from ecsel.explain.search_space import Space
    from ecsel.signomial.columns import FloatArray

ITERATIONS = 60
BISECTIONS = 34
"""Halvings of a segment: 2⁻³⁴ of its length is far below any unit that a person would change a column by."""
TOLERANCE = 1e-7
"""A start stops when its steps change the cost by less than this share."""
SCAN = np.linspace(0.0, 1.0, 17) ** 1.5
"""Shares of the way to a bound at which single coordinates are looked at: denser near the row itself."""


SCATTERED, SCATTERED_KEPT = 128, 6
"""Points of the box that are looked at, and how many of them become starts."""


class Brackets(NamedTuple):
    """Segments from a point that does not fulfil the goal, or is the row itself, to one that does."""

    bad: FloatArray
    good: FloatArray
    which: npt.NDArray[np.intp]
    """For each segment the position of its log features, which hold the chosen levels."""


def nearest_points(
    space: Space,
    starts: FloatArray,
    which: npt.NDArray[np.intp],
    all_logs: FloatArray,
    allowed: npt.NDArray[np.bool_],
    slack: float,
) -> Brackets:
    """Return segments from the row to points with g ≥ slack near it, for the starts that reach one.

    `allowed` (starts, columns) tells which coordinates may move, `which` the levels, as rows of `all_logs`.
    """
    logs = all_logs[which]
    numbers = space.numbers
    origin = np.broadcast_to(numbers.start, starts.shape)
    low = np.where(allowed, numbers.low, numbers.start)
    high = np.where(allowed, numbers.high, numbers.start)
    points = np.clip(starts, low, high)
    radius = 0.3 * (high - low)
    price = np.zeros(len(points))
    g, gradient = space.margin_and_gradient(points, logs)
    active = np.arange(len(points))
    for _ in range(ITERATIONS):
        here, rest = points[active], (origin[active], low[active], high[active])
        proposal, marginal = _knapsack(here, *rest, radius[active], g[active] - slack, gradient[active], numbers.cost)
        price[active] = np.maximum(price[active], 2 * marginal)
        new_g, new_gradient = space.margin_and_gradient(proposal, logs[active])
        old_merit, new_merit = (
            np.abs(at - rest[0]) @ numbers.cost + price[active] * np.maximum(0.0, slack - value)
            for at, value in ((here, g[active]), (proposal, new_g))
        )
        better = new_merit < old_merit
        moved = active[better]
        points[moved], g[moved], gradient[moved] = proposal[better], new_g[better], new_gradient[better]
        radius[active] *= np.where(better, 1.5, 0.3)[:, None]
        # a start is done when neither a step nor its radius is of any size
        progress = np.where(better, old_merit - new_merit, np.inf) > TOLERANCE * (1 + old_merit)
        size = (radius[active] * numbers.cost).max(axis=1, initial=0.0)
        active = active[progress & (size > TOLERANCE * (1 + old_merit))]
        if not active.size:
            break
    good = g >= slack
    for stretch in (1.001, 1.05, 1.5):  # a point that just misses is pushed on
        if good.all():
            break
        pushed = np.clip(origin + stretch * (points - origin), low, high)
        points = np.where(good[:, None], points, pushed)
        good |= space.margin(points, logs) >= slack
    return Brackets(origin[good], points[good], which[good])


def _knapsack(
    points: FloatArray,
    origin: FloatArray,
    low: FloatArray,
    high: FloatArray,
    radius: FloatArray,
    g: FloatArray,
    gradient: FloatArray,
    cost: FloatArray,
) -> tuple[FloatArray, FloatArray]:
    """Return the cheapest points with g + ⟨∇g, d⟩ ≥ 0 in the boxes, and the price of the constraint."""
    floor, ceiling = np.maximum(low, points - radius), np.minimum(high, points + radius)
    cheapest = np.clip(origin, floor, ceiling)
    need = -(g + (gradient * (cheapest - points)).sum(axis=1))
    room = np.where(gradient > 0, ceiling - cheapest, cheapest - floor)
    size = np.abs(gradient)
    gain = size * room
    order = np.argsort(-size / np.maximum(cost, 1e-300), axis=1, kind="stable")
    sorted_gain = np.take_along_axis(gain, order, axis=1)
    before = np.cumsum(sorted_gain, axis=1) - sorted_gain
    share_sorted = np.clip((need[:, None] - before) / np.where(sorted_gain > 0, sorted_gain, np.inf), 0.0, 1.0)
    share = np.empty_like(share_sorted)
    np.put_along_axis(share, order, share_sorted, axis=1)
    proposal = cheapest + share * room * np.sign(gradient)
    used = (share > 0) & (size > 0)
    marginal = np.where(used, cost / np.where(size > 0, size, np.inf), 0.0).max(axis=1, initial=0.0)
    return proposal, marginal


def to_boundary(space: Space, segments: Brackets, all_logs: FloatArray, slack: float) -> FloatArray:
    """Return the points of the segments with g ≥ slack that lie next to where it ceases to hold."""
    logs = all_logs[segments.which]
    step = segments.good - segments.bad
    low, high = np.zeros(len(step)), np.ones(len(step))
    high[space.margin(segments.bad, logs) >= slack] = 0.0
    for _ in range(BISECTIONS):
        middle = (low + high) / 2
        fulfilled = space.margin(segments.bad + middle[:, None] * step, logs) >= slack
        high = np.where(fulfilled, middle, high)
        low = np.where(fulfilled, low, middle)
    return segments.bad + high[:, None] * step


def single_moves(space: Space, all_logs: FloatArray, slack: float) -> Brackets:
    """Return segments around the first crossing when one coordinate moves alone, up or down, for each row of logs."""
    numbers = space.numbers
    n, steps, choices = numbers.start.size, SCAN.size, len(all_logs)
    column = np.tile(np.arange(n), 2)
    ends = np.concatenate([numbers.high, numbers.low])
    values = numbers.start[column][:, None] + SCAN * (ends - numbers.start[column])[:, None]
    grid = np.repeat(numbers.start[None], values.size, axis=0)
    grid[np.arange(values.size), np.repeat(column, steps)] = values.ravel()
    g = space.margin(np.tile(grid, (choices, 1)), np.repeat(all_logs, len(grid), axis=0))
    reached = g.reshape(choices, 2 * n, steps) >= slack
    first = reached.argmax(axis=2)
    choice, line = np.nonzero(reached.any(axis=2) & (first > 0))
    grid = grid.reshape(2 * n, steps, n)
    at = first[choice, line]
    return Brackets(grid[line, at - 1], grid[line, at], choice)


def scattered_points(space: Space, all_logs: FloatArray, slack: float) -> Brackets:
    """Return segments from the row to the cheapest of many points in the box that fulfil the goal.

    Some coordinates of a point stay as they are, the others lie between the row and a bound; always the same points.
    """
    numbers = space.numbers
    rng = np.random.default_rng(0)
    shape = (SCATTERED, numbers.start.size)
    bound = np.where(rng.random(shape) < 0.5, numbers.low, numbers.high)
    share = np.minimum(1.0, 1.25 * rng.random(shape)) * (rng.random(shape) < 0.6)
    points = np.tile(numbers.start + share * (bound - numbers.start), (len(all_logs), 1))
    which = np.repeat(np.arange(len(all_logs)), SCATTERED)
    good = np.flatnonzero(space.margin(points, all_logs[which]) >= slack)
    cost = np.abs(points[good] - numbers.start) @ numbers.cost
    chosen = good[np.argsort(cost, kind="stable")[:SCATTERED_KEPT]]
    return Brackets(np.broadcast_to(numbers.start, (chosen.size, shape[1])), points[chosen], which[chosen])
