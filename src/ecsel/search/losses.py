"""Losses: what a search minimises, as objects that every part of it asks.

With scores z (scores × rows) a loss gives its value for every row, the negative derivative y − μ of a row by each
score, and the second derivatives that Newton's method needs, as one weight a row for a pair of scores:

==========  ====================  ==============  ===========================
loss        value                 residual        weight of scores (c, d)
==========  ====================  ==============  ===========================
Logistic    log(1 + e^z) − y z    y − p           p (1 − p)
Softmax     log Σ e^z − z_y       [y = c] − p_c   p_c ([c = d] − p_d)
Squared     (y − z)² / 2          y − z           1
==========  ====================  ==============  ===========================

A further loss is one more class with these methods; `ecsel.search.glm` runs any of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import numpy as np
from scipy import special

if TYPE_CHECKING:
    from ecsel._typing import Floats

PRECISION = 1e-6
"""Residuals of a standardised target below this are rounding: pieces are held in single precision."""


class Loss(Protocol):
    """The contract of a loss. Targets are numbers: 0 and 1, class codes, or measurements."""

    n_scores: int
    name: str

    def values(self, scores: Floats, target: Floats) -> Floats:
        """Return the loss of every row."""
        ...

    def means(self, scores: Floats) -> Floats:
        """Return the expected target μ of every score and row: probabilities, or the scores themselves."""
        ...

    def residuals(self, means: Floats, target: Floats) -> Floats:
        """Return −∂loss/∂score of every score and row."""
        ...

    def curvature(self, means: Floats, c: int, d: int) -> Floats | float:
        """Return ∂²loss/∂z_c∂z_d of every row."""
        ...

    def start(self, target: Floats, weights: Floats) -> Floats:
        """Return the scores of the best model without columns."""
        ...

    def dispersion(self, scores: Floats, target: Floats, weights: Floats, n_parameters: int) -> float:
        """Return what a unit of the loss is worth: 1 for likelihoods in nats, the noise variance of squared errors."""
        ...


class Logistic:
    """Two classes, one score: the log-odds of the second class. Targets are 0 and 1."""

    n_scores = 1
    name = "logistic"

    def values(self, scores: Floats, target: Floats) -> Floats:
        """Return log(1 + e^z) − y z."""
        z = scores[0]
        return np.asarray(np.logaddexp(0.0, z) - target * z)

    def means(self, scores: Floats) -> Floats:
        """Return the probability of the second class."""
        return np.asarray(special.expit(scores))

    def residuals(self, means: Floats, target: Floats) -> Floats:
        """Return y − p."""
        return np.asarray(target - means)

    def curvature(self, means: Floats, c: int, d: int) -> Floats | float:
        """Return p (1 − p)."""
        del c, d
        return np.asarray(means[0] * (1.0 - means[0]))

    def start(self, target: Floats, weights: Floats) -> Floats:
        """Return the log-odds of the share of the second class."""
        return np.asarray([special.logit(np.average(target, weights=weights))])

    def dispersion(self, scores: Floats, target: Floats, weights: Floats, n_parameters: int) -> float:
        """Return 1."""
        del scores, target, weights, n_parameters
        return 1.0


class Softmax:
    """One score a class. Targets are class codes."""

    name = "softmax"

    def __init__(self, n_classes: int) -> None:
        self.n_scores = n_classes

    def values(self, scores: Floats, target: Floats) -> Floats:
        """Return log Σ e^z − z_y."""
        own = scores[target.astype(np.intp), np.arange(scores.shape[1])]
        top = scores.max(axis=0)
        return np.asarray(np.log(np.exp(scores - top).sum(axis=0)) + top - own)

    def means(self, scores: Floats) -> Floats:
        """Return the probabilities."""
        weights = np.exp(scores - scores.max(axis=0))
        return np.asarray(weights / weights.sum(axis=0))

    def residuals(self, means: Floats, target: Floats) -> Floats:
        """Return [y = c] − p_c."""
        return np.asarray((target[None, :] == np.arange(self.n_scores)[:, None]) - means)

    def curvature(self, means: Floats, c: int, d: int) -> Floats | float:
        """Return p_c ([c = d] − p_d)."""
        return np.asarray(means[c] * ((c == d) - means[d]))

    def start(self, target: Floats, weights: Floats) -> Floats:
        """Return the centred logarithms of the shares of the classes."""
        shares = np.bincount(target.astype(np.intp), weights=weights, minlength=self.n_scores)
        logs = np.log(np.maximum(shares, 1e-12 * shares.sum()))
        return np.asarray(logs - logs.mean())

    def dispersion(self, scores: Floats, target: Floats, weights: Floats, n_parameters: int) -> float:
        """Return 1."""
        del scores, target, weights, n_parameters
        return 1.0


class Squared:
    """Half the squared error of one score; targets are measurements.

    Targets are standardised: the ridge of coefficients and the `PRECISION` of residuals are in that unit.
    """

    n_scores = 1
    name = "squared"

    def values(self, scores: Floats, target: Floats) -> Floats:
        """Return (y − z)²/2."""
        return np.asarray(0.5 * (target - scores[0]) ** 2)

    def means(self, scores: Floats) -> Floats:
        """Return the scores."""
        return scores

    def residuals(self, means: Floats, target: Floats) -> Floats:
        """Return y − z."""
        return np.asarray(target - means)

    def curvature(self, means: Floats, c: int, d: int) -> Floats | float:
        """Return 1."""
        del means, c, d
        return 1.0

    def start(self, target: Floats, weights: Floats) -> Floats:
        """Return the mean."""
        return np.asarray([np.average(target, weights=weights)])

    def dispersion(self, scores: Floats, target: Floats, weights: Floats, n_parameters: int) -> float:
        """Return the mean squared error per degree of freedom, never below that of rounding."""
        total = float(weights @ (target - scores[0]) ** 2)
        return max(total / max(float(weights.sum()) - n_parameters, 1.0), PRECISION**2)
