"""The default penalty: what an equation pays for its exponents and for bending.

*L1* charges, in the centred, standardised logs and with κ = 8,

    λ Σ_k ( √(1 + (α_k/κ)²) Σ_j |β_kj|  +  ½ / (1 + (α_k/κ)²) ).

In the angle form of `forms` this is λ Σ_k (Σ_j |s_kj| + ½ sin²φ_k). The first part lets terms of moderate size pay as
in the paper; as α → ∞, β = γ/α (the log-linear limit) it tends to (λ/κ) Σ |γ_j|, the lasso of logistic regression in
the logs: no escape from the charge that way. The second is the price of bending, at most λ/2 a term: rows that tell
nothing of a term's bend leave it log-linear, where without this price they leave it anywhere. A large λ gives the empty
model.
Without an intercept the form is α·exp(⟨β, v⟩) and the charge λ Σ_k (Σ_j |β_kj| + α_k²/2) keeps α from running away.

With a `Tariff` p the slopes pay Σ p(κ|s|; λ/κ) in place of λ Σ |s| (without an intercept p(|β|; λ)); bending costs the
same.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from ecsel.fitting.forms import KNEE, AngleForm, PowerForm
from ecsel.fitting.limits import FREE, Limits

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ecsel.fitting.forms import TermForm
    from ecsel.fitting.penalties.base import Array, Charge, Columns, Tariff

BENDING = 1.0
"""Price of a fully bent term in units of λ/2; ``python -m benchmarks knee`` compares it with none."""


@dataclass(frozen=True, slots=True)
class L1:
    """λ Σ (√(1 + (α/κ)²)·|β| + ½/(1 + (α/κ)²)): well posed, the lasso in log x as its limit, empty for large λ.

    `columns` numbers the column of each feature, for tariffs that charge columns; None: each feature is one.
    """

    strength: float
    tariff: Tariff | None = None
    limits: Limits = FREE
    columns: Columns | None = field(default=None, compare=False)

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
        """Return λ for each standardised slope, or what the tariff charges for the first of it."""
        if self.tariff is None:
            return np.full(spread.shape, self.strength)
        _, first, _ = self._charge(np.zeros((1, 1, len(spread))), 1.0, self.tariff)
        return first.reshape(spread.shape)

    def slope_charge(self, slopes: Array, *, intercept: bool) -> Charge | None:
        """Return the tariff's charge, if there is one, by the sizes κ|s| (without an intercept |β|)."""
        return None if self.tariff is None else self._charge(slopes, KNEE if intercept else 1.0, self.tariff)

    def _charge(self, slopes: Array, unit: float, tariff: Tariff) -> Charge:
        columns = np.arange(slopes.shape[-1]) if self.columns is None else self.columns
        value, first, second = tariff.charge(unit * np.abs(slopes), self.strength / unit, columns)
        return value, unit * first, unit**2 * second

    def shape_bound(self) -> float:
        """Return no bound, or π/2 where slopes have signs: beyond, a term would turn round."""
        return np.inf if self.limits.signs is None else np.pi / 2

    def of_features(self, mask: NDArray[np.bool_]) -> L1:
        """Return the same penalty for some of the features."""
        columns = None if self.columns is None else self.columns[mask]
        return replace(self, limits=self.limits.of_features(mask), columns=columns)
