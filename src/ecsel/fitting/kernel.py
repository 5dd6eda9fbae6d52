"""The door to the compiled kernel: the inner loops of small fits without NumPy's overhead per call.

`csrc/` holds the same formulas as `sums`, `quadratic` and `newton`, in C, for double precision; a machine without a
compiler installs the package without it and everything runs on NumPy. ``ECSEL_NO_KERNEL=1`` in the environment turns it
off. Sums over rows keep one order, so that the bits of a fit do not depend on the number of threads; they may differ
from NumPy's in the last digits.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ecsel.fitting import forms
from ecsel.fitting.links import Sigmoid, Softmax
from ecsel.fitting.penalties import L1, PaperL1
from ecsel.fitting.sums import inner

if TYPE_CHECKING:
    from types import ModuleType

    from ecsel.fitting.blocks import Block
    from ecsel.fitting.forms import Expansion
    from ecsel.fitting.problem import Problem

Array = NDArray[np.floating]
Double = NDArray[np.float64]


def _load() -> ModuleType | None:
    if os.environ.get("ECSEL_NO_KERNEL", "0") not in {"", "0"}:
        return None
    try:
        from ecsel.fitting import _kernel  # noqa: PLC0415 - it may not be there
    except ImportError:
        return None
    return _kernel


compiled = _load()
"""The compiled module, None where there is none."""


@lru_cache(maxsize=1)
def _eigensolver() -> object | None:
    """Return LAPACK's dsyev as SciPy lends it to compiled code, None where this SciPy lends it otherwise."""
    from scipy.linalg import cython_lapack  # noqa: PLC0415 - left to the first fit

    return getattr(cython_lapack, "__pyx_capi__", {}).get("dsyev")


_FORMS = {forms.AngleForm: 0, forms.PowerForm: 1}
_LINKS = {Sigmoid: 0, Softmax: 1}
_DOUBLE = np.dtype(np.float64)


@dataclass(frozen=True)
class CompiledState:
    """What the forward pass leaves; the arguments of the compiled functions hold its derivatives by shape and t."""

    problem: Problem
    block: Block
    theta: Double
    residual: Double
    probabilities: Double
    arguments: tuple[object, ...]

    @cached_property
    def expansion(self) -> Expansion:
        """The expansion that the twin would have kept."""
        _, shapes, slopes = self.problem.unpack(self.theta)
        return self.problem.form.expand(shapes[..., None], inner(slopes, self.block))


class CompiledSums:
    """The sums of `sums.NumpySums` for both forms and both links in double precision."""

    def __init__(self, problem: Problem, module: ModuleType) -> None:
        self._problem, self._module = problem, module
        self._scores, self._terms, self._width = problem.link.n_scores, problem.n_terms, 1 + problem.blocks.n_features
        self._size = problem.size
        self._kind = (
            int(problem.intercept),
            _FORMS[type(problem.form)],
            _LINKS[type(problem.link)],
            forms.KNEE,
            forms.LARGEST_EXPONENT[_DOUBLE],
            forms.SERIES_BELOW[_DOUBLE],
        )

    @classmethod
    def of(cls, problem: Problem) -> CompiledSums | None:
        """Return the compiled sums of a problem, None where it needs NumPy's."""
        served = type(problem.form) in _FORMS and type(problem.link) in _LINKS and problem.blocks.dtype == _DOUBLE
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

    def minimise(self, theta: Array, block: Block, rules: tuple[float, ...]) -> tuple[Double, tuple[float, ...]] | None:
        """Run the loop of `newton` on a single block: θ, then objective, loss, residual, status and counts.

        None where its twin has to do it: the penalty charges shapes in a way that the loop does not know.
        """
        problem, eigen = self._problem, _eigensolver()
        if type(problem.penalty) not in {L1, PaperL1} or eigen is None:
            return None
        price = float(problem.penalty.shape_charge(np.zeros(1), intercept=problem.intercept)[2][0])
        found = np.array(theta, dtype=np.float64)
        bounds = (problem.l1, problem.lower, problem.upper)
        return found, self._module.minimise(*self._rows(block), found, *bounds, price, rules, eigen)

    def _rows(self, block: Block) -> tuple[tuple[float, ...], Array, NDArray[np.int64], Array]:
        v = block.v
        return (
            (self._scores, self._terms, self._width - 1, v.shape[1], *self._kind),
            v if v.strides[1] == v.itemsize else np.ascontiguousarray(v),
            np.ascontiguousarray(block.codes, dtype=np.int64),
            np.ascontiguousarray(block.w),
        )

    def gradient(self, state: CompiledState) -> Double:
        """Return Jᵀr."""
        gradient = np.empty(self._size)
        self._module.derivatives(*state.arguments, gradient, None, None)
        return gradient

    def derivatives(self, state: CompiledState) -> tuple[Double, Double, Double]:
        """Return the three sums."""
        gradient, matrix = np.empty(self._size), np.empty((self._size, self._size))
        bend = np.empty((self._scores, self._terms, self._width, self._width))
        self._module.derivatives(*state.arguments, gradient, matrix, bend)
        return gradient, matrix, bend
