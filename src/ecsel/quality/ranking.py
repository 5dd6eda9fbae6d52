"""How well a score ranks: AUC with DeLong's interval, Gini and Kolmogorov–Smirnov.

With X the score of a row of the second class and Y that of a row of the first,

    AUC = P(X > Y) + P(X = Y)/2,      Gini = 2·AUC − 1,      KS = max_s |P(X ≤ s) − P(Y ≤ s)|.

DeLong: V(x) = P(Y < x) + P(Y = x)/2 of every positive row and U(y) = P(X > y) + P(X = y)/2 of every negative one have
the mean AUC, and var AUC = var V/m + var U/n. Equal scores are grouped, so one sort gives everything. A weight counts
as that many rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import expit, logit, ndtri

from ecsel.quality.inputs import binary_codes, row_weights, score_column

if TYPE_CHECKING:
    from ecsel._typing import Floats


@dataclass(frozen=True, slots=True)
class AreaUnderCurve:
    """An AUC with its standard error and interval; NaN where the rows tell nothing of its spread.

    Examples
    --------
    >>> AreaUnderCurve(0.9, 0.02, 0.85, 0.94, 0.95).value
    0.9
    """

    value: float
    standard_error: float
    low: float
    high: float
    level: float


def auc(y: Any, scores: Any, sample_weight: Any = None, *, level: float = 0.95) -> AreaUnderCurve:
    """Return the area under the ROC curve with DeLong's standard error.

    The interval is symmetric for log(AUC/(1 − AUC)), so that it stays within 0 and 1. A perfect ranking, or a class of
    one row, has no estimate of spread: its error and bounds are NaN.

    Parameters
    ----------
    y : array of shape (rows,)
        Two labels; the second in sorted order is the positive class.
    scores : array of shape (rows,)
        Higher means more likely of the positive class.
    sample_weight : array of shape (rows,), optional
        An integer weight counts as that many rows.
    level : float, default=0.95
        The probability that the interval covers.

    Examples
    --------
    >>> auc([0, 0, 1, 0, 1, 1], [1, 2, 3, 4, 5, 6]).value
    0.888...
    """
    if not 0 < level < 1:
        raise ValueError(f"level={level!r} must lie between 0 and 1.")
    positive, negative = _grouped(y, scores, sample_weight)
    m, n = positive.sum(), negative.sum()
    above = (negative.cumsum() - negative / 2) / n
    below = (m - positive.cumsum() + positive / 2) / m
    value = float(positive @ above / m)
    if m <= 1 or n <= 1:
        return AreaUnderCurve(value, np.nan, np.nan, np.nan, level)
    variance = positive @ (above - value) ** 2 / (m * (m - 1)) + negative @ (below - value) ** 2 / (n * (n - 1))
    error = float(np.sqrt(variance))
    if error == 0 or not 0 < value < 1:
        return AreaUnderCurve(value, np.nan, np.nan, np.nan, level)
    reach = float(ndtri((1 + level) / 2)) * error / (value * (1 - value))
    centre = float(logit(value))
    return AreaUnderCurve(value, error, float(expit(centre - reach)), float(expit(centre + reach)), level)


def gini(y: Any, scores: Any, sample_weight: Any = None) -> float:
    """Return 2·AUC − 1: 1 for a perfect ranking, 0 for one by chance.

    >>> gini([0, 0, 1, 1], [1, 2, 2, 3])
    0.75
    """
    return 2 * auc(y, scores, sample_weight).value - 1


def ks(y: Any, scores: Any, sample_weight: Any = None) -> float:
    """Return the largest distance between the distributions of the score in the two classes.

    >>> ks([0, 0, 1, 1], [1, 2, 2, 3])
    0.5
    """
    positive, negative = _grouped(y, scores, sample_weight)
    gap = positive.cumsum() / positive.sum() - negative.cumsum() / negative.sum()
    return float(np.abs(gap).max())


def _grouped(y: Any, scores: Any, sample_weight: Any) -> tuple[Floats, Floats]:
    """Return the weights of the positive and of the negative rows at each distinct score, in rising order."""
    codes = binary_codes(y)
    values = score_column(scores, len(codes))
    weights = row_weights(sample_weight, len(codes))
    distinct, group = np.unique(values, return_inverse=True)
    positive: Floats = np.bincount(group, weights=weights * codes, minlength=len(distinct)).astype(np.float64)
    negative: Floats = np.bincount(group, weights=weights * (1 - codes), minlength=len(distinct)).astype(np.float64)
    if not (positive.any() and negative.any()):
        raise ValueError("all rows of one class have zero sample_weight: a ranking needs both classes.")
    return positive, negative
