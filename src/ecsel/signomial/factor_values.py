"""Values of single factors and their derivatives by log|x|, on raw numbers of any sign.

With D = x·d/dx, which is the derivative by log|x|, a factor φ = H(g(x)) has

    Dφ = H'(g)·Dg                        Dg = x, x/(x + s)             for g = x + s, log(x + s)
    D²φ = H''(g)·(Dg)² + H'(g)·D²g       D²g = x, x·s/(x + s)²

a plain power Dφ = bφ, and an exponential Dφ = bx·φ and D²φ = bx(1 + bx)·φ. Nothing is divided by a factor, so that all
of it holds where factors vanish: log x at x = 1, an indicator at 0. Where a power below one meets g = 0 its derivative
is infinite. The factors of one feature are multiplied by the rule of Leibniz.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ecsel.signomial.columns import LOG_LIMIT, base_values, refuse_outside_domain
from ecsel.signomial.factor import Factor, Parity

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from ecsel._typing import Floats

LARGEST = float(np.exp(LOG_LIMIT))
"""Powers and products are cut here, so that none is infinite."""


def factor_values(factor: Factor, x: Floats) -> Floats:
    """Return φ(x); what lies outside the factor's domain is refused by name.

    >>> from fractions import Fraction
    >>> factor_values(Factor("x", Fraction(2), Parity.PLAIN, shift=1.0), np.array([-3.0, 2.0]))
    array([4., 9.])
    """
    if factor.exp:
        return _exponential(factor, x)
    g = base_values(factor, x)
    refuse_outside_domain(factor, g)
    odd = factor.parity is Parity.ODD
    if factor.exponent == 1 and odd:
        return g
    return np.clip(_power(g, float(factor.exponent), odd=odd), -LARGEST, LARGEST)


def factor_derivatives(factor: Factor, x: Floats) -> tuple[Floats, Floats]:
    """Return Dφ and D²φ; x must lie in the factor's domain."""
    b = float(factor.exponent)
    if factor.exp:
        value = _exponential(factor, x)
        return b * x * value, b * x * (1.0 + b * x) * value
    odd = factor.parity is Parity.ODD
    g = base_values(factor, x)
    if factor.is_power:
        value = _power(g, b, odd=odd)
        return b * value, b * b * value
    if factor.log:
        step = x / (x + factor.shift)
        second_step = step * factor.shift / (x + factor.shift)
    else:
        step = second_step = x
    # the derivative of an even function is odd; a power that refuses g < 0 has no sign to speak of
    slope = b * _power(g, b - 1, odd=not odd and not factor.refuses_negative) if b else np.zeros_like(g)
    curve = b * (b - 1) * _power(g, b - 2, odd=odd) if b not in (0.0, 1.0) else np.zeros_like(g)
    with np.errstate(invalid="ignore"):  # ∞ − ∞ and ∞·0, where there is no derivative
        return slope * step, curve * step * step + slope * second_step


class FeatureJet(NamedTuple):
    """The part of a term that depends on one feature, and its first two derivatives by log|x|."""

    value: Floats
    first: Floats
    second: Floats

    @classmethod
    def one(cls, n_rows: int) -> FeatureJet:
        """Return the constant 1."""
        return cls(np.ones(n_rows), np.zeros(n_rows), np.zeros(n_rows))

    def times(self, factor: Factor, x: Floats) -> FeatureJet:
        """Return the product with a factor of the same feature."""
        value = factor_values(factor, x)
        first, second = factor_derivatives(factor, x)
        with np.errstate(invalid="ignore"):
            return FeatureJet(
                self.value * value,
                self.first * value + self.value * first,
                self.second * value + 2 * self.first * first + self.value * second,
            )


def product_of_others(jets: Mapping[int, FeatureJet], left_out: Collection[int]) -> Floats | float:
    """Return the product of the values of all features but some."""
    return bounded_product([jet.value for j, jet in jets.items() if j not in left_out])


def bounded_product(values: Sequence[Floats]) -> Floats | float:
    """Return the product of finite values, cut where it would be infinite, and 1 for none."""
    with np.errstate(over="ignore", invalid="ignore"):
        product = _product(values, cut=False)
        if not np.isfinite(product).all():
            product = _product(values, cut=True)
    return product


def _product(values: Sequence[Floats], *, cut: bool) -> Floats | float:
    product: Floats | float = 1.0
    for i, value in enumerate(values):
        product = value if i == 0 else product * value
        if cut:
            product = np.clip(product, -LARGEST, LARGEST)
    return product


def _exponential(factor: Factor, x: Floats) -> Floats:
    """Return exp(b·x), cut as powers are."""
    with np.errstate(over="ignore", under="ignore"):
        return np.asarray(np.exp(np.minimum(float(factor.exponent) * x, LOG_LIMIT)))


def _power(g: Floats, b: float, *, odd: bool) -> Floats:
    """Return |g|^b, with the sign of g if odd."""
    with np.errstate(divide="ignore", over="ignore", under="ignore", invalid="ignore"):
        size: Floats = np.abs(g) ** b
        return size * np.sign(g) if odd else size
