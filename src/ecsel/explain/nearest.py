"""The nearest point that fulfils a goal: min Σ_j w_j |t_j − t⁰_j| subject to g(t) ≥ 0 and bounds, for many starts.

Sequential linear programming with a trust region. At each point g is replaced by g + ⟨∇g, d⟩; the linear programme
that remains has one constraint and a box, so it is a fractional knapsack: coordinates are moved in the order of gain
per cost |∇g_j|/w_j until the constraint holds. A step is kept when cost + ρ·max(0, −g) falls, ρ being twice the
largest price of the constraint that was met; a start is done when the linear programme promises no more. Every start
ends on the boundary, where its segment to t⁰ crosses it.

Single coordinates are also scanned on their own, which finds the first crossing where g is not monotone;
and points scattered over the box find regions that the gradient at the row does not point to.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from ecsel.explain.crossing import crossing

if TYPE_CHECKING:
    from ecsel.explain.search_space import Space
    from ecsel.signomial.columns import FloatArray

ITERATIONS = 24
TOLERANCE = 1e-5
"""A start stops when a step changes its cost by less than this share, or would by the linear programme."""
WIDER, NARROWER = 1.5, 0.3
"""What becomes of the trust region after a step that is kept and after one that is not."""
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
    all_fixed: FloatArray,
    allowed: npt.NDArray[np.bool_],
    slack: float,
) -> Brackets:
    """Return segments from the row to points with g ≥ slack near it, for the starts that reach one.

    `allowed` (starts, columns) tells which coordinates may move, `which` the levels, as rows of `all_fixed`.
    """
    fixed = all_fixed[which]
    numbers = space.numbers
    origin = np.broadcast_to(numbers.start, starts.shape)
    low = np.where(allowed, numbers.low, numbers.start)
    high = np.where(allowed, numbers.high, numbers.start)
    points = np.clip(starts, low, high)
    radius = 0.3 * (high - low)
    price, spent = np.zeros(len(points)), np.abs(points - origin) @ numbers.cost
    g, gradient = space.margin_and_gradient(points, fixed)
    going = np.ones(len(points), dtype=bool)
    for _ in range(ITERATIONS):
        proposal, marginal = _knapsack(points, origin, low, high, radius, slack - g, gradient, numbers.cost)
        price = np.maximum(price / 2, 2 * marginal)  # an early price may be far too high: it is forgotten again
        merit = spent + price * np.maximum(0.0, slack - g)
        new_spent = np.abs(proposal - origin) @ numbers.cost
        expected_g = g + np.einsum("ij,ij->i", proposal - points, gradient)
        promised = merit - new_spent - price * np.maximum(0.0, slack - expected_g)
        enough = TOLERANCE * (1 + merit)
        going &= promised > enough
        if not going.any():
            break
        new_g, new_gradient = space.margin_and_gradient(proposal, fixed)
        gain = merit - new_spent - price * np.maximum(0.0, slack - new_g)
        better = going & (gain > 0)
        spent, g = np.where(better, new_spent, spent), np.where(better, new_g, g)
        points = np.where(better[:, None], proposal, points)
        gradient = np.where(better[:, None], new_gradient, gradient)
        radius *= np.where(gain > 0, WIDER, NARROWER)[:, None]
        going &= (gain <= 0) | (gain > enough)
    good = g >= slack
    for stretch in (1.001, 1.05, 1.5):  # a point that just misses is pushed on
        if good.all():
            break
        pushed = np.clip(origin + stretch * (points - origin), low, high)
        points = np.where(good[:, None], points, pushed)
        good |= space.margin(points, fixed) >= slack
    return Brackets(origin[good], points[good], which[good])


def _knapsack(
    points: FloatArray,
    origin: FloatArray,
    low: FloatArray,
    high: FloatArray,
    radius: FloatArray,
    lack: FloatArray,
    gradient: FloatArray,
    cost: FloatArray,
) -> tuple[FloatArray, FloatArray]:
    """Return the cheapest points of the boxes where ⟨∇g, d⟩ makes up for what g lacks, and the constraint's price."""
    floor, ceiling = np.maximum(low, points - radius), np.minimum(high, points + radius)
    cheapest = np.minimum(np.maximum(origin, floor), ceiling)
    need = lack - np.einsum("ij,ij->i", gradient, cheapest - points)
    size = np.abs(gradient)
    room = np.where(gradient > 0, ceiling - cheapest, cheapest - floor)
    gain = size * room
    price = cost / np.maximum(size, 1e-200)
    order = np.argsort(price, axis=1, kind="stable")
    at = np.arange(len(order))[:, None]
    sorted_gain = gain[at, order]
    before = np.cumsum(sorted_gain, axis=1) - sorted_gain
    share = np.empty_like(gain)
    share[at, order] = (need[:, None] - before) / np.where(sorted_gain > 0, sorted_gain, np.inf)
    np.minimum(np.maximum(share, 0.0, out=share), 1.0, out=share)
    proposal = cheapest + share * np.copysign(room, gradient)
    marginal = np.where(share > 0, price, 0.0).max(axis=1, initial=0.0)
    return proposal, marginal


def to_boundary(space: Space, segments: Brackets, all_fixed: FloatArray, slack: float) -> FloatArray:
    """Return the points of the segments with g ≥ slack that lie next to where it ceases to hold."""
    fixed = all_fixed[segments.which]
    step = segments.good - segments.bad

    def beyond(share: FloatArray) -> FloatArray:
        return space.margin(segments.bad + share[:, None] * step, fixed) - slack

    return segments.bad + crossing(beyond, len(step))[:, None] * step


def single_moves(space: Space, all_fixed: FloatArray, slack: float) -> Brackets:
    """Return segments around the first crossing when one coordinate moves alone, up or down, for each row of fixed."""
    numbers = space.numbers
    n, steps, choices = numbers.start.size, SCAN.size, len(all_fixed)
    column = np.tile(np.arange(n), 2)
    ends = np.concatenate([numbers.high, numbers.low])
    values = numbers.start[column][:, None] + SCAN * (ends - numbers.start[column])[:, None]
    grid = np.repeat(numbers.start[None], values.size, axis=0)
    grid[np.arange(values.size), np.repeat(column, steps)] = values.ravel()
    g = space.margin(np.tile(grid, (choices, 1)), np.repeat(all_fixed, len(grid), axis=0))
    reached = g.reshape(choices, 2 * n, steps) >= slack
    first = reached.argmax(axis=2)
    choice, line = np.nonzero(reached.any(axis=2) & (first > 0))
    grid = grid.reshape(2 * n, steps, n)
    at = first[choice, line]
    return Brackets(grid[line, at - 1], grid[line, at], choice)


def scattered_points(space: Space, all_fixed: FloatArray, slack: float) -> Brackets:
    """Return segments from the row to the cheapest of many points in the box that fulfil the goal.

    Some coordinates of a point stay as they are, the others lie between the row and a bound; always the same points.
    """
    numbers = space.numbers
    up, share = _scattered_shares(numbers.start.size)
    points = numbers.start + share * (np.where(up, numbers.high, numbers.low) - numbers.start)
    points = np.tile(points, (len(all_fixed), 1))
    which = np.repeat(np.arange(len(all_fixed)), SCATTERED)
    good = np.flatnonzero(space.margin(points, all_fixed[which]) >= slack)
    cost = np.abs(points[good] - numbers.start) @ numbers.cost
    chosen = good[np.argsort(cost, kind="stable")[:SCATTERED_KEPT]]
    return Brackets(np.broadcast_to(numbers.start, (chosen.size, numbers.start.size)), points[chosen], which[chosen])


@cache
def _scattered_shares(n_columns: int) -> tuple[npt.NDArray[np.bool_], FloatArray]:
    """Return for each point and coordinate whether it moves up, and how far; always the same."""
    rng = np.random.default_rng(0)
    shape = (SCATTERED, n_columns)
    up = rng.random(shape) >= 0.5
    share = np.minimum(1.0, 1.25 * rng.random(shape)) * (rng.random(shape) < 0.6)
    for each in (up, share):
        each.setflags(write=False)
    return up, share
