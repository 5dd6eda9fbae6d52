"""Newton's method in log coordinates: follows the long curved valleys of nearly separated tables.

Each step minimises the ℓ1-penalised quadratic model of `log_coordinates`, its Hessian replaced by its absolute value
(the eigenvalues of the scaled matrix without their signs, so that a saddle is left downhill) plus a damping that moves
by how well the fall was predicted. A term that straightens out, or curves, changes its coordinates between two steps.
It stops when the undamped model promises less than `tol`·F, or two steps in a row have brought less.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ecsel.fitting.report import Status
from ecsel.fitting.solvers.active_set import solve_active_set
from ecsel.fitting.solvers.base import Outcome, Stop, Watch
from ecsel.fitting.solvers.log_coordinates import LogCoordinates
from ecsel.fitting.solvers.newton import minimise

if TYPE_CHECKING:
    from ecsel._typing import Array
    from ecsel.fitting.objective.derivatives import Derivatives
    from ecsel.fitting.objective.problem import Point, Problem


FIRST_DAMPING = 1e-3
MIN_DAMPING = 1e-9
LARGEST_DAMPING = 1e8
MIN_CURVATURE = 1e-8
ROUNDING = 1e-14
"""Promised falls below this share of the objective are rounding."""


def minimise_in_logs(problem: Problem, theta: Array, stop: Stop, watch: Watch | None = None) -> Outcome:
    """Minimise in log coordinates, in the angle form where they do not serve; an interrupt keeps the best point."""
    point = problem.evaluate(problem.within(theta))
    iterations, evaluations, damping, quiet = 0, 1, FIRST_DAMPING, 0
    status, residual = Status.MAX_ITER, np.inf
    try:
        while iterations < stop.max_iter:
            coordinates = LogCoordinates.around(problem, point.theta)
            if coordinates is None:
                rest = minimise(problem, point.theta, replace(stop, max_iter=stop.max_iter - iterations), watch)
                return replace(
                    rest, iterations=iterations + rest.iterations, evaluations=evaluations + rest.evaluations
                )
            local = problem.derivatives(point)
            residual = problem.kkt_residual(point.theta, local.gradient)
            if watch is not None:
                watch(iterations, point.objective, residual)
            found, damping, tried, fall = _step(coordinates, point, local, damping, stop.tol)
            iterations, evaluations = iterations + 1, evaluations + tried
            # One small step may be a damped one: two in a row mean that the flat curve has ended.
            moved = 0.0 if found is None else point.objective - found.objective
            quiet = quiet + 1 if max(fall, moved) <= stop.tol * abs(point.objective) else 0
            point = found or point
            if found is None or (quiet > 1 and residual <= stop.kkt):
                status = Status.CONVERGED if residual <= 2 * stop.kkt else Status.STALLED
                break
    except KeyboardInterrupt:
        status = Status.INTERRUPTED
    return Outcome(point.theta, point.objective, point.loss, residual, status, iterations, evaluations)


def _step(
    coordinates: LogCoordinates, point: Point, local: Derivatives, damping: float, tol: float
) -> tuple[Point | None, float, int, float]:
    """Return an accepted point (None if there is none), the next damping, the trials, and the promised fall."""
    eta = coordinates.to_log(point.theta)
    model = coordinates.model(eta, local)
    if not np.isfinite(model.hessian).all():  # a sample on which the point is beyond all reason
        return None, damping, 0, 0.0
    size = np.sqrt(model.scale)
    values, vectors = np.linalg.eigh(model.hessian / np.outer(size, size))
    values = np.maximum(np.abs(values), MIN_CURVATURE)
    lower, upper = coordinates.bounds(eta)
    tried, undamped = 0, True
    while damping < LARGEST_DAMPING:
        H = ((vectors * (values + (0.0 if undamped else damping))) @ vectors.T) * np.outer(size, size)
        trial, fall = solve_active_set(H, model.gradient, eta, model.l1, lower, upper, 1e-10)
        # a first damped step may promise little; one that is shortened because a longer one failed should promise more
        worth = max(tol, ROUNDING) if undamped or tried else ROUNDING
        if fall <= worth * abs(point.objective):
            return None, damping, tried, fall
        if undamped:
            undamped = False
            continue
        candidate = coordinates.problem.evaluate(coordinates.to_theta(trial))
        tried += 1
        ratio = (point.objective - candidate.objective) / fall
        if ratio > 1e-3:
            damping *= 0.2 if ratio > 0.75 else 1.0 if ratio > 0.25 else 3.0
            return candidate, max(damping, MIN_DAMPING), tried, fall
        damping = max(10 * damping, 1e-6)
    return None, damping, tried, 0.0
