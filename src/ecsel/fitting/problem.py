"""The problem a solver sees: objective, gradient and curvature of θ as sums over row blocks.

    F(θ) = Σ_i w_i ℓ(y_i, z(x_i; θ)) + Σ_p l1_p |θ_p| + Σ_k charge(shape_k),   lower_p ≤ θ_p ≤ upper_p

θ lists, score by score, the intercept (if any) and for each term its shape and its slopes s. `sums` says what a block
of rows adds. The curvature is Gauss–Newton's JᵀWJ plus the positive part of the residual's own curvature Σ_i r_i ∇²z_i,
which is block diagonal over terms: JᵀWJ alone crawls where residuals are large (as they always are in classification),
the full Hessian is not positive definite.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ecsel.fitting.kernel import CompiledSums
from ecsel.fitting.sums import NumpySums, inner

if TYPE_CHECKING:
    from ecsel.fitting.blocks import Block, RowBlocks
    from ecsel.fitting.forms import TermForm
    from ecsel.fitting.links import Link
    from ecsel.fitting.penalties import Charge, Penalty
    from ecsel.fitting.sums import State, Sums

Array = NDArray[np.floating]


@dataclass(frozen=True, slots=True)
class Point:
    """A parameter vector with its objective, its loss, the shapes' charge, and the states of the blocks."""

    theta: Array
    objective: float
    loss: float
    charge: Charge
    states: tuple[State, ...]


@dataclass(frozen=True)
class Derivatives:
    """Gradient and curvature: Gauss–Newton's matrix, and the residual's own in one block a term.

    Their sum is the exact Hessian (perhaps indefinite); its convex stand-in has the blocks' positive parts.
    """

    gradient: Array
    matrix: Array
    bend: Array
    intercept: bool

    @property
    def diagonal(self) -> Array:
        """The diagonal of Gauss–Newton's matrix."""
        return self.matrix.diagonal()

    @cached_property
    def exact(self) -> Array:
        """The Hessian."""
        return self._with(self.bend)

    @cached_property
    def convex(self) -> Array:
        """The nearest positive semidefinite curvature above the exact one that keeps Gauss–Newton's matrix."""
        values, vectors = np.linalg.eigh(self.bend)
        return self._with(np.matmul(vectors * np.maximum(values, 0)[:, :, None, :], np.swapaxes(vectors, 2, 3)))

    def _with(self, blocks: Array) -> Array:
        out = self.matrix.copy()
        scores, terms, width, _ = blocks.shape
        for c in range(scores):
            for k in range(terms):
                a = c * (len(out) // scores) + int(self.intercept) + k * width
                out[a : a + width, a : a + width] += blocks[c, k]
        return out


@dataclass(frozen=True)
class Problem:
    """One fit: rows, link, penalty, number of terms and whether scores have an intercept."""

    blocks: RowBlocks
    link: Link
    penalty: Penalty
    n_terms: int
    intercept: bool
    spread: Array

    @cached_property
    def form(self) -> TermForm:
        """The coordinates of a term."""
        return self.penalty.form(intercept=self.intercept)

    @cached_property
    def sums(self) -> Sums:
        """What a block of rows adds: compiled where that is possible."""
        return CompiledSums.of(self) or NumpySums(self)

    @cached_property
    def per_score(self) -> int:
        """Parameters of one score."""
        return int(self.intercept) + self.n_terms * (1 + self.blocks.n_features)

    @property
    def size(self) -> int:
        """Number of parameters."""
        return self.link.n_scores * self.per_score

    def pack(self, intercepts: Array, shapes: Array, slopes: Array) -> Array:
        """Lay out intercepts (scores,), shapes (scores, terms) and slopes (scores, terms, features) as one vector."""
        terms = np.concatenate([shapes[..., None], slopes], axis=2).reshape(self.link.n_scores, -1)
        return (np.concatenate([intercepts[:, None], terms], axis=1) if self.intercept else terms).ravel()

    def unpack(self, theta: Array) -> tuple[Array, Array, Array]:
        """Return views of the intercepts, shapes and slopes in `theta`."""
        rows = theta.reshape(self.link.n_scores, self.per_score)
        terms = rows[:, int(self.intercept) :].reshape(self.link.n_scores, self.n_terms, 1 + self.blocks.n_features)
        intercepts = rows[:, 0] if self.intercept else np.zeros(self.link.n_scores, theta.dtype)
        return intercepts, terms[:, :, 0], terms[:, :, 1:]

    @cached_property
    def l1(self) -> Array:
        """ℓ1 weight of each parameter."""
        weights = np.zeros(self.size)
        self.unpack(weights)[2][...] = self.penalty.slope_weights(self.spread)
        return weights

    @cached_property
    def lower(self) -> Array:
        """Least value of each parameter."""
        return self._bounds(-1)

    @cached_property
    def upper(self) -> Array:
        """Largest value of each parameter."""
        return self._bounds(+1)

    def _bounds(self, side: int) -> Array:
        """The bounds on one side: those of the shapes, and zero for slopes that must have the other sign."""
        bounds = np.full(self.size, side * np.inf)
        _, shapes, slopes = self.unpack(bounds)
        shapes[...] = side * self.penalty.shape_bound()
        signs = self.penalty.slope_signs()
        if signs is not None:
            slopes[np.broadcast_to(signs[:, None, :] == -side, slopes.shape)] = 0.0
        return bounds

    def penalty_value(self, theta: Array) -> float:
        """Return Σ l1 |θ| + Σ charge(shape)."""
        return self._penalty(theta, self._shape_charge(theta))

    def _penalty(self, theta: Array, charge: Charge) -> float:
        return float(self.l1 @ np.abs(theta)) + float(charge[0].sum())

    def objective(self, theta: Array) -> float:
        """Return F(θ) alone: one forward pass that keeps nothing."""
        local = theta.astype(self.blocks.dtype)
        intercepts, shapes, slopes = self.unpack(local)

        def part(block: Block) -> float:
            z = intercepts[:, None] + self.form.values(shapes[..., None], inner(slopes, block)).sum(axis=1)
            return self.link.loss(z, self.link.encode(block.codes, block.v.dtype), block.w)

        return sum(self.blocks.map(part)) + self.penalty_value(theta)

    def evaluate(self, theta: Array) -> Point:
        """Return F(θ) with the states from which `derivatives` needs no further exponential."""
        local = theta.astype(self.blocks.dtype, copy=False)
        parts = self.blocks.map(lambda block: self.sums.forward(local, block))
        loss = sum(p[0] for p in parts)
        charge = self._shape_charge(theta)
        objective = loss + self._penalty(theta, charge)
        return Point(theta, objective, loss, charge, tuple(p[1] for p in parts))

    def value_and_gradient(self, theta: Array) -> tuple[float, Array]:
        """Return F(θ) and the gradient of its smooth part in one pass that keeps nothing."""
        local = theta.astype(self.blocks.dtype, copy=False)

        def part(block: Block) -> tuple[float, Array]:
            loss, state = self.sums.forward(local, block)
            return loss, self.sums.gradient(state)

        parts = self.blocks.map(part)
        gradient, charge = _total([p[1] for p in parts]), self._shape_charge(theta)
        gradient[self._shape_places] += charge[1]
        return sum(p[0] for p in parts) + self._penalty(theta, charge), gradient

    def gradient(self, point: Point) -> Array:
        """Return the gradient of the smooth part at a point whose states are kept."""
        gradient = _total(self.blocks.each(self.sums.gradient, point.states))
        gradient[self._shape_places] += point.charge[1]
        return gradient

    def derivatives(self, point: Point) -> Derivatives:
        """Return the gradient of the smooth part and its curvature, exact and convex."""
        parts = self.blocks.each(self.sums.derivatives, point.states)
        gradient, matrix, bend = (_total([part[i] for part in parts]) for i in range(3))
        gradient[self._shape_places] += point.charge[1]
        bend[:, :, 0, 0] += point.charge[2].reshape(bend.shape[:2])
        return Derivatives(gradient, matrix, bend, self.intercept)

    def kkt_residual(self, theta: Array, gradient: Array) -> float:
        """Return the largest minimal subgradient: the distance of −∇f to the penalty's subdifferential, by coordinates.

        At a bound, a gradient that pushes outwards is optimal and counts as zero.
        """
        shrunk = gradient - np.clip(gradient, -self.l1, self.l1)
        slope = np.where(theta != 0, gradient + self.l1 * np.sign(theta), shrunk)
        near = 1e-9 * np.abs(theta)  # a power law written out and read back is off by rounding
        slope[(theta - near <= self.lower) & (slope > 0) | (theta + near >= self.upper) & (slope < 0)] = 0
        return float(np.abs(slope).max(initial=0.0))

    def all_alive(self, theta: Array) -> bool:
        """Whether every term has a slope."""
        return bool((self.unpack(theta)[2] != 0).any(axis=2).all())

    def empty(self, class_shares: Array) -> Array:
        """Return θ of the intercept-only model (all slopes and shapes zero)."""
        scores, terms, m = self.link.n_scores, self.n_terms, self.blocks.n_features
        start = self.link.empty_scores(class_shares) if self.intercept else np.zeros(scores)
        return self.pack(start, np.zeros((scores, terms)), np.zeros((scores, terms, m)))

    @cached_property
    def _shape_places(self) -> NDArray[np.intp]:
        marked = np.zeros(self.size)
        self.unpack(marked)[1][...] = 1
        return np.flatnonzero(marked)

    def _shape_charge(self, theta: Array) -> Charge:
        """The penalty's charge of every shape with its derivatives, score by score and term by term."""
        return self.penalty.shape_charge(theta[self._shape_places], intercept=self.intercept)


def _total(parts: list[Array]) -> Array:
    """Add up in double precision, in the order of the blocks."""
    total = parts[0].astype(np.float64, copy=False)
    for part in parts[1:]:
        total += part
    return total
