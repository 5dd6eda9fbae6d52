"""Values of single factors and their derivatives by log|x|, on raw numbers of any sign.

With D = x·d/dx, which is the derivative by log|x|, a factor φ = H(g(x)) has

    Dφ = H'(g)·Dg                        Dg = x, x/(x + s)             for g = x + s, log(x + s)
    D²φ = H''(g)·(Dg)² + H'(g)·D²g       D²g = x, x·s/(x + s)²

and a plain power Dφ = bφ. Nothing is divided by a factor, so that all of it holds where factors vanish: log x at x = 1,
an indicator at 0. Where a power below one meets g = 0 its derivative is infinite. The factors of one feature are
multiplied by the rule of Leibniz.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ecsel.signomial.columns import LOG_LIMIT, FloatArray, base_values
from ecsel.signomial.factor import Factor, Parity

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

LARGEST = float(np.exp(LOG_LIMIT))
"""Powers and products are cut here, so that none is infinite."""


def factor_values(factor: Factor, x: FloatArray) -> FloatArray:
    """Return φ(x); x must lie in the factor's domain.

    >>> from fractions import Fraction
    >>> factor_values(Factor("x", Fraction(2), Parity.PLAIN, shift=1.0), np.array([-3.0, 2.0]))
    array([4., 9.])
    """
    return _power(base_values(factor, x), float(factor.exponent), odd=factor.parity is Parity.ODD)


def factor_derivatives(factor: Factor, x: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return Dφ and D²φ; x must lie in the factor's domain."""
    b = float(factor.exponent)
    odd = factor.parity is Parity.ODD
    g = base_values(factor, x)
    if factor.is_power:
        value = _power(g, b, odd=odd)
        return b * value, b * b * value
    if factor.log:
        step = x / (x + factor.shift)
        bend = step * factor.shift / (x + factor.shift)
    else:
        step = bend = x
    slope = b * _power(g, b - 1, odd=not odd) if b else np.zeros_like(g)
    curve = b * (b - 1) * _power(g, b - 2, odd=odd) if b not in (0.0, 1.0) else np.zeros_like(g)
    return slope * step, curve * step * step + slope * bend


class FeatureJet(NamedTuple):
    """The part of a term that depends on one feature, and its first two derivatives by log|x|."""

    value: FloatArray
    first: FloatArray
    second: FloatArray

    @classmethod
    def one(cls, n_rows: int) -> FeatureJet:
        """Return the constant 1."""
        return cls(np.ones(n_rows), np.zeros(n_rows), np.zeros(n_rows))

    def times(self, factor: Factor, x: FloatArray) -> FeatureJet:
        """Return the product with a factor of the same feature."""
        value = factor_values(factor, x)
        first, second = factor_derivatives(factor, x)
        return FeatureJet(
            self.value * value,
            self.first * value + self.value * first,
            self.second * value + 2 * self.first * first + self.value * second,
        )


def product_of_others(jets: Mapping[int, FeatureJet], left_out: Collection[int]) -> FloatArray | float:
    """Return the product of the values of all features but some."""
    product: FloatArray | float = 1.0
    for j, jet in jets.items():
        if j not in left_out:
            product = product * jet.value
    return product


def _power(g: FloatArray, b: float, *, odd: bool) -> FloatArray:
    """Return |g|^b, with the sign of g if odd."""
    if b == 1 and odd:
        return g
    with np.errstate(divide="ignore", over="ignore", under="ignore"):
        size = np.minimum(np.abs(g) ** b, LARGEST) if b >= 0 else np.abs(g) ** b
    return size * np.sign(g) if odd else size
