"""Bounds on exponents in the angle form: low ≤ β ≤ high where β = s·sin φ, a box whose walls move with the angle.

While φ is fixed a slope lies in [low/sin φ, high/sin φ]: a box. A slope at a wall must follow it as φ moves, so the
solver's coordinate of such a slope is its exponent, written as s̃ = s·sin φ/sin φ₀ with φ₀ the angle of the present
point: there s̃ = s, the wall stays where it is, and

    ∂s/∂φ = −s cot φ,    ∂²s/∂φ² = s (1 + 2 cot²φ),    ∂²s/∂φ∂s̃ = −cot φ.

With G_j = ∂F/∂s_j the gradient by φ along the walls is ∂F/∂φ − cot φ Σ_j G_j s_j, and its zero with every G pushing
outwards is the KKT condition of the bounds (multipliers |G_j/sin φ|).

Where some low ≠ −high, the sign of sin φ matters: a term then stays in one half turn, nπ < φ < (n + 1)π, in which α
may still have either sign (that of cot φ).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from ecsel.fitting.objective.derivatives import Derivatives
from ecsel.fitting.objective.forms import SMALLEST_SINE

if TYPE_CHECKING:
    from ecsel._typing import Array, Mask, Places
    from ecsel.fitting.objective.problem import Problem


NEAR = 0.3
"""A slope follows the angle from this share of its bound on: a step that ends at a wall is then one along it."""
MAX_STRETCH = 10.0
"""A term that straightens so far in one step leaves its walls behind."""
EDGE = SMALLEST_SINE * (1 + 1e-6)
"""|sin φ| of a term that is as straight as a power law can be."""


@dataclass(frozen=True)
class ExponentBounds:
    """Bounds low and high, (features,), of the standardised exponents of a problem's terms."""

    problem: Problem
    low: Array
    high: Array

    @classmethod
    def of(cls, problem: Problem) -> ExponentBounds | None:
        """Return the bounds of a problem, None where there are none or where they are a box."""
        exponents = problem.penalty.constraints.exponents
        if exponents is None or not problem.form.has_intercept:
            return None
        low, high = (bound * problem.std for bound in exponents)
        fixed = ((low == 0) & (high == 0)) | (np.isinf(low) & np.isinf(high))
        return None if fixed.all() else cls(problem, low, high)

    @cached_property
    def lopsided(self) -> bool:
        """Whether it matters which sign sin φ has."""
        return not np.array_equal(self.low, -self.high)

    @cached_property
    def places(self) -> tuple[Places, Places, Places]:
        """Where every slope is in θ, where its term's angle is, and which feature it belongs to."""
        _, shapes, slopes = self.problem.unpack(np.arange(float(self.problem.size)))
        _, _, feature = np.indices(slopes.shape)
        angle = np.broadcast_to(shapes[..., None], slopes.shape)
        return slopes.ravel().astype(np.intp), angle.ravel().astype(np.intp), feature.ravel()

    def box(self, theta: Array) -> tuple[Array, Array]:
        """Return the bounds of all parameters while the angles are those of `theta`.

        A straight term without slopes is in both half turns at once, and its slopes may go where either lets them.
        """
        slope, angle, feature = self.places
        lower, upper = self.problem.lower.copy(), self.problem.upper.copy()
        sine = np.sin(theta[angle])
        size = np.maximum(np.abs(sine), SMALLEST_SINE)
        low, high = self.low[feature], self.high[feature]
        either = self._between(theta)[angle]
        least = np.where(either, np.minimum(low, -high), np.where(sine < 0, -high, low))
        most = np.where(either, np.maximum(high, -low), np.where(sine < 0, -low, high))
        lower[slope] = np.maximum(lower[slope], least / size)
        upper[slope] = np.minimum(upper[slope], most / size)
        if self.lopsided:
            turn = np.floor(theta[angle] / np.pi) * np.pi
            lower[angle] = np.maximum(lower[angle], turn + SMALLEST_SINE)
            upper[angle] = np.minimum(upper[angle], turn + np.pi - SMALLEST_SINE)
        return lower, upper

    def _between(self, theta: Array) -> Mask:
        """Which parameters are angles of straight terms without slopes, where it matters."""
        slope, angle, _ = self.places
        between = np.zeros(len(theta), dtype=bool)
        between[angle] = self.lopsided & (np.abs(np.sin(theta[angle])) <= EDGE)
        between[angle[theta[slope] != 0]] = False
        return between

    def within(self, theta: Array) -> Array:
        """Return the nearest allowed point: angles first, then slopes."""
        _, angle, _ = self.places
        lower, upper = self.box(theta)
        moved = theta.copy()
        moved[angle] = np.clip(theta[angle], lower[angle], upper[angle])
        inside: Array = np.clip(moved, *self.box(moved))
        return inside

    def along(self, theta: Array, total: Array, is_active: Mask) -> Array:
        """Return the slopes `total` of an objective with those by the angles taken along the walls of held slopes."""
        slope, angle, _ = self.places
        out = total.copy()
        np.subtract.at(out, angle, np.where(is_active[slope], _cot(theta[angle]) * total[slope] * theta[slope], 0.0))
        return out

    def transformed(self, theta: Array, weights: Array, local: Derivatives) -> Derivatives:
        """Return the derivatives in the coordinates in which walls stand still; the ℓ1 part of s̃ is not in them."""
        near = self._near(theta)
        slope, angle = (places[near[self.places[0]]] for places in self.places[:2])
        if len(slope) == 0:
            return local
        l1 = np.where(near, weights * np.sign(theta), 0.0)
        total = local.gradient + l1
        s, push, turn = theta[slope], total[slope], _cot(theta[angle])
        jacobian, second = np.eye(len(theta)), np.zeros((len(theta), len(theta)))
        jacobian[slope, angle] = -s * turn
        second[slope, angle] = second[angle, slope] = -push * turn
        np.add.at(second, (angle, angle), push * s * (1 + 2 * turn * turn))
        matrix = jacobian.T @ local.matrix @ jacobian
        gradient = self.along(theta, total, near) - l1
        return TransformedDerivatives(
            gradient, matrix, local.residual_hessian, local.intercept, local, jacobian, second
        )

    def back(self, old: Array, new: Array) -> Array:
        """Return the parameters of a point that was found in the coordinates of `transformed` at `old`."""
        slope, angle, _ = self.places
        lower, upper = self.box(old)
        moved = self._turned(old, new)
        before, after = np.abs(np.sin(old[angle])), np.abs(np.sin(moved[angle]))
        ratio = np.minimum(before / np.maximum(after, SMALLEST_SINE), MAX_STRETCH)
        near = self._near(old)
        moved[slope] *= np.where(near[slope], ratio, 1.0)
        moved = self.problem.within(moved)
        least, most = self.box(moved)
        kept = np.zeros(len(new), dtype=bool)
        kept[slope] = near[slope] & (ratio < MAX_STRETCH)
        return np.where(kept & (new >= upper), most, np.where(kept & (new <= lower), least, moved))

    def _turned(self, old: Array, new: Array) -> Array:
        """Return the new point with terms that were in both half turns in the one that keeps more of their slopes."""
        slope, angle, feature = self.places
        moved, between = new.copy(), self._between(old)
        if between.any():
            kept = np.zeros((2, len(new)))
            for side, sign in enumerate((1, -1)):
                walls = np.sort([sign * self.low[feature], sign * self.high[feature]], axis=0)
                np.add.at(kept[side], angle, np.abs(np.clip(new[slope], *walls / SMALLEST_SINE)))
            size = np.maximum(np.abs(new), SMALLEST_SINE)
            moved[between] = np.where(kept[0] >= kept[1], size, -size)[between]
        return moved

    def _near(self, theta: Array) -> Mask:
        """Which slopes are near a wall that moves with the angle."""
        slope, angle, _ = self.places
        lower, upper = (bound[slope] for bound in self.box(theta))
        s, near = theta[slope], np.zeros(len(theta), dtype=bool)
        reached = np.maximum(s / np.where(upper > 0, upper, np.inf), s / np.where(lower < 0, lower, -np.inf))
        near[slope] = (reached > NEAR) & (np.abs(np.sin(theta[angle])) > EDGE)
        return near


@dataclass(frozen=True)
class TransformedDerivatives(Derivatives):
    """Derivatives in other coordinates: JᵀHJ, to which the exact Hessian adds the curvature of the coordinates."""

    plain: Derivatives
    jacobian: Array
    second: Array

    @cached_property
    def exact(self) -> Array:
        """The Hessian in these coordinates."""
        return self.jacobian.T @ self.plain.exact @ self.jacobian + self.second

    @cached_property
    def convex(self) -> Array:
        """The convex stand-in, without the coordinates' own curvature."""
        return self.jacobian.T @ self.plain.convex @ self.jacobian


def _cot(shapes: Array) -> Array:
    sine = np.sin(shapes)
    return np.cos(shapes) / np.where(np.abs(sine) < SMALLEST_SINE, SMALLEST_SINE, sine)
