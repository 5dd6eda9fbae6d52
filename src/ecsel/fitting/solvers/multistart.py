"""A thorough search for the lowest minimum: many starts, and perturbations of the best.

A sum of terms has many local minima; growing it (`initialization`) finds a good one, not always the lowest. With
`Newton(starts=N)` N − 1 scattered starts run beside the grown one; after 32 iterations, before which the objective
tells little about the end, the best quarter goes on. From the lowest point so far single terms are then replaced by
scattered ones, and the fit goes on from there: few starts from scratch are near minima that differ in one term.
"""

from __future__ import annotations

import numbers
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from ecsel.fitting.report import Status
from ecsel.fitting.solvers.base import Outcome, Stop
from ecsel.fitting.solvers.initialization import grow, interrupted, run_all, scattered, with_work_of
from ecsel.fitting.solvers.newton import minimise

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ecsel._typing import Array
    from ecsel.fitting.objective.problem import Problem
    from ecsel.fitting.solvers.base import Watch


FIRST_ROUND, GO_ON = Stop(1e-5, np.inf, 32), 4
"""What every start is given, and one in how many goes on."""
STARTS_PER_ROUND_OF_PERTURBATIONS, PERTURBATIONS_AT_ONCE = 12, 4
"""Several perturbations start from the same point, so that threads have work."""
PERTURBED = Stop(1e-4, np.inf, 10)
MAX_UNFINISHED, MORE_TIME = 4, 3
NEAR = 0.05
"""A perturbation is followed to its end where the objective is within this share of the lowest."""


@dataclass(frozen=True, slots=True)
class Newton:
    """Options of the default solver; hand an instance to `solver` to search more than one start.

    Parameters
    ----------
    starts : int, default=1
        1 grows the terms one after the other, which is quick and finds a good minimum. More starts look for a lower
        one, at the given number of terms and strength; on most tables 64 reach what 20 starts of L-BFGS-B do, or less.

    Examples
    --------
    >>> from ecsel import ECSELClassifier
    >>> from ecsel.fitting import Newton
    >>> ECSELClassifier(n_terms=2, l1=1e-3, solver=Newton(starts=64))
    ECSELClassifier(...)
    """

    starts: int = 1

    def __post_init__(self) -> None:
        starts: object = self.starts
        if type(starts) is bool or not isinstance(starts, numbers.Integral) or starts < 1:
            raise ValueError(f"Newton: starts must be a positive whole number, got {starts!r}.")


def explore(
    problem: Problem,
    class_shares: Array,
    rng: np.random.Generator,
    options: Newton,
    stop: Stop,
    watch: Watch | None = None,
) -> tuple[list[Outcome], list[float]]:
    """Return what was reached, best first (with the work of all counted), and the objectives of the separate starts.

    The grown terms come second where they are not the best: on other rows they may be.
    """
    grown, objective_spread = grow(problem, class_shares, stop, watch)
    if options.starts == 1 or grown.status is Status.INTERRUPTED:
        return [grown], objective_spread
    starts = [scattered(problem, class_shares, rng) for _ in range(options.starts - 1)]
    first = _best_first(run_all(problem, starts, FIRST_ROUND, watch))
    spent, reached = [grown, *first], [grown, first[0]]
    if not interrupted(spent):
        runs = run_all(problem, [run.theta for run in first[: -(-len(first) // GO_ON)]], stop, watch)
        spent, reached = [*spent, *runs], _best_first([grown, *runs])
    objective_spread = [run.objective for run in reached]
    for _ in range(-(-options.starts // STARTS_PER_ROUND_OF_PERTURBATIONS)):
        if interrupted(spent):
            break
        short, runs = _perturbed_runs(problem, class_shares, reached[0], rng, stop, watch)
        spent, reached = [*spent, *short, *runs], _best_first([*reached, *runs])
    if interrupted(spent):
        best = replace(min(spent, key=lambda run: run.objective), status=Status.INTERRUPTED)
    else:
        best, more = _lowest_minimum(problem, reached, stop, watch)
        spent += more
    others = sorted((run for run in reached if run is not best), key=lambda run: run is not grown)
    return [with_work_of(best, [run for run in spent if run is not best]), *others], objective_spread


def best_of(problem: Problem, starts: Sequence[Array], stop: Stop, watch: Watch | None) -> Outcome:
    """Follow every start to its end; return the lowest point that converged, with the work of all counted.

    One start is followed no further than `stop` allows.
    """
    if len(starts) == 1:
        return minimise(problem, starts[0], stop, watch)
    runs = _best_first(run_all(problem, starts, stop, watch))
    if interrupted(runs):
        return replace(with_work_of(runs[0], runs[1:]), status=Status.INTERRUPTED)
    best, more = _lowest_minimum(problem, runs, stop, watch)
    return with_work_of(best, [run for run in [*runs, *more] if run is not best])


def _lowest_minimum(
    problem: Problem, reached: Sequence[Outcome], stop: Stop, watch: Watch | None
) -> tuple[Outcome, list[Outcome]]:
    """Return the lowest point that converged, and the runs that this took: a lower one that has not may go on a while.

    The lowest of many points is often one that creeps along a flat curve on which a term explodes.
    """
    spent: list[Outcome] = []
    if np.isinf(stop.kkt):  # a rough search has no minimum to reach
        return reached[0], spent
    for begun in reached[:MAX_UNFINISHED]:
        run = begun
        for _ in range(MORE_TIME):
            if run.status in {Status.CONVERGED, Status.INTERRUPTED}:
                return run, spent
            run = minimise(problem, run.theta, stop, watch)
            spent.append(run)
    return next((run for run in reached if run.status is Status.CONVERGED), reached[0]), spent


def _best_first(runs: Sequence[Outcome]) -> list[Outcome]:
    return sorted(runs, key=lambda run: run.objective)


def _perturbed_runs(
    problem: Problem, class_shares: Array, best: Outcome, rng: np.random.Generator, stop: Stop, watch: Watch | None
) -> tuple[list[Outcome], list[Outcome]]:
    """Return the short runs from perturbed points, and the whole ones of those that came near the best."""
    starts = [_perturbed(problem, class_shares, best.theta, rng) for _ in range(PERTURBATIONS_AT_ONCE)]
    short = run_all(problem, starts, PERTURBED, watch)
    limit = best.objective + NEAR * abs(best.objective)
    near = [] if interrupted(short) else [run.theta for run in short if run.objective <= limit]
    return short, run_all(problem, near, stop, watch)


def _perturbed(problem: Problem, class_shares: Array, theta: Array, rng: np.random.Generator) -> Array:
    """Replace one term of one score, or one of every score, by a scattered one."""
    intercepts, shapes, slopes = (part.copy() for part in problem.unpack(theta))
    _, other_shapes, other_slopes = problem.unpack(scattered(problem, class_shares, rng))
    scores, terms = shapes.shape
    rows = np.arange(scores) if rng.random() < 0.5 else rng.integers(scores, size=1)
    columns = rng.integers(terms, size=len(rows))
    shapes[rows, columns], slopes[rows, columns] = other_shapes[rows, columns], other_slopes[rows, columns]
    return problem.pack(intercepts, shapes, slopes)
