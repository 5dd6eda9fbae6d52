"""ℓ0-like: the logarithmic penalty (Candès, Wakin & Boyd 2008), which counts exponents more than it measures them.

    p(x) = λ ε log(1 + x/ε),   p′(x) = λ/(1 + x/ε)

A slope ten times as large as ε pays hardly more than one five times as large; as ε → 0, p/(λε log(1/ε)) tends to the
number of exponents. The penalty grows without bound, so there is a minimiser; ε → ∞ gives "l1".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ecsel.fitting.penalties.checks import check_between

if TYPE_CHECKING:
    from ecsel._typing import Array
    from ecsel.fitting.penalties.base import Columns, PenaltyValue


@dataclass(frozen=True, slots=True)
class L0:
    """λ ε log(1 + x/ε); `width` is ε, the size beyond which the penalty counts a slope more than it measures it.

    Examples
    --------
    >>> from ecsel import ECSELClassifier
    >>> from ecsel.fitting import L0
    >>> ECSELClassifier(penalty=L0(width=0.05))
    ECSELClassifier(...)
    """

    width: float = 0.1

    def __post_init__(self) -> None:
        check_between("L0: width", self.width, 0.0)

    def value(self, sizes: Array, strength: float, columns: Columns) -> PenaltyValue:
        """Return the logarithm."""
        del columns
        first = strength / (1 + sizes / self.width)
        return strength * self.width * np.log1p(sizes / self.width), first, -first / (self.width + sizes)
