"""Whole columns: the logarithmic penalty of the sum over all exponents of a column, in all terms and scores.

    λ Σ_g ε log(1 + X_g/ε),   X_g = Σ of the sizes of column g's slopes,   p′ = λ/(1 + X_g/ε) for each of them

It is the group bridge (Huang et al. 2009) with a logarithm for the root. A column that is out pays λ for its first
exponent; once it is in, all its further exponents cost less: columns leave as a whole, and those that stay may still
leave single terms. Each slope's weight depends on the others of its column. The tangent in X_g lies above the concave
penalty and is an ℓ1 penalty with equal weights, so every step on it lowers the true objective. At a fixed point both
have the same slopes: the conditions in `base` hold for the true penalty.
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
class Group:
    """λ Σ_columns ε log(1 + X/ε); `width` is ε.

    Examples
    --------
    >>> from ecsel import ECSELClassifier
    >>> from ecsel.fitting import Group
    >>> ECSELClassifier(penalty=Group(width=0.5))
    ECSELClassifier(...)
    """

    width: float = 0.5

    def __post_init__(self) -> None:
        check_between("Group: width", self.width, 0.0)

    def value(self, sizes: Array, strength: float, columns: Columns) -> PenaltyValue:
        """Return the penalty of each column, and the same derivative for all its features."""
        total = np.bincount(columns, weights=sizes.sum(axis=(0, 1)))
        first = np.broadcast_to((strength / (1 + total / self.width))[columns], sizes.shape)
        return strength * self.width * np.log1p(total / self.width), first, np.zeros_like(sizes)
