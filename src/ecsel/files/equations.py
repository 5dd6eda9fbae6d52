"""Signomials in JSON: coefficients as shortest round-trip numbers, exact exponents as text such as ``"3/2"``."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from ecsel.files.errors import ModelFileError
from ecsel.signomial import Factor, Parity, Signomial, Term

if TYPE_CHECKING:
    from ecsel.files.node import Node

# Far more digits than an exponent needs, and few enough that no file can make the conversion slow.
FRACTION = re.compile(r"(-?[0-9]{1,300})(?:/([0-9]{1,300}))?", re.ASCII)


def encode_equation(equation: Signomial) -> dict[str, Any]:
    """Return a signomial as JSON values.

    Examples
    --------
    >>> encode_equation(Signomial.parse("2*sqrt(x + 1)"))
    {'terms': [{'coefficient': 2.0, 'factors': [{'name': 'x', 'exponent': '1/2', 'sign': 'plain', 'shift': 1.0,
    'log': False}]}]}
    """
    return {"terms": [_encode_term(term) for term in equation.terms]}


def _encode_term(term: Term) -> dict[str, Any]:
    return {
        "coefficient": term.coefficient,
        "factors": [
            {
                "name": factor.name,
                "exponent": str(factor.exponent) if isinstance(factor.exponent, Fraction) else factor.exponent,
                "sign": factor.parity.name.lower(),
                "shift": factor.shift,
                "log": factor.log,
                **({"exp": True} if factor.exp else {}),
            }
            for factor in term.factors
        ],
    }


def decode_equation(node: Node) -> Signomial:
    """Read a signomial; terms of schema 1 are recognised by their field ``exponents``."""
    (terms,) = node.fields("terms")
    return Signomial(terms.each(_decode_term))


def _decode_term(node: Node) -> Term:
    if isinstance(node.value, dict) and "exponents" in node.value:
        return _decode_powers(node)
    coefficient, factors = node.fields("coefficient", "factors")
    try:
        return Term.from_factors(coefficient.number(), factors.each(_decode_factor))
    except ModelFileError:
        raise
    except ValueError as error:
        raise ModelFileError(node.path, str(error)) from None


def _decode_factor(node: Node) -> Factor:
    is_exponential = isinstance(node.value, dict) and "exp" in node.value
    name, exponent, sign, shift, log, *exp = node.fields(
        "name", "exponent", "sign", "shift", "log", *(["exp"] if is_exponential else [])
    )
    parity = Parity[sign.choice([each.name.lower() for each in Parity]).upper()]
    return Factor(
        name.text(), _decode_exponent(exponent), parity, shift.number(), log.flag(), *(each.flag() for each in exp)
    )


def _decode_powers(node: Node) -> Term:
    """Read a term of schema 1: powers of features without shift and logarithm."""
    coefficient, exponents, odd, absolute = node.fields("coefficient", "exponents", "odd", "absolute")
    powers = {name: _decode_exponent(exponent) for name, exponent in exponents.members()}
    try:
        return Term(
            coefficient.number(),
            powers,
            odd=odd.each(lambda name: name.choice(list(powers))),
            absolute=absolute.each(lambda name: name.choice(list(powers))),
        )
    except ModelFileError:
        raise
    except ValueError as error:
        raise ModelFileError(node.path, str(error)) from None


def _decode_exponent(node: Node) -> Fraction | float:
    if not isinstance(node.value, str):
        return node.number()
    match = FRACTION.fullmatch(node.value)
    if match is None or (match[2] is not None and int(match[2]) == 0):
        node.refuse("a number, or a fraction such as '3/2'")
    return Fraction(int(match[1]), int(match[2] or 1))
