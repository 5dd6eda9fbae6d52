"""Signomials as SymPy expressions, for exact algebra and calculus."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

from ecsel.signomial.factor import Exponent, Factor, Parity

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ecsel.signomial.term import Term


def sympy_sum(terms: Sequence[Term]) -> Any:
    """Return the sum of the terms as a SymPy expression.

    Each name has one symbol: positive if a power or logarithm of it refuses negative values anywhere in the sum,
    because the sum is then only defined there, else real.
    """
    try:
        import sympy  # noqa: PLC0415  # optional and slow to import
    except ImportError as error:
        raise ImportError('to_sympy() needs SymPy: pip install "ecsel[symbolic]"') from error

    factors = [factor for term in terms for factor in term.factors]
    positive = {f.name for f in factors if f.shift == 0 and (f.log or f.refuses_negative)}
    symbols = {
        factor.name: sympy.Symbol(factor.name, **{"positive" if factor.name in positive else "real": True})
        for factor in factors
    }

    def number(exponent: Exponent) -> Any:
        if isinstance(exponent, Fraction):
            return sympy.Rational(exponent.numerator, exponent.denominator)
        return sympy.Float(exponent)

    def power(factor: Factor) -> Any:
        g, exponent = symbols[factor.name], number(factor.exponent)
        if factor.exp:
            return sympy.exp(exponent * g)
        if factor.shift:
            g = g + (sympy.Integer(factor.shift) if factor.shift.is_integer() else sympy.Float(factor.shift))
        if factor.log:
            g = sympy.log(g)
        if factor.parity is Parity.ABSOLUTE:
            return sympy.Abs(g) ** exponent
        if factor.is_natural:
            return g**exponent
        return sympy.sign(g) * sympy.Abs(g) ** exponent

    return sympy.Add(
        *(sympy.Mul(sympy.Float(term.coefficient), *map(power, term.factors)) for term in terms),
    )
