"""Penalties of slopes, each in place of λ|s|; `ecsel.fitting.penalties.base` has the contract.

ElasticNet  λ (ρ x + (1 − ρ) x²/2)                                 features that say the same share a slope
MCP, SCAD   p′ = λ at first, less and less, nearly 0 in the end    large exponents are hardly shrunk
L0          λ ε log(1 + x/ε)                                       exponents are counted more than measured
Group       λ Σ_columns ε log(1 + X/ε)                             columns leave as a whole
"""

from __future__ import annotations

import numbers
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from ecsel._typing import Array
    from ecsel.fitting.penalties.base import Columns, PenaltyValue

FLOOR = 0.05
"""The share of λ that slopes of any size go on paying: rows that can be separated have no minimiser without it."""


@dataclass(frozen=True, slots=True)
class ElasticNet:
    """The elastic net (Zou & Hastie 2005), p(x) = λ (ρ x + (1 − ρ) x²/2); `ratio` is ρ, and 1 gives "l1".

    Features that say the same share a slope instead of one taking all. Where terms are straight this is scikit-learn's
    elastic net of logistic regression in the logs, with ``l1_ratio=ρ`` and C = κ/λ.

    Examples
    --------
    >>> from ecsel import ECSELClassifier
    >>> from ecsel.fitting import ElasticNet
    >>> ECSELClassifier(penalty=ElasticNet(ratio=0.8))
    ECSELClassifier(...)
    """

    ratio: float = 0.5

    def __post_init__(self) -> None:
        _check_between("ElasticNet: ratio", self.ratio, 0.0, 1.0)

    def value(self, sizes: Array, strength: float, columns: Columns) -> PenaltyValue:
        """Return the linear and the quadratic part together."""
        del columns
        ridge = strength * (1 - self.ratio)
        first = strength * self.ratio + ridge * sizes
        return (strength * self.ratio + ridge / 2 * sizes) * sizes, first, np.full_like(sizes, ridge)


@dataclass(frozen=True, slots=True)
class MCP:
    """The minimax concave penalty; a smaller `gamma` spares more exponents and has more local minima.

    Zhang (2010): slopes pay λ at first, less and less, and from γλ on nearly nothing more.

        p′(x) = λ ( (1 − f) max(0, 1 − x/(γλ)) + f ),   f = `FLOOR`

    Large exponents are hardly shrunk, small ones are as zero as with ℓ1. γ → ∞ gives "l1". Against the logistic loss's
    largest curvature ¼, the default γ = 12 is what γ = 3 is in a linear model.

    Examples
    --------
    >>> from ecsel import ECSELClassifier
    >>> from ecsel.fitting import MCP
    >>> ECSELClassifier(penalty=MCP(gamma=6.0))
    ECSELClassifier(...)
    """

    gamma: float = 12.0

    def __post_init__(self) -> None:
        _check_between("MCP: gamma", self.gamma, 0.0)

    def value(self, sizes: Array, strength: float, columns: Columns) -> PenaltyValue:
        """Return (1 − f)(λx − x²/2γ) up to the knee γλ, constant beyond, and fλx."""
        del columns
        concave = np.minimum(sizes, self.gamma * strength)
        value = (1 - FLOOR) * (strength - concave / (2 * self.gamma)) * concave + FLOOR * strength * sizes
        first = (1 - FLOOR) * (strength - concave / self.gamma) + FLOOR * strength
        second = np.where(sizes < self.gamma * strength, -(1 - FLOOR) / self.gamma, 0.0)
        return value, first, second


@dataclass(frozen=True, slots=True)
class SCAD:
    """The smoothly clipped absolute deviation; `a` times λ is where the penalty of a slope hardly grows.

    Fan & Li (2001): ℓ1 up to λ, then less and less, from aλ on nearly nothing.

        p′(x) = λ ( (1 − f) min(1, max(0, (a − x/λ)/(a − 1))) + f ),   f = `FLOOR`

    a → ∞ gives "l1". The default a = 13 is as concave as MCP's γ = 12.

    Examples
    --------
    >>> from ecsel import ECSELClassifier
    >>> from ecsel.fitting import SCAD
    >>> ECSELClassifier(penalty=SCAD(a=20.0))
    ECSELClassifier(...)
    """

    a: float = 13.0

    def __post_init__(self) -> None:
        _check_between("SCAD: a", self.a, 1.0)

    def value(self, sizes: Array, strength: float, columns: Columns) -> PenaltyValue:
        """Return λx less (x − λ)²/2(a − 1) between λ and aλ, constant beyond, and the floor's share."""
        del columns
        clipped = np.minimum(sizes, self.a * strength)
        over = np.maximum(clipped - strength, 0.0)
        value = (1 - FLOOR) * (strength * clipped - over * over / (2 * (self.a - 1))) + FLOOR * strength * sizes
        first = (1 - FLOOR) * (strength - over / (self.a - 1)) + FLOOR * strength
        between = (sizes > strength) & (sizes < self.a * strength)
        return value, first, np.where(between, -(1 - FLOOR) / (self.a - 1), 0.0)


@dataclass(frozen=True, slots=True)
class L0:
    """λ ε log(1 + x/ε); `width` is ε, the size beyond which the penalty counts a slope more than it measures it.

    The logarithmic penalty (Candès, Wakin & Boyd 2008), p′(x) = λ/(1 + x/ε). A slope ten times as large as ε pays
    hardly more than one five times as large; as ε → 0, p/(λε log(1/ε)) tends to the number of exponents. The
    penalty grows without bound, so there is a minimiser; ε → ∞ gives "l1".

    Examples
    --------
    >>> from ecsel import ECSELClassifier
    >>> from ecsel.fitting import L0
    >>> ECSELClassifier(penalty=L0(width=0.05))
    ECSELClassifier(...)
    """

    width: float = 0.1

    def __post_init__(self) -> None:
        _check_between("L0: width", self.width, 0.0)

    def value(self, sizes: Array, strength: float, columns: Columns) -> PenaltyValue:
        """Return the logarithm."""
        del columns
        first = strength / (1 + sizes / self.width)
        return strength * self.width * np.log1p(sizes / self.width), first, -first / (self.width + sizes)


@dataclass(frozen=True, slots=True)
class Group:
    """λ Σ_columns ε log(1 + X/ε); `width` is ε.

    The logarithmic penalty of the sum over all exponents of a column, in all terms and scores.

        λ Σ_g ε log(1 + X_g/ε),   X_g = Σ of the sizes of column g's slopes,   p′ = λ/(1 + X_g/ε) for each of them

    It is the group bridge (Huang et al. 2009) with a logarithm for the root. A column that is out pays λ for its first
    exponent; once it is in, all its further exponents cost less: columns leave as a whole, and those that stay may
    still leave single terms. The tangent in X_g lies above the concave penalty and is an ℓ1 penalty with equal weights,
    so every step on it lowers the true objective. At a fixed point both have the same slopes: the conditions in `base`
    hold for the true penalty.

    Examples
    --------
    >>> from ecsel import ECSELClassifier
    >>> from ecsel.fitting import Group
    >>> ECSELClassifier(penalty=Group(width=0.5))
    ECSELClassifier(...)
    """

    width: float = 0.5

    def __post_init__(self) -> None:
        _check_between("Group: width", self.width, 0.0)

    def value(self, sizes: Array, strength: float, columns: Columns) -> PenaltyValue:
        """Return the penalty of each column, and the same derivative for all its features."""
        total = np.bincount(columns, weights=sizes.sum(axis=(0, 1)))
        first = np.broadcast_to((strength / (1 + total / self.width))[columns], sizes.shape)
        return strength * self.width * np.log1p(total / self.width), first, np.zeros_like(sizes)


def _check_between(name: str, value: Any, above: float, most: float = np.inf) -> None:
    """Refuse a number that is not above `above` and at most `most`, or not finite."""
    known = not isinstance(value, bool) and isinstance(value, numbers.Real) and bool(np.isfinite(float(value)))
    if not known or not above < float(value) <= most:
        limit = "" if np.isinf(most) else f" and at most {most:g}"
        raise ValueError(f"{name} must be a finite number above {above:g}{limit}, got {value!r}.")
