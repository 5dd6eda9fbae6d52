"""The default penalty: what an equation pays for its exponents and for its curvature.

*L1* is, in the centred, standardised logs and with κ = 8,

    λ Σ_k ( √(1 + (α_k/κ)²) Σ_j |β_kj|  +  ½ / (1 + (α_k/κ)²) ).

In the angle form of `forms` this is λ Σ_k (Σ_j |s_kj| + ½ sin²φ_k). The first part lets terms of moderate size pay as
in the paper; as α → ∞, β = γ/α (the log-linear limit) it tends to (λ/κ) Σ |γ_j|, the lasso of logistic regression in
the logs: no escape from the penalty that way. The second is the price of curvature, at most λ/2 a term: rows that say
nothing of a term's curvature leave it log-linear, where without this price they leave it anywhere. A large λ gives the
empty model.
Without an intercept the form is α·exp(⟨β, v⟩) and the penalty λ Σ_k (Σ_j |β_kj| + α_k²/2) keeps α from running away.

With a `Penalty` p the slopes pay Σ p(κ|s|; λ/κ) in place of λ Σ |s| (without an intercept p(|β|; λ)); curvature costs
the same.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from ecsel.fitting.objective.constraints import UNCONSTRAINED, Constraints
from ecsel.fitting.objective.forms import KNEE, AngleForm, PowerForm

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ecsel._typing import Array
    from ecsel.fitting.objective.forms import TermForm
    from ecsel.fitting.penalties.base import Columns, Penalty, PenaltyValue

BENDING = 1.0
"""Price of a fully curved term in units of λ/2; ``python -m benchmarks knee`` compares it with none."""


@dataclass(frozen=True, slots=True)
class L1:
    """λ Σ (√(1 + (α/κ)²)·|β| + ½/(1 + (α/κ)²)): well posed, the lasso in log x as its limit, empty for large λ.

    `columns` numbers the column of each feature, for penalties of whole columns; None: each feature is one.

    Examples
    --------
    >>> import numpy as np
    >>> L1(0.1).slope_weights(np.ones(2))
    array([0.1, 0.1])
    """

    strength: float
    slope_penalty: Penalty | None = None
    constraints: Constraints = UNCONSTRAINED
    columns: Columns | None = field(default=None, compare=False)

    def form(self, *, intercept: bool) -> TermForm:
        """Return the angle form, or the power form where there is no intercept to absorb −α."""
        return AngleForm() if intercept else PowerForm()

    def shape_value(self, shapes: Array, *, intercept: bool) -> PenaltyValue:
        """Return λ/2·sin²φ in the angle form, λ/2·α² in the power form."""
        if not intercept:
            return self.strength / 2 * shapes * shapes, self.strength * shapes, np.full_like(shapes, self.strength)
        sine, cosine, price = np.sin(shapes), np.cos(shapes), self.strength * BENDING
        return price / 2 * sine * sine, price * sine * cosine, price * (cosine * cosine - sine * sine)

    def slope_weights(self, std: Array) -> Array:
        """Return λ for each standardised slope, or the first derivative of the slope penalty at zero."""
        if self.slope_penalty is None:
            return np.full(std.shape, self.strength)
        _, first, _ = self._slope_value(np.zeros((1, 1, len(std))), 1.0, self.slope_penalty)
        return first.reshape(std.shape)

    def slope_value(self, slopes: Array, *, intercept: bool) -> PenaltyValue | None:
        """Return the slope penalty, if there is one, by the sizes κ|s| (without an intercept |β|)."""
        if self.slope_penalty is None:
            return None
        return self._slope_value(slopes, KNEE if intercept else 1.0, self.slope_penalty)

    def _slope_value(self, slopes: Array, unit: float, penalty: Penalty) -> PenaltyValue:
        columns = np.arange(slopes.shape[-1]) if self.columns is None else self.columns
        value, first, second = penalty.value(unit * np.abs(slopes), self.strength / unit, columns)
        return value, unit * first, unit**2 * second

    def shape_bound(self) -> float:
        """Return no bound, or π/2 where slopes have signs: beyond, a term would turn round."""
        return np.inf if self.constraints.signs is None else np.pi / 2

    def of_features(self, mask: NDArray[np.bool_]) -> L1:
        """Return the same penalty for some of the features."""
        columns = None if self.columns is None else self.columns[mask]
        return replace(self, constraints=self.constraints.of_features(mask), columns=columns)
