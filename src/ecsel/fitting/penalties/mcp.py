"""The minimax concave penalty (Zhang 2010): slopes pay λ at first, less and less, and from γλ on nearly nothing more.

    p′(x) = λ ( (1 − f) max(0, 1 − x/(γλ)) + f ),   f = `FLOOR`

Large exponents are hardly shrunk, small ones are as zero as with ℓ1. The floor f keeps the penalty growing: without it
rows that can be separated have no minimiser. γ → ∞ gives "l1". Against the logistic loss's largest curvature ¼, the
default γ = 12 is what γ = 3 is in a linear model.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ecsel.fitting.penalties.checks import check_between

if TYPE_CHECKING:
    from ecsel._typing import Array
    from ecsel.fitting.penalties.base import Columns, PenaltyValue

FLOOR = 0.05
"""The share of λ that slopes of any size go on paying."""


@dataclass(frozen=True, slots=True)
class MCP:
    """The minimax concave penalty; a smaller `gamma` spares more exponents and has more local minima.

    Examples
    --------
    >>> from ecsel import ECSELClassifier
    >>> from ecsel.fitting import MCP
    >>> ECSELClassifier(penalty=MCP(gamma=6.0))
    ECSELClassifier(...)
    """

    gamma: float = 12.0

    def __post_init__(self) -> None:
        check_between("MCP: gamma", self.gamma, 0.0)

    def value(self, sizes: Array, strength: float, columns: Columns) -> PenaltyValue:
        """Return (1 − f)(λx − x²/2γ) up to the knee γλ, constant beyond, and fλx."""
        del columns
        concave = np.minimum(sizes, self.gamma * strength)
        value = (1 - FLOOR) * (strength - concave / (2 * self.gamma)) * concave + FLOOR * strength * sizes
        first = (1 - FLOOR) * (strength - concave / self.gamma) + FLOOR * strength
        second = np.where(sizes < self.gamma * strength, -(1 - FLOOR) / self.gamma, 0.0)
        return value, first, second
