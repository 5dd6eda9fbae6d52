"""Shapley values of probabilities: exact enumeration for few players, antithetic permutations for many.

The game is v(S) = mean over background rows of p_c(players in S from x, the others from the background). A probability
is no product, so there is no closed form; but the log of a term is a sum over players, so with EA = exp(part of x) and
EB = exp(part of the background) a coalition's terms are the products EA·EB of a row's and a background row's numbers,
and only the link has to be evaluated for every pair.

- Up to 2^`ENUMERATED_PLAYERS` coalitions all are enumerated: exact, error 0.
- Else players join in random order and φ_p is the mean of p's marginal contributions. Each order is paired with its
  reverse (antithetic), every background row is used each time, and pairs are added until the largest standard error is
  below the tolerance. The values of every order add up to p(x) − mean p(background), hence so does their mean. The
  standard error falls as 1/√pairs; it is reported for every cell. Orders come from a seeded generator, so two runs give
  the same bits.
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
PAIRS_PER_ROUND = 16


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
    rng = np.random.default_rng(seed)
    orders = [rng.permutation(present.size) for _ in range(max(1, max_permutations // 2))]
    step = max(1, BLOCK_CELLS // (len(log_background) * view.terms.n_terms * 2))
    for start in range(0, len(log_x), step):
        rows = slice(start, start + step)
        block = _Parts(parts.x[rows], parts.background)
        if present.size <= ENUMERATED_PLAYERS:
            result.values[rows, :, present] = _enumerate(view, block)
        else:
            values, error = _permute(view, block, orders, tolerance)
            result.values[rows, :, present] = values
            result.error[rows, :, present] = error
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


def _mean_probability(view: ModelView, at_x: FloatArray, at_background: FloatArray) -> FloatArray:
    """Return the mean over background rows of p for terms α·at_x·at_background: (rows, classes)."""
    return _average(view, at_x[:, None, :] * at_background[None, :, :])


def _average(view: ModelView, monomials: FloatArray) -> FloatArray:
    """Return the mean over background rows of p for monomials (rows, background rows, terms)."""
    n_rows, n_background, _ = monomials.shape
    weights = view.terms.coefficients[:, None] * (view.terms.classes[:, None] == np.arange(view.terms.n_classes))
    z = monomials.reshape(n_rows * n_background, -1) @ weights
    p = probabilities(z, view.probability_link)
    mean: FloatArray = p.reshape(n_rows, n_background, -1).mean(axis=1)
    return mean


def _enumerate(view: ModelView, parts: _Parts) -> FloatArray:
    """Return exact values (rows, classes, players) from all coalitions."""
    n_players = parts.x.shape[2]
    members = (np.arange(2**n_players)[:, None] >> np.arange(n_players)) & 1
    worth = np.array(
        [
            _mean_probability(view, np.exp(parts.x @ inside), np.exp(parts.background @ (1 - inside)))
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


def _permute(view: ModelView, parts: _Parts, orders: list[IntArray], tolerance: float) -> GameValues:
    """Return means and standard errors over antithetic pairs of orders, stopping at the tolerance."""
    shape = (len(parts.x), len(view.classes), parts.x.shape[2])
    total, squares = np.zeros(shape), np.zeros(shape)
    error = np.full(shape, np.inf)
    count = 0
    for order in orders:
        pair = (_one_order(view, parts, order) + _one_order(view, parts, order[::-1])) / 2
        total += pair
        squares += pair**2
        count += 1
        if count > 1 and count % PAIRS_PER_ROUND == 0:
            error = _standard_error(total, squares, count)
            if error.max() <= tolerance:
                break
    return GameValues(total / count, _standard_error(total, squares, count))


def _standard_error(total: FloatArray, squares: FloatArray, count: int) -> FloatArray:
    if count == 1:
        return np.full_like(total, np.inf)
    variance = np.maximum(squares - total**2 / count, 0.0) / (count - 1)
    result: FloatArray = np.sqrt(variance / count)
    return result


def _one_order(view: ModelView, parts: _Parts, order: IntArray) -> FloatArray:
    """Return each player's marginal contribution when players join in this order."""
    contributions = np.empty((len(parts.x), len(view.classes), parts.x.shape[2]))
    # one product per player and step: x's factor comes in, the background's goes out
    monomials = np.repeat(np.exp(parts.background.sum(axis=2))[None], len(parts.x), axis=0)
    before = _average(view, monomials)
    for p in order:
        monomials *= np.exp(parts.x[:, None, :, p] - parts.background[None, :, :, p])
        after = _average(view, monomials)
        contributions[:, :, p] = after - before
        before = after
    return contributions
