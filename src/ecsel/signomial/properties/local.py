"""What each feature contributes for one row, relative to a baseline b: properties L1 and L2.

    L1   log|z_k(x)| = log|z_k(b)| + Σ_j (log|φ_kj(x_j)| − log|φ_kj(b_j)|)     exact for every term; β_kj log(x_j/b_j)
                                                                               for plain powers
    L2   φ_j = G_j(b)·log(x_j/b_j)                                            first order around b, for a score z_c,
         and the same with the gradient of log z_c (elasticity, G1) or of p_c (D2)

A logarithm needs a factor that is not zero (L1), and a proportional change from b to x needs numbers of one sign (L2):
elsewhere these are NaN. Indicators do not change proportionally. Their part in L2 is the difference
f(b with x_j in the place of b_j) − f(b). The error of L2 is what it leaves unexplained: f(x) − f(b) − Σ_j φ_j over the
parts that are defined.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ecsel.signomial.arrays import ScoreTerms, check_rows, scores
from ecsel.signomial.properties.decision import probabilities, probability_sensitivity
from ecsel.signomial.properties.global_behaviour import elasticity, log_gradient

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ecsel._typing import Floats, Mask, Places
    from ecsel.signomial.links import Link
    from ecsel.signomial.rows import FeatureRows


class Attribution(NamedTuple):
    """Contributions that add up to the change from the baseline, but for an error."""

    values: Floats
    """(rows, classes, features); NaN where there is none."""
    base_values: Floats
    """(classes,) for one baseline or (rows, classes) for one per row: the function at the baseline."""
    error: Floats
    """(rows, classes): the function at x − base value − sum of the contributions that are defined."""
    crossed: Mask
    """(rows, features): numbers that are zero or change sign between b and x, so that no proportion connects them."""


def log_additive(terms: ScoreTerms, rows: FeatureRows, baseline: FeatureRows) -> Floats:
    """Return log|φ_kj(x_j)| − log|φ_kj(b_j)| (property L1), shape (rows, terms, features).

    ``baseline`` has one row, or one for each of the rows. Over the features the values add up to log|z_k(x)/z_k(b)|.
    They are NaN where φ_kj vanishes at x or at b.
    """
    check_rows(terms, rows)
    check_rows(terms, baseline)
    result: Floats = (rows.log_abs - baseline.log_abs)[:, None, :] * terms.exponents
    result[_is_zero(rows, baseline)[:, None, :] & terms.uses] = np.nan
    for k in np.flatnonzero(~terms.is_power_law):
        at_x, at_b = terms.feature_values(rows, int(k)), terms.feature_values(baseline, int(k))
        for j in at_x:
            result[:, k, j] = _log_size(at_x[j]) - _log_size(at_b[j])
    return result


def attribution(
    terms: ScoreTerms, rows: FeatureRows, baseline: FeatureRows, *, indicators: Sequence[int] | Places = ()
) -> Attribution:
    """Return the contributions G_cj(b)·log(x_j/b_j) to the scores (property L2).

    Parameters
    ----------
    terms
        The scores.
    rows
        The rows to explain.
    baseline
        One row, or one for each of the rows.
    indicators
        The positions of features that are not numbers but switches, 0 or 1.

    Examples
    --------
    >>> from ecsel.signomial import FeatureRows, Signomial
    >>> terms = ScoreTerms.from_signomials([Signomial.parse("3*x**2 + y")], ["x", "y"])
    >>> attribution(terms, FeatureRows.from_logs([[0.1, 0.2]]), FeatureRows.from_logs([[0.0, 0.0]])).values
    array([[[0.6, 0.2]]])
    """
    return _linearise(
        terms, rows, baseline, indicators, lambda at: scores(terms, at), log_gradient(terms, baseline), by_class=True
    )


def log_score_attribution(
    terms: ScoreTerms, rows: FeatureRows, baseline: FeatureRows, *, indicators: Sequence[int] | Places = ()
) -> Attribution:
    """Return the contributions E_cj(b)·log(x_j/b_j) to log z_c (property L2 on the log-score).

    A class is NaN where its score is not positive at the baseline; only the error is NaN where it is not positive at x.
    With one term per class the error is zero: this is L1.
    """
    gradient = elasticity(terms, baseline).values
    return _linearise(
        terms, rows, baseline, indicators, lambda at: _log_positive(scores(terms, at)), gradient, by_class=True
    )


def probability_attribution(
    terms: ScoreTerms,
    rows: FeatureRows,
    baseline: FeatureRows,
    *,
    link: Link | str,
    indicators: Sequence[int] | Places = (),
) -> Attribution:
    """Return the contributions to p_c, with the gradient D2 at the baseline (property L2 on the probability)."""
    gradient = probability_sensitivity(terms, baseline, link=link)
    return _linearise(
        terms, rows, baseline, indicators, lambda at: probabilities(scores(terms, at), link), gradient, by_class=False
    )


def _linearise(
    terms: ScoreTerms,
    rows: FeatureRows,
    baseline: FeatureRows,
    indicators: Sequence[int] | Places,
    function: Callable[[FeatureRows], Floats],
    gradient: Floats,
    *,
    by_class: bool,
) -> Attribution:
    """Linearise a function (rows, classes); `by_class` says whether a class depends on its own terms alone."""
    at_x, at_b = function(rows), function(baseline)
    used = terms.uses.any(axis=0)
    switches = np.isin(np.arange(terms.n_features), indicators)
    crossed = ((rows.signs != baseline.signs) | (rows.signs == 0)) & used & ~switches
    step = np.where(crossed, np.nan, rows.log_abs - baseline.log_abs)
    values = gradient * np.where(switches, 0.0, step)[:, None, :]
    if by_class:
        member = terms.classes[:, None] == np.arange(terms.n_classes)
        unused = ~(member.T.astype(np.intp) @ terms.uses.astype(np.intp)).astype(bool)
        values[np.broadcast_to(unused & ~np.isnan(gradient), values.shape)] = 0.0
    for j in np.flatnonzero(switches & used):
        moved = baseline.repeat(len(rows)).with_features([j], rows)
        values[:, :, j] = function(moved) - at_b
    error = at_x - at_b - np.nansum(values, axis=2)
    return Attribution(values, at_b[0] if len(baseline) == 1 else at_b, error, crossed)


def _is_zero(rows: FeatureRows, baseline: FeatureRows) -> Mask:
    zero: Mask = (rows.signs == 0) | (baseline.signs == 0)
    return zero


def _log_size(values: Floats) -> Floats:
    """Return log|φ|, NaN where φ = 0."""
    return np.log(np.abs(values), out=np.full_like(values, np.nan), where=values != 0)


def _log_positive(values: Floats) -> Floats:
    """Return the logarithm where it is defined, else NaN."""
    return np.log(values, out=np.full_like(values, np.nan), where=values > 0)
