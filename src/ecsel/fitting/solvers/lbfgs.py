"""L-BFGS-B on split variables: the solver when parameters are too many for a curvature matrix.

θ = θ⁺ − θ⁻ with both parts ≥ 0 makes the penalty a smooth function of θ⁺ + θ⁻, so a bound-constrained quasi-Newton
method applies: SciPy's L-BFGS-B, with the same row blocks as the other solvers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.optimize import Bounds, minimize

from ecsel.fitting.report import Status
from ecsel.fitting.solvers.base import Need, Outcome, Solver, Stop, Watch

if TYPE_CHECKING:
    from ecsel._typing import Array, Floats
    from ecsel.fitting.objective.problem import Problem


SOLVER = Solver("lbfgs", frozenset({Need.STREAMED_ROWS, Need.START}))
"""Bounds on exponents move with the angle: they are no box of its variables."""


def minimise_lbfgs(problem: Problem, theta: Array, stop: Stop, watch: Watch | None = None) -> Outcome:
    """Minimise from `theta`; an interrupt keeps the best point so far."""
    split = problem.l1 > 0
    p = problem.size
    best: tuple[float, Array] = (np.inf, theta)
    evaluations = iterations = 0

    def joined(parts: Floats) -> Floats:
        whole: Floats = parts[:p].copy()
        whole[split] -= parts[p:]
        return whole

    def objective(parts: Floats) -> tuple[float, Floats]:
        nonlocal best, evaluations
        whole = joined(parts)
        value, gradient = problem.value_and_gradient(whole)
        evaluations += 1
        if value < best[0]:
            best = (value, whole)
        # at θ⁺, θ⁻ > 0 together θ⁺ + θ⁻ is penalized and not |θ|: the optimum never has both
        sizes = whole.copy()
        sizes[split] = parts[:p][split] + parts[p:]
        l1 = problem.weights(sizes)
        if problem.plain:
            excess = float(l1[split] @ (sizes[split] - np.abs(whole[split])))
        else:
            excess = problem.penalty_value(sizes) - problem.penalty_value(whole)
        slope: Floats = np.concatenate([gradient + l1, l1[split] - gradient[split]])
        return value + excess, slope

    def each(xk: Floats) -> None:
        nonlocal iterations
        del xk
        iterations += 1
        if watch is not None:
            watch(iterations, best[0], np.nan)

    def parted(positive: Array, negative: Array) -> Floats:
        """θ⁺ from the first vector (the whole of it where there is no ℓ1 penalty) and θ⁻ from the second."""
        return np.concatenate([np.where(split, np.maximum(positive, 0), positive), np.maximum(-negative[split], 0)])

    theta = np.clip(theta, problem.lower, problem.upper)
    start = parted(theta, theta)
    lower, upper = parted(problem.lower, problem.upper), parted(problem.upper, problem.lower)
    status = Status.MAX_ITER
    try:
        minimize(
            objective,
            start,
            jac=True,
            method="L-BFGS-B",
            bounds=Bounds(lower, upper),
            callback=each,
            options={
                "maxiter": 10 * stop.max_iter,
                "maxfun": 20 * stop.max_iter,
                "maxcor": 20,
                "ftol": 1e-3 * stop.tol,
                "gtol": 0.1 * stop.kkt,
            },
        )
    except KeyboardInterrupt:
        status = Status.INTERRUPTED
    return _outcome(problem, best[1], stop, status, iterations, evaluations)


def _outcome(problem: Problem, theta: Array, stop: Stop, status: Status, iterations: int, evaluations: int) -> Outcome:
    """Return the best point with its optimality; scipy's own word on it counts only where it ran out of steps."""
    value, gradient = problem.value_and_gradient(theta)
    residual = problem.kkt_residual(theta, gradient)
    if status is not Status.INTERRUPTED and iterations < 10 * stop.max_iter:
        status = Status.CONVERGED if residual <= 2 * stop.kkt else Status.STALLED
    loss = value - problem.penalty_value(theta)
    return Outcome(theta, value, loss, residual, status, iterations, evaluations)
