r"""Exact interventional Shapley values of signomial scores in polynomial time.

Features come in groups, one for each raw column: the players of the game. For one term and one background row the game
"the groups in S take their values from x, the others from the background" is a product: v(S) = α·Π_{i∈S} a_i·Π_{i∉S}
b_i, where a_i and b_i are the values of group i's factors at x and at the background, whatever functions they are and
whatever their signs. The Shapley value averages marginal contributions over coalitions that contain each other group
with the same probability q, itself uniform on [0, 1], so

    φ_p = α ∫₀¹ (a_p − b_p) Π_{i≠p} (q·a_i + (1 − q)·b_i) dq.

`ecsel.signomial.properties.product_game` has two exact forms of it. Terms add up, background rows are averaged, and a
group that does not occur in a term gets exactly zero from it.

Numerics: of plain powers of positive features the logarithms of a_i and b_i are known. With the middle c_i of the
background's logarithms taken out, a_i and b_i are exp(log − c_i), their offsets from one are an expm1, and the scale
exp(Σ c_i) comes back once at the end. Where mixtures of rows span so many
magnitudes that products could underflow, every pair of rows gets a scale of its own: with s_i = max(log a_i, log b_i)
taken out of every factor all factors lie in [0, 1]. Other factors are taken as they are. Where some coalition's term
passes exp(700), or the limit at which α·exp(…) still adds up, the model clips it and the game is no product any more;
this is refused.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, NoReturn

import numpy as np

from ecsel.signomial.arrays import ScoreTerms, scores
from ecsel.signomial.columns import LOG_LIMIT
from ecsel.signomial.properties.product_game import Factors, product_shapley, slices, unit_nodes

if TYPE_CHECKING:
    from ecsel._typing import Floats, Places
    from ecsel.signomial.rows import FeatureRows

_BLOCK_PAIRS = 4096
"""Pairs of a row and a background row that get their own scales at once: the arrays stay in cache."""
_SPAN = 600.0
"""Mixtures of rows may span so many units of the logarithm with one scale for all: no product under- or overflows."""


class ShapleyValues(NamedTuple):
    """Shapley values; base value + sum over groups = score, for every row and class."""

    values: Floats
    """(rows, classes, groups)."""
    base_values: Floats
    """(classes,): the mean score of the background."""


def shapley(
    terms: ScoreTerms,
    rows: FeatureRows,
    background: FeatureRows,
    feature_groups: Places,
    *,
    n_groups: int | None = None,
) -> ShapleyValues:
    """Return the exact interventional Shapley values of the class scores.

    Parameters
    ----------
    terms : ScoreTerms
        The scores.
    rows : FeatureRows
        The rows to explain.
    background : FeatureRows
        The rows over which absent groups are averaged.
    feature_groups : integer array (features,)
        The group that each feature belongs to: features of one group are present or absent together.
    n_groups : int, optional
        The number of groups, by default one more than the largest in ``feature_groups``.

    Examples
    --------
    The two groups of x·y share the interaction.

    >>> from ecsel.signomial import FeatureRows, Signomial
    >>> terms = ScoreTerms.from_signomials([Signomial.parse("x*y")], ["x", "y"])
    >>> row, background = FeatureRows.from_values([[3.0, 2.0]]), FeatureRows.from_values([[1.0, 1.0]])
    >>> result = shapley(terms, row, background, np.array([0, 1]))
    >>> result.values.round(12), result.base_values
    (array([[[3., 2.]]]), array([1.]))
    """
    feature_groups = np.asarray(feature_groups, dtype=np.intp)
    if n_groups is None:
        n_groups = int(feature_groups.max(initial=-1)) + 1
    _check_groups(terms, feature_groups, n_groups)
    if len(background) == 0:
        raise ValueError("Shapley values need at least one background row")
    values = np.zeros((len(rows), terms.n_classes, n_groups))
    for k, (alpha, c) in enumerate(zip(terms.coefficients, terms.classes, strict=True)):
        present = np.unique(feature_groups[terms.uses[k]])
        if present.size and alpha != 0:
            values[:, c, present] += alpha * _of_term(terms, k, rows, background, feature_groups, present)
    return ShapleyValues(values, scores(terms, background).mean(axis=0))


def group_values(terms: ScoreTerms, k: int, rows: FeatureRows, feature_groups: Places, present: Places) -> Floats:
    """Return the values of the factors of term k by group, (rows, present groups)."""
    values = np.ones((len(rows), present.size))
    for j, part in terms.feature_values(rows, k).items():
        values[:, np.searchsorted(present, feature_groups[j])] *= part
    return values


def _of_term(
    terms: ScoreTerms, k: int, rows: FeatureRows, background: FeatureRows, feature_groups: Places, present: Places
) -> Floats:
    """Return the Shapley values (rows, present groups) of one term without its coefficient."""
    used, limit = terms.uses[k], terms.clip_limits[k][1]
    if terms.is_power_law[k] and rows.is_positive(used) and background.is_positive(used):
        # (features, present groups): sums the logarithms of a group's features
        grouping = terms.exponents[k][:, None] * (feature_groups[:, None] == present)
        return _term_shapley(rows.log_abs @ grouping, background.log_abs @ grouping, limit)
    a, b = (group_values(terms, k, each, feature_groups, present) for each in (rows, background))
    largest = np.maximum(np.abs(a).max(axis=0, initial=0.0), np.abs(b).max(axis=0))
    if np.log(np.maximum(largest, 1.0)).sum() > limit:
        refuse_clipped_game()
    centre = b.min(axis=0) / 2 + b.max(axis=0) / 2
    return product_shapley(Factors.around(centre, a), Factors.around(centre, b))


def refuse_clipped_game() -> NoReturn:
    """Say that the game is no product, because the model clips it."""
    raise ValueError(
        "Shapley values are not available: with some features from a row and others from the background a term "
        "passes exp(700) or what can be added up, where the model clips it; leave extreme rows out"
    )


def _term_shapley(log_a: Floats, log_b: Floats, limit: float) -> Floats:
    """Return the Shapley values (rows, groups) of Π exp(log_a) against Π exp(log_b), (rows or background, groups).

    Products above exp(limit) are refused.
    """
    low, high = log_b.min(axis=0), log_b.max(axis=0)
    centre = low + (high - low) / 2  # exactly the value where all are equal
    bottom = np.minimum(low, log_a.min(axis=0, initial=np.inf)).sum()
    top = np.maximum(high, log_a.max(axis=0, initial=-np.inf)).sum()
    if bottom >= -LOG_LIMIT and top <= limit and top - bottom <= _SPAN:
        x, background = (Factors(np.exp(each - centre), np.expm1(each - centre)) for each in (log_a, log_b))
        values: Floats = np.exp(centre.sum()) * product_shapley(x, background)
        return values
    return _scaled_by_pair(log_a.T, log_b.T, limit).T


def _scaled_by_pair(log_a: Floats, log_b: Floats, limit: float) -> Floats:
    """Return the same for any magnitudes, by quadrature group by group, (groups, rows)."""
    n_groups, n_rows = log_a.shape
    n_background = log_b.shape[1]
    nodes, weights = unit_nodes(n_groups)
    result = np.zeros((n_groups, n_rows))
    width = min(n_background, _BLOCK_PAIRS)
    for rows in slices(n_rows, _BLOCK_PAIRS // width):
        for background in slices(n_background, width):
            a, b = log_a[:, rows, None], log_b[:, None, background]
            if np.maximum(a, b).sum(axis=0).max(initial=0.0) > limit:
                refuse_clipped_game()
            # the mean and not the sum of many background rows, which could be infinite
            result[:, rows] += _pair_shapley(a, b, nodes, weights).sum(axis=2) / n_background
    return result


def _pair_shapley(log_a: Floats, log_b: Floats, nodes: Floats, weights: Floats) -> Floats:
    """Return the Shapley values (groups, rows, background) of every pair of a row and a background row."""
    log_ratio = log_a - log_b
    log_scale = np.maximum(log_a, log_b).sum(axis=0)
    scale = np.exp(log_scale)
    # with the larger of a and b scaled to one: b = exp(−max(ratio, 0)), and a − b = ±(1 − exp(−|ratio|))
    absent = np.exp(-np.maximum(log_ratio, 0.0))
    difference = np.copysign(np.expm1(-np.abs(log_ratio)), log_ratio)
    integral = np.zeros_like(log_ratio)
    factor, prefix = np.empty_like(log_ratio), np.empty_like(log_ratio)
    suffix, product = np.empty_like(scale), np.empty_like(scale)
    for q, weight in zip(nodes, weights, strict=True):
        np.multiply(difference, q, out=factor)
        factor += absent
        prefix[0] = weight
        for p in range(1, len(factor)):
            np.multiply(prefix[p - 1], factor[p - 1], out=prefix[p])
        suffix.fill(1.0)
        for p in reversed(range(len(factor))):
            np.multiply(prefix[p], suffix, out=product)
            integral[p] += product
            suffix *= factor[p]
    integral *= difference
    integral *= scale
    return integral


def _check_groups(terms: ScoreTerms, feature_groups: Places, n_groups: int) -> None:
    if feature_groups.shape != (terms.n_features,):
        raise ValueError(
            f"feature_groups must give one group per feature, shape ({terms.n_features},), not {feature_groups.shape}"
        )
    if feature_groups.size and not 0 <= feature_groups.min() <= feature_groups.max() < n_groups:
        raise ValueError(f"feature_groups must lie between 0 and {n_groups - 1}")
