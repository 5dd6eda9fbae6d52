"""The active parameters fitted again without a penalty, and the sandwich covariance at that point.

A damped Newton method moves the free parameters and leaves all others where they are. With g_i the gradient of row i's
loss, f_i the number of rows it counts for and c_i the weight of its class,

    covariance = H⁻¹ B H⁻¹,    H = Σ_i f_i c_i ∇²ℓ_i,    B = Σ_i f_i c_i² g_i g_iᵀ,

which does not assume that the model is true.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from ecsel._typing import Array, Places
    from ecsel.fitting.objective.problem import Problem


MAX_STEPS = 60
NEGLIGIBLE_FALL = 1e-12
SEPARATED = 1e-8
"""A loss below this is that of rows which some parameters separate: it has no minimum, and the steps only got small."""
SINGULAR = 1e-10
"""Directions whose curvature, with a unit diagonal, is below this share of the largest are not determined by rows."""


def refit(problem: Problem, theta: Array, free: Places) -> tuple[Array, bool]:
    """Return the parameters that minimise the loss over the free ones, and whether the minimum was reached.

    Rows that can be separated have no minimum: parameters then run off, and the steps end.
    """
    point, damping = problem.evaluate(theta), 0.0
    for _ in range(MAX_STEPS):
        derivatives = problem.derivatives(point)
        values, vectors, scale = _scaled_eigen(derivatives.exact[np.ix_(free, free)])
        slope = vectors.T @ (scale * derivatives.gradient[free])
        # |curvature| goes down on saddles too; directions that rows do not determine are not followed.
        size = np.abs(values)
        seen = size > SINGULAR * float(size.max(initial=0.0))
        moved = None
        while moved is None and damping < 1e12:
            along = np.where(seen, -slope / np.where(seen, size + damping, 1.0), 0.0)
            if -slope @ along / 2 <= NEGLIGIBLE_FALL * (1 + abs(point.loss)):
                return point.theta, point.loss > SEPARATED
            candidate = point.theta.copy()
            candidate[free] += scale * (vectors @ along)
            trial = problem.evaluate(candidate)
            if trial.loss < point.loss:
                moved = trial
            else:
                damping = max(10 * damping, 1e-4)
        if moved is None:
            break
        point, damping = moved, damping / 10
    return point.theta, False


def _scaled_eigen(matrix: Array) -> tuple[Array, Array, Array]:
    """Return the eigenvalues and vectors of a symmetric matrix scaled to a unit diagonal, and the scale."""
    scale = 1 / np.sqrt(np.maximum(np.abs(matrix.diagonal()), 1e-300))
    values, vectors = np.linalg.eigh(matrix * np.outer(scale, scale))
    return values, vectors, scale


def sandwich_covariance(problem: Problem, theta: Array, free: Places, counts: Array) -> Array:
    """Return H⁻¹BH⁻¹ over the free parameters; NaN in the rows and columns of those that H does not determine."""
    point = problem.evaluate(theta)
    hessian = problem.derivatives(point).exact[np.ix_(free, free)]
    meat, first = np.zeros_like(hessian), 0
    for state in point.states:
        expansion = state.expansion
        scores = row_gradients(expansion.by_shape, expansion.by_t, state.residual, state.block.v, problem.intercept)
        gradients = scores.reshape(problem.size, -1)[free]
        rows = slice(first, first + gradients.shape[1])
        # The residual holds the weight f·c, and B needs f·c².
        meat += (gradients / np.maximum(counts[rows], 1e-300)) @ gradients.T
        first = rows.stop
    values, vectors, scale = _scaled_eigen(hessian)
    seen = values > SINGULAR * float(values.max(initial=0.0))
    inverse = (vectors[:, seen] / values[seen]) @ vectors[:, seen].T * np.outer(scale, scale)
    covariance = np.asarray(inverse @ meat @ inverse)
    lost = (vectors[:, ~seen] ** 2).sum(axis=1) > SINGULAR
    covariance[lost] = covariance[:, lost] = np.nan
    return covariance


def row_gradients(by_shape: Array, by_t: Array, residual: Array, v: Array, intercept: bool) -> Array:
    """Return residual·∂z/∂θ of each score and row, (scores, parameters per score, rows)."""
    scores, terms, rows = by_t.shape
    first = int(intercept)
    out = np.empty((scores, first + terms * (1 + len(v)), rows))
    out[:, :first] = residual[:, None, :]
    parts = out[:, first:].reshape(scores, terms, 1 + len(v), rows)
    parts[:, :, 0] = by_shape * residual[:, None, :]
    parts[:, :, 1:] = (by_t * residual[:, None, :])[:, :, None, :] * v
    return out
