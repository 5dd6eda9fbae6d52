"""The elastic net (Zou & Hastie 2005): p(x) = λ (ρ x + (1 − ρ) x²/2).

Features that say the same share a slope instead of one taking all. Where terms are straight this is scikit-learn's
elastic net of logistic regression in the logs, with ``l1_ratio=ρ`` and C = κ/λ.
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
class ElasticNet:
    """λ (ρ x + (1 − ρ) x²/2); `ratio` is ρ, and 1 gives "l1".

    Examples
    --------
    >>> from ecsel import ECSELClassifier
    >>> from ecsel.fitting import ElasticNet
    >>> ECSELClassifier(penalty=ElasticNet(ratio=0.8))
    ECSELClassifier(...)
    """

    ratio: float = 0.5

    def __post_init__(self) -> None:
        check_between("ElasticNet: ratio", self.ratio, 0.0, 1.0)

    def value(self, sizes: Array, strength: float, columns: Columns) -> PenaltyValue:
        """Return the linear and the quadratic part together."""
        del columns
        bent = strength * (1 - self.ratio)
        first = strength * self.ratio + bent * sizes
        return (strength * self.ratio + bent / 2 * sizes) * sizes, first, np.full_like(sizes, bent)
