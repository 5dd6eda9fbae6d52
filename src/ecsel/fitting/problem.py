"""The problem a solver sees: objective, gradient and curvature of θ as sums over row blocks.

    F(θ) = Σ_i w_i ℓ(y_i, z(x_i; θ)) + Σ_p l1_p |θ_p| + Σ_k charge(shape_k),   lower_p ≤ θ_p ≤ upper_p

θ lists, score by score, the intercept (if any) and for each term its shape and its slopes s. The Jacobian of a score is
∂z/∂b = 1, ∂z/∂shape_k and ∂z/∂s_kj = (∂z_k/∂t) v_j. The curvature is Gauss–Newton's JᵀWJ plus the positive part of
the residual's own curvature Σ_i r_i ∇²z_i, which is block diagonal over terms: JᵀWJ alone crawls where residuals are
large (as they always are in classification), the full Hessian is not positive definite.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from ecsel.fitting.blocks import Block, RowBlocks
    from ecsel.fitting.forms import Expansion, TermForm
    from ecsel.fitting.links import Link
    from ecsel.fitting.penalties import Charge, Penalty

Array = NDArray[np.floating]


@dataclass(frozen=True, slots=True)
class _State:
    """What the forward pass of a block leaves for its derivatives."""

    block: Block
    expansion: Expansion
    residual: Array
    probabilities: Array


@dataclass(frozen=True, slots=True)
class Point:
    """A parameter vector with its objective, its loss, and the states of the blocks."""

    theta: Array
    objective: float
    loss: float
    states: tuple[_State, ...]


@dataclass(frozen=True, slots=True)
class Derivatives:
    """Gradient and curvature: the exact Hessian (perhaps indefinite), its convex stand-in, Gauss–Newton's diagonal."""

    gradient: Array
    exact: Array
    convex: Array
    diagonal: Array


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

    def _constant(self, shape: float, slopes: Array) -> Array:
        scores, terms = self.link.n_scores, self.n_terms
        every = np.broadcast_to(slopes, (scores, terms, self.blocks.n_features))
        return self.pack(np.full(scores, np.inf if np.isinf(shape) else 0.0), np.full((scores, terms), shape), every)

    @cached_property
    def l1(self) -> Array:
        """ℓ1 weight of each parameter."""
        return self._constant(0.0, self.penalty.slope_weights(self.spread))

    @cached_property
    def lower(self) -> Array:
        """Least value of each parameter."""
        return -self.upper

    @cached_property
    def upper(self) -> Array:
        """Largest value of each parameter."""
        upper = np.full(self.size, np.inf)
        self.unpack(upper)[1][...] = self.penalty.shape_bound()
        return upper

    def penalty_value(self, theta: Array) -> float:
        """Return Σ l1 |θ| + Σ charge(shape)."""
        return float(self.l1 @ np.abs(theta) + self._shape_charge(theta)[0].sum())

    def objective(self, theta: Array) -> float:
        """Return F(θ) alone: one forward pass that keeps nothing."""
        local = theta.astype(self.blocks.dtype)
        intercepts, shapes, slopes = self.unpack(local)

        def part(block: Block) -> float:
            z = intercepts[:, None] + self.form.values(shapes[..., None], self._inner(slopes, block)).sum(axis=1)
            return self.link.loss(z, self.link.encode(block.codes, block.v.dtype), block.w)

        return sum(self.blocks.map(part)) + self.penalty_value(theta)

    def evaluate(self, theta: Array) -> Point:
        """Return F(θ) with the states from which `derivatives` needs no further exponential."""
        local = theta.astype(self.blocks.dtype)
        intercepts, shapes, slopes = self.unpack(local)

        def part(block: Block) -> tuple[float, _State]:
            expansion = self.form.expand(shapes[..., None], self._inner(slopes, block))
            z = intercepts[:, None] + expansion.value.sum(axis=1)
            target = self.link.encode(block.codes, block.v.dtype)
            loss, residual, probabilities = self.link.loss_and_residual(z, target, block.w)
            return loss, _State(block, expansion, residual, probabilities)

        parts = self.blocks.map(part)
        loss = sum(p[0] for p in parts)
        return Point(theta, loss + self.penalty_value(theta), loss, tuple(p[1] for p in parts))

    def value_and_gradient(self, theta: Array) -> tuple[float, Array]:
        """Return F(θ) and the gradient of its smooth part in one pass that keeps nothing."""
        local = theta.astype(self.blocks.dtype)
        intercepts, shapes, slopes = self.unpack(local)

        def part(block: Block) -> tuple[float, Array]:
            expansion = self.form.expand(shapes[..., None], self._inner(slopes, block))
            z = intercepts[:, None] + expansion.value.sum(axis=1)
            target = self.link.encode(block.codes, block.v.dtype)
            loss, residual, probabilities = self.link.loss_and_residual(z, target, block.w)
            return loss, self._gradient(_State(block, expansion, residual, probabilities))

        parts = self.blocks.map(part)
        gradient = sum((p[1].astype(np.float64) for p in parts), np.zeros(self.size))
        return sum(p[0] for p in parts) + self.penalty_value(theta), self._charged(gradient, theta)

    def gradient(self, point: Point) -> Array:
        """Return the gradient of the smooth part at a point whose states are kept."""
        total = np.zeros(self.size)
        for state in point.states:
            total += self._gradient(state)
        return self._charged(total, point.theta)

    def derivatives(self, point: Point) -> Derivatives:
        """Return the gradient of the smooth part and its curvature, exact and convex."""
        shapes = self.unpack(point.theta.astype(self.blocks.dtype))[1][..., None]
        scores, terms, width = self.link.n_scores, self.n_terms, 1 + self.blocks.n_features

        def part(state: _State) -> tuple[Array, Array, Array]:
            jacobian = self._jacobian(state)
            return (
                np.matmul(jacobian, state.residual[:, :, None]).reshape(-1),
                self.link.curvature(jacobian, state.probabilities, state.block.w),
                self._residual_curvature(state, shapes),
            )

        gradient, matrix = np.zeros(self.size), np.zeros((self.size, self.size))
        residual = np.zeros((scores, terms, width, width))
        for slope, curvature, bend in self.blocks.each(part, point.states):
            gradient += slope
            matrix += curvature
            residual += bend
        residual[:, :, 0, 0] += self._shape_charge(point.theta)[2]
        return self._assemble(self._charged(gradient, point.theta), matrix, residual)

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

    def _shape_charge(self, theta: Array) -> Charge:
        """The penalty's charge of every shape, (scores, terms), with its derivatives."""
        return self.penalty.shape_charge(self.unpack(theta)[1], intercept=self.intercept)

    def _charged(self, gradient: Array, theta: Array) -> Array:
        """Return the gradient of the loss with that of the shapes' charge added in place."""
        self.unpack(gradient)[1][...] += self._shape_charge(theta)[1]
        return gradient

    def _inner(self, slopes: Array, block: Block) -> Array:
        """Return t = ⟨s, v⟩ of every term: one matrix product."""
        scores, terms, m = slopes.shape
        return (slopes.reshape(scores * terms, m) @ block.v).reshape(scores, terms, block.v.shape[1])

    def _jacobian(self, state: _State) -> Array:
        """∂z/∂θ of each score, (scores, parameters per score, rows)."""
        e, v = state.expansion, state.block.v
        scores, terms, rows = e.value.shape
        first = int(self.intercept)
        jacobian = np.empty((scores, self.per_score, rows), dtype=v.dtype)
        jacobian[:, :first] = 1
        parts = jacobian[:, first:].reshape(scores, terms, 1 + len(v), rows)
        parts[:, :, 0] = e.by_shape
        np.multiply(e.by_t[:, :, None, :], v, out=parts[:, :, 1:])
        return jacobian

    def _gradient(self, state: _State) -> Array:
        """Jᵀr without forming J."""
        e, r = state.expansion, state.residual
        scores, terms, rows = e.value.shape
        first = int(self.intercept)
        out = np.empty((scores, self.per_score), dtype=r.dtype)
        if self.intercept:
            out[:, 0] = r.sum(axis=1)
        parts = out[:, first:].reshape(scores, terms, -1)
        parts[:, :, 0] = np.matmul(e.by_shape, r[:, :, None])[:, :, 0]
        weighted = (e.by_t * r[:, None, :]).reshape(scores * terms, rows)
        parts[:, :, 1:] = (weighted @ state.block.v.T).reshape(scores, terms, -1)
        return out.ravel()

    def _residual_curvature(self, state: _State, shapes: Array) -> Array:
        """Σ_i r_i ∇²z_i, one (1 + m)² block per term."""
        v, r = state.block.v, state.residual[:, None, :]
        shape2, shape_t, t2 = self.form.second(shapes, state.expansion)
        scores, terms, rows = t2.shape
        out = np.empty((scores, terms, 1 + len(v), 1 + len(v)))
        out[:, :, 0, 0] = (r * shape2).sum(axis=2)
        cross = ((r * shape_t).reshape(scores * terms, rows) @ v.T).reshape(scores, terms, -1)
        out[:, :, 0, 1:] = out[:, :, 1:, 0] = cross
        np.matmul((r * t2)[:, :, None, :] * v, v.T, out=out[:, :, 1:, 1:])
        return out

    def _assemble(self, gradient: Array, matrix: Array, residual: Array) -> Derivatives:
        """Join Gauss–Newton's matrix and the residual's blocks, whole and by their positive parts."""
        values, vectors = np.linalg.eigh(residual)
        positive = np.matmul(vectors * np.maximum(values, 0)[:, :, None, :], np.swapaxes(vectors, 2, 3))
        diagonal = matrix.diagonal().copy()
        exact = matrix.copy()
        scores, terms, width, _ = residual.shape
        for c in range(scores):
            for k in range(terms):
                a = c * self.per_score + int(self.intercept) + k * width
                block = slice(a, a + width)
                exact[block, block] += residual[c, k]
                matrix[block, block] += positive[c, k]
        return Derivatives(gradient, exact, matrix, diagonal)
