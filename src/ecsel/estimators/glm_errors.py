"""Standard errors of a readable equation given its pieces: those of a generalised linear model.

Given the pieces x_k a score is linear in its numbers, z_c = b_c + Σ_{k of c} θ_k x_k. They are fitted once more without
ridge and rounding, and with g_i the gradient of row i's loss, f_i the number of rows that it counts for and c_i the
weight of its class

    covariance = H⁻¹ B H⁻¹,    H = Σ_i f_i c_i ∇²ℓ_i,    B = Σ_i f_i c_i² g_i g_iᵀ,

the sandwich of Huber and White, which does not assume that the model is true. A softmax sees differences of scores
alone: the first class is the reference. Its intercept is held, and so is its coefficient of a piece that every class
has. Numbers that the rows do not determine (collinear pieces, separated classes) have no error.

All of it happens in standardised pieces, so that a column far from zero costs no digits.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ecsel.search import glm

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ecsel._typing import Floats, Places
    from ecsel.search.losses import Loss

MAX_STEPS = 20
"""Newton steps after the fit; one or two remove what its intercept ridge and its tolerance leave."""
SMALL_STEP = 1e-9
"""A step that changes no score by more than this is the last one."""
DIVERGING = 1e-4
"""A score that the last step still changes by more than this runs off: some rows are separated."""
SINGULAR = 1e-10
"""Directions whose curvature, with a unit diagonal, is below this share of the largest are not determined by rows."""


class _Derivatives(NamedTuple):
    loss: float
    by_row: Floats
    """∂loss_i/∂θ of each row, (parameters × rows), without weights."""
    hessian: Floats
    """∂²loss/∂θ² of all rows, (parameters × parameters)."""


@dataclass(frozen=True, eq=False)
class GlmSandwich:
    """Numbers of standardised pieces, intercepts first, with their covariance.

    Attributes
    ----------
    loss
        The loss, which knows the number of scores and the link.
    owners
        The score of each piece.
    mean, scale
        How each piece was standardised.
    theta, covariance
        Intercepts and coefficients of standardised pieces; what is constrained has zero covariance.
    constrained
        Which of them are those of the reference.
    undetermined
        Unit vectors (directions × parameters) along which the rows say nothing.
    reference
        The intercept of the first score in the raw pieces, as the equation has it.
    converged
        Whether a minimum was found.
    """

    loss: Loss
    owners: Places
    mean: Floats
    scale: Floats
    theta: Floats
    covariance: Floats
    constrained: NDArray[np.bool_]
    undetermined: Floats
    reference: float
    converged: bool

    def numbers(self) -> tuple[Floats, Floats]:
        """Return intercepts and coefficients of the pieces as they are, and their standard errors (NaN for none)."""
        n_scores, size = self.loss.n_scores, len(self.theta)
        back = np.zeros((size, size))
        back[range(size), range(size)] = np.concatenate([np.ones(n_scores), 1 / self.scale])
        back[self.owners, n_scores + np.arange(size - n_scores)] = -self.mean / self.scale
        fixed = np.zeros(size)
        if n_scores > 1:  # only differences from the first intercept are known
            back[:n_scores] -= back[0].copy()
            fixed[:n_scores] = self.reference
        errors = self._errors(back.T)
        errors[self.constrained] = np.nan
        return back @ self.theta + fixed, errors

    def score_gradients(self, values: Floats) -> Floats:
        """Return ∂z_c/∂θ (scores × parameters × rows) at given pieces (pieces × rows)."""
        n_scores = self.loss.n_scores
        out = np.zeros((n_scores, len(self.theta), values.shape[1]))
        out[range(n_scores), range(n_scores)] = 1.0
        standard = (values - self.mean[:, None]) / self.scale[:, None]
        out[self.owners, n_scores + np.arange(len(values))] = standard
        return out

    def scores(self, gradients: Floats) -> Floats:
        """Return z of the refit (scores × rows)."""
        return np.asarray(np.einsum("cpn,p->cn", gradients, self.theta))

    def probabilities(self, values: Floats, quantile: float) -> tuple[Floats, Floats, Floats, Floats]:
        """Return probabilities of all classes, standard errors and bounds, each (classes × rows), by the delta method.

        With one score the interval is that of the score, put through the link; with several it is that of the
        probability itself, cut at 0 and 1.
        """
        gradients = self.score_gradients(values)
        means = self.loss.means(self.scores(gradients))
        if self.loss.n_scores == 1:
            error = self._errors(gradients[0])
            score = self.scores(gradients)[0]
            low, high = (self.loss.means((score + side * quantile * error)[None])[0] for side in (-1, 1))
            p = means[0]
            error_of_p = p * (1 - p) * error
            return (
                np.array([1 - p, p]),
                np.array([error_of_p, error_of_p]),
                np.array([1 - high, low]),
                np.array([1 - low, high]),
            )
        mixed = np.einsum("dn,dpn->pn", means, gradients)
        errors = np.array([self._errors(means[c] * (gradients[c] - mixed)) for c in range(len(means))])
        reach = quantile * errors
        return means, errors, np.maximum(means - reach, 0.0), np.minimum(means + reach, 1.0)

    def change_errors(self, values: Floats, reference: Floats) -> Floats:
        """Return standard errors of z(x) − z(reference), rows × scores, at given pieces (pieces × rows).

        A softmax sees differences alone: of several scores each is taken relative to their mean.
        """
        gradients = self.score_gradients(values) - self.score_gradients(reference)
        if len(gradients) > 1:
            gradients -= gradients.mean(axis=0)
        return np.stack([self._errors(each) for each in gradients], axis=1)

    def elasticities(self, values: Floats, slopes: Floats, c: int, *, absolute: bool) -> tuple[Floats, Floats]:
        """Return (x ∂z_c/∂x)/z_c of the refit and its standard error at given pieces (pieces × rows).

        `slopes` are x ∂x_k/∂x of every piece by one feature; NaN where the score is not positive (`absolute`: is zero).
        """
        gradient = self.score_gradients(values)[c]
        by_slope = np.zeros_like(gradient)
        mine = self.owners == c
        by_slope[self.loss.n_scores :][mine] = slopes[mine] / self.scale[mine, None]
        score, slope = self.theta @ gradient, self.theta @ by_slope
        score = np.where((score != 0) if absolute else (score > 0), score, np.nan)
        elasticity = slope / score
        return elasticity, self._errors((by_slope - elasticity * gradient) / score)

    def _errors(self, gradients: Floats) -> Floats:
        """Return the standard error of linear combinations (parameters × n); NaN where rows do not determine one."""
        variance = np.einsum("pn,pq,qn->n", gradients, self.covariance, gradients)
        errors = np.sqrt(np.maximum(variance, 0.0))
        if len(self.undetermined):
            size = np.abs(gradients).max(axis=0)
            errors[np.abs(self.undetermined @ gradients).max(axis=0) > 1e-6 * size] = np.nan
        errors[np.isnan(gradients).any(axis=0)] = np.nan
        return np.asarray(errors)


def glm_sandwich(
    loss: Loss,
    values: Floats,
    owners: Places,
    target: Floats,
    counts: Floats,
    class_weight: Floats,
    numbers: tuple[Floats, Floats],
    shared: NDArray[np.bool_],
) -> GlmSandwich:
    """Fit given pieces without ridge and return their numbers with the sandwich covariance.

    Parameters
    ----------
    loss : Loss
        The loss.
    values : array (pieces, rows)
        The pieces.
    owners : integer array (pieces,)
        The score of each piece.
    target, counts, class_weight : arrays (rows,)
        Targets, how many rows each row counts for, and the weight of its class.
    numbers : (intercepts, coefficients)
        Those of the equations.
    shared : boolean array (pieces,)
        Whether a piece of the first score is a piece of every other score too, and so held.
    """
    n_scores, weights = loss.n_scores, counts * class_weight
    share = weights / weights.sum()
    mean = values @ share
    scale = np.sqrt(np.maximum(((values - mean[:, None]) ** 2) @ share, 0.0))
    scale = np.where(scale > 0, scale, 1.0)
    standard = (values - mean[:, None]) / scale[:, None]
    intercepts, coefficients = numbers
    theta = np.concatenate([intercepts + np.bincount(owners, coefficients * mean, n_scores), coefficients * scale])
    constrained = np.concatenate([np.zeros(n_scores, dtype=bool), shared])
    constrained[0] = n_scores > 1
    theta = _fit(loss, standard, owners, target, weights, theta, shared)
    design = np.vstack([np.ones((n_scores, len(target))), standard])
    scores = np.concatenate([np.arange(n_scores), owners]).astype(np.intp)
    theta, derivatives, last = _polish(loss, design, scores, target, weights, theta, ~constrained)
    free = np.flatnonzero(~constrained)
    hessian = derivatives.hessian[np.ix_(free, free)]
    by_row = derivatives.by_row[free]
    meat = (by_row * (counts * class_weight**2)) @ by_row.T
    curvature, vectors, unit = _scaled_eigen(hessian)
    seen = curvature > SINGULAR * float(curvature.max(initial=0.0))
    inverse = (vectors[:, seen] / curvature[seen]) @ vectors[:, seen].T * np.outer(unit, unit)
    covariance = np.zeros((len(theta), len(theta)))
    covariance[np.ix_(free, free)] = inverse @ meat @ inverse
    runaway = np.abs(last) > DIVERGING
    lost = np.zeros((int((~seen).sum()), len(theta)))
    lost[:, free] = vectors[:, ~seen].T * unit
    lost /= np.linalg.norm(lost, axis=1, keepdims=True)
    undetermined = np.vstack([lost, np.eye(len(theta))[runaway]])
    return GlmSandwich(
        loss, owners, mean, scale, theta, covariance, constrained, undetermined, float(intercepts[0]), not runaway.any()
    )


def _fit(
    loss: Loss,
    standard: Floats,
    owners: Places,
    target: Floats,
    weights: Floats,
    theta: Floats,
    shared: NDArray[np.bool_],
) -> Floats:
    """Return the minimiser over all numbers but the coefficients that are held."""
    n_scores = loss.n_scores
    free = ~shared
    offset = np.zeros((n_scores, len(target)))
    offset[0] = theta[n_scores:][shared] @ standard[shared]
    ridge = np.zeros(int(free.sum()))
    fitted = glm.fit(loss, standard[free], owners[free], target, weights, ridge, offset=offset)
    result = theta.copy()
    result[:n_scores], result[n_scores:][free] = fitted.intercepts, fitted.coefficients
    return result


def _polish(
    loss: Loss,
    design: Floats,
    scores: Places,
    target: Floats,
    weights: Floats,
    theta: Floats,
    free: NDArray[np.bool_],
) -> tuple[Floats, _Derivatives, Floats]:
    """Take Newton steps until none is left; return the numbers, the derivatives there and the last step."""
    places = np.flatnonzero(free)
    here = _derivatives(loss, design, scores, target, weights, theta)
    last = np.zeros_like(theta)
    for _ in range(MAX_STEPS):
        curvature, vectors, unit = _scaled_eigen(here.hessian[np.ix_(places, places)])
        seen = curvature > SINGULAR * float(curvature.max(initial=0.0))
        slope = vectors.T @ (unit * (here.by_row[places] @ weights))
        last = np.zeros_like(theta)
        last[places] = -unit * (vectors[:, seen] @ (slope[seen] / curvature[seen]))
        if float(np.abs(last).max(initial=0.0)) <= SMALL_STEP:
            break
        there = _derivatives(loss, design, scores, target, weights, theta + last)
        if not there.loss <= here.loss * (1 + 1e-12):
            break
        theta, here = theta + last, there
    return theta, here, last


def _derivatives(
    loss: Loss, design: Floats, scores: Places, target: Floats, weights: Floats, theta: Floats
) -> _Derivatives:
    z = np.zeros((loss.n_scores, design.shape[1]))
    members = [np.flatnonzero(scores == c) for c in range(loss.n_scores)]
    for c, mine in enumerate(members):
        z[c] = theta[mine] @ design[mine]
    means = loss.means(z)
    by_row = -loss.residuals(means, target)[scores] * design
    hessian = np.empty((len(theta), len(theta)))
    for c, mine in enumerate(members):
        for d, yours in enumerate(members):
            hessian[np.ix_(mine, yours)] = (design[mine] * (weights * loss.curvature(means, c, d))) @ design[yours].T
    return _Derivatives(float(weights @ loss.values(z, target)), by_row, hessian)


def _scaled_eigen(matrix: Floats) -> tuple[Floats, Floats, Floats]:
    """Return the eigenvalues and vectors of a symmetric matrix scaled to a unit diagonal, and the scale."""
    diagonal = np.abs(matrix.diagonal())
    some = diagonal > 1e-14 * float(diagonal.max(initial=0.0))
    unit = 1 / np.sqrt(np.where(some, diagonal, 1.0))
    values, vectors = np.linalg.eigh(matrix * np.outer(unit, unit))
    return values, vectors, unit
