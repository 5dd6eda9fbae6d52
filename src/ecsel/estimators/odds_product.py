"""An equation of logarithms and levels read as odds: the sum of its pieces is a product of powers.

With two classes, odds = p/(1 − p) = e^z. Where every piece of z is a logarithm, a level or a column of 0 and 1,

    z = b + Σ c·log(x + s) + Σ d·[level]        odds = e^b · Π (x + s)^c · Π (e^d)^[level]

which has the same numbers as the equation, so that nothing is rounded on the way.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ecsel.estimators.odds import INDICATORS
from ecsel.signomial.text import print_base, print_name, print_shift

if TYPE_CHECKING:
    from ecsel.signomial import Factor, Signomial, Term
    from ecsel.tables import TableEncoder
    from ecsel.tables.features import Feature


def is_product_of_powers(equation: Signomial, encoder: TableEncoder) -> bool:
    """Whether every piece of an equation is a logarithm of one column, or a product of levels."""
    features = {feature.name: feature for feature in encoder.features}
    pieces = [term for term in equation.terms if not term.is_constant]
    return bool(pieces) and all(
        is_logarithm(term) or all(_is_level(factor, features[factor.name]) for factor in term.factors)
        for term in pieces
    )


def is_logarithm(term: Term) -> bool:
    """Whether a term is a coefficient times the logarithm of one column."""
    return (
        len(term.factors) == 1 and term.factors[0].log and term.factors[0].exponent == 1 and term.factors[0].is_natural
    )


def _is_level(factor: Factor, feature: Feature) -> bool:
    """Whether a factor is 1 or 0: an indicator, or a column that holds nothing else."""
    plain = factor.exponent == 1 and not factor.log and factor.shift == 0 and factor.is_natural
    return plain and (
        feature.kind in INDICATORS or (feature.kind == "number" and (feature.low, feature.high) == (0.0, 1.0))
    )


def odds_factors(equation: Signomial) -> list[str]:
    """Return the factors of the odds as text, that of the constant first.

    Examples
    --------
    >>> from ecsel import Signomial
    >>> odds_factors(Signomial.parse("1.2*log(frequency) - 0.9*[contract = two year] - 0.4*log(age + 50) - 1.09"))
    ['exp(-1.09)', 'exp(-0.9)**[contract = two year]', '(age + 50)**-0.4', 'frequency**1.2']
    """
    ordered = sorted(equation.terms, key=lambda term: not term.is_constant)
    return [_factor(term) for term in ordered]


def _factor(term: Term) -> str:
    number = print_shift(term.coefficient)
    if term.is_constant:
        return f"exp({number})"
    if is_logarithm(term):
        (factor,) = term.factors
        inner = print_base(factor).removeprefix("log(").removesuffix(")")
        return f"({inner})**{number}" if factor.shift else f"{inner}**{number}"
    levels = "*".join(print_name(factor.name) for factor in term.factors)
    return f"exp({number})**({levels})" if len(term.factors) > 1 else f"exp({number})**{levels}"
