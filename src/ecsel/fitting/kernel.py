"""The bindings of the compiled kernel: the inner loops of small fits, and passes over packed rows.

`csrc/` holds the same formulas as `sums`, `active_set` and `newton`, in C, for double precision, and those of `sweeps`
and `importance_sampling` for single. Sums over rows keep one order, so that the bits of a fit do not depend on the
number of threads; they may differ from NumPy's in the last digits.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ecsel._compiled import compiled as compiled  # noqa: PLC0414 - the name is this door's
from ecsel.fitting.objective import forms
from ecsel.fitting.objective.losses import Logistic, Softmax
from ecsel.fitting.objective.sums import inner
from ecsel.fitting.penalties import L1, PaperL1

if TYPE_CHECKING:
    from types import ModuleType

    from numpy.typing import NDArray

    from ecsel._typing import Array, Floats
    from ecsel.fitting.objective.forms import Expansion
    from ecsel.fitting.objective.problem import Problem
    from ecsel.fitting.rows.blocks import Block


_FORMS = {forms.AngleForm: 0, forms.PowerForm: 1}
_LOSSES = {Logistic: 0, Softmax: 1}
MAX_BYTES = 256
"""Class codes that fit a byte."""


def sweeps(dtype: np.dtype[Any], n_classes: int) -> bool:
    """Whether compiled passes read packed rows of this precision and number of classes."""
    return compiled is not None and dtype == np.float32 and n_classes <= MAX_BYTES


def knows(problem: Problem) -> bool:
    """Whether the compiled functions know the form and the loss of a problem."""
    return type(problem.form) in _FORMS and type(problem.loss) in _LOSSES


def shape_of(problem: Problem, n_rows: int) -> tuple[float, ...]:
    """Return what the compiled functions want to know of a problem."""
    dtype = np.dtype(problem.blocks.dtype)
    return (
        *(problem.loss.n_scores, problem.n_terms, problem.blocks.n_features, n_rows),
        *(int(problem.intercept), _FORMS[type(problem.form)], _LOSSES[type(problem.loss)]),
        *(forms.KNEE, forms.LARGEST_EXPONENT[dtype], forms.SERIES_BELOW[dtype]),
    )


def positive_parts(blocks: Array) -> Array:
    """Return the positive parts Σ_{λ > 0} λ z zᵀ of symmetric matrices, the last two axes of an array."""
    if compiled is None or blocks.dtype != np.float64:
        values, vectors = np.linalg.eigh(blocks)
        return np.asarray(np.matmul(vectors * np.maximum(values, 0)[..., None, :], np.swapaxes(vectors, -2, -1)))
    width = blocks.shape[-1]
    out = np.empty(blocks.shape)
    compiled.positive_parts(blocks.size // max(width * width, 1), width, np.ascontiguousarray(blocks), out)
    return out


@dataclass(frozen=True)
class CompiledState:
    """What the forward pass leaves; the arguments of the compiled functions hold its derivatives by shape and t."""

    problem: Problem
    block: Block
    theta: Floats
    residual: Floats
    probabilities: Floats
    arguments: tuple[object, ...]

    @cached_property
    def expansion(self) -> Expansion:
        """The expansion that the twin would have kept."""
        _, shapes, slopes = self.problem.unpack(self.theta)
        return self.problem.form.expand(shapes[..., None], inner(slopes, self.block.v))


class CompiledSums:
    """The sums of `sums.NumpySums` for both forms and both losses in double precision."""

    def __init__(self, problem: Problem, module: ModuleType) -> None:
        self._problem, self._module = problem, module
        self._scores, self._terms, self._width = problem.loss.n_scores, problem.n_terms, 1 + problem.blocks.n_features
        self._size = problem.size

    @classmethod
    def of(cls, problem: Problem) -> CompiledSums | None:
        """Return the compiled sums of a problem, None where it needs NumPy's."""
        served = problem.blocks.dtype == np.float64 and knows(problem)
        return cls(problem, compiled) if served and compiled is not None else None

    def forward(self, theta: Array, block: Block) -> tuple[float, CompiledState]:
        """Return the loss and the state."""
        shape, *data = self._rows(block)
        rows = block.v.shape[1]
        parameters = np.array(theta, dtype=np.float64)  # a copy: what has travelled may be read-only
        planes = np.empty((4, self._scores, self._terms, rows))
        residual, probabilities = np.empty((self._scores, rows)), np.empty((self._scores, rows))
        arguments = (shape, parameters, *data, planes, residual, probabilities)
        loss: float = self._module.forward(*arguments)
        return loss, CompiledState(self._problem, block, parameters, residual, probabilities, arguments)

    def minimise(
        self, theta: Array, block: Block, rules: tuple[float, ...], n_threads: int
    ) -> tuple[Floats, tuple[float, ...]]:
        """Run the loop of `newton` on a single block: θ, then objective, loss, residual, status and counts."""
        found = np.array(theta, dtype=np.float64)
        return found, self._module.minimise(*self._rows(block), found, *self._penalty_parts, rules, n_threads)

    def adam_epoch(
        self,
        theta: Floats,
        block: Block,
        pace: tuple[float, ...],
        order: NDArray[np.int64],
        moments: tuple[Array, Array],
        steps: int,
    ) -> int:
        """Run an epoch of `adam`, in place; return the steps that were taken by then."""
        taken: int = self._module.adam_epoch(
            *self._rows(block), theta, *self._penalty_parts, pace, order, *moments, steps
        )
        return taken

    @property
    def penalty_is_compiled(self) -> bool:
        """Whether compiled solvers know the penalty of shapes and slopes."""
        return type(self._problem.penalty) in {L1, PaperL1} and self._problem.plain

    @property
    def _penalty_parts(self) -> tuple[Array, Array, Array, float]:
        problem = self._problem
        price = float(problem.penalty.shape_value(np.zeros(1), intercept=problem.intercept)[2][0])
        return problem.l1, problem.lower, problem.upper, price

    def _rows(self, block: Block) -> tuple[tuple[float, ...], Array, NDArray[np.int64], Array]:
        v = block.v
        return (
            shape_of(self._problem, v.shape[1]),
            v if v.strides[1] == v.itemsize else np.ascontiguousarray(v),
            np.ascontiguousarray(block.codes, dtype=np.int64),
            np.ascontiguousarray(block.w),
        )

    def gradient(self, state: CompiledState) -> Floats:
        """Return Jᵀr."""
        gradient = np.empty(self._size)
        self._module.derivatives(*state.arguments, gradient, None, None)
        return gradient

    def loss_and_gradient(self, theta: Array, block: Block) -> tuple[float, Floats]:
        """Return both in one pass."""
        loss, state = self.forward(theta, block)
        return loss, self.gradient(state)

    def loss_and_errors(self, theta: Array, block: Block) -> tuple[float, Array]:
        """Return the loss and 1 − p(true class) of the rows."""
        value, state = self.forward(theta, block)
        loss = self._problem.loss
        return value, loss.errors(state.probabilities, loss.encode(block.codes, np.float64))

    def derivatives(self, state: CompiledState) -> tuple[Floats, Floats, Floats]:
        """Return the three sums."""
        gradient, matrix = np.empty(self._size), np.empty((self._size, self._size))
        residual_hessian = np.empty((self._scores, self._terms, self._width, self._width))
        self._module.derivatives(*state.arguments, gradient, matrix, residual_hessian)
        return gradient, matrix, residual_hessian
