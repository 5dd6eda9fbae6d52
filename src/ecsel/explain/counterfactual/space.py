"""The model as a function of the columns that may be changed, and states of rows on it.

A term is a product of functions of single columns, z_k(x) = α_k Π_j φ_kj(x_j). So a row is known by its factors φ
(columns, terms), and a move of one column replaces one line of them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ecsel.explain.counterfactual.columns import Grid, LevelColumn, NumberColumn, nearer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ecsel._typing import Floats, Mask, Places
    from ecsel.explain.counterfactual.goals import Goal


class States(NamedTuple):
    """Rows with some of their columns moved."""

    row: Places
    values: Floats
    """(states, columns)."""
    phi: Floats
    """(states, columns, terms)."""
    cost: Floats
    """(states, columns)."""

    def take(self, at: Places | Mask) -> States:
        """Return some of the states, also more than once."""
        return States(self.row[at], self.values[at], self.phi[at], self.cost[at])


class Candidates(NamedTuple):
    """Points of the grids that reach the goal."""

    row: Places
    picks: Places
    """(candidates, columns); 0 is the row's own value."""
    cost: Floats
    """What they cost about, once they are moved to the boundary."""

    def take(self, at: Places | Mask | list[int]) -> Candidates:
        """Return some of the candidates."""
        return Candidates(self.row[at], self.picks[at], self.cost[at])


@dataclass(frozen=True, eq=False)
class Space:
    """The movable columns of some rows, and the model as a function of them."""

    columns: tuple[NumberColumn | LevelColumn, ...]
    grids: tuple[Grid, ...]
    fixed: Floats
    """Coefficients times the factors of all other columns, (rows, terms)."""
    member: Floats
    """The score that a term belongs to, as an indicator (terms, scores)."""
    goal: Goal
    slack: Floats
    """What g must reach, (rows,)."""

    @cached_property
    def own(self) -> Floats:
        """The rows' own values, (rows, columns)."""
        return np.stack([grid.values[:, 0] for grid in self.grids], axis=1)

    @cached_property
    def numbers(self) -> list[int]:
        """The positions of the columns of numbers; those that hold the fewest come first."""
        found = {p: column.n_values for p, column in enumerate(self.columns) if isinstance(column, NumberColumn)}
        return sorted(found, key=found.__getitem__)

    @cached_property
    def categories(self) -> list[int]:
        """The positions of the other columns."""
        return [p for p, column in enumerate(self.columns) if isinstance(column, LevelColumn)]

    def at(self, row: Places, picks: Places) -> States:
        """Return the states at points of the grids, (states, columns)."""
        chosen = [grid.values[row, at] for grid, at in zip(self.grids, picks.T, strict=True)]
        cost = [grid.cost[row, at] for grid, at in zip(self.grids, picks.T, strict=True)]
        phi = [grid.phi[row, at] for grid, at in zip(self.grids, picks.T, strict=True)]
        return States(row, np.stack(chosen, axis=1), np.stack(phi, axis=1), np.stack(cost, axis=1))

    def rest(self, states: States, *left_out: int) -> Floats:
        """Return the product (states, terms) of the coefficients and the factors of all columns but some."""
        result = self.fixed[states.row]
        with np.errstate(over="ignore", invalid="ignore"):
            for p in range(len(self.columns)):
                if p not in left_out:
                    result *= states.phi[:, p]
        return result

    def others(self, states: States) -> Floats:
        """Return `rest` for every single column left out, (columns, states, terms)."""
        n = len(self.columns)
        before, behind = np.ones((2, n, *self.fixed[states.row].shape))
        behind[-1:] = self.fixed[states.row]
        with np.errstate(over="ignore", invalid="ignore"):
            for p in range(1, n):
                np.multiply(before[p - 1], states.phi[:, p - 1], out=before[p])
                np.multiply(behind[n - p], states.phi[:, n - p], out=behind[n - p - 1])
            result: Floats = before * behind
        return result

    def margin_of(self, scores: Sequence[Floats]) -> Floats:
        """Return g (…) of scores, one array (…) for each; −∞ where one is not defined."""
        with np.errstate(over="ignore", invalid="ignore"):
            g = self.goal.margin(scores)
        return np.where(np.isnan(g), -np.inf, g)

    def margin(self, terms: Floats) -> Floats:
        """Return g (…) where the terms have these values (…, terms)."""
        with np.errstate(over="ignore", invalid="ignore"):
            scores = product(terms, self.member)
        return self.margin_of([scores[..., c] for c in range(scores.shape[-1])])

    def scan(self, row: Places, rest: Floats, p: int) -> Floats:
        """Return g (states, …, points) along the grid of a column; `rest` (states, …, terms) are all other factors."""
        n_states, *between, n_terms = rest.shape
        with np.errstate(over="ignore", invalid="ignore"):
            along = self.grids[p].phi[row].transpose(0, 2, 1)
            weights = rest.reshape(n_states, math.prod(between), n_terms)
            scores = [np.matmul(weights[..., own].copy(), along[:, own].copy()) for own in self.member.T > 0]
        return self.margin_of(scores).reshape(n_states, *between, along.shape[2])

    def reach(self, row: Places, rest: Floats, p: int) -> Floats:
        """Return what it costs about (states, points) to reach the goal at or just before each point of a grid."""
        g, grid, slack = self.scan(row, rest, p), self.grids[p], self.slack[row]
        if isinstance(self.columns[p], NumberColumn):
            return crossings(g, grid.cost[row], grid.span[row], slack)
        return np.where(g >= slack[:, None], grid.cost[row], np.inf)


def rank_within(row: Places, *keys: Floats | Places) -> Places:
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


def crossings(g: Floats, cost: Floats, span: Floats, slack: Floats) -> Floats:
    """Return what it costs about (…, points) to reach g ≥ slack just before each point of two rays, ∞ where it is not.

    Of a ray that reaches the goal more than once the nearest place is the cheapest.
    """
    before = nearer(np.arange(g.shape[-1]), g.shape[-1])
    level = slack[..., None]
    g_before = g[..., before]
    with np.errstate(divide="ignore", invalid="ignore"):
        share = (g - level) / (g - g_before)
        about = np.where(np.isfinite(share), cost - share * span, cost)
    about[(g < level) | (g_before >= level)] = np.inf
    about[..., 0] = np.where(g[..., 0] >= slack, 0.0, np.inf)
    return about


def product(rows: Floats, matrix: Floats) -> Floats:
    """Return rows (…, inner) times a matrix (inner, outer), summed in one order whatever the number of rows.

    A BLAS may sum otherwise for one row than for many, and the last bits can send a search another way.
    """
    result: Floats = np.einsum("...i,ij->...j", rows, matrix)
    return result
