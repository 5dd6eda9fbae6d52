"""Standard errors of intercepts, coefficients, exponents and elasticities, conditional on the selected terms.

A penalty biases what it shrinks, so the selected terms are first fitted again without one (`refit`), in the coordinates
of `forms`: angle and slopes of every term, where the log-linear limit α → ∞ is an ordinary point. The errors of the
formula's numbers follow by the delta method (`delta`). Rows do not determine everything:

* a softmax sees differences of scores alone: the first class's equation is the reference and held as it is;
* the levels of a full set add up to a constant: exponents and slopes are differences from the largest level, which has
  no error, and the coefficient is that of rows with this level;
* a term that is a straight line in the logs has no coefficient of its own: its angle is held, and the errors of its
  exponents are those of its slopes;
* what is singular otherwise, or belongs to an angle that an error leads to zero (α is infinite there), is NaN.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from ecsel.fitting.fit import to_theta
from ecsel.fitting.inference.delta import formula_numbers
from ecsel.fitting.inference.refit import refit, row_gradients, sandwich_covariance
from ecsel.fitting.objective.problem import Problem
from ecsel.fitting.penalties import L1
from ecsel.fitting.rows.blocks import ArrayBlocks, Coordinates, one_blas_thread

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from ecsel._typing import Array, Places
    from ecsel.fitting.inference.delta import Parameter, References
    from ecsel.fitting.objective.losses import Loss
    from ecsel.signomial.arrays import ScoreTerms

STRAIGHT = 0.1
"""A term whose exponents move its logarithm by less than this over the rows is a straight line in the logs."""


@dataclass(frozen=True, slots=True)
class Sandwich:
    """The formula's numbers after the refit, with their covariance; NaN where the rows do not determine one."""

    parameters: tuple[Parameter, ...]
    estimates: Array
    covariance: Array
    converged: bool
    problem: Problem
    centred: Coordinates
    theta: Array
    free: Places
    theta_covariance: Array
    in_level_set: NDArray[np.bool_]

    @property
    def standard_errors(self) -> Array:
        """The standard error of every estimate."""
        return np.sqrt(self.covariance.diagonal())


def sandwich(
    log_features: Array,
    codes: NDArray[np.integer],
    counts: Array,
    class_weight: Array,
    loss: Loss,
    terms: ScoreTerms,
    *,
    level_sets: Sequence[Sequence[int]] = (),
) -> Sandwich:
    """Return the standard errors of fitted power laws on these rows.

    Parameters
    ----------
    log_features : array of shape (features, rows)
        Logs of the positive features.
    codes, counts, class_weight : arrays of shape (rows,)
        Class codes, how many rows each row counts for, and the weight of its class.
    terms : ScoreTerms
        The fitted model; its zero exponents stay zero.
    level_sets : lists of features
        The levels of each column. Where the rows have exactly one of them, they are a full set.
    """
    logs = np.ascontiguousarray(log_features, dtype=np.float64)
    weights = counts * class_weight
    centred = Coordinates.of(logs, weights)
    blocks = ArrayBlocks.standardised(logs, codes, weights, centred)
    intercepts, coefficients, exponents = terms.to_powers()
    problem = Problem(blocks, loss, L1(0.0), coefficients.shape[1], bool(np.any(intercepts)), centred.std)
    start = to_theta(problem, terms, centred)
    straight = np.abs(exponents) @ np.ptp(logs, axis=1) < STRAIGHT
    full = [_largest_first(levels, logs, weights) for levels in level_sets if _is_full(levels, logs)]
    references = _references(problem.unpack(start)[2], full)
    free = _free(problem, start, straight, references)
    with one_blas_thread():
        theta, converged = refit(problem, start, free)
        theta = _folded(problem, theta)
        covariance = sandwich_covariance(problem, theta, free, counts)
    parameters, values, derivatives = formula_numbers(problem, theta, centred, references, np.max(logs, axis=1))
    by_free = derivatives[:, free]
    known = np.where(np.isnan(covariance), 0.0, covariance)
    wide = by_free @ known @ by_free.T
    lost = (by_free[:, np.isnan(covariance.diagonal())] != 0).any(axis=1) | ~(by_free != 0).any(axis=1)
    lost |= _unbounded(problem, theta, free, known, parameters, straight)
    wide[lost] = wide[:, lost] = np.nan
    in_set = np.isin(np.arange(len(logs)), [j for levels in full for j in levels])
    empty = ArrayBlocks(np.empty((len(logs), 0)), np.empty(0, dtype=np.intp), np.empty(0))
    problem = replace(problem, blocks=empty)  # errors are kept and copied, rows are not
    return Sandwich(parameters, values, wide, converged, problem, centred, theta, free, covariance, in_level_set=in_set)


def _is_full(levels: Sequence[int], logs: Array) -> bool:
    """Whether every row has exactly one of the levels, so that their logs add up to a constant."""
    return len(levels) > 1 and float(np.ptp(logs[list(levels)].sum(axis=0))) < 1e-9


def _largest_first(levels: Sequence[int], logs: Array, weights: Array) -> list[int]:
    return sorted(levels, key=lambda j: (-float(weights @ logs[j]), j))


def _references(slopes: Array, full: Sequence[Sequence[int]]) -> References:
    """Return, for each score and term, the reference of every level whose whole set is active there."""
    out: References = {}
    for c, k in np.ndindex(slopes.shape[:2]):
        sets = [levels for levels in full if (slopes[c, k, list(levels)] != 0).all()]
        out[c, k] = {j: levels[0] for levels in sets for j in levels}
    return out


def _free(
    problem: Problem,
    theta: Array,
    straight: NDArray[np.bool_],
    references: References,
) -> Places:
    """Return the positions of the parameters that the refit moves."""
    slopes = problem.unpack(theta)[2]
    active = slopes != 0
    for (c, k), reference in references.items():
        active[c, k, list(set(reference.values()))] = False
    nonlinear = (slopes != 0).any(axis=2)
    if problem.form.has_intercept:
        nonlinear &= ~straight
    free = problem.pack(np.ones(len(slopes)), nonlinear.astype(np.float64), active.astype(np.float64))
    if problem.loss.shift_invariant:
        free[: problem.per_score] = 0.0
    return np.flatnonzero(free)


def _folded(problem: Problem, theta: Array) -> Array:
    """Return the same terms with every angle between −π/2 and π/2: φ, and φ + π with −s, are one term."""
    if not problem.form.has_intercept:
        return theta
    intercepts, shapes, slopes = problem.unpack(theta)
    turns = np.round(shapes / np.pi)
    return problem.pack(intercepts, shapes - turns * np.pi, slopes * np.where(turns % 2 == 0, 1.0, -1.0)[..., None])


def _unbounded(
    problem: Problem,
    theta: Array,
    free: Places,
    covariance: Array,
    parameters: tuple[Parameter, ...],
    straight: NDArray[np.bool_],
) -> NDArray[np.bool_]:
    """Tell the numbers that are infinite within an error of the angle, and the coefficients of straight terms."""
    if not problem.form.has_intercept:
        return np.zeros(len(parameters), dtype=bool)
    error = np.zeros(problem.size)
    error[free] = np.sqrt(covariance.diagonal())
    vague = ~straight & (np.abs(problem.unpack(theta)[1]) <= problem.unpack(error)[1])
    return np.array(
        [
            (p.kind == "intercept" and bool(vague[p.score].any()))
            or (p.kind in {"coefficient", "exponent"} and bool(vague[p.score, p.term]))
            or (p.kind == "coefficient" and bool(straight[p.score, p.term]))
            for p in parameters
        ],
        dtype=bool,
    )


def elasticity_errors(result: Sandwich, log_features: Array, *, absolute: bool = False) -> tuple[Array, Array]:
    """Return the elasticities of the refit and their standard errors, (rows, scores, features).

    E_j = G_j/z with G_j = Σ_k ∂z/∂t_k·s_kj/σ_j, so that dE_j = (dG_j − E_j dz)/z. Both are NaN where z ≤ 0 (`absolute`:
    where z = 0, being then those of |z|); errors also
    where the rows do not determine them: for the levels of full sets and, in a softmax, for the first class.
    """
    problem, std, centre = result.problem, result.centred.std, result.centred.centre
    v = (np.ascontiguousarray(log_features, dtype=np.float64) - centre[:, None]) / std[:, None]
    intercepts, shapes, slopes = problem.unpack(result.theta)
    expansion = problem.form.expand(shapes[..., None], np.tensordot(slopes, v, axes=1))
    _, shape_t, t2 = problem.form.second(shapes[..., None], expansion)
    z = intercepts[:, None] + expansion.value.sum(axis=1)
    z = np.where(z != 0 if absolute else z > 0, z, np.nan)
    by_z = row_gradients(expansion.by_shape, expansion.by_t, np.ones_like(z), v, problem.intercept)
    first = int(problem.intercept)
    place = np.full(problem.size, -1)
    place[result.free] = np.arange(len(result.free))
    own = place.reshape(problem.loss.n_scores, problem.per_score)
    estimates, errors = (np.full((v.shape[1], len(z), len(v)), np.nan) for _ in range(2))
    for c, j in np.ndindex(len(z), len(v)):
        s, known = slopes[c, :, j], own[c] >= 0
        elasticity = s @ expansion.by_t[c] / std[j] / z[c]
        estimates[:, c, j] = elasticity
        if not s.any() or not known.any() or result.in_level_set[j]:
            continue
        by_gradient = np.zeros_like(by_z[c])
        parts = by_gradient[first:].reshape(len(s), 1 + len(v), -1)
        parts[:, 0] = shape_t[c] * s[:, None]
        parts[:, 1:] = (t2[c] * s[:, None])[:, None, :] * v
        parts[:, 1 + j] += expansion.by_t[c]
        moved = ((by_gradient / std[j] - elasticity * by_z[c]) / z[c])[known]
        covariance = result.theta_covariance[np.ix_(own[c][known], own[c][known])]
        errors[:, c, j] = np.sqrt(np.maximum(np.einsum("pn,pq,qn->n", moved, covariance, moved), 0))
    return estimates, errors
