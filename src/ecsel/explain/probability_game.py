"""Shapley values of probabilities: exact enumeration for few players, antithetic permutations for many.

The game is v(S) = mean over background rows of p_c(players in S from x, the others from the background). A probability
is no product, so there is no closed form; but the log of a term is a sum over players, so with EA = exp(part of x) and
EB = exp(part of the background) a coalition's terms are the products EA·EB of a row's and a background row's numbers,
and only the link has to be evaluated for every pair.

- Up to 2^`ENUMERATED_PLAYERS` coalitions all are enumerated: exact, error 0.
- Else players join in random order and φ_p is the mean of p's marginal contributions. In every round each background
  row has an order of its own, and the reverse of that order (antithetic); rounds are added until the largest standard
  error over rounds is below the tolerance. The contributions of an order add up to p(x) − p(background row), hence the
  values to p(x) − mean p(background). The standard error falls as 1/√rounds; it is reported for every cell. Orders come
  from a seeded generator, so two runs give the same bits.
"""

from __future__ import annotations

from math import factorial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ecsel.signomial.columns import LOG_LIMIT, FloatArray
from ecsel.signomial.properties import probabilities

if TYPE_CHECKING:
    from ecsel.explain.view import IntArray, ModelView

ENUMERATED_PLAYERS = 12
BLOCK_CELLS = 1 << 21
"""Pairs of rows times terms that are held at once, so that memory stays bounded."""
ROUNDS_AT_ONCE = 8


class GameValues(NamedTuple):
    """Values and their standard errors."""

    values: FloatArray
    """(rows, classes, players)."""
    error: FloatArray
    """(rows, classes, players); 0 where all coalitions were enumerated."""


class _Parts(NamedTuple):
    """Each present player's share of the log of each term."""

    x: FloatArray
    """(rows, terms, players)."""
    background: FloatArray
    """(background rows, terms, players)."""


def probability_shapley(
    view: ModelView,
    log_x: FloatArray,
    log_background: FloatArray,
    *,
    tolerance: float,
    max_permutations: int,
    seed: int,
) -> GameValues:
    """Return the Shapley values of the class probabilities."""
    present = np.unique(view.players[(view.terms.exponents != 0).any(axis=0)])
    grouping = view.terms.exponents[:, :, None] * (view.players[:, None] == present)
    parts = _Parts(
        np.einsum("nf,kfp->nkp", log_x, grouping, optimize=True),
        np.einsum("nf,kfp->nkp", log_background, grouping, optimize=True),
    )
    _refuse_clipped(parts)
    shape = (len(log_x), len(view.classes), len(view.raw_names))
    result = GameValues(np.zeros(shape), np.zeros(shape))
    step = max(1, BLOCK_CELLS // (len(log_background) * view.terms.n_terms * 2 * ROUNDS_AT_ONCE))
    for start in range(0, len(log_x), step):
        rows = slice(start, start + step)
        block = _Parts(parts.x[rows], parts.background)
        if present.size <= ENUMERATED_PLAYERS:
            result.values[rows, :, present] = _enumerate(view, block)
        else:
            sampled = _sample(view, block, tolerance, max_permutations, np.random.default_rng(seed))
            result.values[rows, :, present], result.error[rows, :, present] = sampled
    return result


def _refuse_clipped(parts: _Parts) -> None:
    """Refuse terms that some coalition takes beyond exp(±700), where the model clips them."""
    largest = np.maximum(parts.x.max(axis=0), parts.background.max(axis=0)).sum(axis=-1)
    smallest = np.minimum(parts.x.min(axis=0), parts.background.min(axis=0)).sum(axis=-1)
    if max(largest.max(initial=0.0), -smallest.min(initial=0.0)) > LOG_LIMIT:
        raise ValueError(
            "Shapley values are not available: with some features from a row and others from the background a term "
            "passes exp(±700), where the model clips it; leave extreme rows out"
        )


def _link(view: ModelView, monomials: FloatArray) -> FloatArray:
    """Return the probabilities (…, classes) of monomials (…, terms)."""
    weights = view.terms.coefficients[:, None] * (view.terms.classes[:, None] == np.arange(view.terms.n_classes))
    z = monomials.reshape(-1, view.terms.n_terms) @ weights
    return probabilities(z, view.probability_link).reshape(*monomials.shape[:-1], -1)


def _enumerate(view: ModelView, parts: _Parts) -> FloatArray:
    """Return exact values (rows, classes, players) from all coalitions."""
    n_players = parts.x.shape[2]
    members = (np.arange(2**n_players)[:, None] >> np.arange(n_players)) & 1
    worth = np.array(
        [
            _link(view, np.exp(parts.x @ inside)[:, None] * np.exp(parts.background @ (1 - inside))).mean(axis=1)
            for inside in members.astype(np.float64)
        ]
    )
    values = np.empty((*worth.shape[1:], n_players))
    size = members.sum(axis=1)
    for p in range(n_players):
        without = np.flatnonzero(members[:, p] == 0)
        weight = np.array([factorial(s) * factorial(n_players - 1 - s) / factorial(n_players) for s in size[without]])
        values[:, :, p] = np.tensordot(weight, worth[without + (1 << p)] - worth[without], axes=1)
    return values


def _sample(
    view: ModelView, parts: _Parts, tolerance: float, max_permutations: int, rng: np.random.Generator
) -> GameValues:
    """Return means and standard errors over rounds of antithetic orders, stopping at the tolerance."""
    n_background, _, n_players = parts.background.shape
    shape = (len(parts.x), len(view.classes), n_players)
    total, squares = np.zeros(shape), np.zeros(shape)
    error = np.full(shape, np.inf)
    count = 0
    while 2 * count < max_permutations and error.max(initial=0.0) > tolerance:
        keys = rng.random((ROUNDS_AT_ONCE, n_background, n_players))
        orders = keys.argsort(axis=2, kind="stable")
        rounds = (
            _marginal_contributions(view, parts, orders) + _marginal_contributions(view, parts, orders[:, :, ::-1])
        ) / 2
        total += rounds.sum(axis=0)
        squares += (rounds**2).sum(axis=0)
        count += ROUNDS_AT_ONCE
        variance = np.maximum(squares - total**2 / count, 0.0) / (count - 1)
        error = np.sqrt(variance / count)
    return GameValues(total / count, error)


def _marginal_contributions(view: ModelView, parts: _Parts, orders: IntArray) -> FloatArray:
    """Return each player's marginal contribution (rounds, rows, classes, players), averaged over background rows.

    `orders` (rounds, background rows, players) says who joins when.
    """
    n_rounds, n_background, n_players = orders.shape
    n_rows, n_terms, _ = parts.x.shape
    # (rounds, background rows, rows, terms): one product per step takes x's factor in and the background's out
    monomials = np.broadcast_to(
        np.exp(parts.background.sum(axis=2))[None, :, None, :], (n_rounds, n_background, n_rows, n_terms)
    ).copy()
    factor_in = np.exp(parts.x).transpose(2, 0, 1)
    factor_out = np.exp(-parts.background)
    result = np.zeros((n_rounds, n_players, n_rows * len(view.classes)))
    before = _link(view, monomials)
    for step in range(n_players):
        player = orders[:, :, step]
        monomials *= factor_in[player]
        monomials *= factor_out[np.arange(n_background), :, player][:, :, None, :]
        after = _link(view, monomials)
        joins = (player[:, None, :] == np.arange(n_players)[:, None]) / n_background
        result += joins @ (after - before).reshape(n_rounds, n_background, -1)
        before = after
    return np.moveaxis(result.reshape(n_rounds, n_players, n_rows, -1), 1, 3)
