r"""Signomials as LaTeX in math mode, for documents and notebooks.

Names are data: letters and digits stay, every other character is escaped with macros that both TeX and MathJax know
in math mode, so no name can leave the formula or run a command. A name of letters then digits gets a subscript,
x1 → x_{1}.
"""

from __future__ import annotations

import re
from fractions import Fraction
from typing import TYPE_CHECKING

from ecsel.signomial.factor import Exponent, Factor, Parity, is_integer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ecsel.signomial.term import Term

_LETTERS_DIGITS = re.compile(r"([A-Za-z]+)([0-9]*)")
_ESCAPES = {
    **{character: "\\" + character for character in "#$%&_{}"},
    "\\": r"\backslash{}",
    "^": r"\wedge{}",
    "~": r"\sim{}",
}


def latex_sum(terms: Sequence[Term], digits: int | None = None) -> str:
    """Return the terms as one formula, numbers to ``digits`` significant digits, or exact when None."""
    first, *others = (_latex_term(term, digits) for term in terms) if terms else ("0",)
    return first + "".join(f" - {term[1:]}" if term.startswith("-") else f" + {term}" for term in others)


def latex_name(name: str) -> str:
    r"""Return the name as a math-mode symbol.

    >>> print(latex_name("x12"), latex_name("page value"), latex_name(r"\input{a}"))
    x_{12} \mathrm{page\ value} \mathrm{\backslash{}input\{a\}}
    """
    if match := _LETTERS_DIGITS.fullmatch(name):
        letters, digits = match.groups()
        base = letters if len(letters) == 1 else rf"\mathrm{{{letters}}}"
        return f"{base}_{{{digits}}}" if digits else base
    return rf"\mathrm{{{''.join(map(_latex_character, name))}}}" if name else r"\langle\rangle"


def _latex_character(character: str) -> str:
    if character.isascii() and character.isalnum():
        return character
    if character.isspace():
        return r"\ "
    if character in _ESCAPES:
        return _ESCAPES[character]
    return rf"\text{{{character}}}" if character.isprintable() else rf"\text{{U+{ord(character):04X}}}"


def _latex_term(term: Term, digits: int | None) -> str:
    coefficient = _latex_float(term.coefficient, digits)
    if term.is_constant:
        return coefficient
    product = r"\,".join(_latex_factor(factor, digits) for factor in term.monomial)
    if coefficient in {"1", "-1"}:
        return coefficient.replace("1", product)
    return rf"{coefficient}\,{product}"


def _latex_factor(factor: Factor, digits: int | None) -> str:
    name = latex_name(factor.name)
    sign = rf"\operatorname{{sgn}}({name})"
    if factor.exponent == 0:
        return sign
    magnitude = _latex_power(rf"\left|{name}\right|", factor.exponent, digits)
    if factor.parity is Parity.ABSOLUTE:
        return magnitude
    if factor.is_natural:
        return _latex_power(name, factor.exponent, digits)
    return rf"{sign}\,{magnitude}"


def _latex_power(base: str, exponent: Exponent, digits: int | None) -> str:
    if not isinstance(exponent, Fraction):
        return f"{base}^{{{_latex_float(exponent, digits)}}}"
    if exponent == Fraction(1, 2):
        return rf"\sqrt{{{base}}}"
    if is_integer(exponent):
        return base if exponent == 1 else f"{base}^{{{exponent}}}"
    minus = "-" if exponent < 0 else ""
    return rf"{base}^{{{minus}\frac{{{abs(exponent.numerator)}}}{{{exponent.denominator}}}}}"


def _latex_float(value: float, digits: int | None) -> str:
    shown = repr(value) if digits is None else format(value, f".{digits}g")
    mantissa, _, power = shown.partition("e")
    mantissa = mantissa.removesuffix(".0")
    return rf"{mantissa} \times 10^{{{int(power)}}}" if power else mantissa
