"""The smoothly clipped absolute deviation (Fan & Li 2001): ℓ1 up to λ, then less and less, from aλ on nearly nothing.

    p′(x) = λ ( (1 − f) min(1, max(0, (a − x/λ)/(a − 1))) + f ),   f = `mcp.FLOOR`

The floor keeps the penalty growing, as in `mcp`. a → ∞ gives "l1". The default a = 13 is as concave as MCP's γ = 12.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ecsel.fitting.penalties.checks import check_between
from ecsel.fitting.penalties.mcp import FLOOR

if TYPE_CHECKING:
    from ecsel._typing import Array
    from ecsel.fitting.penalties.base import Columns, PenaltyValue


@dataclass(frozen=True, slots=True)
class SCAD:
    """The smoothly clipped absolute deviation; `a` times λ is where the penalty of a slope hardly grows.

    Examples
    --------
    >>> from ecsel import ECSELClassifier
    >>> from ecsel.fitting import SCAD
    >>> ECSELClassifier(penalty=SCAD(a=20.0))
    ECSELClassifier(...)
    """

    a: float = 13.0

    def __post_init__(self) -> None:
        check_between("SCAD: a", self.a, 1.0)

    def value(self, sizes: Array, strength: float, columns: Columns) -> PenaltyValue:
        """Return λx less (x − λ)²/2(a − 1) between λ and aλ, constant beyond, and the floor's share."""
        del columns
        clipped = np.minimum(sizes, self.a * strength)
        over = np.maximum(clipped - strength, 0.0)
        value = (1 - FLOOR) * (strength * clipped - over * over / (2 * (self.a - 1))) + FLOOR * strength * sizes
        first = (1 - FLOOR) * (strength - over / (self.a - 1)) + FLOOR * strength
        between = (sizes > strength) & (sizes < self.a * strength)
        return value, first, np.where(between, -(1 - FLOOR) / (self.a - 1), 0.0)
