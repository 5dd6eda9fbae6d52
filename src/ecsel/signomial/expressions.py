"""Values of expressions while a text is read: exact numbers until they meet a feature, then signomials.

Numbers are Fractions as long as they come from integers, so that ``x**(3/2)`` keeps its exact exponent; decimals make
floats. The functions of the language, abs, sign and sqrt, take a number or a single term, log a number or a feature,
exp a number or a sum of multiples of features; a feature plus or minus a number counts as a single term, the shifted
factor.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING

from ecsel.signomial.factor import LARGEST_FRACTION_BITS, Factor, Parity, is_integer
from ecsel.signomial.signomial import Signomial
from ecsel.signomial.term import Term

if TYPE_CHECKING:
    from collections.abc import Callable

Number = Fraction | float
Value = Number | Signomial


def bounded(number: Number) -> Number:
    """Return the number, as a float once it has too many digits to be worth keeping exact."""
    if isinstance(number, Fraction):
        bits = max(number.numerator.bit_length(), number.denominator.bit_length())
        return number if bits <= LARGEST_FRACTION_BITS else float(number)
    if not math.isfinite(number):
        raise OverflowError
    return number


def as_signomial(value: Value) -> Signomial:
    """Return the value as a signomial; an exact number becomes a coefficient."""
    return value if isinstance(value, Signomial) else Signomial.constant(float(value))


def as_factor(value: Value) -> Signomial:
    """Return the value as it enters a product: a feature plus or minus a number is one shifted factor.

    >>> as_factor(Signomial.parse("x - 3")).terms[0].factors
    (Factor('x', 1, Parity.ODD, shift=-3.0),)
    """
    signomial = as_signomial(value)
    if len(signomial.terms) == 2:  # a feature and a number
        linear, constant = signomial.terms
        if constant.is_constant and abs(linear.coefficient) == 1 and _is_feature(linear):
            shift = linear.coefficient * constant.coefficient
            return Signomial([Term.from_factors(linear.coefficient, [linear.factors[0]._replace(shift=shift)])])
    return signomial


def _is_feature(term: Term) -> bool:
    """Whether a term is a number times a feature itself."""
    return len(term.factors) == 1 and _is_shifted_feature(term.factors[0]) and term.factors[0].shift == 0


def divide(left: Value, right: Value) -> Value:
    """Return the quotient; a signomial can be divided by a number or a single term."""
    if isinstance(left, Signomial) or isinstance(right, Signomial):
        return as_factor(left) / as_factor(right)
    return bounded(left / right)


def raise_number(base: Number, exponent: Number) -> Number:
    """Return a real power of a number, exact where it is short and rational."""
    if isinstance(base, Fraction) and isinstance(exponent, Fraction) and is_integer(exponent):
        bits = max(base.numerator.bit_length(), base.denominator.bit_length())
        if bits * abs(exponent) <= LARGEST_FRACTION_BITS:
            return Fraction(base ** int(exponent))
    if base < 0 and not is_integer(exponent):
        raise ValueError(f"the negative number {base} has no real power {exponent}")
    return bounded(float(base) ** float(exponent))


def _single_term(function: str, value: Signomial) -> Term:
    value = as_factor(value)
    if len(value.terms) > 1:
        raise ValueError(f"{function}() takes a single term, not a sum")
    return value.terms[0] if value.terms else Term(0.0)


def _absolute(value: Value) -> Value:
    if isinstance(value, Signomial):
        return Signomial([abs(_single_term("abs", value))])
    return value if value >= 0 else -value


def _sign(value: Value) -> Value:
    if not isinstance(value, Signomial):
        return Fraction((value > 0) - (value < 0))
    term = _single_term("sign", value)
    if any(factor.parity is not Parity.ODD for factor in term.factors):
        raise ValueError("sign() takes a product of odd powers, such as sign(x) or sign(x*y)")
    sign = math.copysign(1.0, term.coefficient) if term.coefficient else 0.0
    return Signomial([Term.from_factors(sign, (factor._replace(exponent=Fraction(0)) for factor in term.factors))])


def _sqrt(value: Value) -> Value:
    half = Fraction(1, 2)
    if isinstance(value, Signomial):
        return Signomial([_single_term("sqrt", value) ** half])
    return raise_number(value, half)


def _log(value: Value) -> Value:
    if not isinstance(value, Signomial):
        if value <= 0:
            raise ValueError(f"{value} has no logarithm")
        return math.log(value)
    term = _single_term("log", value)
    if term.coefficient != 1 or len(term.factors) != 1 or not _is_shifted_feature(term.factors[0]):
        raise ValueError("log() takes a feature, or a feature plus a number, such as log(x) or log(x + 1)")
    return Signomial([Term.from_factors(1.0, [term.factors[0]._replace(log=True)])])


def _exp(value: Value) -> Value:
    """Return e to the power of Σ b·x + c: the product of exp(b·x), and the coefficient e^c."""
    if not isinstance(value, Signomial):
        return bounded(math.exp(value))
    constant, factors = 0.0, []
    for term in value.terms:
        if term.is_constant:
            constant = term.coefficient
        elif _is_feature(term):
            factors.append(Factor(term.factors[0].name, term.coefficient, Parity.PLAIN, exp=True))
        else:
            raise ValueError("exp() takes multiples of features, such as exp(-0.5*t) or exp(2*x - y)")
    return Signomial([Term.from_factors(math.exp(constant), factors)])


def _is_shifted_feature(factor: Factor) -> bool:
    return factor.exponent == 1 and factor.is_natural and not factor.log and not factor.exp


FUNCTIONS: dict[str, Callable[[Value], Value]] = {
    "abs": _absolute,
    "sign": _sign,
    "sqrt": _sqrt,
    "log": _log,
    "exp": _exp,
}
