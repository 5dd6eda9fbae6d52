"""What a search returns. Targets whose squares overflow are searched scaled, and reported unscaled."""

from dataclasses import dataclass, field, replace

import numpy as np

from ecsel._typing import Floats
from ecsel.discovery.law import Law
from ecsel.discovery.residual_tests import Misfit


@dataclass(frozen=True, eq=False)
class Discovery:
    """The law, its near-ties, the front, and how the search ended. Laws speak of all columns of the table.

    The errors are those of leaving out each row in turn, for the law, the near-ties and the front. ``misfit`` tells
    whether the residuals of the law still hold something, ``largest_leverage`` how much one row pulls it to itself, and
    ``explodes`` whether it leaves the range of its values by far where columns are combined in another way.
    """

    law: Law
    near_ties: tuple[Law, ...]
    front: tuple[Law, ...]
    error: float
    near_errors: tuple[float, ...]
    front_errors: tuple[float, ...]
    left_out: tuple[int, ...]
    misfit: Misfit = field(default_factory=Misfit)
    largest_leverage: float = 0.0
    explodes: bool = False
    complete: bool = True
    interrupted: bool = False

    def rescaled(self, scale: float) -> "Discovery":
        """Return the laws of y / scale as laws of y; squares beyond the floating-point range become 0 or infinite."""
        return replace(
            self,
            law=_law_of(self.law, scale),
            near_ties=tuple(_law_of(law, scale) for law in self.near_ties),
            front=tuple(_law_of(law, scale) for law in self.front),
            error=self.error * scale * scale,
            near_errors=tuple(v * scale * scale for v in self.near_errors),
            front_errors=tuple(v * scale * scale for v in self.front_errors),
        )


def _law_of(law: Law, scale: float) -> Law:
    factor = np.ones(law.structure.n_parameters)
    factor[: len(law)] = scale
    with np.errstate(over="ignore", invalid="ignore"):
        covariance = law.covariance * factor * factor[:, None]
    return replace(
        law,
        coefficients=law.coefficients * scale,
        estimates=law.estimates * scale,
        rss=law.rss * scale * scale,
        covariance=covariance,
    )


def extreme_scale(y: Floats) -> float:
    """Return a power of ten near |y| where its squares would leave the floating-point range, and one elsewhere.

    >>> extreme_scale(np.array([3e200])), extreme_scale(np.array([3.0]))
    (1e+200, 1.0)
    """
    top = float(np.abs(y).max(initial=0.0))
    return 1.0 if top == 0.0 or 1e-100 < top < 1e100 else float(10.0 ** np.floor(np.log10(top)))
