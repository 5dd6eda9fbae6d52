"""From which probability on to decide for the second class: the cut that is best under a stated rule.

A threshold t decides by p ≥ t, so only the distinct probabilities matter: every decision rule is a cut between two
neighbours, or beyond one end. With tp, fp, fn, tn the weights of the four cells at a cut,

    f1            2·tp/(2·tp + fp + fn)                                      largest
    weighted_f1   F1 of both classes in turn, averaged by their weights      largest
    youden        tp/(tp + fn) − fp/(fp + tn)                                largest
    cost          Σ cost[true][predicted] · weight                           smallest

One sort gives the cells of every cut. The threshold is the middle of the best gap; of equally good ones, that nearest
to 1/2.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ecsel.quality.inputs import binary_codes, row_weights, score_column

if TYPE_CHECKING:
    from collections.abc import Callable

    from ecsel._typing import Floats
    from ecsel.quality.inputs import Codes


@dataclass(frozen=True, slots=True)
class Cells:
    """The weights of the four cells of a table of truth against decision; numbers, or arrays over cuts."""

    tn: Floats
    fp: Floats
    fn: Floats
    tp: Floats


def f1(cells: Cells) -> Floats:
    """Return F1, 0 where nothing is positive."""
    total = 2 * cells.tp + cells.fp + cells.fn
    return np.asarray(2 * cells.tp / np.where(total > 0, total, 1))


def weighted_f1(cells: Cells) -> Floats:
    """Return the mean of the F1 of both classes by their weights, scikit-learn's ``average="weighted"``."""
    other = Cells(cells.tp, cells.fn, cells.fp, cells.tn)
    positive, negative = cells.tp + cells.fn, cells.tn + cells.fp
    return np.asarray((positive * f1(cells) + negative * f1(other)) / (positive + negative))


def youden(cells: Cells) -> Floats:
    """Return recall − false alarm rate."""
    return np.asarray(cells.tp / (cells.tp + cells.fn) - cells.fp / (cells.fp + cells.tn))


def saving(cost: Floats) -> Callable[[Cells], Floats]:
    """Return the negative of the cost, as a function of the cells."""

    def criterion(cells: Cells) -> Floats:
        total = cost[0, 0] * cells.tn + cost[0, 1] * cells.fp + cost[1, 0] * cells.fn + cost[1, 1] * cells.tp
        return np.asarray(-total)

    return criterion


RULES: dict[str, Callable[[Cells], Floats]] = {"f1": f1, "weighted_f1": weighted_f1, "youden": youden}


def cost_matrix(cost: Any) -> Floats:
    """Return a checked 2×2 matrix cost[true][predicted] in which a wrong decision costs more than the right one."""
    try:
        matrix = np.asarray(cost, dtype=np.float64)
    except (TypeError, ValueError):
        matrix = np.empty(0)
    if matrix.shape != (2, 2) or not np.isfinite(matrix).all():
        raise ValueError(
            f"threshold={cost!r} is not known: use None, a probability, {', '.join(map(repr, RULES))}, or a 2×2 cost "
            "matrix of finite numbers, cost[true][predicted]."
        )
    if not (matrix[0, 1] > matrix[0, 0] and matrix[1, 0] > matrix[1, 1]):
        raise ValueError(
            f"threshold={matrix.tolist()}: a wrong decision must cost more than the right one in both rows of "
            "cost[true][predicted]."
        )
    return matrix


def best_threshold(y: Any, probability: Any, rule: Any, sample_weight: Any = None) -> float:
    """Return the threshold that is best on these rows.

    Parameters
    ----------
    y : array of shape (rows,)
        Two labels; the second in sorted order is the positive class.
    probability : array of shape (rows,)
        Of the positive class.
    rule : {"f1", "weighted_f1", "youden"} or 2×2 matrix
        What is to be best; a matrix is cost[true][predicted].
    sample_weight : array of shape (rows,), optional
        Row weights.

    Examples
    --------
    >>> best_threshold([0, 0, 1, 1], [0.1, 0.3, 0.5, 0.9], "f1")
    0.4
    >>> best_threshold([0, 1, 0, 1], [0.1, 0.3, 0.5, 0.9], [[0, 1], [9, 0]])  # a miss costs nine false alarms
    0.2
    """
    codes = binary_codes(y)
    p = score_column(probability, len(codes), "probability")
    criterion = RULES[rule] if isinstance(rule, str) and rule in RULES else saving(cost_matrix(rule))
    return best_cut(codes, p, criterion, row_weights(sample_weight, len(codes)))


def best_cut(codes: Codes, p: Floats, criterion: Callable[[Cells], Floats], weights: Floats) -> float:
    """Return the middle of the gap between probabilities where the criterion is largest."""
    distinct, group = np.unique(p, return_inverse=True)
    positive = np.bincount(group, weights=weights * codes, minlength=len(distinct))
    negative = np.bincount(group, weights=weights * (1 - codes), minlength=len(distinct))
    fn = np.concatenate([[0.0], positive.cumsum()])
    tn = np.concatenate([[0.0], negative.cumsum()])
    values = criterion(Cells(tn, tn[-1] - tn, fn, fn[-1] - fn))
    below, above = np.concatenate([[0.0], distinct]), np.concatenate([distinct, [1.0]])
    cuts = (below + above) / 2
    # Neighbours may be so close that their middle is one of them: the upper one still divides them.
    cuts = np.where(cuts > below, cuts, above)
    possible = np.ones(len(cuts), dtype=bool)
    possible[-1] = distinct[-1] < 1  # with p = 1 somewhere, no threshold decides for nobody
    scale = max(float(np.abs(values[possible]).max()), 1e-300)
    best = np.flatnonzero(possible & (values >= values[possible].max() - 1e-12 * scale))
    return float(cuts[best[np.abs(cuts[best] - 0.5).argmin()]])


def confusion(codes: Codes, predicted: Codes, weights: Floats, n_classes: int) -> Floats:
    """Return the weights of truth (rows) against decision (columns)."""
    cells = np.bincount(codes * n_classes + predicted, weights=weights, minlength=n_classes * n_classes)
    return np.asarray(cells.reshape(n_classes, n_classes))
