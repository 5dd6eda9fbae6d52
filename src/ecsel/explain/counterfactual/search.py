"""Where to look for counterfactuals: all choices of levels with one or two numbers, and a price for many columns.

1. Levels: all combinations where they are few, else the best single changes and pairs of the best.
2. Numbers: with every choice of levels one number moves over its grid, and then two; g of all pairs of points of two
   grids is one product of matrices, (φ_p ∘ rest) φ_qᵀ. What a pair costs follows from where g crosses zero between
   two points.
3. Many columns: `ecsel.explain.counterfactual.prices`.
4. Exchange: any two numbers of the best candidates are moved again, all other columns staying.

The candidates are points of grids; `ecsel.explain.counterfactual.polish` moves them to the boundary.
"""

from __future__ import annotations

import math
from itertools import combinations, groupby, product
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ecsel.explain.counterfactual.columns import TINY
from ecsel.explain.counterfactual.prices import many_columns
from ecsel.explain.counterfactual.space import Candidates, crossings, rank_within

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ecsel._typing import Floats, Mask, Places
    from ecsel.explain.counterfactual.space import Space

CANDIDATES = 4
"""So many sets of columns are followed up for each answer that is wanted."""
ENUMERATED = 128
"""Up to so many combinations of levels all are tried."""
SINGLE_LEVELS, PAIRED_LEVELS = 16, 6
"""Else so many single changes, and the pairs of so many."""
PAIRED_NUMBERS = 10
"""Numbers that are tried in pairs: those that promise most."""
PAIRED_CHOICES = 8
"""Choices of levels for which two numbers are tried."""
EXCHANGED = 3
"""Candidates of which two numbers are exchanged for any others."""
BETTER = 1e-4
"""A second number must save this share of what the first alone costs."""
ABOUT = 1.5
"""Directions of a set of columns that cost this many times the cheapest one are not followed up."""


class Bases(NamedTuple):
    """States from which two numbers are moved; one line for each."""

    row: Places
    picks: Places
    alone: Floats
    """What two numbers must undercut: the cost with either of them moved alone, (bases, numbers)."""
    promise: Floats
    """By which the numbers are chosen if they are many, (bases, numbers)."""

    def take(self, at: Places | Mask) -> Bases:
        """Return some of the bases."""
        return Bases(self.row[at], self.picks[at], self.alone[at], self.promise[at])


def search(space: Space, n_answers: int) -> Candidates:
    """Return promising candidates: enough for so many answers to each row."""
    bases, found = _one_number(space, *_level_choices(space))
    found += [*_two_numbers(space, _affordable(space, bases, n_answers)), many_columns(space)]
    found += _two_numbers(space, _around(space, bases, _together(found)))
    return _select(_together(found), CANDIDATES * n_answers, n_answers)


def _together(found: list[Candidates]) -> Candidates:
    return Candidates(*(np.concatenate(parts) for parts in zip(*found, strict=True)))


def _level_choices(space: Space) -> tuple[Places, Places]:
    """Return rows and picks (choices, columns) of levels to try, row by row, no change first."""
    n_rows, n_columns = len(space.fixed), len(space.columns)
    sizes = [space.grids[p].values.shape[1] for p in space.categories]
    if math.prod(sizes) <= ENUMERATED:
        levels = np.array(list(product(*map(range, sizes))), dtype=np.intp).reshape(math.prod(sizes), -1)
        levels = np.broadcast_to(levels, (n_rows, *levels.shape))
        listed = np.ones(levels.shape[:2], dtype=bool)
    else:
        levels, listed = _promising_levels(space)
    for i, p in enumerate(space.categories):
        moves = space.grids[p].values != space.own[:, p : p + 1]
        listed &= (levels[:, :, i] == 0) | np.take_along_axis(moves, levels[:, :, i], axis=1)
    row, at = np.nonzero(listed)
    picks = np.zeros((row.size, n_columns), dtype=np.intp)
    picks[:, space.categories] = levels[row, at]
    return row, picks


def _promising_levels(space: Space) -> tuple[Places, Mask]:
    """Return no change, the best single changes and pairs of the best (rows, choices, categories), and which help."""
    n_rows, columns = len(space.fixed), space.categories
    everyone = np.arange(n_rows)
    own = space.at(everyone, np.zeros((n_rows, len(space.columns)), dtype=np.intp))
    now = space.margin(space.rest(own))[:, None]
    promise, where = [], []
    for i, p in enumerate(columns):
        g = space.scan(everyone, space.rest(own, p), p)[:, 1:]
        gain = np.where(g >= space.slack[:, None], np.inf, g - now)
        promise.append(gain / np.maximum(space.grids[p].cost[:, 1:], TINY))
        where += [(i, pick) for pick in range(1, g.shape[1] + 1)]
    worth = np.concatenate(promise, axis=1)
    order = np.argsort(-worth, axis=1, kind="stable")[:, :SINGLE_LEVELS]
    useful = np.take_along_axis(worth, order, axis=1) > 0
    column, pick = np.array(where, dtype=np.intp)[order].transpose(2, 0, 1)
    single = np.zeros((*order.shape, len(columns)), dtype=np.intp)
    np.put_along_axis(single, column[:, :, None], pick[:, :, None], axis=2)
    pairs = list(combinations(range(min(PAIRED_LEVELS, order.shape[1])), 2))
    first, second = np.array(pairs, dtype=np.intp).reshape(-1, 2).T
    differ = useful[:, first] & useful[:, second] & (column[:, first] != column[:, second])
    levels = np.concatenate([np.zeros_like(single[:, :1]), single, single[:, first] + single[:, second]], axis=1)
    listed = np.concatenate([np.ones((n_rows, 1), dtype=bool), useful, differ], axis=1)
    return np.where(listed[:, :, None], levels, 0), listed


def _one_number(space: Space, row: Places, choices: Places) -> tuple[Bases, list[Candidates]]:
    """Move one number with every choice of levels, or none."""
    states = space.at(row, choices)
    price, slack = states.cost.sum(axis=1), space.slack[row]
    now, others = space.margin(space.rest(states)), space.others(states)
    enough = now >= slack
    found = [Candidates(row[enough], choices[enough], price[enough])]
    alone = np.repeat(np.where(enough, price, np.inf)[:, None], len(space.numbers), axis=1)
    promise = np.empty_like(alone)
    for i, p in enumerate(space.numbers):
        g, own_cost, at = space.scan(row, others[p], p), space.grids[p].cost[row], np.arange(row.size)
        cost = price[:, None] + crossings(g, own_cost, space.grids[p].span[row], slack)
        gain = np.minimum(g[:, 1:], slack[:, None]) - now[:, None]
        promise[:, i] = (gain / np.maximum(own_cost[:, 1:], TINY)).max(axis=1)
        for side in _sides(g.shape[1]):
            pick = cost[:, side].argmin(axis=1) + side.start
            good = np.flatnonzero(np.isfinite(cost[at, pick]))
            found.append(Candidates(row[good], _with(choices[good], {p: pick[good]}), cost[good, pick[good]]))
            alone[:, i] = np.minimum(alone[:, i], cost[at, pick])
    return Bases(row, choices, alone, promise), found


def _affordable(space: Space, bases: Bases, n_answers: int) -> Bases:
    """Return the choices of levels that may become answers with two numbers."""
    price, best = space.at(bases.row, bases.picks).cost.sum(axis=1), bases.alone.min(axis=1, initial=np.inf)
    limit = np.full(len(space.fixed), np.inf)
    last = rank_within(bases.row, best) == n_answers - 1
    limit[bases.row[last]] = best[last]
    kept = np.flatnonzero(price < np.minimum(limit[bases.row], best))
    return bases.take(kept[rank_within(bases.row[kept], best[kept], price[kept]) < PAIRED_CHOICES])


def _around(space: Space, bases: Bases, found: Candidates) -> Bases:
    """Return the best candidates, of which two numbers may be exchanged for others."""
    order = np.lexsort((found.cost, found.row))
    _, first = np.unique(np.column_stack([found.row, found.picks > 0])[order], axis=0, return_index=True)
    first = order[first]
    row, picks, cost = found.take(first[rank_within(found.row[first], found.cost[first]) < EXCHANGED])
    own = np.searchsorted(bases.row, row)  # no change comes first
    promise = np.where(picks[:, space.numbers] > 0, np.inf, bases.promise[own])
    return Bases(row, picks, np.repeat(cost[:, None], len(space.numbers), axis=1), promise)


def _sides(n_points: int) -> tuple[slice, slice]:
    """Return where the two rays of a number lie on its grid."""
    half = (n_points - 1) // 2
    return slice(1, half + 1), slice(half + 1, 2 * half + 1)


def _with(picks: Places, moved: Mapping[int, Places]) -> Places:
    """Return picks with those of some columns replaced."""
    result = picks.copy()
    for p, at in moved.items():
        result[:, p] = at
    return result


def _two_numbers(space: Space, bases: Bases) -> list[Candidates]:
    """Return the cheapest points of every two grids that reach the goal, in each of the four directions."""
    states = space.at(bases.row, bases.picks)
    turn = np.argsort(np.argsort(-bases.promise, axis=1, kind="stable"), axis=1)
    # where the goal is reached already, one of the two must be moved
    reached, still = space.margin(space.rest(states)) >= space.slack[bases.row], bases.picks[:, space.numbers] == 0
    found = []
    for (i, p), (k, q) in combinations(enumerate(space.numbers), 2):
        chosen = np.maximum(turn[:, i], turn[:, k]) < PAIRED_NUMBERS
        at = np.flatnonzero(chosen & ~(reached & still[:, i] & still[:, k]))
        if not at.size:
            continue
        now = states.take(at)
        price = now.cost.sum(axis=1) - now.cost[:, p] - now.cost[:, q]
        cost = _pair_costs(space, now.row, space.rest(now, p, q), p, q) + price[:, None, None]
        undercut = (1 - BETTER) * np.minimum(bases.alone[at, i], bases.alone[at, k])
        for first, second in product(_sides(cost.shape[1]), _sides(cost.shape[2])):
            part = cost[:, first, second].reshape(at.size, -1)
            flat = part.argmin(axis=1)
            cheapest = part[np.arange(at.size), flat]
            good = np.flatnonzero(np.isfinite(cheapest) & (cheapest < undercut))
            down, across = np.divmod(flat[good], second.stop - second.start)
            picks = _with(bases.picks[at[good]], {p: first.start + down, q: second.start + across})
            found.append(Candidates(now.row[good], picks, cheapest[good]))
    return found


def _pair_costs(space: Space, row: Places, rest: Floats, p: int, q: int) -> Floats:
    """Return what it costs about to reach the goal with points of two grids, (states, points, points)."""
    first, second = space.grids[p], space.grids[q]
    with np.errstate(over="ignore", invalid="ignore"):
        weighted = first.phi[row] * rest[:, None]
        other = second.phi[row].transpose(0, 2, 1)
        scores = [np.matmul(weighted[:, :, terms].copy(), other[:, terms].copy()) for terms in space.member.T > 0]
    g = space.margin_of(scores)
    slack = np.broadcast_to(space.slack[row][:, None], g.shape[:2])
    cost = crossings(g, second.cost[row][:, None], second.span[row][:, None], slack)
    cost += first.cost[row][:, :, None]
    return cost


def _select(pool: Candidates, n: int, n_answers: int) -> Candidates:
    """Return for each row the cheapest candidates of n sets of columns, none with a cheaper subset if that is enough.

    A set may be reached in several directions, which are all followed up as long as they are about as cheap.
    """
    masks = [int.from_bytes(np.packbits(each).tobytes(), "big") for each in pool.picks > 0]
    chosen: list[int] = []
    order = np.lexsort((pool.cost, pool.row)).tolist()
    for _, group in groupby(order, key=pool.row.__getitem__):
        news: dict[int, float] = {}
        others = []
        for i in group:
            mask, cost = masks[i], pool.cost[i]
            if mask in news and cost <= ABOUT * news[mask]:
                chosen.append(i)
            elif mask not in news and not any(mask & each == each for each in news) and len(news) < n:
                news[mask] = cost
                chosen.append(i)
            else:
                others.append(i)
        chosen += others[: max(0, n_answers - len(news))]
    return pool.take(chosen)
