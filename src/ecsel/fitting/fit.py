"""From positive features and classes to power laws: one fit, whatever the size of the table.

Small tables are fitted on all rows. On larger ones terms are grown on class-balanced pilot samples; up to `LARGE_FROM`
rows the fit is finished by Newton on all rows, beyond by `large`, which needs few passes.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from ecsel._version import OLD_NAMES_GO_IN
from ecsel.fitting.kernel import CompiledSums
from ecsel.fitting.large import fit_large
from ecsel.fitting.objective.problem import Problem
from ecsel.fitting.penalties import EquationPenalty, PaperL1
from ecsel.fitting.report import FitReport, Status
from ecsel.fitting.rows.blocks import TILE_ROWS, ArrayBlocks, Coordinates, one_blas_thread
from ecsel.fitting.rows.sampling import class_counts, gather, pilot
from ecsel.fitting.solvers import Need, check_support, solver_of
from ecsel.fitting.solvers.adam import Adam, minimise_adam
from ecsel.fitting.solvers.base import Outcome, Stop, Watch
from ecsel.fitting.solvers.initialization import STAGE_ITERATIONS, interrupted
from ecsel.fitting.solvers.lbfgs import SOLVER as LBFGS
from ecsel.fitting.solvers.lbfgs import minimise_lbfgs
from ecsel.fitting.solvers.multistart import Newton, best_of, explore
from ecsel.fitting.solvers.newton import SOLVER as NEWTON
from ecsel.fitting.solvers.newton import minimise
from ecsel.signomial.arrays import ScoreTerms
from ecsel.signomial.columns import LOG_LIMIT

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ecsel._typing import Array
    from ecsel.fitting.objective.losses import Loss
    from ecsel.fitting.rows.blocks import RowBlocks


PILOT_ROWS = (1024, 4096)
PILOT_ROWS_PER_PARAMETER = 40
SEVERAL_PILOTS_FROM = 40_000
N_PILOTS, N_PILOTS_OF_LARGE = 3, 4
"""Which local minimum a fit ends in is decided by its pilots."""
FINALISTS = 4
"""Where there are several starts, so many of a pilot's minima are followed on all rows."""
SINGLE_PRECISION_FROM = 50_000
LARGE_FROM = 100_000
"""Rows from which on a fit is carried through samples."""
MAX_NEWTON_PARAMETERS = 1200


@dataclass(frozen=True, slots=True)
class FitResult:
    """The fitted terms, power laws of the positive features, and the report of how they were found.

    Examples
    --------
    >>> import numpy as np
    >>> from ecsel.fitting import L1, Logistic, fit_scores
    >>> x = np.linspace(1, 9, 200)
    >>> codes = (x + 3 * np.sin(37 * x) > 5).astype(int)
    >>> result = fit_scores(np.log(x)[None, :], codes, np.ones(200), Logistic(), L1(0.01), 1)
    >>> (equation,) = result.terms.to_signomials(["x"])
    >>> equation.names
    ('x',)
    """

    terms: ScoreTerms
    report: FitReport

    @property
    def laws(self) -> ScoreTerms:
        """The old name of `terms`; it warns."""
        warnings.warn(f"laws is now terms; the old name goes in {OLD_NAMES_GO_IN}.", FutureWarning, stacklevel=2)
        return self.terms


@dataclass(frozen=True, slots=True)
class FitOptions:
    """How to fit: solver ("newton", "lbfgs", a `Newton` or an `Adam`), when to stop, threads, seed."""

    solver: str | Newton | Adam = "newton"
    tol: float = 1e-6
    max_iter: int = 200
    n_threads: int = 1
    seed: int | None = None


def fit_scores(
    log_features: Array,
    codes: NDArray[np.integer],
    weights: Array,
    loss: Loss,
    penalty: EquationPenalty,
    n_terms: int,
    *,
    intercept: bool = True,
    options: FitOptions | None = None,
    start: ScoreTerms | None = None,
    watch: Watch | None = None,
) -> FitResult:
    """Fit one sum of `n_terms` power laws per score.

    Parameters
    ----------
    log_features : array of shape (features, rows)
        Logs of the positive features; float32 is kept as it is.
    codes : integer array of shape (rows,)
        Class codes 0, 1, ….
    weights : array of shape (rows,)
        Row weights; only their ratios count.
    start : ScoreTerms, optional
        A fitted model to continue from (warm start) instead of growing terms.

    Examples
    --------
    >>> import numpy as np
    >>> from ecsel.fitting import L1, Logistic, fit_scores
    >>> x = np.linspace(1, 9, 200)
    >>> codes = (x + 3 * np.sin(37 * x) > 5).astype(int)
    >>> result = fit_scores(np.log(x)[None, :], codes, np.ones(200), Logistic(), L1(0.01), 1)
    >>> result.report.converged, result.terms.n_classes
    (True, 1)
    """
    options = options or FitOptions()
    raw = isinstance(options.solver, Adam) and isinstance(penalty, PaperL1)
    centred = Coordinates.raw(len(log_features)) if raw else Coordinates.of(log_features, weights)
    blocks = ArrayBlocks.standardised(log_features, codes, weights, centred, n_threads=options.n_threads)
    shares = class_shares(codes, weights, loss)
    return fit_blocks(
        blocks, centred, shares, loss, penalty, n_terms, intercept=intercept, options=options, start=start, watch=watch
    )


def fit_blocks(
    blocks: RowBlocks,
    centred: Coordinates,
    shares: Array,
    loss: Loss,
    penalty: EquationPenalty,
    n_terms: int,
    *,
    intercept: bool = True,
    options: FitOptions | None = None,
    start: ScoreTerms | None = None,
    watch: Watch | None = None,
) -> FitResult:
    """Fit row blocks, wherever they are kept; `centred` are the coordinates of their logs, `shares` of the classes."""
    options = options or FitOptions()
    problem = Problem(blocks, loss, penalty, n_terms, intercept, centred.std)
    check_support(options.solver, _needs(problem, start=start is not None))
    with one_blas_thread():
        scale = max(1.0, _largest_gradient(problem, shares))
        stop = Stop(options.tol, Stop().kkt * scale, options.max_iter)
        rng = np.random.default_rng(options.seed)
        theta = None if start is None else to_theta(problem, start, centred)
        outcome, objective_spread, passes = _solve(problem, shares, theta, options, stop, rng, watch)
        terms = to_terms(problem, outcome.theta, centred)
        settled = to_theta(problem, terms, centred)
        objective, gradient = problem.value_and_gradient(settled)
    report = FitReport(
        solver=_resolved_solver(problem, options),
        status=outcome.status,
        iterations=outcome.iterations,
        passes=passes,
        objective=objective,
        loss=objective - problem.penalty_value(settled),
        kkt_residual=problem.kkt_residual(settled, gradient),
        kkt_scale=scale,
        objective_spread=tuple(objective_spread),
        n_rows=blocks.n_rows,
        n_parameters=problem.size,
    )
    return FitResult(terms, report)


def class_shares(codes: NDArray[np.integer], weights: Array, loss: Loss) -> Array:
    """Return the share of each class; one that a training part happens to lack counts as half a row."""
    totals = np.bincount(codes, weights=weights, minlength=loss.n_classes)
    totals = np.maximum(totals, 0.5 * totals.sum() / len(codes))
    return np.asarray(totals / totals.sum())


def to_terms(problem: Problem, theta: Array, centred: Coordinates) -> ScoreTerms:
    """Return θ as power laws of the uncentred logs; terms without exponents join the intercept."""
    intercepts, shapes, slopes = problem.unpack(theta)
    alpha, beta, constant = problem.form.to_power_law(shapes, slopes)
    alive = (beta != 0).any(axis=2)
    gone = ~alive
    intercepts = intercepts + (np.where(gone, alpha + constant, constant)).sum(axis=1)
    beta = problem.penalty.constraints.clip(beta / centred.std)
    shift = np.clip(-(beta @ centred.centre), -LOG_LIMIT, LOG_LIMIT)
    return ScoreTerms.from_powers(intercepts, np.where(alive, alpha * np.exp(shift), 0.0), beta)


def to_theta(problem: Problem, terms: ScoreTerms, centred: Coordinates) -> Array:
    """Inverse of `to_terms`."""
    intercepts, coefficients, exponents = terms.to_powers(problem.n_terms)
    alpha = coefficients * np.exp(np.clip(exponents @ centred.centre, -LOG_LIMIT, LOG_LIMIT))
    alive = (exponents != 0).any(axis=2) & (coefficients != 0)
    shapes, slopes, added = problem.form.from_power_law(np.where(alive, alpha, 1.0), exponents * centred.std)
    shapes = np.where(alive, shapes, 0.0)
    slopes = np.where(alive[..., None], slopes, 0.0)
    intercepts = intercepts + np.where(alive, added, 0.0).sum(axis=1)
    if not problem.intercept:  # terms without exponents are the only constants there are; equal parts cost least
        shapes = np.where(alive, shapes, intercepts[:, None] / np.maximum((~alive).sum(axis=1, keepdims=True), 1))
    return problem.pack(intercepts, shapes, slopes)


def _largest_gradient(problem: Problem, shares: Array) -> float:
    """The largest gradient of the intercept-only model: the scale of the KKT residual; of many rows a sample tells."""
    one = replace(problem, n_terms=1)
    if _is_large(problem):
        one = replace(one, blocks=gather(problem.blocks, lambda block: LARGE_FROM / 4 * block.w, seed=0))
    start = one.empty(shares)
    one.unpack(start)[1][...] = 0.0 if one.form.has_intercept else 1.0
    return float(np.abs(one.value_and_gradient(start)[1]).max())


def _is_large(problem: Problem) -> bool:
    return problem.blocks.n_rows > LARGE_FROM or not isinstance(problem.blocks, ArrayBlocks)


def _resolved_solver(problem: Problem, options: FitOptions) -> str:
    """L-BFGS takes over by itself where the curvature matrix would be too large, if it supports the fit."""
    chosen = solver_of(options.solver)
    if chosen is NEWTON and problem.size > MAX_NEWTON_PARAMETERS and _needs(problem) <= LBFGS.supports:
        return LBFGS.name
    return chosen.name


def _needs(problem: Problem, *, start: bool = False) -> set[Need]:
    """Return what the problem needs of its solver."""
    return {
        need
        for need, is_needed in (
            (Need.EXPONENT_BOUNDS, problem.exponent_bounds is not None),
            (Need.STREAMED_ROWS, not isinstance(problem.blocks, ArrayBlocks)),
            (Need.START, start),
        )
        if is_needed
    }


def _solve(
    problem: Problem,
    shares: Array,
    theta: Array | None,
    options: FitOptions,
    stop: Stop,
    rng: np.random.Generator,
    watch: Watch | None,
) -> tuple[Outcome, list[float], float]:
    """Return the outcome, the objectives of the separate starts, and the passes over all rows that were spent."""
    blocks = problem.blocks
    if isinstance(options.solver, Adam):
        assert isinstance(blocks, ArrayBlocks)  # noqa: S101 - `check_support` has refused other rows
        outcome, objective_spread = minimise_adam(problem, blocks, options.solver, rng, watch)
        return outcome, objective_spread, float(outcome.evaluations * len(objective_spread))
    if _resolved_solver(problem, options) == LBFGS.name:
        return _solve_lbfgs(problem, shares, theta, stop, rng, watch)
    if theta is not None:
        return _continue(problem, theta, stop, rng, watch)
    newton = options.solver if isinstance(options.solver, Newton) else Newton()
    rows = int(np.clip(PILOT_ROWS_PER_PARAMETER * problem.size, *PILOT_ROWS))
    few = 2 * rows if newton.starts == 1 else max(2 * rows, TILE_ROWS)
    if isinstance(blocks, ArrayBlocks) and blocks.n_rows <= few:
        return _explore_all_rows(problem, shares, blocks, newton, stop, rng, watch)
    runs, pool, objective_spread, passes = _explore_pilots(problem, shares, rows, newton, rng, watch)
    grown = replace(runs[0], iterations=sum(run.iterations for run in runs))
    if interrupted(runs):
        return replace(grown, status=Status.INTERRUPTED), objective_spread, passes
    if _is_large(problem):
        outcome, objective_spread, more = fit_large(
            problem, [run.theta for run in runs], pool, stop, _draw_seed(rng), watch
        )
    else:
        carried = [run.theta for run in runs[: 1 if newton.starts == 1 else FINALISTS]]
        outcome = best_of(problem, carried, stop, watch)
        more = float(outcome.evaluations)
    return _after(grown, outcome), objective_spread, passes + more


def _continue(
    problem: Problem, theta: Array, stop: Stop, rng: np.random.Generator, watch: Watch | None
) -> tuple[Outcome, list[float], float]:
    """Go on from a fitted model."""
    if _is_large(problem):
        return fit_large(problem, [problem.within(theta)], problem, stop, _draw_seed(rng), watch)
    outcome = minimise(problem, theta, stop, watch)
    return outcome, [outcome.objective], float(outcome.evaluations)


def _explore_all_rows(
    problem: Problem,
    shares: Array,
    blocks: ArrayBlocks,
    newton: Newton,
    stop: Stop,
    rng: np.random.Generator,
    watch: Watch | None,
) -> tuple[Outcome, list[float], float]:
    """Grow terms on all rows, in single precision where that saves time, and finish in the precision of the rows."""
    small = blocks.n_rows * problem.size < SINGLE_PRECISION_FROM
    if small or problem.n_terms == 1 or isinstance(problem.sums, CompiledSums):
        (outcome, *_), objective_spread = explore(problem, shares, rng, newton, stop, watch)
        return outcome, objective_spread, float(outcome.evaluations)
    rough = replace(problem, blocks=blocks.astype(np.float32))
    (grown, *_), objective_spread = explore(rough, shares, rng, newton, Stop(1e-4, np.inf, STAGE_ITERATIONS), watch)
    if grown.status is Status.INTERRUPTED:
        return grown, objective_spread, float(grown.evaluations)
    outcome = minimise(problem, grown.theta, stop, watch)
    return _after(grown, outcome), objective_spread, float(grown.evaluations + outcome.evaluations)


def _explore_pilots(
    problem: Problem, shares: Array, rows: int, newton: Newton, rng: np.random.Generator, watch: Watch | None
) -> tuple[list[Outcome], Problem, list[float], float]:
    """Grow terms on one pilot sample, or on several of a large table; a pool of rows puts them in order, best first.

    A pilot decides in which local minimum the fit ends, and costs little where rows are many.
    """
    count = N_PILOTS if problem.blocks.n_rows >= SEVERAL_PILOTS_FROM else 1
    count = N_PILOTS_OF_LARGE if _is_large(problem) else count
    classes = problem.loss.n_classes
    pool = pilot(problem, class_counts(problem.blocks, classes), 8 * rows, _draw_seed(rng))
    pool_counts = class_counts(pool.blocks, classes)
    runs: list[Outcome] = []
    objective_spread: list[float] = []
    for _ in range(count):
        small = pilot(pool, pool_counts, rows, _draw_seed(rng))
        found, objective_spread = explore(small, shares, rng, newton, Stop(1e-4, np.inf, 20), watch)
        runs += found[:FINALISTS]
        if interrupted(found):
            break
    spent = sum(run.evaluations for run in runs) * rows
    if len(runs) > 1:
        objectives = [pool.objective(run.theta) for run in runs]
        runs, objective_spread = [runs[i] for i in np.argsort(objectives)], sorted(objectives)
        spent += len(runs) * pool.blocks.n_rows
    return runs, pool, objective_spread, spent / problem.blocks.n_rows


def _draw_seed(rng: np.random.Generator) -> int:
    return int(rng.integers(2**31))


def _after(pilot_run: Outcome, outcome: Outcome) -> Outcome:
    return replace(outcome, iterations=pilot_run.iterations + outcome.iterations)


def _solve_lbfgs(
    problem: Problem, shares: Array, theta: Array | None, stop: Stop, rng: np.random.Generator, watch: Watch | None
) -> tuple[Outcome, list[float], float]:
    """Random slopes around the empty model, log-linear and curved, for many parameters: growth would cost a matrix."""
    starts = [theta] if theta is not None else [_scattered(problem, shares, curvature, rng) for curvature in (0.0, 1.0)]
    runs = []
    for start in starts:
        runs.append(minimise_lbfgs(problem, start, stop, watch))
        if runs[-1].status is Status.INTERRUPTED:
            break
    best = min(runs, key=lambda r: r.objective)
    best = replace(best, status=Status.INTERRUPTED) if runs[-1].status is Status.INTERRUPTED else best
    return best, sorted(r.objective for r in runs), float(sum(r.evaluations for r in runs))


def _scattered(problem: Problem, shares: Array, curvature: float, rng: np.random.Generator) -> Array:
    intercepts, shapes, slopes = problem.unpack(problem.empty(shares))
    signs = (curvature if problem.form.has_intercept else 1.0) * rng.choice([-1.0, 1.0], shapes.shape)
    return problem.pack(intercepts, problem.form.seed(signs), rng.normal(0, 0.1, slopes.shape))
