"""Goals that need many columns: a price for the margin tells every column how far it is worth moving.

With a price μ every column in turn takes the point of its grid that is best for cost − μ·g, a coordinate descent that
needs no derivative. A ladder of prices starts at the row itself, a few further descents at scattered points. Of what
reaches the goal the columns are taken back as far as they can be.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ecsel.explain.counterfactual.columns import TINY
from ecsel.explain.counterfactual.space import Candidates

if TYPE_CHECKING:
    from ecsel._typing import Floats, Places
    from ecsel.explain.counterfactual.space import Space

PRICES = 2.0 ** np.arange(10)
"""What a unit of the margin may cost, in multiples of the least that it costs at the row."""
SCATTERED, SCATTERED_COLUMNS = 6, 0.6
"""Further points to start from, and the share of the columns that they move; a goal may lie behind a ridge."""
SWEEPS = 2


def many_columns(space: Space) -> Candidates:
    """Return where prices lead to, from the row itself and from scattered points, less what is not needed."""
    n_rows = len(space.fixed)
    everyone = np.arange(n_rows)
    own = space.at(everyone, np.zeros((n_rows, len(space.columns)), dtype=np.intp))
    now, cheapest = space.margin(space.rest(own))[:, None], np.full(n_rows, np.inf)
    for p, rest in enumerate(space.others(own)):
        gain, cost = space.scan(everyone, rest, p) - now, space.grids[p].cost
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = np.where((gain > 0) & (cost > 0), cost / gain, np.inf)
        cheapest = np.minimum(cheapest, ratio.min(axis=1))
    cheapest = np.where(np.isfinite(cheapest), np.maximum(cheapest, TINY), 1.0)
    starts = np.concatenate([np.zeros((PRICES.size, len(space.columns)), dtype=np.intp), _scattered(space)])
    price = np.concatenate([PRICES, np.full(SCATTERED, PRICES[-1])])
    row, picks, price = np.repeat(everyone, price.size), np.tile(starts, (n_rows, 1)), np.outer(cheapest, price).ravel()
    for _ in range(SWEEPS):
        _sweep(space, row, picks, price)
    return _taken_back(space, row, picks)


def _scattered(space: Space) -> Places:
    """Return points of the grids, always the same: some columns as they are, the others anywhere."""
    rng = np.random.default_rng(0)
    shape = (SCATTERED, len(space.columns))
    share = rng.random(shape) * (rng.random(shape) < SCATTERED_COLUMNS)
    sizes = np.array([grid.values.shape[1] for grid in space.grids])
    return np.asarray(share * sizes).astype(np.intp)


def _sweep(space: Space, row: Places, picks: Places, price: Floats) -> None:
    """Let every column in turn take its best point at a price of the margin."""
    phi = space.at(row, picks).phi
    behind = [space.fixed[row]]
    with np.errstate(over="ignore", invalid="ignore"):
        for p in range(len(space.columns) - 1, 0, -1):
            behind.append(behind[-1] * phi[:, p])
        before = np.ones_like(behind[0])
        for p, grid in enumerate(space.grids):
            g = space.scan(row, before * behind[-1 - p], p)
            picks[:, p] = (grid.cost[row] - price[:, None] * g).argmin(axis=1)
            before = before * grid.phi[row, picks[:, p]]


def _taken_back(space: Space, row: Places, picks: Places) -> Candidates:
    """Move the columns of states back as far as the goal allows, the one that saves most first; leave out the rest."""
    reached = space.margin(space.rest(space.at(row, picks))) >= space.slack[row]
    row, picks = row[reached], picks[reached]
    at, about = np.arange(row.size), np.full(row.size, np.inf)
    for _ in range(len(space.columns)):
        states = space.at(row, picks)
        total, saving, move = states.cost.sum(axis=1), np.empty(picks.T.shape), np.empty_like(picks.T)
        for p, rest in enumerate(space.others(states)):
            cost = space.reach(row, rest, p)
            move[p] = cost.argmin(axis=1)
            saving[p] = states.cost[:, p] - space.grids[p].cost[row, move[p]]
            about = np.minimum(about, total - states.cost[:, p] + cost.min(axis=1))
        best = saving.argmax(axis=0)
        better = np.flatnonzero(saving[best, at] > 0)
        if not better.size:
            break
        picks[better, best[better]] = move[best[better], better]
    return Candidates(row, picks, about)
