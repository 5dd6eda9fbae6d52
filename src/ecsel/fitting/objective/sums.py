"""What a block of rows adds to the loss, to its gradient and to its curvature.

The Jacobian of a score is ∂z/∂b = 1, ∂z/∂shape_k and ∂z/∂s_kj = (∂z_k/∂t) v_j. A block adds

    loss  Σ w ℓ,   gradient  Jᵀr,   Gauss–Newton's matrix  JᵀWJ,   the residual's own curvature  Σ_i r_i ∇²z_i,

the last being block diagonal over terms. `NumpySums` is written for reading and for every case; `kernel.CompiledSums`
is its compiled twin for double precision. Both leave a state after the forward pass from which derivatives need no
further exponential.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

if TYPE_CHECKING:
    from ecsel._typing import Array
    from ecsel.fitting.objective.forms import Expansion
    from ecsel.fitting.objective.problem import Problem
    from ecsel.fitting.rows.blocks import Block


class State(Protocol):
    """What the forward pass of a block leaves for its derivatives."""

    @property
    def block(self) -> Block:
        """The rows."""
        ...

    @property
    def expansion(self) -> Expansion:
        """Values and first derivatives of every term."""
        ...

    @property
    def residual(self) -> Array:
        """∂loss/∂z, (scores, rows)."""
        ...


class Sums(Protocol):
    """The contract: forward pass, gradient, and gradient with curvature of one block."""

    def forward(self, theta: Array, block: Block) -> tuple[float, State]:
        """Return the loss of the rows and the state of the block."""
        ...

    def gradient(self, state: Any) -> Array:
        """Return Jᵀr."""
        ...

    def loss_and_gradient(self, theta: Array, block: Block) -> tuple[float, Array]:
        """Return the loss of the rows and Jᵀr; nothing is kept."""
        ...

    def loss_and_errors(self, theta: Array, block: Block) -> tuple[float, Array]:
        """Return the loss of the rows and 1 − p(true class) of each."""
        ...

    def derivatives(self, state: Any) -> tuple[Array, Array, Array]:
        """Return Jᵀr, JᵀWJ and Σ r ∇²z, the latter of shape (scores, terms, 1 + features, 1 + features)."""
        ...


@dataclass(frozen=True, slots=True)
class NumpyState:
    """The terms of a block with their derivatives, the weighted residual and the probabilities."""

    block: Block
    shapes: Array
    expansion: Expansion
    residual: Array
    probabilities: Array


@dataclass(frozen=True, slots=True)
class NumpySums:
    """Any form, any loss, any precision."""

    problem: Problem

    def forward(self, theta: Array, block: Block) -> tuple[float, NumpyState]:
        """Return the loss and the state."""
        problem, loss = self.problem, self.problem.loss
        v = block.v
        intercepts, shapes, slopes = problem.parts_for(v.dtype, theta)
        expansion = problem.form.expand(shapes[..., None], inner(slopes, v))
        z = intercepts[:, None] + expansion.value.sum(axis=1)
        target = loss.encode(block.codes, v.dtype)
        value, residual, probabilities = loss.value_and_residual(z, target, block.w)
        return value, NumpyState(block, shapes, expansion, residual, probabilities)

    def gradient(self, state: NumpyState) -> Array:
        """Jᵀr without forming J."""
        e, r = state.expansion, state.residual
        scores, terms, rows = e.value.shape
        first = int(self.problem.intercept)
        out = np.empty((scores, self.problem.per_score), dtype=r.dtype)
        if self.problem.intercept:
            out[:, 0] = r.sum(axis=1)
        parts = out[:, first:].reshape(scores, terms, -1)
        parts[:, :, 0] = np.matmul(e.by_shape, r[:, :, None])[:, :, 0]
        weighted = (e.by_t * r[:, None, :]).reshape(scores * terms, rows)
        parts[:, :, 1:] = (weighted @ state.block.v.T).reshape(scores, terms, -1)
        return out.ravel()

    def loss_and_gradient(self, theta: Array, block: Block) -> tuple[float, Array]:
        """Return both in one pass."""
        loss, state = self.forward(theta, block)
        return loss, self.gradient(state)

    def loss_and_errors(self, theta: Array, block: Block) -> tuple[float, Array]:
        """Return both from the scores alone."""
        problem, loss = self.problem, self.problem.loss
        v = block.v
        intercepts, shapes, slopes = problem.parts_for(v.dtype, theta)
        z = intercepts[:, None] + problem.form.values(shapes[..., None], inner(slopes, v)).sum(axis=1)
        target = loss.encode(block.codes, v.dtype)
        value, _, probabilities = loss.value_and_residual(z, target, block.w)
        return value, loss.errors(probabilities, target)

    def derivatives(self, state: NumpyState) -> tuple[Array, Array, Array]:
        """Return the three sums, the first two from one Jacobian."""
        jacobian = self._jacobian(state)
        return (
            np.matmul(jacobian, state.residual[:, :, None]).reshape(-1),
            self.problem.loss.curvature(jacobian, state.probabilities, state.block.w),
            self._residual_curvature(state),
        )

    def _jacobian(self, state: NumpyState) -> Array:
        """∂z/∂θ of each score, (scores, parameters per score, rows)."""
        e, v = state.expansion, state.block.v
        scores, terms, rows = e.value.shape
        first = int(self.problem.intercept)
        jacobian = np.empty((scores, self.problem.per_score, rows), dtype=v.dtype)
        jacobian[:, :first] = 1
        parts = jacobian[:, first:].reshape(scores, terms, 1 + len(v), rows)
        parts[:, :, 0] = e.by_shape
        np.multiply(e.by_t[:, :, None, :], v, out=parts[:, :, 1:])
        return jacobian

    def _residual_curvature(self, state: NumpyState) -> Array:
        """Σ_i r_i ∇²z_i, one (1 + m)² block per term."""
        v, r = state.block.v, state.residual[:, None, :]
        shape2, shape_t, t2 = self.problem.form.second(state.shapes[..., None], state.expansion)
        scores, terms, rows = t2.shape
        out = np.empty((scores, terms, 1 + len(v), 1 + len(v)))
        out[:, :, 0, 0] = (r * shape2).sum(axis=2)
        cross = ((r * shape_t).reshape(scores * terms, rows) @ v.T).reshape(scores, terms, -1)
        out[:, :, 0, 1:] = out[:, :, 1:, 0] = cross
        np.matmul((r * t2)[:, :, None, :] * v, v.T, out=out[:, :, 1:, 1:])
        return out


def inner(slopes: Array, v: Array) -> Array:
    """Return t = ⟨s, v⟩ of every term: one matrix product."""
    scores, terms, m = slopes.shape
    return (slopes.reshape(scores * terms, m) @ v).reshape(scores, terms, v.shape[1])
