"""Where to start: one term at a time, each new term placed where the residual is curved.

A sum of terms has many local minima, and random starts find poor ones. The first term starts at the log-linear limit
(logistic regression in the logs). The next is seeded along a direction d: to second order a small term adds
⟨s, v⟩ ± ⟨s, v⟩²/2 to the score, so the directions that lower the loss fastest are the extreme eigenvectors of
Σ_i r_i v_i v_iᵀ, with r the residual. Each seed gets a few iterations, the best is carried on.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ecsel.fitting.report import Status
from ecsel.fitting.rows.blocks import TILE_ROWS, on_pool_thread, thread_pool
from ecsel.fitting.solvers.base import Outcome, Stop, Watch
from ecsel.fitting.solvers.newton import minimise

if TYPE_CHECKING:
    from collections.abc import Sequence
    from concurrent.futures import Future

    from ecsel._typing import Array
    from ecsel.fitting.objective.problem import Problem


SEED_SIZE, MIN_SIZE = 0.05, 0.03
FIRST_CURVATURES = (0.0, 1.0, -1.0)


WORTH_THREADS = 4
"""Starts from which on it pays to hand them to threads: waking one takes as long as some iterations."""
SEED_ITERATIONS, STAGE_ITERATIONS = 4, 8
"""Iterations per seed, and per number of terms before the last."""


def grow(problem: Problem, class_shares: Array, stop: Stop, watch: Watch | None = None) -> tuple[Outcome, list[float]]:
    """Return the outcome with all terms and the objectives that its last round of seeds reached, best first."""
    first = replace(problem, n_terms=1)
    stage = Stop(1e-4, np.inf, STAGE_ITERATIONS) if problem.n_terms > 1 else stop
    short = Stop(1e-3, np.inf, SEED_ITERATIONS)
    starts = first_starts(first, class_shares)
    trial = Stop(1e-4, np.inf, min(STAGE_ITERATIONS, stop.max_iter))
    outcome, reached = best_start(first, starts, trial, stage, watch)
    for terms in range(2, problem.n_terms + 1):
        if outcome.status is Status.INTERRUPTED:
            return pad_terms(outcome, problem, terms - 1), reached
        wider = replace(problem, n_terms=terms)
        starts = seeds(outcome.theta, wider)
        final = stop if terms == problem.n_terms else stage
        found, reached = best_start(wider, starts, short, final, watch)
        outcome = with_work_of(found, [outcome])
    return outcome, reached


def best_start(
    problem: Problem, starts: Sequence[Array], short: Stop, stop: Stop, watch: Watch | None
) -> tuple[Outcome, list[float]]:
    """Give each start a few iterations and carry the best on; an interrupt ends the trials."""
    if len(starts) == 1:
        outcome = minimise(problem, starts[0], stop, watch)
        return outcome, [outcome.objective]
    trials = sorted(run_all(problem, starts, short, watch), key=lambda run: run.objective)
    reached = [run.objective for run in trials]
    if interrupted(trials):
        return replace(with_work_of(trials[0], trials[1:]), status=Status.INTERRUPTED), reached
    return with_work_of(minimise(problem, trials[0].theta, stop, watch), trials), reached


def run_all(problem: Problem, starts: Sequence[Array], stop: Stop, watch: Watch | None = None) -> list[Outcome]:
    """Minimise from every start; an interrupt ends it, and what was reached by then is returned.

    On rows of one tile many starts are spread over the threads; what they find does not depend on it.
    """
    threads, tiles = problem.blocks.n_threads, problem.blocks.n_rows > TILE_ROWS
    if watch is not None or threads == 1 or tiles or len(starts) < WORTH_THREADS or on_pool_thread():
        runs: list[Outcome] = []
        for start in starts:
            runs.append(minimise(problem, start, stop, watch))
            if interrupted(runs):
                break
        return runs
    waiting: list[Future[Outcome]] = []
    try:
        waiting += (thread_pool(threads).submit(minimise, problem, start, stop) for start in starts)
        return [run.result() for run in waiting]
    except KeyboardInterrupt:
        for run in waiting:
            run.cancel()  # those that have begun are few, and short
        runs = [run.result() for run in waiting if not run.cancelled()]
        runs = runs or [minimise(problem, starts[0], replace(stop, max_iter=0))]
        return [*runs[:-1], replace(runs[-1], status=Status.INTERRUPTED)]


def interrupted(runs: Sequence[Outcome]) -> bool:
    """Whether somebody stopped one of the runs."""
    return any(run.status is Status.INTERRUPTED for run in runs)


def with_work_of(outcome: Outcome, spent: Sequence[Outcome]) -> Outcome:
    """Return the outcome with the work of the runs that led to it."""
    return replace(
        outcome,
        iterations=outcome.iterations + sum(run.iterations for run in spent),
        evaluations=outcome.evaluations + sum(run.evaluations for run in spent),
    )


def first_starts(problem: Problem, class_shares: Array) -> Sequence[Array]:
    """Return starts of a single term: the empty model, straight and curved either way, or seeds in the power form.

    In the power form a term without slopes is a constant, and a fit from there may fade to α = 0, which is stationary.
    """
    if not problem.form.has_intercept:
        return seeds(replace(problem, n_terms=0).empty(class_shares), problem)
    starts = []
    for curvature in FIRST_CURVATURES:
        theta = problem.empty(class_shares)
        problem.unpack(theta)[1][...] = curvature
        starts.append(theta)
    return starts


def seeds(theta: Array, wider: Problem) -> Sequence[Array]:
    """Return starts for one more term, along the extreme eigenvectors of the residual's curvature."""
    narrow = replace(wider, n_terms=wider.n_terms - 1)
    scores, m = wider.loss.n_scores, wider.blocks.n_features
    linear, quadratic = _residual_moments(narrow, theta)
    _, vectors = np.linalg.eigh(quadratic)
    picks = [(vectors[:, :, 0], 1.0), (vectors[:, :, -1], -1.0)] if m else [(np.zeros((scores, 0)), 1.0)]
    out = []
    for directions, curvature in picks:
        towards = -np.sign((linear * directions).sum(axis=1, keepdims=True))
        out.append((directions * np.where(towards == 0, 1.0, towards), np.full(scores, curvature)))
    intercepts, shapes, slopes = narrow.unpack(theta)
    return [
        wider.pack(
            intercepts,
            np.concatenate([shapes, wider.form.seed(curvature)[:, None]], axis=1),
            np.concatenate([slopes, SEED_SIZE * direction[:, None, :]], axis=1),
        )
        for direction, curvature in out
    ]


def scattered(problem: Problem, class_shares: Array, rng: np.random.Generator) -> Array:
    """Return a start with random curvatures and slopes N(0, σ²), σ itself drawn log-uniformly up to 1."""
    size = np.exp(rng.uniform(np.log(MIN_SIZE), 0.0))
    intercepts, shapes, slopes = problem.unpack(problem.empty(class_shares))
    return problem.pack(
        intercepts, problem.form.seed(rng.uniform(-2, 2, shapes.shape)), rng.normal(0, size, slopes.shape)
    )


def _residual_moments(problem: Problem, theta: Array) -> tuple[Array, Array]:
    """Σ r v and Σ r v vᵀ per score."""
    point = problem.evaluate(theta)
    m, scores = problem.blocks.n_features, problem.loss.n_scores
    linear, quadratic = np.zeros((scores, m)), np.zeros((scores, m, m))
    for state in point.states:
        v, r = state.block.v, state.residual
        linear += r @ v.T
        quadratic += np.matmul(r[:, None, :] * v, v.T)
    return linear, quadratic


def pad_terms(outcome: Outcome, problem: Problem, n_terms: int) -> Outcome:
    """Pad an outcome with fewer terms by empty ones, so that an interrupted growth is still a model of the problem."""
    narrow = replace(problem, n_terms=n_terms)
    intercepts, shapes, slopes = narrow.unpack(outcome.theta)
    scores, missing = problem.loss.n_scores, problem.n_terms - n_terms
    theta = problem.pack(
        intercepts,
        np.concatenate([shapes, np.zeros((scores, missing))], axis=1),
        np.concatenate([slopes, np.zeros((scores, missing, problem.blocks.n_features))], axis=1),
    )
    return replace(outcome, theta=theta)
