"""Shapley values of probabilities: exact enumeration for few groups, antithetic permutations for many.

The game is v(S) = mean over background rows of p_c(groups in S from x, the others from the background). A probability
is no product, so there is no closed form; but a term is a product of one factor by group. With a and b the factors at
a row and at a background row, a coalition's terms are Π_S a · Π_∖S b, products of a number of the row and one of the
background row, and only the link has to be evaluated for every pair.

- Up to 2^`ENUMERATED_GROUPS` coalitions all are enumerated: exact, error 0.
- Else groups join in random order and φ_p is the mean of p's marginal contributions. In every round each background
  row has an order of its own, and the reverse of that order (antithetic); rounds are added until the largest standard
  error over rounds is below the tolerance. The contributions of an order add up to p(x) − p(background row), hence the
  values to p(x) − mean p(background). The standard error falls as 1/√rounds; it is reported for every cell. Orders come
  from a seeded generator, so two runs give the same bits.
"""

from __future__ import annotations

from math import factorial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ecsel.signomial.columns import LOG_LIMIT
from ecsel.signomial.properties import probabilities
from ecsel.signomial.properties.shapley import group_values, refuse_clipped_game

if TYPE_CHECKING:
    from ecsel._typing import Floats, Mask, Places
    from ecsel.explain.view import ModelView
    from ecsel.signomial import FeatureRows

ENUMERATED_GROUPS = 12
BLOCK_CELLS = 1 << 21
"""Pairs of rows times terms that are held at once, so that memory stays bounded."""
ROUNDS_AT_ONCE = 8


class GameValues(NamedTuple):
    """Values and their standard errors."""

    values: Floats
    """(rows, classes, groups)."""
    error: Floats
    """(rows, classes, groups); 0 where all coalitions were enumerated."""


class _Factors(NamedTuple):
    """The factor of each present group in each term, up to a scale of the term that the weights have."""

    x: Floats
    """(rows, terms, groups)."""
    background: Floats
    """(background rows, terms, groups)."""
    weights: Floats
    """(terms, scores): coefficient and scale of a term at the score that it belongs to."""


def probability_shapley(
    view: ModelView,
    rows: FeatureRows,
    background: FeatureRows,
    *,
    tolerance: float,
    max_permutations: int,
    seed: int,
) -> GameValues:
    """Return the Shapley values of the class probabilities."""
    present = np.unique(view.feature_groups[view.terms.uses.any(axis=0)])
    factors = _factors(view, rows, background, present)
    shape = (len(rows), len(view.classes), len(view.raw_names))
    result = GameValues(np.zeros(shape), np.zeros(shape))
    step = max(1, BLOCK_CELLS // (len(background) * max(view.terms.n_terms, 1) * 2 * ROUNDS_AT_ONCE))
    for start in range(0, len(rows), step):
        at = slice(start, start + step)
        block = factors._replace(x=factors.x[at])
        if present.size <= ENUMERATED_GROUPS:
            result.values[at, :, present] = _enumerate(view, block)
        else:
            sampled = _sample(view, block, tolerance, max_permutations, np.random.default_rng(seed))
            result.values[at, :, present], result.error[at, :, present] = sampled
    return result


def _factors(view: ModelView, rows: FeatureRows, background: FeatureRows, present: Places) -> _Factors:
    """Return the factors; those of plain powers of positive features with the middle of their logarithms taken out."""
    terms = view.terms
    shape = (terms.n_terms, present.size)
    x, behind, scale = np.ones((len(rows), *shape)), np.ones((len(background), *shape)), np.ones(terms.n_terms)
    for k, uses in enumerate(terms.uses):
        if terms.is_power_law[k] and rows.is_positive(uses) and background.is_positive(uses):
            grouping = terms.exponents[k][:, None] * (view.feature_groups[:, None] == present)
            logs = rows.log_abs @ grouping, background.log_abs @ grouping
            low = np.minimum(*(each.min(axis=0) for each in logs))
            high = np.maximum(*(each.max(axis=0) for each in logs))
            if high.sum() > terms.clip_limits[k][1] or low.sum() < -LOG_LIMIT:
                refuse_clipped_game()
            centre = low + (high - low) / 2
            x[:, k], behind[:, k] = (np.exp(each - centre) for each in logs)
            scale[k] = np.exp(centre.sum())
        else:
            x[:, k], behind[:, k] = (
                group_values(terms, k, each, view.feature_groups, present) for each in (rows, background)
            )
            largest = np.maximum(*(np.abs(each[:, k]).max(axis=0) for each in (x, behind)))
            if np.log(np.maximum(largest, 1.0)).sum() > terms.clip_limits[k][1]:
                refuse_clipped_game()
    member = terms.classes[:, None] == np.arange(terms.n_classes)
    return _Factors(x, behind, (terms.coefficients * scale)[:, None] * member)


def _link(view: ModelView, factors: _Factors, products: Floats) -> Floats:
    """Return the probabilities (…, classes) of products of factors (…, terms)."""
    z = products.reshape(-1, products.shape[-1]) @ factors.weights
    return probabilities(z, view.probability_link).reshape(*products.shape[:-1], -1)


def _enumerate(view: ModelView, factors: _Factors) -> Floats:
    """Return exact values (rows, classes, groups) from all coalitions."""
    n_groups = factors.x.shape[2]
    members = (np.arange(2**n_groups)[:, None] >> np.arange(n_groups)) & 1
    worth = np.array(
        [
            _link(view, factors, _product(factors.x, inside)[:, None] * _product(factors.background, ~inside)).mean(
                axis=1
            )
            for inside in members.astype(bool)
        ]
    )
    values = np.empty((*worth.shape[1:], n_groups))
    size = members.sum(axis=1)
    for p in range(n_groups):
        without = np.flatnonzero(members[:, p] == 0)
        weight = np.array([factorial(s) * factorial(n_groups - 1 - s) / factorial(n_groups) for s in size[without]])
        values[:, :, p] = np.tensordot(weight, worth[without + (1 << p)] - worth[without], axes=1)
    return values


def _product(factors: Floats, chosen: Mask) -> Floats:
    """Return the product over the chosen groups, (rows, terms)."""
    product: Floats = factors[:, :, chosen].prod(axis=2)
    return product


def _sample(
    view: ModelView, factors: _Factors, tolerance: float, max_permutations: int, rng: np.random.Generator
) -> GameValues:
    """Return means and standard errors over rounds of antithetic orders, stopping at the tolerance."""
    n_background, _, n_groups = factors.background.shape
    shape = (len(factors.x), len(view.classes), n_groups)
    total, squares = np.zeros(shape), np.zeros(shape)
    error = np.full(shape, np.inf)
    count = 0
    while 2 * count < max_permutations and error.max(initial=0.0) > tolerance:
        keys = rng.random((ROUNDS_AT_ONCE, n_background, n_groups))
        orders = keys.argsort(axis=2, kind="stable")
        rounds = (
            _marginal_contributions(view, factors, orders) + _marginal_contributions(view, factors, orders[:, :, ::-1])
        ) / 2
        total += rounds.sum(axis=0)
        squares += (rounds**2).sum(axis=0)
        count += ROUNDS_AT_ONCE
        variance = np.maximum(squares - total**2 / count, 0.0) / (count - 1)
        error = np.sqrt(variance / count)
    return GameValues(total / count, error)


def _marginal_contributions(view: ModelView, factors: _Factors, orders: Places) -> Floats:
    """Return each group's marginal contribution (rounds, rows, classes, groups), averaged over background rows.

    `orders` (rounds, background rows, groups) says who joins when. The factors of those who have joined and of those
    who have not are multiplied up apart: nothing is divided, so that factors may vanish.
    """
    n_rounds, n_background, n_groups = orders.shape
    n_rows, n_terms, _ = factors.x.shape
    joining = factors.x.transpose(2, 0, 1)
    at = np.arange(n_background)
    absent = np.ones((n_groups + 1, n_rounds, n_background, n_terms))
    for step in reversed(range(n_groups)):
        np.multiply(absent[step + 1], factors.background[at, :, orders[:, :, step]], out=absent[step])
    # (rounds, background rows, rows, terms)
    joined = np.ones((n_rounds, n_background, n_rows, n_terms))
    result = np.zeros((n_rounds, n_groups, n_rows * len(view.classes)))
    before = _link(view, factors, joined * absent[0][:, :, None, :])
    for step in range(n_groups):
        group = orders[:, :, step]
        joined *= joining[group]
        after = _link(view, factors, joined * absent[step + 1][:, :, None, :])
        joins = (group[:, None, :] == np.arange(n_groups)[:, None]) / n_background
        result += joins @ (after - before).reshape(n_rounds, n_background, -1)
        before = after
    return np.moveaxis(result.reshape(n_rounds, n_groups, n_rows, -1), 1, 3)
