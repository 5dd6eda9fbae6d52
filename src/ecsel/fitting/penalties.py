"""Penalties: what an equation pays for its exponents and for bending.

*L1* (the default) charges, in the centred, standardised logs and with κ = 8,

    λ Σ_k ( √(1 + (α_k/κ)²) Σ_j |β_kj|  +  ½ / (1 + (α_k/κ)²) ).

In the angle form of `forms` this is λ Σ_k (Σ_j |s_kj| + ½ sin²φ_k). The first part lets terms of moderate size pay as
in the paper; as α → ∞, β = γ/α (the log-linear limit) it tends to (λ/κ) Σ |γ_j|, the lasso of logistic regression in
the logs: no escape from the charge that way. The second is the price of bending, at most λ/2 a term: rows that tell
nothing of a term's bend leave it log-linear, where without this price they leave it anywhere. A large λ gives the empty
model.
Without an intercept the form is α·exp(⟨β, v⟩) and the charge λ Σ_k (Σ_j |β_kj| + α_k²/2) keeps α from running away.

*PaperL1* is the paper's equation (loss): λ Σ |β_kj| on the exponents of the positive features alone. It has no
minimiser once a constant, a second term or a softmax is present (α → ∞, β → 0 at vanishing cost), so |α| is bounded.

A penalty is a separable sum: ℓ1 weights of the slopes, a smooth charge of the shapes, and box bounds. Adding one of
that kind means adding one class here.

*Signs* (monotone scores) are box bounds too. In the angle form ∂z/∂t = κ cos φ·exp(sin φ·t), so with |φ| ≤ π/2 a term
rises with every feature whose slope is not negative, whatever the sign of α: s_kj ≥ 0 is the whole condition.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ecsel.fitting.forms import AngleForm, PowerForm, TermForm

Array = NDArray[np.floating]
Charge = tuple[Array, Array, Array]
"""Value, first and second derivative of a smooth charge, entry by entry."""


BENDING = 1.0
"""Price of a fully bent term in units of λ/2; ``python -m benchmarks knee`` compares it with none."""


class Penalty(Protocol):
    """The contract: strength, the term form in which the penalty is separable, the charges of a term's parameters."""

    strength: float

    def form(self, *, intercept: bool) -> TermForm:
        """Return the coordinates in which this penalty is separable."""
        ...

    def shape_charge(self, shapes: Array, *, intercept: bool) -> Charge:
        """Return the smooth charge of each shape with its first and second derivative."""
        ...

    def slope_weights(self, spread: Array) -> Array:
        """Return the ℓ1 weights of a term's slopes; `spread` is the standard deviation of each log feature."""
        ...

    def shape_bound(self) -> float:
        """Return the largest |shape| allowed."""
        ...

    def slope_signs(self) -> Array | None:
        """Return the sign that each slope must have, (scores, features) with 0 where it is free, or None."""
        ...

    def of_features(self, mask: NDArray[np.bool_]) -> Penalty:
        """Return the same penalty for some of the features."""
        ...


@dataclass(frozen=True, slots=True)
class L1:
    """λ Σ (√(1 + (α/κ)²)·|β| + ½/(1 + (α/κ)²)): well posed, the lasso in log x as its limit, empty for large λ."""

    strength: float
    signs: Array | None = field(default=None, compare=False)

    def form(self, *, intercept: bool) -> TermForm:
        """Return the angle form, or the power form where there is no intercept to absorb −α."""
        return AngleForm() if intercept else PowerForm()

    def shape_charge(self, shapes: Array, *, intercept: bool) -> Charge:
        """Return λ/2·sin²φ in the angle form, λ/2·α² in the power form."""
        if not intercept:
            return self.strength / 2 * shapes * shapes, self.strength * shapes, np.full_like(shapes, self.strength)
        sine, cosine, price = np.sin(shapes), np.cos(shapes), self.strength * BENDING
        return price / 2 * sine * sine, price * sine * cosine, price * (cosine * cosine - sine * sine)

    def slope_weights(self, spread: Array) -> Array:
        """Return λ for each standardised slope."""
        return np.full(spread.shape, self.strength)

    def shape_bound(self) -> float:
        """Return no bound, or π/2 where slopes have signs: beyond, a term would turn round."""
        return np.inf if self.signs is None else np.pi / 2

    def slope_signs(self) -> Array | None:
        """Return the signs that were asked for."""
        return self.signs

    def of_features(self, mask: NDArray[np.bool_]) -> L1:
        """Return the same penalty for some of the features."""
        return self if self.signs is None else replace(self, signs=self.signs[:, mask])


@dataclass(frozen=True, slots=True)
class PaperL1:
    """λ Σ |β| as in the paper's objective, with the bound on |α| without which it has no minimiser."""

    strength: float
    largest_coefficient: float = 100.0

    def form(self, *, intercept: bool) -> TermForm:
        """Return the power form, whatever the intercept."""
        del intercept
        return PowerForm()

    def shape_charge(self, shapes: Array, *, intercept: bool) -> Charge:
        """Return 0: the paper does not charge for α."""
        del intercept
        zero = np.zeros_like(shapes)
        return zero, zero, zero

    def slope_weights(self, spread: Array) -> Array:
        """Return λ per unit of the raw exponent β = slope/spread."""
        return self.strength / spread

    def shape_bound(self) -> float:
        """Return the bound on |α|, α being the term's value at a typical row."""
        return self.largest_coefficient

    def slope_signs(self) -> Array | None:
        """Return None: the paper's trainer has no signs."""
        return None

    def of_features(self, mask: NDArray[np.bool_]) -> PaperL1:
        """Return the penalty itself."""
        del mask
        return self


PENALTIES = {"l1": L1, "paper": PaperL1}
