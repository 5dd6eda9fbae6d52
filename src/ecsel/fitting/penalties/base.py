"""Two contracts: `Penalty`, all that a new penalty must be, and `EquationPenalty`, which the solvers see.

A penalty is a sum of ℓ1-like penalties of the slopes and smooth ones of the shapes. Near a point with slopes s₀ the
solvers take the penalty of a slope for  p′(|s₀|)·|s| + ½ p″(|s₀|)·(s − s₀)² : an ℓ1 penalty whose weight follows the
slope (local linear approximation, Zou & Li 2008) with the curvature that is left. Steps are accepted by the true
penalty, and where no step is left

    |∂loss/∂s| ≤ p′(0) at s = 0,    ∂loss/∂s = −p′(|s|) sign s elsewhere:

the stationarity conditions of the true objective, whether p is convex or not.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from ecsel._typing import Array

if TYPE_CHECKING:
    from ecsel.fitting.objective.constraints import Constraints
    from ecsel.fitting.objective.forms import TermForm

Columns = NDArray[np.integer]
PenaltyValue = tuple[Array, Array, Array]
"""Values, whose sum is the penalty, and first and second derivatives, entry by entry."""


@runtime_checkable
class Penalty(Protocol):
    """A penalty of slopes. To add one, write such a class, as those in `slopes`, and name it in `PENALTIES`.

    Keep it well posed: the first derivative is positive at zero and proportional to the strength (a large one then
    empties the model), nowhere negative, and the penalty grows without bound (then there is a minimiser).
    """

    def value(self, sizes: Array, strength: float, columns: Columns) -> PenaltyValue:
        """Return the penalty with its derivatives by the sizes.

        `sizes` (scores, terms, features) are those of logistic regression: |slope| in log-odds per standard deviation
        of the log feature, where the term is straight. The curvature of the loss in these units is at most ¼.
        `columns` (features,) numbers the column that each feature comes from.
        """
        ...


class EquationPenalty(Protocol):
    """Strength, constraints, the term form in which the penalty is a sum, and the penalties of a term's numbers."""

    @property
    def strength(self) -> float:
        """λ."""
        ...

    @property
    def constraints(self) -> Constraints:
        """What slopes and exponents may be."""
        ...

    def form(self, *, intercept: bool) -> TermForm:
        """Return the coordinates in which this penalty is a sum."""
        ...

    def shape_value(self, shapes: Array, *, intercept: bool) -> PenaltyValue:
        """Return the smooth penalty of each shape with its first and second derivative."""
        ...

    def slope_weights(self, std: Array) -> Array:
        """Return the ℓ1 weights of slopes at zero; `std` is the standard deviation of each log feature."""
        ...

    def slope_value(self, slopes: Array, *, intercept: bool) -> PenaltyValue | None:
        """Return the penalty of the slopes with its derivatives by |slope|; None where it is weight times |slope|."""
        ...

    def shape_bound(self) -> float:
        """Return the largest |shape| allowed."""
        ...

    def of_features(self, mask: NDArray[np.bool_]) -> EquationPenalty:
        """Return the same penalty for some of the features."""
        ...
