"""*PaperL1* is the paper's equation (loss): λ Σ |β_kj| on the exponents of the positive features alone.

It has no minimiser once a constant, a second term or a softmax is present (α → ∞, β → 0 at vanishing cost), so |α| is
bounded.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from ecsel.fitting.objective.constraints import UNCONSTRAINED, Constraints
from ecsel.fitting.objective.forms import PowerForm

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ecsel._typing import Array
    from ecsel.fitting.objective.forms import TermForm
    from ecsel.fitting.penalties.base import PenaltyValue


@dataclass(frozen=True, slots=True)
class PaperL1:
    """λ Σ |β| as in the paper's objective, with the bound on |α| without which it has no minimiser.

    Examples
    --------
    >>> import numpy as np
    >>> PaperL1(0.1).slope_weights(np.array([1.0, 2.0]))
    array([0.1 , 0.05])
    """

    strength: float
    largest_coefficient: float = 100.0
    constraints: Constraints = UNCONSTRAINED

    def form(self, *, intercept: bool) -> TermForm:
        """Return the power form, whatever the intercept."""
        del intercept
        return PowerForm()

    def shape_value(self, shapes: Array, *, intercept: bool) -> PenaltyValue:
        """Return 0: the paper has no penalty on α."""
        del intercept
        zero = np.zeros_like(shapes)
        return zero, zero, zero

    def slope_weights(self, std: Array) -> Array:
        """Return λ per unit of the raw exponent β = slope/std."""
        return self.strength / std

    def slope_value(self, slopes: Array, *, intercept: bool) -> PenaltyValue | None:
        """Return None: every unit of an exponent costs the same."""
        del slopes, intercept
        return None

    def shape_bound(self) -> float:
        """Return the bound on |α|, α being the term's value at a typical row."""
        return self.largest_coefficient

    def of_features(self, mask: NDArray[np.bool_]) -> PaperL1:
        """Return the same penalty for some of the features."""
        return replace(self, constraints=self.constraints.of_features(mask))
