"""Are probabilities what they say? Brier score, calibration error, reliability, and the temperature that mends it.

    log-loss      −mean log p_y
    Brier         mean (p₁ − [y = 1])² for two classes, mean Σ_c (p_c − [y = c])² for more
    ECE           Σ_b (w_b/w) |share of hits in bin b − mean probability in bin b|
    temperature   the T > 0 that minimises the log-loss of softmax(z/T), or of sigmoid(z/T)

Bins of the calibration error hold equal weight (ten by default): equal widths leave rare classes in one bin. Equal
probabilities stay together. With two classes the probability is that of the second; with more it is the largest one,
and a hit is a row where that class is right.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit, log_expit, log_softmax, softmax

from ecsel.quality.inputs import class_codes, probability_table, row_weights

if TYPE_CHECKING:
    from ecsel._typing import Floats
    from ecsel.quality.inputs import Codes

N_BINS = 10
LARGEST_TEMPERATURE = 20.0
"""Scores are divided by at most this, and multiplied by at most this: rows that are ranked perfectly name no limit."""


@dataclass(frozen=True, slots=True)
class Reliability:
    """Bins of probabilities: their mean, the share of hits, and the weight of each, lowest bin first.

    Examples
    --------
    >>> Reliability((0.2, 0.8), (0.2, 0.8), (1.0, 1.0)).error
    0.0
    """

    predicted: tuple[float, ...]
    observed: tuple[float, ...]
    weight: tuple[float, ...]

    @property
    def error(self) -> float:
        """The expected calibration error."""
        w, gap = np.array(self.weight), np.array(self.observed) - np.array(self.predicted)
        return float(w @ np.abs(gap) / w.sum())


def reliability(
    y: Any, probabilities: Any, sample_weight: Any = None, *, n_bins: int = N_BINS, classes: Any = None
) -> Reliability:
    """Return the reliability of probabilities in bins of equal weight.

    Parameters
    ----------
    y : array of shape (rows,)
        Labels.
    probabilities : array of shape (rows,) or (rows, classes)
        Of the second of two classes, or of every class in the order of `classes`.
    sample_weight : array of shape (rows,), optional
        An integer weight counts as that many rows.
    n_bins : int, default=10
        Most bins; fewer where probabilities are equal.
    classes : list of labels, optional
        By default the sorted labels of `y`.

    Examples
    --------
    >>> bins = reliability([0, 1, 0, 1], [0.1, 0.3, 0.8, 0.8], n_bins=2)
    >>> bins.predicted, bins.observed
    ((0.2, 0.8), (0.5, 0.5))
    """
    table = probability_table(probabilities)
    codes = class_codes(y, table.shape[1], classes)
    return bins_of(table, codes, row_weights(sample_weight, len(codes)), n_bins)


def calibration_error(
    y: Any, probabilities: Any, sample_weight: Any = None, *, n_bins: int = N_BINS, classes: Any = None
) -> float:
    """Return the expected calibration error (ECE); see `reliability` for the bins.

    >>> round(calibration_error([0, 1, 0, 1], [0.1, 0.3, 0.8, 0.8], n_bins=2), 10)
    0.3
    """
    return reliability(y, probabilities, sample_weight, n_bins=n_bins, classes=classes).error


def brier(y: Any, probabilities: Any, sample_weight: Any = None, *, classes: Any = None) -> float:
    """Return the Brier score: 0 is perfect; with two classes it is at most 1 and 0.25 for p = 1/2 everywhere.

    >>> brier([0, 1], [0.0, 0.5])
    0.125
    """
    table = probability_table(probabilities)
    codes = class_codes(y, table.shape[1], classes)
    return brier_of(table, codes, row_weights(sample_weight, len(codes)))


def brier_of(table: Floats, codes: Codes, weights: Floats) -> float:
    """Return the Brier score of probabilities (rows, classes)."""
    squares = (table - np.eye(table.shape[1])[codes]) ** 2
    per_row = squares[:, 1] if table.shape[1] == 2 else squares.sum(axis=1)
    return float(weights @ per_row / weights.sum())


def bins_of(table: Floats, codes: Codes, weights: Floats, n_bins: int = N_BINS) -> Reliability:
    """Return the reliability of probabilities (rows, classes); rows without weight are left out."""
    keep = weights > 0
    table, codes, weights = table[keep], codes[keep], weights[keep]
    if table.shape[1] == 2:
        p, hit = table[:, 1], (codes == 1).astype(np.float64)
    else:
        p, hit = table.max(axis=1), (table.argmax(axis=1) == codes).astype(np.float64)
    distinct, group = np.unique(p, return_inverse=True)
    mass = np.bincount(group, weights=weights, minlength=len(distinct))
    middle = (mass.cumsum() - mass / 2) / mass.sum()
    place = np.minimum((n_bins * middle).astype(np.intp), n_bins - 1)[group]
    total = np.bincount(place, weights=weights, minlength=n_bins)
    filled = total > 0
    predicted = np.bincount(place, weights=weights * p, minlength=n_bins)[filled] / total[filled]
    observed = np.bincount(place, weights=weights * hit, minlength=n_bins)[filled] / total[filled]
    return Reliability(tuple(predicted.tolist()), tuple(observed.tolist()), tuple(total[filled].tolist()))


def log_loss(scores: Floats, codes: Codes, weights: Floats) -> float:
    """Return the weighted mean log-loss of scores (rows, scores): one column is a sigmoid's, more are a softmax's."""
    if scores.shape[1] == 1:
        per_row = -log_expit(np.where(codes == 1, 1.0, -1.0) * scores[:, 0])
    else:
        per_row = -np.take_along_axis(log_softmax(scores, axis=1), codes[:, None], axis=1)[:, 0]
    return float(weights @ per_row / weights.sum())


def fit_temperature(scores: Any, codes: Any, weights: Any = None) -> float:
    """Return the temperature T that minimises the log-loss of the scores z/T.

    The log-loss is convex in 1/T, so its slope has one root at most; without one within 1/20 and 20, the end is taken.

    Parameters
    ----------
    scores : array of shape (rows, scores)
        One column is a sigmoid's score of the second class, more are a softmax's.
    codes : integer array of shape (rows,)
        The class of each row: 0, 1, ….
    weights : array of shape (rows,), optional
        Row weights.

    Examples
    --------
    >>> scores = np.array([[3.0], [3.0], [3.0], [-3.0]])  # three of four are right, which is log 3 rather than 3
    >>> round(3 / fit_temperature(scores, np.array([1, 1, 0, 0])), 6) == round(float(np.log(3)), 6)
    True
    """
    z = np.asarray(scores, dtype=np.float64)
    target = np.asarray(codes, dtype=np.intp)
    w = row_weights(weights, len(target))
    if z.ndim != 2 or len(z) != len(target):
        raise ValueError(f"scores must be (rows, scores): there are {len(target)} codes, the shape is {z.shape}.")
    if z.shape[1] == 1:
        margin = np.where(target == 1, 1.0, -1.0) * z[:, 0]

        def slope(inverse: float) -> float:
            return float(-w @ (margin * expit(-inverse * margin)))
    else:
        own = np.take_along_axis(z, target[:, None], axis=1)[:, 0]

        def slope(inverse: float) -> float:
            return float(w @ ((softmax(inverse * z, axis=1) * z).sum(axis=1) - own))

    if not z.any():
        return 1.0
    if slope(LARGEST_TEMPERATURE) <= 0:
        return 1 / LARGEST_TEMPERATURE
    if slope(1 / LARGEST_TEMPERATURE) >= 0:
        return LARGEST_TEMPERATURE
    return 1 / float(brentq(slope, 1 / LARGEST_TEMPERATURE, LARGEST_TEMPERATURE, xtol=1e-12))
