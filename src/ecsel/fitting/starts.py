"""Where to start: one term at a time, each new term placed where the residual bends.

A sum of terms has many local minima, and random starts find poor ones. The first term starts at the log-linear limit
(logistic regression in the logs). The next is seeded along a direction d: to second order a small term adds
⟨s, v⟩ ± ⟨s, v⟩²/2 to the score, so the directions that lower the loss fastest are the extreme eigenvectors of
Σ_i r_i v_i v_iᵀ, with r the residual; random directions are tried beside them. Each seed gets a few iterations, the
best is carried on.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ecsel.fitting.newton import Outcome, Stop, Watch, minimise
from ecsel.fitting.problem import Problem
from ecsel.fitting.report import Status

Array = NDArray[np.float64]

SEED_SIZE = 0.15


@dataclass(frozen=True, slots=True)
class Effort:
    """How much to try: random seeds beside the two eigenvectors, iterations per seed, and per stage before the last."""

    random_seeds: int = 1
    seed_iterations: int = 8
    stage_iterations: int = 15


def grow(
    problem: Problem,
    class_shares: Array,
    rng: np.random.Generator,
    effort: Effort,
    stop: Stop,
    watch: Watch | None = None,
) -> tuple[Outcome, list[float]]:
    """Return the outcome with all terms and the objectives that its last round of seeds reached, best first."""
    first = replace(problem, n_terms=1)
    theta = first.empty(class_shares)
    shapes = first.unpack(theta)[1]
    shapes[...] = 0.1 if problem.form.has_intercept else first.form.seed(np.ones(1))
    stage = replace(stop, max_iter=min(stop.max_iter, effort.stage_iterations)) if problem.n_terms > 1 else stop
    outcome = minimise(first, theta, stage, watch)
    reached = [outcome.objective]
    for terms in range(2, problem.n_terms + 1):
        if outcome.status is Status.INTERRUPTED:
            return pad_terms(outcome, problem, terms - 1), reached
        wider = replace(problem, n_terms=terms)
        short = Stop(1e-4, stop.kkt, effort.seed_iterations)
        trials = [
            minimise(wider, theta, short, watch) for theta in seeds(outcome.theta, wider, rng, effort.random_seeds)
        ]
        trials.sort(key=lambda t: t.objective)
        reached = [t.objective for t in trials]
        last = terms == problem.n_terms
        spent = [outcome, *trials]
        outcome = minimise(wider, trials[0].theta, stop if last else stage, watch)
        outcome = replace(
            outcome,
            iterations=outcome.iterations + sum(run.iterations for run in spent),
            evaluations=outcome.evaluations + sum(run.evaluations for run in spent),
        )
    return outcome, reached


def seeds(theta: Array, wider: Problem, rng: np.random.Generator, n_random: int) -> Sequence[Array]:
    """Return starts for one more term: along the extreme eigenvectors of the residual's curvature, and at random."""
    narrow = replace(wider, n_terms=wider.n_terms - 1)
    scores, m = wider.link.n_scores, wider.blocks.n_features
    linear, quadratic = _residual_moments(narrow, theta)
    _, vectors = np.linalg.eigh(quadratic)
    picks = [(vectors[:, :, 0], 1.0), (vectors[:, :, -1], -1.0)] if m else []
    out = []
    for directions, bend in picks:
        towards = -np.sign((linear * directions).sum(axis=1, keepdims=True))
        out.append((directions * np.where(towards == 0, 1.0, towards), np.full(scores, bend)))
    for _ in range(n_random):
        out.append((rng.normal(size=(scores, m)) / np.sqrt(max(m, 1)), rng.choice([-1.0, 1.0], scores)))
    intercepts, shapes, slopes = narrow.unpack(theta)
    return [
        wider.pack(
            intercepts,
            np.concatenate([shapes, wider.form.seed(bend)[:, None]], axis=1),
            np.concatenate([slopes, SEED_SIZE * direction[:, None, :]], axis=1),
        )
        for direction, bend in out
    ]


def _residual_moments(problem: Problem, theta: Array) -> tuple[Array, Array]:
    """Σ r v and Σ r v vᵀ per score."""
    point = problem.evaluate(theta)
    m, scores = problem.blocks.n_features, problem.link.n_scores
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
    scores, missing = problem.link.n_scores, problem.n_terms - n_terms
    theta = problem.pack(
        intercepts,
        np.concatenate([shapes, np.zeros((scores, missing))], axis=1),
        np.concatenate([slopes, np.zeros((scores, missing, problem.blocks.n_features))], axis=1),
    )
    return replace(outcome, theta=theta)
