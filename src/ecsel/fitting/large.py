"""Fits of many rows: rounds of importance samples, each judged on all rows, then exact gradients to the end.

Of millions of rows a few thousand shape a fit. A round draws them by their errors under the best equations so far,
follows the valley on the sample alone, and looks at the result on all rows (two passes a round). What a sample has
missed shows there: the round is thrown away if the objective rose, and the rows that went wrong are drawn into the
next. Once rounds agree, Newton steps with the exact gradient and the sample's curvature (one pass a step) go on until
what they promise is far below sampling error; with a tolerance below the default one, until that tolerance holds.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ecsel.fitting.newton import Outcome, Stop, Watch
from ecsel.fitting.report import Status
from ecsel.fitting.sampling import SampledCurvature, importance, survey
from ecsel.fitting.valley import follow_valley

if TYPE_CHECKING:
    from ecsel.fitting.problem import Problem

Array = NDArray[np.floating]

SAMPLE_ROWS = 30_000
SAMPLE_ROWS_PER_PARAMETER = 400
MOST_ROUNDS = 6
ROUNDS_AGREE = 1e-3
"""Relative difference of two rounds' objectives at which the samples have told what they can."""
STATISTICAL = 0.1
"""A promised fall below this many times half a unit of log-likelihood per parameter is far below sampling error."""
EXACT_SAMPLE_ROWS = 4
"""With a tight tolerance the last sample is this many times larger: its curvature is closer to that of all rows."""


def fit_large(
    problem: Problem, theta: Array, stop: Stop, seed: int, watch: Watch | None = None
) -> tuple[Outcome, float]:
    """Return the outcome and the passes over all rows that were spent."""
    size = max(SAMPLE_ROWS, SAMPLE_ROWS_PER_PARAMETER * problem.size)
    best, latest = survey(problem, theta), None
    passes, iterations = 1.0, 0
    for turn in range(MOST_ROUNDS):
        points = [best] if latest is None or latest is best else [best, latest]
        sample = importance(problem, points, size, seed + turn)
        trial = follow_valley(sample, best.theta, Stop(1e-6, np.inf, 60), watch)
        iterations += trial.iterations
        passes += len(points) + 1 + trial.evaluations * sample.blocks.n_rows / problem.blocks.n_rows
        if trial.status is Status.INTERRUPTED:
            return replace(trial, theta=best.theta, objective=best.objective, iterations=iterations), passes
        before, latest = best.objective, survey(problem, trial.theta)
        best = latest if latest.objective < before else best
        if abs(latest.objective - before) <= ROUNDS_AGREE * abs(before):
            break
    tight = stop.tol < Stop().tol
    if tight:
        sample = importance(problem, [best], EXACT_SAMPLE_ROWS * size, seed + MOST_ROUNDS)
        last = stop
    else:
        statistical = STATISTICAL * np.count_nonzero(best.theta) / (2 * problem.blocks.n_rows * abs(best.objective))
        last = Stop(max(stop.tol, statistical), np.inf, stop.max_iter)
    outcome = follow_valley(SampledCurvature.of(problem, sample), best.theta, last, watch)
    return replace(outcome, iterations=iterations + outcome.iterations), passes + outcome.evaluations
