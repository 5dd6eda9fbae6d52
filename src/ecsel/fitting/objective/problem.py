"""The problem a solver sees: objective, gradient and curvature of θ as sums over row blocks.

    F(θ) = Σ_i w_i ℓ(y_i, z(x_i; θ)) + Σ p(slopes) + Σ_k p(shape_k),   lower_p ≤ θ_p ≤ upper_p

θ lists, score by score, the intercept (if any) and for each term its shape and its slopes s. The slopes' penalty is
Σ_p l1_p |θ_p|, or another (see `penalties.base`), whose ℓ1 weights change from point to point. `sums` says what a
block of rows adds. The curvature is Gauss–Newton's JᵀWJ plus the positive part of the residual's own curvature
Σ_i r_i ∇²z_i, which is block diagonal over terms: JᵀWJ alone crawls where residuals are large (as they always are in
classification), the full Hessian is not positive definite.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from ecsel.fitting.kernel import CompiledSums
from ecsel.fitting.objective.derivatives import Derivatives
from ecsel.fitting.objective.exponent_bounds import ExponentBounds
from ecsel.fitting.objective.sums import NumpySums, inner
from ecsel.fitting.rows.sweeps import SweptSums

if TYPE_CHECKING:
    from numpy.typing import DTypeLike, NDArray

    from ecsel._typing import Array
    from ecsel.fitting.objective.forms import TermForm
    from ecsel.fitting.objective.losses import Loss
    from ecsel.fitting.objective.sums import State, Sums
    from ecsel.fitting.penalties import EquationPenalty, PenaltyValue
    from ecsel.fitting.rows.blocks import Block, RowBlocks


@dataclass(frozen=True, slots=True)
class PenaltyParts:
    """The penalty at a point: of the shapes, and the slopes where that is more than weight times |slope|."""

    shapes: PenaltyValue
    slopes: PenaltyValue | None


@dataclass(frozen=True, slots=True)
class Point:
    """A parameter vector with its objective, its loss, the parts of its penalty, and the states of the blocks."""

    theta: Array
    objective: float
    loss: float
    penalty_parts: PenaltyParts
    states: tuple[State, ...]


@dataclass(frozen=True)
class Problem:
    """One fit: rows, loss, penalty, number of terms and whether scores have an intercept.

    Examples
    --------
    >>> import numpy as np
    >>> from ecsel.fitting import L1, ArrayBlocks, Logistic
    >>> blocks = ArrayBlocks(np.zeros((2, 3)), np.array([0, 1, 1]), np.full(3, 1 / 3))
    >>> Problem(blocks, Logistic(), L1(0.1), 2, True, np.ones(2)).size  # 1 intercept, 2 angles, 2 slopes for each
    7
    """

    blocks: RowBlocks
    loss: Loss
    penalty: EquationPenalty
    n_terms: int
    intercept: bool
    std: Array

    @cached_property
    def form(self) -> TermForm:
        """The coordinates of a term."""
        return self.penalty.form(intercept=self.intercept)

    @cached_property
    def sums(self) -> Sums:
        """What a block of rows adds: compiled where that is possible."""
        return CompiledSums.of(self) or SweptSums.of(self) or NumpySums(self)

    @cached_property
    def per_score(self) -> int:
        """Parameters of one score."""
        return int(self.intercept) + self.n_terms * (1 + self.blocks.n_features)

    @property
    def size(self) -> int:
        """Number of parameters."""
        return self.loss.n_scores * self.per_score

    def pack(self, intercepts: Array, shapes: Array, slopes: Array) -> Array:
        """Lay out intercepts (scores,), shapes (scores, terms) and slopes (scores, terms, features) as one vector."""
        terms = np.concatenate([shapes[..., None], slopes], axis=2).reshape(self.loss.n_scores, -1)
        return (np.concatenate([intercepts[:, None], terms], axis=1) if self.intercept else terms).ravel()

    def unpack(self, theta: Array) -> tuple[Array, Array, Array]:
        """Return views of the intercepts, shapes and slopes in `theta`."""
        rows = theta.reshape(self.loss.n_scores, self.per_score)
        terms = rows[:, int(self.intercept) :].reshape(self.loss.n_scores, self.n_terms, 1 + self.blocks.n_features)
        intercepts = rows[:, 0] if self.intercept else np.zeros(self.loss.n_scores, theta.dtype)
        return intercepts, terms[:, :, 0], terms[:, :, 1:]

    def parts_for(self, dtype: DTypeLike, theta: Array) -> tuple[Array, Array, Array]:
        """Return intercepts and slopes in the precision of the rows; shapes keep theirs, for cos φ near π/2."""
        intercepts, shapes, slopes = self.unpack(theta)
        return intercepts.astype(dtype, copy=False), shapes, slopes.astype(dtype, copy=False)

    @cached_property
    def l1(self) -> Array:
        """ℓ1 weight of each parameter at zero."""
        weights = np.zeros(self.size)
        self.unpack(weights)[2][...] = self.penalty.slope_weights(self.std)
        return weights

    def weights(self, theta: Array) -> Array:
        """Return the ℓ1 weight of each parameter at a point: the penalty's derivative by its size."""
        value = self.penalty.slope_value(self.unpack(theta)[2], intercept=self.intercept)
        if value is None:
            return self.l1
        weights = np.zeros(self.size)
        self.unpack(weights)[2][...] = value[1]
        return weights

    @cached_property
    def lower(self) -> Array:
        """Least value of each parameter, as far as it does not depend on other parameters."""
        return self._bounds(-1)

    @cached_property
    def upper(self) -> Array:
        """Largest value of each parameter, as far as it does not depend on other parameters."""
        return self._bounds(+1)

    def _bounds(self, side: int) -> Array:
        """The bounds on one side: of shapes, of exponents, and zero for slopes that must have the other sign."""
        bounds = np.full(self.size, side * np.inf)
        _, shapes, slopes = self.unpack(bounds)
        shapes[...] = side * self.penalty.shape_bound()
        constraints = self.penalty.constraints
        if constraints.exponents is not None:
            low, high = constraints.exponents
            out = (low == 0) & (high == 0)
            bound = (high if side > 0 else low) * self.std
            slopes[...] = np.where(out, 0.0, side * np.inf) if self.form.has_intercept else bound
        if constraints.signs is not None:
            slopes[np.broadcast_to(constraints.signs[:, None, :] == -side, slopes.shape)] = 0.0
        return bounds

    @cached_property
    def exponent_bounds(self) -> ExponentBounds | None:
        """The bounds on exponents where they are no box, None otherwise."""
        return ExponentBounds.of(self)

    @property
    def plain(self) -> bool:
        """Whether ℓ1 weights and bounds are the same at every point."""
        empty = np.zeros((1, 1, self.blocks.n_features))
        return self.exponent_bounds is None and self.penalty.slope_value(empty, intercept=self.intercept) is None

    def box(self, theta: Array) -> tuple[Array, Array]:
        """Return the least and the largest value of each parameter while the shapes are those of `theta`."""
        return (self.lower, self.upper) if self.exponent_bounds is None else self.exponent_bounds.box(theta)

    def within(self, theta: Array) -> Array:
        """Return the nearest allowed point: shapes first, then slopes."""
        inside: Array = np.clip(theta, self.lower, self.upper)
        return inside if self.exponent_bounds is None else self.exponent_bounds.within(inside)

    def downhill(self, gradient: Array) -> Array:
        """Return the slopes' part of a gradient at the empty model, zero where constraints forbid to follow it."""
        _, _, slopes = self.unpack(gradient)
        lower, upper = self.unpack(self.lower)[2], self.unpack(self.upper)[2]
        return np.where((slopes > 0) & (lower == 0) | (slopes < 0) & (upper == 0), 0.0, slopes)

    def penalty_value(self, theta: Array) -> float:
        """Return the penalty."""
        return self._penalty(theta, self._penalty_parts(theta))

    def _penalty(self, theta: Array, penalty_parts: PenaltyParts) -> float:
        slopes = self.l1 @ np.abs(theta) if penalty_parts.slopes is None else penalty_parts.slopes[0].sum()
        return float(slopes) + float(penalty_parts.shapes[0].sum())

    def objective(self, theta: Array) -> float:
        """Return F(θ) alone: one forward pass that keeps nothing."""
        intercepts, shapes, slopes = self.parts_for(self.blocks.dtype, theta)

        def part(block: Block) -> float:
            v = block.v
            z = intercepts[:, None] + self.form.values(shapes[..., None], inner(slopes, v)).sum(axis=1)
            return self.loss.value(z, self.loss.encode(block.codes, v.dtype), block.w)

        return sum(self.blocks.map(part)) + self.penalty_value(theta)

    def evaluate(self, theta: Array) -> Point:
        """Return F(θ) with the states from which `derivatives` needs no further exponential."""
        parts = self.blocks.map(lambda block: self.sums.forward(theta, block))
        loss = sum(p[0] for p in parts)
        penalty_parts = self._penalty_parts(theta)
        objective = loss + self._penalty(theta, penalty_parts)
        return Point(theta, objective, loss, penalty_parts, tuple(p[1] for p in parts))

    def value_and_gradient(self, theta: Array) -> tuple[float, Array]:
        """Return F(θ) and the gradient of its smooth part in one pass that keeps nothing."""
        parts = self.blocks.map(lambda block: self.sums.loss_and_gradient(theta, block))
        gradient, penalty_parts = _total([p[1] for p in parts]), self._penalty_parts(theta)
        gradient[self._shape_places] += penalty_parts.shapes[1]
        return sum(p[0] for p in parts) + self._penalty(theta, penalty_parts), gradient

    def gradient(self, point: Point) -> Array:
        """Return the gradient of the smooth part at a point whose states are kept."""
        gradient = _total(self.blocks.each(self.sums.gradient, point.states))
        gradient[self._shape_places] += point.penalty_parts.shapes[1]
        return gradient

    def derivatives(self, point: Point) -> Derivatives:
        """Return the gradient of the smooth part and its curvature, exact and convex."""
        parts = self.blocks.each(self.sums.derivatives, point.states)
        gradient, matrix, residual_hessian = (_total([part[i] for part in parts]) for i in range(3))
        penalty_parts = point.penalty_parts
        gradient[self._shape_places] += penalty_parts.shapes[1]
        residual_hessian[:, :, 0, 0] += penalty_parts.shapes[2].reshape(residual_hessian.shape[:2])
        if penalty_parts.slopes is not None:
            np.einsum("ckpp->ckp", residual_hessian)[:, :, 1:] += penalty_parts.slopes[2]
        return Derivatives(gradient, matrix, residual_hessian, self.intercept)

    def kkt_residual(self, theta: Array, gradient: Array) -> float:
        """Return the largest minimal subgradient: the distance of −∇f to the penalty's subdifferential, by coordinates.

        At a bound, a gradient that pushes outwards is optimal and counts as zero; what a curved bound's push does to
        the shape counts there.
        """
        weights = self.weights(theta)
        shrunk = gradient - np.clip(gradient, -weights, weights)
        slope = np.where(theta != 0, gradient + weights * np.sign(theta), shrunk)
        near = 1e-9 * np.abs(theta)  # a power law written out and read back is off by rounding
        lower, upper = self.box(theta)
        at_lower, at_upper = theta - near <= lower, theta + near >= upper
        if self.exponent_bounds is not None:
            is_active = at_lower & (slope > 0) | at_upper & (slope < 0)
            slope = self.exponent_bounds.along(theta, slope, is_active)
        slope[at_lower & (slope > 0) | at_upper & (slope < 0)] = 0
        return float(np.abs(slope).max(initial=0.0))

    def all_alive(self, theta: Array) -> bool:
        """Whether every term has a slope."""
        return bool((self.unpack(theta)[2] != 0).any(axis=2).all())

    def empty(self, class_shares: Array) -> Array:
        """Return θ of the intercept-only model (all slopes and shapes zero)."""
        scores, terms, m = self.loss.n_scores, self.n_terms, self.blocks.n_features
        start = self.loss.empty_scores(class_shares) if self.intercept else np.zeros(scores)
        return self.pack(start, np.zeros((scores, terms)), np.zeros((scores, terms, m)))

    @cached_property
    def _shape_places(self) -> NDArray[np.intp]:
        marked = np.zeros(self.size)
        self.unpack(marked)[1][...] = 1
        return np.flatnonzero(marked)

    def _penalty_parts(self, theta: Array) -> PenaltyParts:
        """The parts of the penalty with their derivatives."""
        _, _, slopes = self.unpack(theta)
        return PenaltyParts(
            self.penalty.shape_value(theta[self._shape_places], intercept=self.intercept),
            self.penalty.slope_value(slopes, intercept=self.intercept),
        )


def _total(parts: list[Array]) -> Array:
    """Add up in double precision, in the order of the blocks."""
    total = parts[0].astype(np.float64, copy=False)
    for part in parts[1:]:
        total += part
    return total
