"""Digits: coefficients with the fewest digits that keep the loss, because the rounded equation is the model.

Near the minimum the loss is a quadratic ½ δ'Hδ of the change δ of intercepts and coefficients. The numbers are rounded
one by one, and those that are still free move to where the quadratic is least:

    δ_R = −H_RR⁻¹ H_Rk δ_k        after number k has moved by δ_k.

The number with the coarsest step, in units of the loss, goes first, so that the finest one takes up what is left. With
the numbers in the opposite order and H = LL', every set R that is left is a leading block, and H_RR⁻¹ H_Rk is
L_RR'⁻¹ times row k of L: one factor serves all steps. The true loss then decides: where it rises by more than
max(`NATS`, `NATS_A_ROW` a row, `SHARE` of it), the coarsest number gets one more digit.
"""

from __future__ import annotations

from math import floor, log10
from typing import TYPE_CHECKING

import numpy as np
from scipy import linalg

from ecsel.search import glm

if TYPE_CHECKING:
    from ecsel._typing import Floats, Places
    from ecsel.search.losses import Loss

NATS, SHARE = 0.5, 0.002
"""What rounding may cost: half a nat is less than one more parameter, a fifth of a percent of the loss is not seen."""
NATS_A_ROW = 1e-4
"""Nor is this in a mean loss: a nearly perfect model of a large table need not buy digits with it."""
MAX_DIGITS = 15
"""What a double holds; a target far from zero needs most of them in its intercept."""
INTERCEPT_DIGITS = 1
"""Digits that an intercept has more than a coefficient: nothing else can take up its rest."""


def round_to(value: float, digits: int) -> float:
    """Return the number with so many significant digits.

    >>> round_to(0.033333, 2), round_to(-187.0, 2), round_to(0.0, 2)
    (0.033, -190.0, 0.0)
    """
    return float(f"{value:.{digits - 1}e}")


def rounded_coefficients(
    loss: Loss,
    values: Floats,
    owners: Places,
    target: Floats,
    weights: Floats,
    intercepts: Floats,
    coefficients: Floats,
    ridge: Floats,
    digits: int,
    *,
    may_vanish: bool = False,
) -> tuple[Floats, Floats]:
    """Return intercepts and coefficients with the fewest digits, at least `digits`, that keep the loss.

    Parameters
    ----------
    loss : Loss
        The loss.
    values : array (pieces, rows)
        The pieces as they stand in the equation, not standardised.
    owners : integer array (pieces,)
        The score of each piece.
    target, weights : arrays (rows,)
        The rows.
    intercepts, coefficients : arrays (scores,), (pieces,)
        The exact minimiser.
    ridge : array (pieces,)
        The ridge of the coefficients, in these units.
    digits : int
        Digits of a coefficient.
    may_vanish : bool, default=False
        Whether the intercept of a single score may be zero where that keeps the loss: no digits at all.
    """
    n_scores = loss.n_scores
    hessian = _hessian(loss, values, owners, weights, intercepts, coefficients, ridge)
    start = np.concatenate([intercepts, coefficients])
    wanted = np.full(len(start), digits)
    wanted[:n_scores] += INTERCEPT_DIGITS
    exact = _total(loss, values, owners, target, weights, start)
    limit = exact + max(NATS, NATS_A_ROW * len(target), SHARE * abs(exact))
    if may_vanish and len(coefficients):
        without = np.append(0.0, coefficients + np.linalg.solve(hessian[1:, 1:], hessian[1:, 0]) * intercepts[0])
        if _total(loss, values, owners, target, weights, without) <= limit:
            start = without
    best: tuple[float, Floats] | None = None
    for _ in range(len(start) * (MAX_DIGITS - digits) + 1):
        rounded = _round_in_turn(hessian, start, wanted)
        total = _total(loss, values, owners, target, weights, rounded)
        if best is None or total < best[0]:
            best = (total, rounded)
        if total <= limit:
            best = (total, rounded)
            break
        steps = np.where(wanted < MAX_DIGITS, _steps(start, wanted) * np.sqrt(np.diagonal(hessian)), -np.inf)
        if not np.isfinite(steps.max()):
            break
        wanted[int(np.argmax(steps))] += 1
    if best is None:
        raise RuntimeError("rounding has tried nothing")
    return best[1][:n_scores], best[1][n_scores:]


def _round_in_turn(hessian: Floats, start: Floats, digits: Places) -> Floats:
    now = start.copy()
    order = np.argsort(-_steps(start, digits) * np.sqrt(np.diagonal(hessian)), kind="stable")
    order = order[start[order] != 0][::-1]  # what is zero stays so: the reference of a softmax
    if not len(order):
        return now
    factor = linalg.cholesky(hessian[np.ix_(order, order)], lower=True, check_finite=False)
    for i in range(len(order) - 1, -1, -1):
        k, rest = order[i], order[:i]
        there = round_to(float(now[k]), int(digits[k]))
        change = there - now[k]
        if i and change:
            moved = linalg.solve_triangular(factor[:i, :i], factor[i, :i], lower=True, trans="T", check_finite=False)
            now[rest] -= moved * change
        now[k] = there
    return now


def _steps(values: Floats, digits: Places) -> Floats:
    """Return half the distance between neighbouring numbers of so many digits."""
    sizes = [floor(log10(abs(v))) if v else -300 for v in values.tolist()]
    return np.array([0.5 * 10.0 ** (size - int(d) + 1) for size, d in zip(sizes, digits, strict=True)])


def _scores(n_scores: int, values: Floats, owners: Places, numbers: Floats) -> Floats:
    scores = np.repeat(numbers[:n_scores, None], values.shape[1], axis=1)
    for c in range(n_scores):
        mine = np.flatnonzero(owners == c)
        scores[c] += numbers[n_scores + mine] @ values[mine]
    return scores


def _total(loss: Loss, values: Floats, owners: Places, target: Floats, weights: Floats, numbers: Floats) -> float:
    return float(weights @ loss.values(_scores(loss.n_scores, values, owners, numbers), target))


def _hessian(
    loss: Loss,
    values: Floats,
    owners: Places,
    weights: Floats,
    intercepts: Floats,
    coefficients: Floats,
    ridge: Floats,
) -> Floats:
    n_scores = loss.n_scores
    scores = _scores(n_scores, values, owners, np.concatenate([intercepts, coefficients]))
    members = [np.flatnonzero(owners == c) for c in range(n_scores)]
    _, hessian = glm.derivatives(loss, values, members, np.zeros(len(weights)), weights, scores)
    tiny = 1e-9 * np.maximum(np.diagonal(hessian), 1e-300)
    hessian[np.diag_indices(len(hessian))] += tiny + np.concatenate([np.zeros(n_scores), ridge])
    return hessian
