"""Fits of many rows: rounds of importance samples, each checked on all rows, then exact gradients to the end.

Of millions of rows a few thousand shape a fit. A round minimises on a sample alone and checks the result on
all rows; the same pass draws the next sample (`importance_sampling`). All starts go through a first round
together and the lowest on the sample goes on: rows that the sample lacked can be repaired, a poor minimum can not. What
a sample has missed shows on all rows: where the objective rose, the next round starts from the best equation again, and
its sample holds the rows that went wrong. Once rounds agree, Newton steps with the exact gradient and the sample's
curvature (one pass a step) go on until what they promise is far below sampling error; with a tolerance below the
default one, until that tolerance holds.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ecsel.fitting.report import Status
from ecsel.fitting.rows.blocks import on_pool_thread, thread_pool
from ecsel.fitting.rows.importance_sampling import draw_sample, joined, mean_root
from ecsel.fitting.rows.sampling import SampledCurvature
from ecsel.fitting.solvers.base import Outcome, Stop, Watch
from ecsel.fitting.solvers.log_newton import minimise_in_logs

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ecsel._typing import Array
    from ecsel.fitting.objective.problem import Problem
    from ecsel.fitting.rows.importance_sampling import ImportanceSample


SAMPLE_ROWS = 10_000
SAMPLE_ROWS_PER_PARAMETER = 400
MAX_ROUNDS = 6
SHORT, LONG = Stop(1e-6, np.inf, 30), Stop(1e-6, np.inf, 60)
"""How far a fit goes on one sample, from all starts and then from the best: its minimum is not all rows'."""
ROUNDS_AGREE = 2e-2
"""A round's objective this close to the one before and to the value on its sample: further samples bring nothing."""
EXPLODED = 100
"""A start whose objective is this many times the lowest has exploded on rows that its pilot lacked."""
STATISTICAL = 0.1
"""A promised fall below this many times half a unit of log-likelihood per parameter is far below sampling error."""
EXACT_SAMPLE_ROWS = 4
"""With a tight tolerance the last sample is this many times larger: its curvature is closer to that of all rows."""


Found = tuple[Outcome, list[float], float]
"""The outcome, the objectives that the starts reached in the first round, and the passes over all rows."""


def fit_large(
    problem: Problem, starts: Sequence[Array], pool: Problem, stop: Stop, seed: int, watch: Watch | None = None
) -> Found:
    """Fit from some starts; `pool` is the problem on some of the rows, which tell how to draw the first sample.

    An interrupt ends the fit with the best equation that was looked at on all rows.
    """
    search = Search(problem, seed, watch)
    try:
        sample = search.begin(starts, pool)
        best, sample = search.rounds(sample)
        return search.finish(best, sample, stop)
    except KeyboardInterrupt:
        return search.give_up(starts[0])


class Search:
    """A fit on its way: the points that were looked at on all rows, and what they have cost."""

    def __init__(self, problem: Problem, seed: int, watch: Watch | None) -> None:
        self._problem, self._seed, self._watch = problem, seed, watch
        self._size = float(max(SAMPLE_ROWS, SAMPLE_ROWS_PER_PARAMETER * problem.size))
        self._points: list[ImportanceSample] = []
        self._objective_spread: list[float] = []
        self._looks, self._iterations, self._rows = 0, 0, 0.0

    def begin(self, starts: Sequence[Array], pool: Problem) -> Problem:
        """Look at the starts and return the sample that is drawn by all of them."""
        size = self._size / len(starts)
        self._points = [self._look(theta, size, pool) for theta in starts]
        lowest = min(point.objective for point in self._points)
        self._points = [point for point in self._points if point.objective <= EXPLODED * lowest]
        self._objective_spread = sorted(point.objective for point in self._points)
        return joined(self._problem, self._points)

    def rounds(self, sample: Problem) -> tuple[ImportanceSample, Problem]:
        """Minimise on samples until these agree with all rows; return the best point and its sample."""
        largest, thetas = 8 * self._size, [point.theta for point in self._points]
        best = self._points[0]
        for turn in range(MAX_ROUNDS):
            trials = self._minimise_on(sample, thetas)
            trial = min(trials, key=lambda trial: trial.objective)
            latest = self._look(trial.theta, self._size, sample)
            self._points.append(latest)
            if turn == 0:  # whatever its objective on all rows is: the next sample repairs it
                self._objective_spread = sorted(trial.objective for trial in trials)
                best, sample, thetas = latest, joined(self._problem, [latest]), [latest.theta]
                continue
            apart = max(abs(latest.objective - best.objective), abs(latest.objective - trial.objective))
            agreed = apart <= ROUNDS_AGREE * abs(best.objective)
            if latest.objective < best.objective:
                best, sample = latest, joined(self._problem, [latest])
            else:
                sample, self._size = joined(self._problem, [best, latest]), min(2 * self._size, largest)
            if agreed:
                break
            thetas = [best.theta]
        lowest = min(self._points, key=lambda point: point.objective)
        return (best, sample) if lowest is best else (lowest, joined(self._problem, [lowest]))

    def finish(self, best: ImportanceSample, sample: Problem, stop: Stop) -> Found:
        """Take steps with the gradient of all rows and the sample's curvature."""
        n_rows = self._problem.blocks.n_rows
        if stop.tol < Stop().tol:
            sample = joined(self._problem, [self._look(best.theta, EXACT_SAMPLE_ROWS * self._size, sample)])
        else:
            statistical = STATISTICAL * np.count_nonzero(best.theta) / (2 * n_rows * abs(best.objective))
            stop = Stop(max(stop.tol, statistical), np.inf, stop.max_iter)
        outcome = minimise_in_logs(SampledCurvature.of(self._problem, sample), best.theta, stop, self._watch)
        self._looks += outcome.evaluations
        return self._found(outcome)

    def give_up(self, start: Array) -> Found:
        """Return the best point so far."""
        best = min(self._points, key=lambda point: point.objective, default=None)
        theta, objective = (start, np.inf) if best is None else (best.theta, best.objective)
        return self._found(Outcome(theta, objective, objective, np.inf, Status.INTERRUPTED, 0, 0))

    def _found(self, outcome: Outcome) -> Found:
        passes = self._looks + self._rows / self._problem.blocks.n_rows
        return replace(outcome, iterations=self._iterations + outcome.iterations), self._objective_spread, passes

    def _look(self, theta: Array, size: float, by: Problem) -> ImportanceSample:
        """Look at a point on all rows and draw there; what is already in hand tells how."""
        self._looks += 1
        return draw_sample(self._problem, theta, size, self._seed + self._looks, mean_root(by, theta))

    def _minimise_on(self, sample: Problem, thetas: Sequence[Array]) -> list[Outcome]:
        """Minimise from several points on one sample, side by side."""
        stop = SHORT if len(thetas) > 1 else LONG

        def follow(theta: Array) -> Outcome:
            return minimise_in_logs(sample, theta, stop, self._watch)

        threads = self._problem.blocks.n_threads
        if threads == 1 or len(thetas) == 1 or on_pool_thread():
            trials = [follow(theta) for theta in thetas]
        else:
            trials = list(thread_pool(threads).map(follow, thetas))
        self._iterations += sum(trial.iterations for trial in trials)
        self._rows += sum(trial.evaluations for trial in trials) * sample.blocks.n_rows
        if any(trial.status is Status.INTERRUPTED for trial in trials):
            raise KeyboardInterrupt
        return trials
