"""The convex fit of given pieces: Newton's method for a generalised linear model with a ridge.

    minimise  Σ_i w_i ℓ(y_i, z_i)/φ + ½ Σ_k ρ_k θ_k²,      z_c = b_c + Σ_{k of score c} θ_k x_k

Given the pieces the objective is convex and has one minimiser. Steps are halved until the objective falls; the first
derivative at the end is zero to rounding, so an equation's coefficients are optimal given its pieces. The compiled loop
(`csrc/glm.c`) serves the three losses of this room; any other loss runs on NumPy.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from scipy import linalg

from ecsel import _compiled
from ecsel.search.losses import Logistic, Softmax, Squared

if TYPE_CHECKING:
    from ecsel._typing import Floats, Places, Singles
    from ecsel.search.losses import Loss

MAX_ITERATIONS = 50
TOLERANCE = 1e-9
"""Newton stops once the promised fall of the objective, relative to it, is below this."""
SEARCH_TOLERANCE = 1e-4
"""The same while sets of pieces are compared, which differ by more."""
INTERCEPT_RIDGE = 1e-8
"""Times the weight of all rows: pins the sum of a softmax's intercepts, which the loss leaves open."""
_KINDS = {Logistic: 0, Softmax: 1, Squared: 2}


@dataclass(frozen=True, eq=False)
class Fitted:
    """A fit: intercepts (scores,), coefficients (pieces,), scores (scores × rows), penalised loss, and loss alone."""

    intercepts: Floats
    coefficients: Floats
    scores: Floats
    objective: float
    loss: float


def fit(
    loss: Loss,
    values: Singles | Floats,
    owners: Places,
    target: Floats,
    weights: Floats,
    ridge: Floats,
    start: tuple[Floats, Floats] | None = None,
    *,
    places: Places | None = None,
    offset: Floats | None = None,
    fit_intercept: bool = True,
    tolerance: float = TOLERANCE,
) -> Fitted:
    """Fit coefficients of given pieces.

    Parameters
    ----------
    loss : Loss
        The loss.
    values : array (pieces, rows)
        The pieces.
    owners : integer array (pieces,)
        The score that each piece belongs to.
    target, weights : arrays (rows,)
        Targets and weights; divide weights by the dispersion for squared errors. Rows of weight zero take no part,
        but get their scores.
    ridge : array (pieces,)
        ρ.
    start : (intercepts, coefficients), optional
        Where to start.
    places : integer array (pieces,), optional
        Which lines of `values` are the pieces; by default all, in their order.
    offset : array (scores, rows), optional
        A part of the scores that is given.
    fit_intercept : bool, default=True
        Whether the intercepts move.
    tolerance : float
        The relative fall at which Newton stops.
    """
    rules = fit_intercept, tolerance
    return fit_ridges(loss, values, owners, target, weights, ridge[None, :], start, places, offset, rules)[0]


def fit_ridges(
    loss: Loss,
    values: Singles | Floats,
    owners: Places,
    target: Floats,
    weights: Floats,
    ridges: Floats,
    start: tuple[Floats, Floats] | None,
    places: Places | None,
    offset: Floats | None = None,
    rules: tuple[bool, float] = (True, SEARCH_TOLERANCE),
) -> list[Fitted]:
    """Fit the same pieces under one ridge after another (ridges × pieces), each from where the one before has ended.

    `rules` are `fit_intercept` and `tolerance`; all else is as in `fit`.
    """
    n_scores, n_rows = loss.n_scores, values.shape[1]
    theta = np.empty((len(ridges), n_scores + ridges.shape[1]))
    if start is None:
        theta[0] = 0.0
        if rules[0]:
            theta[0, :n_scores] = loss.start(target, weights)
    else:
        theta[0, :n_scores], theta[0, n_scores:] = start
    compiled = _compiled.compiled
    kind = _KINDS.get(type(loss))
    if compiled is None or kind is None:
        values = values if places is None else values[places]
        found: list[Fitted] = []
        for ridge in ridges:
            before = np.concatenate([found[-1].intercepts, found[-1].coefficients]) if found else theta[0]
            found.append(_fit_numpy(loss, values, owners, target, weights, ridge, before, offset, *rules))
        return found
    scores, losses = np.empty((len(ridges), n_scores, n_rows)), np.empty((len(ridges), 2))
    compiled.glm_fit(
        (kind, n_scores, ridges.shape[1], n_rows, int(rules[0]), MAX_ITERATIONS, len(values), len(ridges)),
        (rules[1], INTERCEPT_RIDGE),
        np.ascontiguousarray(values),
        None if places is None else np.ascontiguousarray(places, dtype=np.int64),
        np.ascontiguousarray(owners, dtype=np.int64),
        np.ascontiguousarray(target, dtype=np.float64),
        np.ascontiguousarray(weights, dtype=np.float64),
        np.ascontiguousarray(ridges, dtype=np.float64),
        None if offset is None else np.ascontiguousarray(offset, dtype=np.float64),
        theta,
        scores,
        losses,
    )
    intercepts, coefficients = theta[:, :n_scores], theta[:, n_scores:]
    return [Fitted(intercepts[r], coefficients[r], scores[r], *own) for r, own in enumerate(losses.tolist())]


def _fit_numpy(
    loss: Loss,
    values: Singles | Floats,
    owners: Places,
    target: Floats,
    weights: Floats,
    ridge: Floats,
    theta: Floats,
    offset: Floats | None,
    fit_intercept: bool,
    tolerance: float,
) -> Fitted:
    n_scores = loss.n_scores
    used = weights > 0
    if not used.all():
        given = None if offset is None else offset[:, used]
        some = values[:, used], owners, target[used], weights[used], ridge, theta, given, fit_intercept, tolerance
        fitted = _fit_numpy(loss, *some)
        scores = (
            np.repeat(fitted.intercepts[:, None], len(weights), axis=1)
            if offset is None
            else (fitted.intercepts[:, None] + offset)
        )
        np.add.at(scores, owners, fitted.coefficients[:, None] * values)
        scores[:, used] = fitted.scores
        return replace(fitted, scores=scores)
    x = np.asarray(values, dtype=np.float64)
    members = [np.flatnonzero(owners == c) for c in range(n_scores)]
    penalty = np.concatenate([np.full(n_scores, INTERCEPT_RIDGE * weights.sum()), ridge])
    free = np.ones(len(theta), dtype=bool)
    free[:n_scores] = fit_intercept

    def evaluate(at: Floats) -> tuple[float, float, Floats]:
        scores = np.empty((n_scores, x.shape[1]))
        for c, mine in enumerate(members):
            scores[c] = at[c] + at[n_scores + mine] @ x[mine]
        if offset is not None:
            scores += offset
        plain = float(weights @ loss.values(scores, target))
        return plain + 0.5 * float(penalty @ at**2), plain, scores

    objective, plain, scores = evaluate(theta)
    for _ in range(MAX_ITERATIONS):
        gradient, hessian = derivatives(loss, x, members, target, weights, scores)
        gradient += penalty * theta
        hessian[np.diag_indices(len(theta))] += penalty
        step = np.zeros_like(theta)
        step[free] = _solve(hessian[np.ix_(free, free)], -gradient[free])
        slope = float(gradient @ step)
        last = -slope <= tolerance * (abs(objective) + 1e-3)  # Newton doubles the digits: one more step is the end
        length = 1.0
        for _ in range(1 if last else 30):
            trial = evaluate(theta + length * step)
            if trial[0] <= objective + 1e-4 * length * slope:
                break
            length /= 2
        else:
            break
        theta = theta + length * step
        objective, plain, scores = trial
        if last:
            break
    return Fitted(theta[:n_scores], theta[n_scores:], scores, objective, plain)


def moments(loss: Loss, scores: Floats, target: Floats, weights: Floats) -> tuple[Floats, Floats]:
    """Return −∂loss/∂z_c and ∂²loss/∂z_c² of every score and row, times the weights."""
    compiled = _compiled.compiled
    kind = _KINDS.get(type(loss))
    if compiled is not None and kind is not None:
        residuals, curvatures = np.empty(scores.shape), np.empty(scores.shape)
        compiled.glm_moments((kind, *scores.shape), scores, target, weights, residuals, curvatures)
        return residuals, curvatures
    means = loss.means(scores)
    every = [np.broadcast_to(weights * loss.curvature(means, c, c), weights.shape) for c in range(loss.n_scores)]
    return weights * loss.residuals(means, target), np.stack(every)


def derivatives(
    loss: Loss, x: Floats, members: list[Places], target: Floats, weights: Floats, scores: Floats
) -> tuple[Floats, Floats]:
    """Return gradient and Hessian of the loss by intercepts and coefficients."""
    n_scores, size = loss.n_scores, loss.n_scores + len(x)
    means = loss.means(scores)
    residual = weights * loss.residuals(means, target)
    design = np.vstack([np.ones((n_scores, x.shape[1])), x])
    places = [np.append(c, n_scores + mine) for c, mine in enumerate(members)]
    gradient, hessian = np.zeros(size), np.zeros((size, size))
    for c, mine in enumerate(places):
        gradient[mine] = -(design[mine] @ residual[c])
        for d, yours in enumerate(places):
            weight = weights * loss.curvature(means, c, d)
            hessian[np.ix_(mine, yours)] = (design[mine] * weight) @ design[yours].T
    return gradient, hessian


def _solve(hessian: Floats, right: Floats) -> Floats:
    try:
        return np.asarray(linalg.cho_solve(linalg.cho_factor(hessian, check_finite=False), right, check_finite=False))
    except linalg.LinAlgError:
        return np.asarray(np.linalg.lstsq(hessian, right, rcond=None)[0])
