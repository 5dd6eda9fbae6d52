"""The paper's trainer: mini-batch Adam, gradient clipping, early stopping on an inner validation split, restarts.

Appendix "Training and Validation Protocol": Adam, `max_norm` = 1, an internal 20 % of the training rows for early
stopping with patience, the best epoch's parameters kept. The gradient is the closed form of `problem`; the ℓ1 term adds
λ·sign(β), as automatic differentiation would. Epochs run compiled where they can (`csrc/adam.c`): a batch is so small
that NumPy's overhead is nearly all of it.

The paper does not say where it starts. Here the terms of a score begin with α = 1, −1, 1, … (in the angle form with
angles of those signs) and slopes ~ N(0, 0.1²). With signs drawn at random a class's only term often has the wrong one
and keeps it.
"""

from __future__ import annotations

import numbers
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ecsel._typing import Array
from ecsel.fitting.kernel import CompiledSums
from ecsel.fitting.report import Status
from ecsel.fitting.rows.blocks import ArrayBlock
from ecsel.fitting.solvers.base import Need, Outcome, Solver, Watch

if TYPE_CHECKING:
    from ecsel.fitting.objective.problem import Problem
    from ecsel.fitting.rows.blocks import ArrayBlocks


SOLVER = Solver("adam", frozenset({Need.EXPONENT_BOUNDS}))
"""It draws batches of rows, which must be in memory, and starts as the paper does."""


@dataclass(frozen=True, slots=True)
class Adam:
    """Options of the paper's trainer; hand an instance to `solver` to change them.

    Examples
    --------
    >>> from ecsel import ECSELClassifier
    >>> from ecsel.fitting import Adam
    >>> ECSELClassifier(n_terms=1, l1=1e-3, penalty="paper", fit_intercept=False, solver=Adam(epochs=50))
    ECSELClassifier(...)
    """

    learning_rate: float = 1e-2
    batch_size: int = 64
    epochs: int = 900
    patience: int = 50
    validation_fraction: float = 0.2
    clip_norm: float = 1.0
    restarts: int = 3
    betas: tuple[float, float] = (0.9, 0.999)

    def __post_init__(self) -> None:
        for name in ("batch_size", "epochs", "patience", "restarts"):
            value = getattr(self, name)
            if not isinstance(value, numbers.Integral) or value <= 0:
                raise ValueError(f"Adam: {name} must be a positive whole number, got {value!r}.")
        for name in ("learning_rate", "clip_norm"):
            if not 0 < getattr(self, name) < np.inf:
                raise ValueError(f"Adam: {name} must be positive and finite, got {getattr(self, name)!r}.")
        if not 0 <= self.validation_fraction < 1:
            raise ValueError(f"Adam: validation_fraction must be in [0, 1), got {self.validation_fraction!r}.")
        if len(self.betas) != 2 or not all(0 <= beta < 1 for beta in self.betas):
            raise ValueError(f"Adam: betas must be two numbers in [0, 1), got {self.betas!r}.")


@dataclass
class _Moments:
    first: Array
    second: Array
    steps: int = 0

    def direction(self, gradient: Array, betas: tuple[float, float]) -> Array:
        """Return m̂/(√v̂ + ε) and keep the running moments."""
        self.steps += 1
        self.first = betas[0] * self.first + (1 - betas[0]) * gradient
        self.second = betas[1] * self.second + (1 - betas[1]) * gradient**2
        m = self.first / (1 - betas[0] ** self.steps)
        v = self.second / (1 - betas[1] ** self.steps)
        return np.asarray(m / (np.sqrt(v) + 1e-8))


Epoch = Callable[[Array, NDArray[np.int64], _Moments], Array]


def minimise_adam(
    problem: Problem, blocks: ArrayBlocks, options: Adam, rng: np.random.Generator, watch: Watch | None = None
) -> tuple[Outcome, list[float]]:
    """Return the best of the restarts by validation loss, and the objectives of all of them, best first."""
    training, validation = _split(problem, blocks, options, rng)
    runs: list[tuple[float, Outcome]] = []
    for _ in range(options.restarts):
        runs.append(_run(problem, training, validation, _start(problem, rng), options, rng, watch))
        if runs[-1][1].status is Status.INTERRUPTED:
            break
    best = min(runs, key=lambda r: r[0])[1]
    if runs[-1][1].status is Status.INTERRUPTED:
        best = replace(best, status=Status.INTERRUPTED)
    return best, sorted(r[1].objective for r in runs)


def _start(problem: Problem, rng: np.random.Generator) -> Array:
    """Return terms of alternating sign with small random slopes."""
    scores, terms = problem.loss.n_scores, problem.n_terms
    signs = np.tile(np.where(np.arange(terms) % 2 == 0, 1.0, -1.0), (scores, 1))
    shapes = problem.form.seed(signs) if problem.form.has_intercept else signs
    return problem.pack(np.zeros(scores), shapes, rng.normal(0, 0.1, (scores, terms, problem.blocks.n_features)))


def _run(
    problem: Problem,
    training: ArrayBlocks,
    validation: Problem,
    theta: Array,
    options: Adam,
    rng: np.random.Generator,
    watch: Watch | None,
) -> tuple[float, Outcome]:
    moments = _Moments(np.zeros_like(theta), np.zeros_like(theta))
    epoch_of = _compiled_epoch(problem, training, options) or partial(_epoch, problem, training, options)
    best = (np.inf, theta)
    waited, epoch, status = 0, 0, Status.MAX_ITER
    try:
        for epoch in range(1, options.epochs + 1):
            theta = epoch_of(theta, rng.permutation(training.n_rows), moments)
            loss = validation.objective(theta) - validation.penalty_value(theta)
            if watch is not None:
                watch(epoch, loss, np.nan)
            if loss < best[0] - 1e-6:
                best, waited = (loss, theta), 0
            else:
                waited += 1
                if waited >= options.patience:
                    status = Status.EARLY
                    break
    except KeyboardInterrupt:
        status = Status.INTERRUPTED
    value, gradient = problem.value_and_gradient(best[1])
    loss = value - problem.penalty_value(best[1])
    residual = problem.kkt_residual(best[1], gradient)
    return best[0], Outcome(best[1], value, loss, residual, status, epoch, epoch)


def _epoch(
    problem: Problem, training: ArrayBlocks, options: Adam, theta: Array, order: NDArray[np.int64], moments: _Moments
) -> Array:
    """Take the rows batch by batch, in the given order; return θ and keep the moments."""
    for a in range(0, training.n_rows, options.batch_size):
        rows = order[a : a + options.batch_size]
        batch = replace(problem, blocks=training.take(rows, training.w[rows]))
        theta = _batch_step(batch, theta, moments, options)
    return theta


def _compiled_epoch(problem: Problem, training: ArrayBlocks, options: Adam) -> Epoch | None:
    """Return the compiled twin of `_epoch`, None where the problem is one that it does not know."""
    sums = problem.sums
    if not isinstance(sums, CompiledSums) or not sums.penalty_is_compiled:
        return None
    block = ArrayBlock(training.v, training.codes, training.w, 0)
    pace = (options.batch_size, options.learning_rate, options.clip_norm, *options.betas)

    def epoch(theta: Array, order: NDArray[np.int64], moments: _Moments) -> Array:
        moved = np.array(theta, dtype=np.float64)
        moments.steps = sums.adam_epoch(moved, block, pace, order, (moments.first, moments.second), moments.steps)
        return moved

    return epoch


def _batch_step(batch: Problem, theta: Array, moments: _Moments, options: Adam) -> Array:
    """One step of Adam along the clipped gradient, kept within the bounds."""
    gradient = batch.value_and_gradient(theta)[1] + batch.weights(theta) * np.sign(theta)
    norm = float(np.linalg.norm(gradient))
    if norm > options.clip_norm:
        gradient = gradient * (options.clip_norm / norm)
    moved = theta - options.learning_rate * moments.direction(gradient, options.betas)
    return batch.within(moved)


def _split(
    problem: Problem, blocks: ArrayBlocks, options: Adam, rng: np.random.Generator
) -> tuple[ArrayBlocks, Problem]:
    """Cut off the validation rows, class by class; where that leaves none, all rows serve for both."""
    held_out = np.zeros(blocks.n_rows, dtype=bool)
    for c in range(problem.loss.n_classes):
        members = rng.permutation(np.flatnonzero(blocks.codes == c))
        held_out[members[: round(options.validation_fraction * len(members))]] = True
    if not held_out.any() or blocks.w[held_out].sum() <= 0:
        return blocks, problem
    training, validation = (
        blocks.take(rows, blocks.w[rows]) for rows in (np.flatnonzero(~held_out), np.flatnonzero(held_out))
    )
    return training, replace(problem, blocks=validation)
