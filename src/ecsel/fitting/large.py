"""Fits of many rows: rounds of importance samples, each judged on all rows, then exact gradients to the end.

Of millions of rows a few thousand shape a fit. All starts go through a first round together and the lowest on the
sample goes on: rows that the sample lacked can be repaired, a poor minimum can not. A round draws rows by their errors
under the best equations so far,
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
    from collections.abc import Sequence

    from ecsel.fitting.problem import Problem

Array = NDArray[np.floating]

SAMPLE_ROWS = 30_000
SAMPLE_ROWS_PER_PARAMETER = 400
MOST_ROUNDS = 6
SHORT = Stop(1e-6, np.inf, 60)
"""How far the valley is followed on one sample."""
ROUNDS_AGREE = 1e-3
"""Relative difference of two rounds' objectives at which the samples have told what they can."""
STATISTICAL = 0.1
"""A promised fall below this many times half a unit of log-likelihood per parameter is far below sampling error."""
EXACT_SAMPLE_ROWS = 4
"""With a tight tolerance the last sample is this many times larger: its curvature is closer to that of all rows."""


def fit_large(
    problem: Problem, starts: Sequence[Array], stop: Stop, seed: int, watch: Watch | None = None
) -> tuple[Outcome, list[float], float]:
    """Return the outcome, the objectives that the starts reached in the first round, and the passes over all rows."""
    size = max(SAMPLE_ROWS, SAMPLE_ROWS_PER_PARAMETER * problem.size)
    largest = 8 * size
    points = [survey(problem, theta) for theta in starts]
    passes, iterations = float(len(points)), 0
    if len(points) > 1:
        sample = importance(problem, points, size, seed - 1)
        trials = [follow_valley(sample, point.theta, SHORT, watch) for point in points]
        iterations += sum(trial.iterations for trial in trials)
        passes += 2 * len(points)
        trials.sort(key=lambda trial: trial.objective)
        points = [survey(problem, trial.theta) for trial in trials]
    spread = sorted(point.objective for point in points)
    best, latest = points[0], None
    for turn in range(MOST_ROUNDS):
        drawn_by = [best] if latest is None or latest is best else [best, latest]
        sample = importance(problem, drawn_by, size, seed + turn)
        trial = follow_valley(sample, best.theta, SHORT, watch)
        iterations += trial.iterations
        passes += len(drawn_by) + 1 + trial.evaluations * sample.blocks.n_rows / problem.blocks.n_rows
        if trial.status is Status.INTERRUPTED:
            return replace(trial, theta=best.theta, objective=best.objective, iterations=iterations), spread, passes
        before, latest = best.objective, survey(problem, trial.theta)
        best = latest if latest.objective < before else best
        if abs(latest.objective - before) <= ROUNDS_AGREE * abs(before):
            break
        if latest.objective > before:  # the sample has not told enough
            size = min(2 * size, largest)
    best = min([best, *points], key=lambda point: point.objective)
    if latest is not best:  # curvature is that of rows drawn for the point where the last steps begin
        sample = importance(problem, [best], size, seed + MOST_ROUNDS)
    tight = stop.tol < Stop().tol
    if tight:
        sample = importance(problem, [best], EXACT_SAMPLE_ROWS * size, seed + MOST_ROUNDS + 1)
        last = stop
    else:
        statistical = STATISTICAL * np.count_nonzero(best.theta) / (2 * problem.blocks.n_rows * abs(best.objective))
        last = Stop(max(stop.tol, statistical), np.inf, stop.max_iter)
    outcome = follow_valley(SampledCurvature.of(problem, sample), best.theta, last, watch)
    return replace(outcome, iterations=iterations + outcome.iterations), spread, passes + outcome.evaluations
