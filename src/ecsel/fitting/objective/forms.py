"""Term forms: how one term of a score depends on its exponents and on its one shape parameter.

A term of the signomial is α·exp(⟨β, u⟩) in the centred logs u. Two coordinate systems describe it:

*angle form* (used when the model has an intercept)
    z = κ cot φ · (exp(sin φ · t) − 1),   t = ⟨s, v⟩,   so  α = κ cot φ,  β = s·sin φ  (the −α joins the intercept).
    It is the parametrisation in which the penalty λ·√(1 + (α/κ)²)·|β| is simply λ·|s|: √(1 + cot²φ)·|sin φ| = 1.
    φ → 0 is logistic regression in the logs (z → κt); φ = ±π/2 is a term that has faded away; φ and φ + π with −s are
    the same term, so the angle needs no bounds. κ = `KNEE`, the |α| from which a coefficient costs.
    sin²φ says how curved a term is, from 0 (log-linear) to 1.

*power form* (no intercept, or the paper's own objective)
    z = α · exp(t),   t = ⟨β, v⟩.

Both give the solver z with its first and second derivatives in (shape, t); everything else is shared. The exponential
is continued linearly beyond exp(60), so that a bad step is a steep slope back and never an overflow or a flat plain.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

if TYPE_CHECKING:
    from ecsel._typing import Array

LARGEST_EXPONENT = {np.dtype(np.float64): 60.0, np.dtype(np.float32): 40.0}
SMALLEST_SINE = 1e-5
"""Closest approach to the log-linear limit that is written as a power law: α = 8e5 keeps ten digits in every export."""
KNEE = 8.0
"""``python -m benchmarks knee`` compares values: 8 has the best mean rank over eight tables."""
SERIES_BELOW = {np.dtype(np.float64): 1e-3, np.dtype(np.float32): 3e-2}


@dataclass(frozen=True, slots=True)
class Expansion:
    """Values and first derivatives of all terms of a block: arrays of shape (scores, terms, rows)."""

    t: Array
    exponential: Array
    value: Array
    by_shape: Array
    by_t: Array
    parts: tuple[Array, ...] = ()


class TermForm(Protocol):
    """The contract of a term form; `shape` has shape (scores, terms, 1), `t` (scores, terms, rows)."""

    has_intercept: bool

    def values(self, shape: Array, t: Array) -> Array:
        """Return z alone."""
        ...

    def expand(self, shape: Array, t: Array) -> Expansion:
        """Return z, ∂z/∂shape and ∂z/∂t."""
        ...

    def second(self, shape: Array, expansion: Expansion) -> tuple[Array, Array, Array]:
        """Return ∂²z/∂shape², ∂²z/∂shape∂t and ∂²z/∂t²."""
        ...

    def seed(self, curvature: Array) -> Array:
        """Return the shape of a new term that curves upwards (+1) or downwards (−1) along its slopes."""
        ...

    def to_power_law(self, shape: Array, slopes: Array) -> tuple[Array, Array, Array]:
        """Return coefficients α, exponents β (of the standardised logs) and the constant that joins the intercept."""
        ...

    def from_power_law(self, coefficients: Array, exponents: Array) -> tuple[Array, Array, Array]:
        """Inverse of `to_power_law`: shapes, slopes and what to add to the intercept."""
        ...


def _continued_exp(a: Array) -> tuple[Array, Array]:
    """Return exp(a), continued linearly beyond the largest exponent, and its slope."""
    largest = LARGEST_EXPONENT[a.dtype]
    if a.size == 0 or a.max() <= largest:
        e = np.exp(a)
        return e, e
    slope = np.exp(np.minimum(a, largest))
    return slope * (1 + np.maximum(a - largest, 0)), slope


class AngleForm:
    """z = κ cot φ · (exp(sin φ · t) − 1)."""

    has_intercept = True

    def values(self, shape: Array, t: Array) -> Array:
        """Return z alone."""
        sine, cosine = (part.astype(t.dtype, copy=False) for part in (np.sin(shape), np.cos(shape)))
        a = sine * t
        e, _ = _continued_exp(a)
        return (KNEE * cosine) * self._quotient(sine, t, a, e)

    def expand(self, shape: Array, t: Array) -> Expansion:
        """Return z = κ cos φ·q, ∂z/∂φ = κ(cos²φ·q′ − sin φ·q) and ∂z/∂t = κ cos φ·e^a, with a = sin φ·t.

        q = (e^a − 1)/sin φ, and q′ is its derivative by sin φ.
        """
        sine, cosine = (part.astype(t.dtype, copy=False) for part in (np.sin(shape), np.cos(shape)))
        a = sine * t
        e, slope = _continued_exp(a)
        q = self._quotient(sine, t, a, e)
        by_sine = self._quotient_slope(sine, t, a, slope, q)
        by_shape = (KNEE * cosine * cosine) * by_sine
        by_shape -= (KNEE * sine) * q
        outer = KNEE * cosine
        return Expansion(t, slope, outer * q, by_shape, outer * slope, (sine, cosine, q, by_sine))

    def second(self, shape: Array, expansion: Expansion) -> tuple[Array, Array, Array]:
        """Return the three second derivatives; q'' = (t²e − 2q')/sin φ, t³/3 at the limit."""
        del shape
        t, slope = expansion.t, expansion.exponential
        sine, cosine, q, q1 = expansion.parts
        near = np.abs(sine) < SERIES_BELOW[t.dtype]
        q2 = (t * t * slope - 2 * q1) / np.where(near, 1, sine)
        if near.any():
            q2 = np.where(near, t**3 * (1 / 3 + sine * t / 4), q2)
        by_shape2 = (-KNEE * cosine) * q - (3 * KNEE * sine * cosine) * q1 + (KNEE * cosine**3) * q2
        by_shape_t = KNEE * (cosine * cosine * t - sine) * slope
        return by_shape2, by_shape_t, sine * expansion.by_t

    def seed(self, curvature: Array) -> Array:
        """Return φ = ±0.7, that is α = ±9.5."""
        return 0.7 * curvature

    def to_power_law(self, shape: Array, slopes: Array) -> tuple[Array, Array, Array]:
        """Return α = κ cot φ, β = s·sin φ and −α, keeping |sin φ| at or above `SMALLEST_SINE`."""
        folded = (shape + np.pi / 2) % np.pi - np.pi / 2  # φ and φ + π (with −s) are the same term
        flipped = np.where(np.round((shape - folded) / np.pi) % 2 == 0, 1.0, -1.0)
        sine = np.sin(folded)
        sine = np.where(np.abs(sine) < SMALLEST_SINE, np.where(sine < 0, -SMALLEST_SINE, SMALLEST_SINE), sine)
        alpha = KNEE * np.cos(folded) / sine
        return alpha, slopes * (sine * flipped)[..., None], -alpha

    def from_power_law(self, coefficients: Array, exponents: Array) -> tuple[Array, Array, Array]:
        """Return φ = arccot(α/κ), s = β/sin φ and α."""
        angle = np.arctan2(KNEE, coefficients)
        angle = np.where(angle > np.pi / 2, angle - np.pi, angle)
        return angle, exponents / np.sin(angle)[..., None], coefficients

    @staticmethod
    def _quotient(sine: Array, t: Array, a: Array, e: Array) -> Array:
        """(exp(sin φ·t) − 1)/sin φ, by its series near the log-linear limit."""
        near = np.abs(sine) < SERIES_BELOW[t.dtype]
        if not near.any():
            return (e - 1) / sine
        series = t * (1 + a * (0.5 + a * (1 / 6 + a / 24)))
        return np.where(near & (np.abs(a) < 0.05), series, (e - 1) / np.where(sine == 0, 1, sine))

    @staticmethod
    def _quotient_slope(sine: Array, t: Array, a: Array, slope: Array, q: Array) -> Array:
        """∂q/∂sin φ = (t·e − q)/sin φ, t²(1/2 + a/3 + a²/8) near the limit."""
        near = np.abs(sine) < SERIES_BELOW[t.dtype]
        if not near.any():
            return (t * slope - q) / sine
        series = t * t * (0.5 + a * (1 / 3 + a / 8))
        return np.where(near & (np.abs(a) < 0.05), series, (t * slope - q) / np.where(sine == 0, 1, sine))


class PowerForm:
    """z = α · exp(t)."""

    has_intercept = False

    def values(self, shape: Array, t: Array) -> Array:
        """Return z alone."""
        return shape.astype(t.dtype, copy=False) * _continued_exp(t)[0]

    def expand(self, shape: Array, t: Array) -> Expansion:
        """Return z = α·e^t, ∂z/∂α = e^t and ∂z/∂t = α·e^t."""
        e, slope = _continued_exp(t)
        alpha = shape.astype(t.dtype, copy=False)
        return Expansion(t, slope, alpha * e, e, alpha * slope)

    def second(self, shape: Array, expansion: Expansion) -> tuple[Array, Array, Array]:
        """Return 0, e^t and α·e^t."""
        del shape
        return np.zeros_like(expansion.t), expansion.exponential, expansion.by_t

    def seed(self, curvature: Array) -> Array:
        """Return α = ±0.3."""
        return 0.3 * curvature

    def to_power_law(self, shape: Array, slopes: Array) -> tuple[Array, Array, Array]:
        """Return the parameters themselves: they are α and β."""
        return shape, slopes, np.zeros_like(shape)

    def from_power_law(self, coefficients: Array, exponents: Array) -> tuple[Array, Array, Array]:
        """Return the power law itself: α and β are the parameters."""
        return coefficients, exponents, np.zeros_like(coefficients)
