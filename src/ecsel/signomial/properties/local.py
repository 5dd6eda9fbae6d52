"""What each feature contributes for one row, relative to a baseline b: properties L1 and L2.

    L1   log|z_k(x)| = log|z_k(b)| + Σ_j β_kj log(x_j/b_j)        exact for every term, whatever the sign of α_k
    L2   φ_j = G_j(b)·log(x_j/b_j)                                first order around b, for a score z_c,
         and the same with the gradient of log z_c (elasticity, G1) or of p_c (D2)

The error of L2 is what the linearisation leaves unexplained: f(x) − f(b) − Σ_j φ_j.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ecsel.signomial.arrays import ScoreTerms, scores
from ecsel.signomial.properties.decision import Link, probabilities, probability_sensitivity
from ecsel.signomial.properties.global_behaviour import elasticity, log_gradient

if TYPE_CHECKING:
    from ecsel.signomial.columns import FloatArray


class Attribution(NamedTuple):
    """Contributions that add up to the change from the baseline, but for an error."""

    values: FloatArray
    """(rows, classes, features)."""
    base_values: FloatArray
    """(classes,) for one baseline or (rows, classes) for one per row: the function at the baseline."""
    error: FloatArray
    """(rows, classes): the function at x − base value − sum of the contributions."""


def log_additive(terms: ScoreTerms, log_x: FloatArray, log_baseline: FloatArray) -> FloatArray:
    """Return β_kj log(x_j/b_j) (property L1), shape (rows, terms, features).

    ``log_baseline`` is (features,) or (rows, features). Over the features they add up to log|z_k(x)/z_k(b)|.
    """
    result: FloatArray = (log_x - log_baseline)[:, None, :] * terms.exponents
    return result


def attribution(terms: ScoreTerms, log_x: FloatArray, log_baseline: FloatArray) -> Attribution:
    """Return the contributions G_cj(b)·log(x_j/b_j) to the scores (property L2).

    >>> from ecsel.signomial import Signomial
    >>> terms = ScoreTerms.from_signomials([Signomial.parse("3*x**2 + y")], ["x", "y"])
    >>> attribution(terms, np.array([[0.1, 0.2]]), np.zeros(2)).values
    array([[[0.6, 0.2]]])
    """
    baseline = np.atleast_2d(log_baseline)
    return _linearise(
        log_gradient(terms, baseline),
        log_x - log_baseline,
        at_x=scores(terms, log_x),
        at_baseline=scores(terms, baseline),
        one_baseline=log_baseline.ndim == 1,
    )


def log_score_attribution(terms: ScoreTerms, log_x: FloatArray, log_baseline: FloatArray) -> Attribution:
    """Return the contributions E_cj(b)·log(x_j/b_j) to log z_c (property L2 on the log-score).

    A class is NaN where its score is not positive at the baseline; only the error is NaN where it is not positive at x.
    With one term per class the error is zero: this is L1.
    """
    baseline = np.atleast_2d(log_baseline)
    return _linearise(
        elasticity(terms, baseline).values,
        log_x - log_baseline,
        at_x=_log_positive(scores(terms, log_x)),
        at_baseline=_log_positive(scores(terms, baseline)),
        one_baseline=log_baseline.ndim == 1,
    )


def probability_attribution(
    terms: ScoreTerms, log_x: FloatArray, log_baseline: FloatArray, *, link: Link
) -> Attribution:
    """Return the contributions to p_c, with the gradient D2 at the baseline (property L2 on the probability)."""
    baseline = np.atleast_2d(log_baseline)
    return _linearise(
        probability_sensitivity(terms, baseline, link=link),
        log_x - log_baseline,
        at_x=probabilities(scores(terms, log_x), link),
        at_baseline=probabilities(scores(terms, baseline), link),
        one_baseline=log_baseline.ndim == 1,
    )


def _linearise(
    gradient: FloatArray, step: FloatArray, *, at_x: FloatArray, at_baseline: FloatArray, one_baseline: bool
) -> Attribution:
    values = gradient * step[:, None, :]
    error = at_x - at_baseline - values.sum(axis=2)
    return Attribution(values, at_baseline[0] if one_baseline else at_baseline, error)


def _log_positive(values: FloatArray) -> FloatArray:
    """Return the logarithm where it is defined, else NaN."""
    return np.log(values, out=np.full_like(values, np.nan), where=values > 0)
