"""Samples that stand for all rows: draws by chance, a balanced pilot, and steps with a sample's curvature.

A row is drawn where its own random number (a hash of its position and a seed) is below its chance, and weighs the more
the smaller the chance was. So the same rows are drawn wherever the rows are kept and however they are cut into blocks.

*Pilot*: about equally many rows of each class (as far as there are), each weighted back to its class's share.

*Sampled curvature*: objective and gradient over all rows, curvature from a sample. One pass a step, exact optimum.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, cast

import numpy as np

from ecsel.fitting import kernel
from ecsel.fitting.objective.problem import Point, Problem
from ecsel.fitting.rows.blocks import ArrayBlocks

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from ecsel._typing import Array
    from ecsel.fitting.objective.derivatives import Derivatives
    from ecsel.fitting.rows.blocks import Block, RowBlocks


def row_uniforms(first: int, count: int, seed: int) -> NDArray[np.float64]:
    """Return one number in [0, 1) for each of `count` rows from position `first` on (SplitMix64 of position and seed).

    Examples
    --------
    >>> bool((row_uniforms(0, 10, seed=1)[4:] == row_uniforms(4, 6, seed=1)).all())
    True
    """
    start = first_state(first, seed)
    if kernel.compiled is not None:
        numbers = np.empty(count)
        kernel.compiled.uniforms(start, numbers)
        return numbers
    with np.errstate(over="ignore"):
        x = (np.arange(count, dtype=np.uint64) + np.uint64(start)) * np.uint64(0x9E3779B97F4A7C15)
        x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        x ^= x >> np.uint64(31)
    return np.asarray((x >> np.uint64(11)) * 2.0**-53, dtype=np.float64)


def first_state(first: int, seed: int) -> int:
    """Return the state of the generator at a row."""
    return (first + (seed + 1) * 0x632BE59BD9B4E019) % 2**64


def gather(blocks: RowBlocks, chance: Callable[[Block], Array], seed: int) -> ArrayBlocks:
    """Return the drawn rows in memory, in double precision, each weighted by the inverse of its chance."""

    def drawn(block: Block) -> list[tuple[Array, NDArray[np.integer], Array]]:
        chances = chance(block)
        rows = np.flatnonzero(row_uniforms(block.first, len(chances), seed) < chances)
        return [(block.at(rows), block.codes[rows], block.w[rows] / chances[rows].astype(np.float64))]

    parts = [part for found in blocks.map(drawn) for part in found]
    v, codes, w = (np.concatenate([part[i] for part in parts], axis=-1) for i in range(3))
    return ArrayBlocks(v.astype(np.float64), codes.astype(np.intp), w / w.sum(), n_threads=blocks.n_threads)


def class_counts(blocks: RowBlocks, n_classes: int) -> NDArray[np.intp]:
    """Return the number of rows of positive weight in each class."""
    parts = blocks.map(lambda block: np.bincount(block.codes[block.w > 0], minlength=n_classes))
    return np.asarray(np.sum(parts, axis=0), dtype=np.intp)


def pilot(problem: Problem, counts: NDArray[np.intp], size: int, seed: int) -> Problem:
    """Return the problem on a class-balanced sample of about `size` rows; `counts` are those of the classes."""
    chances = np.minimum(max(size // len(counts), 1) / np.maximum(counts, 1), 1.0)
    blocks = gather(problem.blocks, lambda block: np.where(block.w > 0, chances[block.codes], 0.0), seed)
    return replace(problem, blocks=blocks)


@dataclass(frozen=True, slots=True)
class _FullPoint(Point):
    """A point with the gradient over all rows."""

    gradient: Array


@dataclass(frozen=True)
class SampledCurvature(Problem):
    """The problem on all rows, with the curvature of a sample: what `newton.minimise` polishes a large fit with."""

    sample: Problem

    @classmethod
    def of(cls, problem: Problem, sample: Problem) -> SampledCurvature:
        """Join a problem and its sample."""
        return cls(
            problem.blocks, problem.loss, problem.penalty, problem.n_terms, problem.intercept, problem.std, sample
        )

    @cached_property
    def whole(self) -> Problem:
        """The problem alone: what travels to rows that are kept elsewhere."""
        return Problem(self.blocks, self.loss, self.penalty, self.n_terms, self.intercept, self.std)

    def evaluate(self, theta: Array) -> Point:
        """Return objective and gradient over all rows: one pass."""
        objective, gradient = self.whole.value_and_gradient(theta)
        penalty_parts = self._penalty_parts(theta)
        return _FullPoint(
            theta, objective, objective - self._penalty(theta, penalty_parts), penalty_parts, (), gradient
        )

    def gradient(self, point: Point) -> Array:
        """Return the gradient that the pass has left."""
        return cast("_FullPoint", point).gradient

    def derivatives(self, point: Point) -> Derivatives:
        """Return the exact gradient with the sample's curvature."""
        return replace(self.sample.derivatives(self.sample.evaluate(point.theta)), gradient=self.gradient(point))
