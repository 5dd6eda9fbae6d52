"""Proximal Gauss–Newton with Levenberg–Marquardt damping: the default solver, because it needs few passes.

Each iteration models the smooth part by its curvature H (see `problem`), solves the ℓ1-penalised quadratic with
H + μ·diag exactly (see `active_set`), accepts the step if the true objective falls, and moves μ by how well that was
predicted. It stops when the model promises less than `tol`·F and the KKT residual is within its bound.

Where all rows are one block and nobody watches, the same loop runs compiled (`csrc/newton.c`): on small tables NumPy's
overhead is most of a fit.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ecsel.fitting.kernel import CompiledSums
from ecsel.fitting.objective.problem import Problem
from ecsel.fitting.report import Status
from ecsel.fitting.rows.blocks import on_pool_thread
from ecsel.fitting.solvers.active_set import MAX_ACTIVE_SETS, solve_active_set
from ecsel.fitting.solvers.base import Need, Outcome, Solver, Stop, Watch

if TYPE_CHECKING:
    from ecsel._typing import Array
    from ecsel.fitting.objective.derivatives import Derivatives
    from ecsel.fitting.objective.problem import Point


FIRST_DAMPING = 1e-2
_LARGEST_DAMPING = 1e8
_EXACT_BELOW = 3e-2
_WORTH_A_RETRY = 1e-6
_TIMID = 1.5
"""A fall this many times the promised one (it can be twice) tells that the curvature was overestimated."""
_NOISE = {np.dtype(np.float64): 1e-15, np.dtype(np.float32): 1e-9}
"""Relative falls of the objective that rounding hides."""
_ENDINGS = (Status.CONVERGED, Status.STALLED, Status.MAX_ITER, Status.INTERRUPTED)
"""The endings of the compiled loop, in its own order."""


SOLVER = Solver("newton", frozenset(Need))


def minimise(problem: Problem, theta: Array, stop: Stop, watch: Watch | None = None) -> Outcome:
    """Minimise from the nearest point to `theta` within bounds; an interrupt keeps the best point so far."""
    if watch is None and (outcome := _minimise_compiled(problem, theta, stop)) is not None:
        return outcome
    point = problem.evaluate(problem.within(theta))
    iterations, evaluations, damping = 0, 1, FIRST_DAMPING
    fall, stuck = np.inf, False
    status, residual = Status.MAX_ITER, np.inf
    try:
        while True:
            if stuck or fall <= stop.tol * abs(point.objective):
                residual = problem.kkt_residual(point.theta, problem.gradient(point))
                if stuck or residual <= stop.kkt:
                    status = Status.CONVERGED if residual <= 2 * stop.kkt else Status.STALLED
                    break
            if iterations == stop.max_iter:
                break
            local = problem.derivatives(point)
            residual = problem.kkt_residual(point.theta, local.gradient)
            if watch is not None:
                watch(iterations, point.objective, residual)
            found, damping, tried, fall = _step(problem, point, local, damping, residual)
            iterations += 1
            evaluations += tried
            stuck = found is None
            point = point if found is None else found
    except KeyboardInterrupt:
        status = Status.INTERRUPTED
    return Outcome(point.theta, point.objective, point.loss, residual, status, iterations, evaluations)


def _minimise_compiled(problem: Problem, theta: Array, stop: Stop) -> Outcome | None:
    """Run the compiled loop where the problem is one that it knows."""
    if type(problem) is not Problem or not isinstance(problem.sums, CompiledSums):
        return None
    if not problem.sums.penalty_is_compiled:
        return None
    blocks = problem.blocks.map(lambda block: block)
    if len(blocks) > 1:
        return None
    rules = (
        *(stop.tol, stop.kkt, FIRST_DAMPING, _LARGEST_DAMPING, _EXACT_BELOW, _WORTH_A_RETRY, _TIMID),
        *(_NOISE[problem.blocks.dtype], stop.max_iter, MAX_ACTIVE_SETS),
    )
    theta, (objective, loss, residual, status, iterations, evaluations) = problem.sums.minimise(
        theta, blocks[0], rules, 1 if on_pool_thread() else problem.blocks.n_threads
    )
    return Outcome(theta, objective, loss, residual, _ENDINGS[int(status)], int(iterations), int(evaluations))


def _step(
    problem: Problem, point: Point, local: Derivatives, damping: float, residual: float
) -> tuple[Point | None, float, int, float]:
    """Return an accepted point (None if there is none), the next damping, the trials, and the predicted fall.

    The exact Hessian is taken while it is positive definite and the damping small, else its convex stand-in, which
    crawls along flat valleys.
    """
    weights, (lower, upper) = problem.weights(point.theta), problem.box(point.theta)
    if problem.exponent_bounds is not None:
        local = problem.exponent_bounds.transformed(point.theta, weights, local)
    diagonal = local.diagonal
    scale = diagonal + 1e-3 * (diagonal.sum() / len(diagonal))
    noise = _NOISE[problem.blocks.dtype]
    tried = 0
    curvature = local.exact if damping <= _EXACT_BELOW else local.convex
    while damping < _LARGEST_DAMPING:
        H = curvature.copy()
        H.reshape(-1)[:: len(H) + 1] += damping * scale
        theta, fall = solve_active_set(H, local.gradient, point.theta, weights, lower, upper, 1e-2 * residual)
        if fall <= noise * abs(point.objective):
            if curvature is local.exact:  # a face on which the exact Hessian is not positive definite
                curvature = local.convex
                continue
            if residual > _WORTH_A_RETRY:  # a face on which the convex one is singular to rounding
                damping = max(10 * damping, 1e-6)
                continue
            return None, damping, tried, fall
        candidate = problem.evaluate(
            theta if problem.exponent_bounds is None else problem.exponent_bounds.back(point.theta, theta)
        )
        tried += 1
        ratio = (point.objective - candidate.objective) / fall
        if ratio > 1e-4:
            damping *= 0.2 if ratio > 0.75 else 1.0 if ratio > 0.25 else 3.0
            if ratio > _TIMID:
                candidate, more = _stretch(problem, point, candidate)
                tried += more
            return candidate, 1e-8 if damping < 1e-6 else damping, tried, fall
        damping = max(4 * damping, 1e-4)
        curvature = local.exact if damping <= _EXACT_BELOW else local.convex
    return None, damping, tried, 0.0


def _stretch(problem: Problem, point: Point, candidate: Point) -> tuple[Point, int]:
    """Floats a step that was too short for as long as the objective falls; coordinates stop where they meet zero."""
    tried = 0
    while True:
        longer = candidate.theta + (candidate.theta - point.theta)
        longer[(longer * candidate.theta < 0) & (problem.l1 > 0)] = 0.0
        longer[(candidate.theta == 0) & (problem.l1 > 0)] = 0.0
        further = problem.evaluate(problem.within(longer))
        tried += 1
        if not further.objective < candidate.objective:
            return candidate, tried
        candidate = further
