"""Samples that stand for all rows: a balanced pilot, an importance sample, and steps with the sample's curvature.

*Pilot*: equally many rows of each class (as far as there are), each weighted back to its class's share.

*Importance sample*: rows drawn with probability ∝ 0.9·√(error probability) + 0.1, weighted by its inverse, so that the
rows that still shape the fit are nearly all there; where a weight would explode the row is taken for sure.

*Sampled curvature*: objective and gradient over all rows, curvature from a sample. One pass a step, exact optimum.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, cast

import numpy as np
from numpy.typing import NDArray

from ecsel.fitting.problem import Point, Problem

if TYPE_CHECKING:
    from ecsel.fitting.blocks import Block
    from ecsel.fitting.derivatives import Derivatives

Array = NDArray[np.floating]


def pilot(problem: Problem, codes: NDArray[np.integer], w: Array, size: int, rng: np.random.Generator) -> Problem:
    """Return the problem on a class-balanced sample of about `size` rows."""
    classes = problem.link.n_classes
    chosen, weights = [], []
    for c in range(classes):
        members = np.flatnonzero((codes == c) & (w > 0))
        quota = min(len(members), max(size // classes, 1))
        rows = members if quota == len(members) else np.sort(rng.choice(members, quota, replace=False))
        chosen.append(rows)
        weights.append(w[rows].astype(np.float64) * (len(members) / max(quota, 1)))
    rows = np.concatenate(chosen)
    return replace(problem, blocks=problem.blocks.take(rows, np.concatenate(weights)))


def importance(problem: Problem, theta: Array, w: Array, size: int, rng: np.random.Generator) -> Problem:
    """Return the problem on an importance sample of about `size` rows, drawn by the error probabilities at `theta`."""
    error = error_probabilities(problem, theta)
    wish = (0.9 * np.sqrt(error) + 0.1) * np.sqrt(w / w.mean())
    chance = np.minimum(wish * (size / wish.sum(dtype=np.float64)), 1)
    rows = np.flatnonzero(rng.random(len(chance)) < chance)
    return replace(problem, blocks=problem.blocks.take(rows, w[rows].astype(np.float64) / chance[rows]))


def error_probabilities(problem: Problem, theta: Array) -> Array:
    """Return 1 − p(true class) of every row."""
    intercepts, shapes, slopes = problem.unpack(theta.astype(problem.blocks.dtype))
    scores, terms, m = slopes.shape

    def part(block: Block) -> Array:
        t = (slopes.reshape(scores * terms, m) @ block.v).reshape(scores, terms, -1)
        z = intercepts[:, None] + problem.form.values(shapes[..., None], t).sum(axis=1)
        target = problem.link.encode(block.codes, block.v.dtype)
        probabilities = problem.link.loss_and_residual(z, target, block.w)[2]
        return np.asarray(probabilities[0] if scores == 1 else 1 - (probabilities * target).sum(axis=0))

    return np.concatenate(problem.blocks.map(part))


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
            problem.blocks, problem.link, problem.penalty, problem.n_terms, problem.intercept, problem.spread, sample
        )

    def evaluate(self, theta: Array) -> Point:
        """Return objective and gradient over all rows: one pass."""
        objective, gradient = self.value_and_gradient(theta)
        charges = self._charges(theta)
        return _FullPoint(theta, objective, objective - self._penalty(theta, charges), charges, (), gradient)

    def gradient(self, point: Point) -> Array:
        """Return the gradient that the pass has left."""
        return cast("_FullPoint", point).gradient

    def derivatives(self, point: Point) -> Derivatives:
        """Return the exact gradient with the sample's curvature."""
        return replace(self.sample.derivatives(self.sample.evaluate(point.theta)), gradient=self.gradient(point))
