"""Log coordinates of nonlinear terms: c, a = log|α| and β in place of the intercept b, the angle φ and the slopes s.

    z = c + Σ_k ±exp(a_k + ⟨β_k, v⟩),    b = c + Σ_k α_k,   φ_k = arccot(α_k/κ),   s_k = ±√(1 + (α_k/κ)²)·β_k

The angle form is made for the neighbourhood of the log-linear limit. Rows that still shape a nearly separated table sit
far from its centre, and there a term is nonlinear: its value at those rows hardly changes along curves on which α falls
as its exponents grow. Those curves are straight lines in (a, β), wherever the centre of the logs is; in (φ, s) a Newton
method needs tens of times as many steps to follow them. Terms close to the limit keep their angle.

The quadratic model in the new coordinates comes from the one in the old by the chain rule,

    g' = Tᵀg,    H' = TᵀHT + Σ_p g_p ∇²θ_p,    T = ∂θ/∂η,

and the penalty λ|s| = λ√(1 + (α/κ)²)·|β| is an ℓ1 weight that follows a, its derivatives by a among the smooth ones.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ecsel.fitting.objective.forms import KNEE, AngleForm

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ecsel._typing import Array
    from ecsel.fitting.objective.derivatives import Derivatives
    from ecsel.fitting.objective.problem import Problem


MIN_SINE = 0.25
"""Terms that are straighter (|α| above 31) keep their angle: log coordinates are ill-conditioned near the limit."""
SMALLEST_COEFFICIENT = 1e-8
"""Smaller |α| have lost their digits in φ, which lies too close to π/2."""
LARGEST_LOG = 12.0
"""log|α| counts as no more, so that e^a stays in range."""
LONGEST_STEP = 2.0
"""Most that log|α| may change in a step."""


@dataclass(frozen=True, slots=True)
class LocalModel:
    """Gradient, Hessian, scale of the damping and ℓ1 weights in log coordinates."""

    gradient: Array
    hessian: Array
    scale: Array
    """What the damping multiplies."""
    l1: Array


@dataclass(frozen=True)
class LogCoordinates:
    """The coordinates around a point: the nonlinear terms, the signs of α, and half turns of φ, all (scores, terms).

    φ and φ + π with −s are the same term; the coordinates keep the one that the point has.
    """

    problem: Problem
    nonlinear: NDArray[np.bool_]
    signs: Array
    turns: Array

    @classmethod
    def around(cls, problem: Problem, theta: Array) -> LogCoordinates | None:
        """The coordinates; None where the penalty is not plain ℓ1, slopes have signs, or all terms are straight."""
        if (
            not isinstance(problem.form, AngleForm)
            or not problem.plain
            or problem.penalty.constraints.signs is not None
        ):
            return None
        _, shapes, slopes = problem.unpack(theta)
        nonlinear = (np.abs(np.sin(shapes)) > MIN_SINE) & (slopes != 0).any(axis=2)
        if not nonlinear.any():
            return None
        return cls(problem, nonlinear, np.where(np.tan(shapes) < 0, -1.0, 1.0), np.round(shapes / np.pi))

    @property
    def _sides(self) -> Array:
        """The sign of s/β: that of sin φ."""
        return self.signs * np.where(self.turns % 2 == 0, 1.0, -1.0)

    def to_log(self, theta: Array) -> Array:
        """Return η of θ."""
        b, shapes, slopes = self.problem.unpack(theta)
        alpha = np.where(self.nonlinear, KNEE / np.where(self.nonlinear, np.tan(shapes), 1.0), 0.0)
        alpha = np.where(self.nonlinear, self.signs * np.maximum(np.abs(alpha), SMALLEST_COEFFICIENT), 0.0)
        beta = slopes * np.where(self.nonlinear, np.sin(shapes), 1.0)[..., None]
        a = np.where(self.nonlinear, np.log(np.where(self.nonlinear, np.abs(alpha), 1.0)), shapes)
        return self.problem.pack(b - alpha.sum(axis=1), a, beta)

    def to_theta(self, eta: Array) -> Array:
        """Return θ of η."""
        c, a, beta = self.problem.unpack(eta)
        alpha, root = self._coefficients(a)
        shapes = np.where(self.nonlinear, self.signs * np.arctan2(KNEE, np.abs(alpha)) + np.pi * self.turns, a)
        slopes = beta * np.where(self.nonlinear, self._sides * root, 1.0)[..., None]
        return self.problem.pack(c + alpha.sum(axis=1), shapes, slopes)

    def bounds(self, eta: Array) -> tuple[Array, Array]:
        """Return the least and the largest parameters of the next step."""
        free = np.full(len(eta), np.inf)
        self.problem.unpack(free)[1][self.nonlinear] = LONGEST_STEP
        lower = np.where(np.isinf(free), -np.inf, eta - free)
        logs, least = self.problem.unpack(lower)[1], self.problem.unpack(eta)[1]
        logs[self.nonlinear] = np.minimum(np.maximum(logs, np.log(SMALLEST_COEFFICIENT)), least)[self.nonlinear]
        return lower, np.where(np.isinf(free), np.inf, eta + free)

    def model(self, eta: Array, local: Derivatives) -> LocalModel:
        """Return the quadratic model of the objective around η from the derivatives by θ."""
        problem = self.problem
        _, a, beta = problem.unpack(eta)
        weights = problem.unpack(problem.l1)[2]
        g_b, g_shape, g_slope = problem.unpack(local.gradient)
        at_b, at_shape, at_slope = (part.astype(np.intp) for part in problem.unpack(np.arange(float(len(eta)))))
        alpha, root = self._coefficients(a)
        ratio = (alpha / KNEE) ** 2
        root1, root2 = ratio / root, 2 * ratio / root - ratio * ratio / root**3
        angle1 = -self.signs * np.sqrt(ratio) / (1 + ratio)
        angle2 = angle1 * (1 - ratio) / (1 + ratio)
        T, extra, penalty_slope = np.eye(len(eta)), np.zeros((len(eta), len(eta))), np.zeros(len(eta))
        l1 = problem.l1.copy()
        for c, k in zip(*np.nonzero(self.nonlinear), strict=True):
            i, js, sign, r1, r2 = at_shape[c, k], at_slope[c, k], self._sides[c, k], root1[c, k], root2[c, k]
            T[at_b[c], i], T[i, i] = alpha[c, k], angle1[c, k]
            T[js, i], T[js, js] = beta[c, k] * sign * r1, sign * root[c, k]
            penalty = float(weights[c, k] @ np.abs(beta[c, k]))
            along = sign * float(g_slope[c, k] @ beta[c, k])
            extra[i, i] = g_b[c] * alpha[c, k] + g_shape[c, k] * angle2[c, k] + r2 * (along + penalty)
            extra[i, js] = extra[js, i] = r1 * (sign * g_slope[c, k] + weights[c, k] * np.sign(beta[c, k]))
            penalty_slope[i] = r1 * penalty
            l1[js] *= root[c, k]
        diagonal = np.einsum("pi,pi->i", T, local.matrix @ T)
        scale = diagonal + 1e-3 * diagonal.mean()
        return LocalModel(T.T @ local.gradient + penalty_slope, T.T @ local.exact @ T + extra, scale, l1)

    def _coefficients(self, a: Array) -> tuple[Array, Array]:
        """Return α, zero for terms that keep their angle, and √(1 + (α/κ)²)."""
        alpha = np.where(self.nonlinear, self.signs * np.exp(np.minimum(a, LARGEST_LOG)), 0.0)
        return alpha, np.sqrt(1 + (alpha / KNEE) ** 2)
