"""Gradient and curvature of a problem's smooth part at a point, in two versions of the curvature: exact and convex."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from ecsel.fitting.kernel import positive_parts

if TYPE_CHECKING:
    from ecsel._typing import Array


@dataclass(frozen=True)
class Derivatives:
    """Gradient and curvature: Gauss–Newton's matrix, and the residual's own in one block a term.

    Their sum is the exact Hessian (perhaps indefinite); its convex stand-in has the blocks' positive parts.
    """

    gradient: Array
    matrix: Array
    residual_hessian: Array
    intercept: bool

    @property
    def diagonal(self) -> Array:
        """The diagonal of Gauss–Newton's matrix."""
        return self.matrix.diagonal()

    @cached_property
    def exact(self) -> Array:
        """The Hessian."""
        return self._with(self.residual_hessian)

    @cached_property
    def convex(self) -> Array:
        """The nearest positive semidefinite curvature above the exact one that keeps Gauss–Newton's matrix."""
        return self._with(positive_parts(self.residual_hessian))

    def _with(self, blocks: Array) -> Array:
        out = self.matrix.copy()
        scores, terms, width, _ = blocks.shape
        for c in range(scores):
            for k in range(terms):
                a = c * (len(out) // scores) + int(self.intercept) + k * width
                out[a : a + width, a : a + width] += blocks[c, k]
        return out
