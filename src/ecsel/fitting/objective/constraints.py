"""Constraints: which signs slopes may have and between which bounds exponents must lie, whatever the penalty.

*Signs* (monotone scores) are box bounds of the slopes. In the angle form ∂z/∂t = κ cos φ·exp(sin φ·t), so with
|φ| ≤ π/2 a term rises with every feature whose slope is not negative, whatever the sign of α: s_kj ≥ 0 is the whole
condition.

*Bounds on exponents* are low_j ≤ β_kj ≤ high_j with low_j ≤ 0 ≤ high_j: a feature may always be left out, so the empty
model stays allowed and a large λ still gives it. In the power form they are a box; in the angle form they are curved,
see `exponent_bounds`. Bounds of (0, 0) keep a feature out of every term.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ecsel._typing import Array


@dataclass(frozen=True, slots=True, eq=False)
class Constraints:
    """Signs of slopes, (scores, features) with 0 where they are free, and bounds of exponents, each (features,).

    Examples
    --------
    >>> import numpy as np
    >>> bounded = Constraints(exponents=(np.array([-1.0]), np.array([1.0])))
    >>> bounded.clip(np.array([[2.5]]))
    array([[1.]])
    """

    signs: Array | None = None
    exponents: tuple[Array, Array] | None = None

    def of_features(self, mask: NDArray[np.bool_]) -> Constraints:
        """Return the constraints of some of the features."""
        return Constraints(
            None if self.signs is None else self.signs[:, mask],
            None if self.exponents is None else (self.exponents[0][mask], self.exponents[1][mask]),
        )

    def only(self, mask: NDArray[np.bool_]) -> Constraints:
        """Return the constraints that also keep every feature outside the mask out."""
        low, high = self.exponents or (np.full(len(mask), -np.inf), np.full(len(mask), np.inf))
        return Constraints(self.signs, (np.where(mask, low, 0.0), np.where(mask, high, 0.0)))

    def open(self, n_features: int) -> NDArray[np.bool_]:
        """Return which features may take part."""
        if self.exponents is None:
            return np.ones(n_features, dtype=bool)
        low, high = self.exponents
        return (low < 0) | (high > 0)

    def clip(self, exponents: Array) -> Array:
        """Return the exponents without what rounding has put beyond a bound."""
        return exponents if self.exponents is None else np.clip(exponents, *self.exponents)


UNCONSTRAINED = Constraints()
