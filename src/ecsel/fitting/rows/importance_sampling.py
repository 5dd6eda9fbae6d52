"""Importance sampling: one pass over all rows gives the objective at θ and a sample of the rows that matter there.

A row is drawn with the chance

    π_i(θ) = n · w_i · (U + (1 − U) · √e_i(θ) / M),   M = Σ w_i √e_i,   e_i = 1 − p(true class),

so that of n rows a share U is drawn by weight alone and nearly all rows that still shape the fit are there. M is not
known before the pass is over: an expected one is drawn with, and where it was too small the sample is thinned.

Several samples join into one sample: a row that was drawn n times on average under all of them, Σ_θ π_i(θ), weighs
w_i/Σ_θ π_i(θ). So rows that only a bad trial has made wrong are there, with the weight that they have in the table.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ecsel.fitting import kernel
from ecsel.fitting.rows.blocks import ArrayBlocks
from ecsel.fitting.rows.sampling import first_state, row_uniforms

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from ecsel._typing import Array
    from ecsel.fitting.objective.problem import Problem
    from ecsel.fitting.rows.blocks import Block


UNIFORM_SHARE = 0.3
"""U: the share of a sample that is drawn by weight alone."""
_MIN_ROOT = 1e-30
WORTH_THREADS = 40_000
"""Rows of a sample from which on handing its tiles to threads costs less than it brings."""


@dataclass(frozen=True, slots=True)
class ImportanceSample:
    """What a pass over all rows tells of θ: its objective, M, and the rows that were drawn, with their own weights."""

    theta: Array
    objective: float
    mean_root: float
    size: float
    drawn: ArrayBlocks

    def chances(self, root: Array, w: Array) -> Array:
        """Return π of rows with given √e and weights."""
        return _chances(self.size, self.mean_root, root, w)


def _chances(size: float, mean_root: float, root: Array, w: Array) -> Array:
    each, rooted = _shares(size, mean_root)
    chances: Array = np.minimum(w * (each + rooted * root), 1.0)
    return chances


def _shares(size: float, mean_root: float) -> tuple[float, float]:
    """Return n·U and n·(1 − U)/M."""
    return size * UNIFORM_SHARE, size * (1 - UNIFORM_SHARE) / max(mean_root, _MIN_ROOT)


def mean_root(problem: Problem, theta: Array) -> float:
    """Return M = Σ w √e of the rows of a problem."""

    def part(block: Block) -> float:
        return float(block.w @ np.sqrt(problem.sums.loss_and_errors(theta, block)[1]))

    return float(sum(problem.blocks.map(part)))


def _draw(
    block: Block, errors: Array, size: float, seed: int, expected: float
) -> tuple[NDArray[np.integer], Array, float]:
    """Return the rows of a block that are drawn, their numbers, and Σ w √e over all of them."""
    w = block.w
    if kernel.compiled is not None and errors.dtype == w.dtype == np.float32:
        rows, numbers = np.empty(len(errors) + 1, np.intc), np.empty(len(errors) + 1)
        state, shares = first_state(block.first, seed), _shares(size, expected)
        count, total = kernel.compiled.draw(state, errors, w, shares, rows, numbers)
        return rows[:count].astype(np.intp), numbers[:count].copy(), total
    root, numbers = np.sqrt(errors), row_uniforms(block.first, len(errors), seed)
    found = np.flatnonzero(numbers < _chances(size, expected, root, w))
    return found, numbers[found], float(np.dot(w, root))


def draw_sample(problem: Problem, theta: Array, size: float, seed: int, expected: float) -> ImportanceSample:
    """Look at θ on all rows and draw about `size` of them: one pass. `expected` is M as a sample tells it."""

    def part(block: Block) -> tuple[float, float, list[tuple[NDArray[Any], ...]]]:
        loss, errors = problem.sums.loss_and_errors(theta, block)
        rows, numbers, total = _draw(block, errors, size, seed, expected)
        found = (block.at(rows), block.codes[rows], block.w[rows], np.sqrt(errors[rows]), numbers)
        return loss, total, [found]

    parts = problem.blocks.map(part)
    total = sum(p[1] for p in parts)
    found = [piece for p in parts for piece in p[2]]
    v, codes, w, root, numbers = (np.concatenate([piece[i] for piece in found], axis=-1) for i in range(5))
    whole = max(total, expected)
    kept = numbers < _chances(size, whole, root, w)
    drawn = ArrayBlocks(
        np.ascontiguousarray(v[:, kept], dtype=np.float64),
        codes[kept].astype(np.intp),
        w[kept].astype(np.float64),
        n_threads=problem.blocks.n_threads,
    )
    return ImportanceSample(theta, sum(p[0] for p in parts) + problem.penalty_value(theta), whole, size, drawn)


def _roots(problem: Problem, theta: Array) -> Array:
    """Return √e of every row."""
    errors = np.concatenate(problem.blocks.map(lambda block: problem.sums.loss_and_errors(theta, block)[1]))
    return np.asarray(np.sqrt(errors))


def joined(problem: Problem, samples: Sequence[ImportanceSample]) -> Problem:
    """Return the problem on the rows that some samples have drawn."""
    drawn = [each.drawn for each in samples]
    v = np.concatenate([rows.v for rows in drawn], axis=1)
    codes, w = (np.concatenate([getattr(rows, name) for rows in drawn]) for name in ("codes", "w"))
    rows = replace(problem, blocks=ArrayBlocks(v, codes, w, n_threads=problem.blocks.n_threads))
    expected = sum(each.chances(_roots(rows, each.theta), w) for each in samples)
    weights = w / expected
    n_threads = problem.blocks.n_threads if len(w) >= WORTH_THREADS else 1
    return replace(problem, blocks=ArrayBlocks(v, codes, weights / weights.sum(), n_threads=n_threads))
