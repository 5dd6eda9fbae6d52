"""One number decides everything: the code length of the data and of the law, in nats.

The data are coded by Hansen and Yu's gMDL, which needs no noise level and whose price per parameter grows with the
signal-to-noise ratio (BIC overfits at 20 rows):

    gMDL(RSS, k) = N/2 ln S + k/2 ln F + ln N,    S = RSS/(N - k),    F = (y'y - RSS)/(k S).

With a known noise variance s, N/2 ln S becomes N/2 ln s + RSS/(2 s) and F uses s. The law is coded by its lattice
(:mod:`ecsel.discovery.lattice`); the order of K terms carries no information, hence -ln K!.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.special import gammaln

from ecsel._typing import Floats

STRONG_EVIDENCE = 2.5
"""Nats, a Bayes factor of 12: whatever takes more words must be better by this much than what takes fewer."""
ROUNDING = 1e-12
"""Residuals below this share of the target's root mean square are floating-point noise."""


@dataclass(frozen=True)
class Criterion:
    """Code length of a target with ``n_rows`` rows and energy y'y.

    >>> criterion = Criterion(100, energy=100.0)
    >>> bool(criterion.data(1.0, 2) < criterion.data(2.0, 2)), bool(criterion.data(1.0, 3) > criterion.data(1.0, 2))
    (True, True)
    """

    n_rows: int
    energy: float
    noise_variance: float | None = None

    @property
    def floor(self) -> float:
        """The smallest residual sum of squares that floating point can tell from zero."""
        return max(self.energy * ROUNDING**2, float(np.finfo(float).tiny))

    def data(self, rss: npt.ArrayLike, k: npt.ArrayLike) -> Floats:
        """Return gMDL for residual sums of squares and parameter counts (arrays broadcast); infinite when k > N - 2."""
        rss_, k_ = np.maximum(np.asarray(rss, dtype=float), self.floor), np.asarray(k, dtype=float)
        n = float(self.n_rows)
        left = np.maximum(n - k_, 1.0)
        variance = rss_ / left if self.noise_variance is None else np.asarray(self.noise_variance, dtype=float)
        ratio = np.maximum(self.energy - rss_, 0.0) / (np.maximum(k_, 1.0) * variance)
        fit = 0.5 * n * np.log(variance)
        if self.noise_variance is not None:
            fit = fit + 0.5 * rss_ / self.noise_variance
        length = fit + 0.5 * k_ * np.log(np.maximum(ratio, 1.0)) + np.log(n)
        return np.where(k_ > n - 2, np.inf, length)

    def parameter_price(self, rss: float, k: int) -> float:
        """Return 1/2 ln F, what one more real number costs."""
        variance = (
            max(rss, self.floor) / max(self.n_rows - k, 1) if self.noise_variance is None else self.noise_variance
        )
        return float(0.5 * np.log(max((self.energy - rss) / (max(k, 1) * variance), 1.0)))


def order_credit(n_terms: npt.ArrayLike) -> Floats:
    """Return ln K!, the length that an unordered set of K terms saves.

    >>> float(order_credit(3).round(6)) == float(np.log(6).round(6))
    True
    """
    return np.asarray(gammaln(np.asarray(n_terms, dtype=float) + 1.0))
