r"""Signomials as LaTeX in math mode, for documents and notebooks.

Names are data: letters and digits stay, every other character is escaped with macros that both TeX and MathJax know
in math mode, so no name can leave the formula or run a command. A name of letters then digits gets a subscript,
x1 → x_{1}; one in square brackets is text in square brackets. Negative whole powers are fractions.
"""

from __future__ import annotations

import re
from fractions import Fraction
from typing import TYPE_CHECKING

from ecsel.signomial.factor import Factor, is_integer
from ecsel.signomial.layout import Power, lay_out
from ecsel.signomial.text import is_bracketed, join_signed

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
    return join_signed(_latex_term(term, digits) for term in terms) if terms else "0"


def latex_name(name: str) -> str:
    r"""Return the name as a math-mode symbol.

    >>> print(latex_name("x12"), latex_name("page value"), latex_name(r"\input{a}"))
    x_{12} \mathrm{page\ value} \mathrm{\backslash{}input\{a\}}
    """
    if is_bracketed(name):
        return rf"\left[\mathrm{{{''.join(map(_latex_character, name[1:-1]))}}}\right]"
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
    coefficient = latex_number(term.coefficient, digits)
    if term.is_constant:
        return coefficient
    quotient = lay_out(term.factors)
    above, below = (r"\,".join(_latex_power(power, digits) for power in part) for part in quotient)
    if len(quotient.below) == 1 and quotient.below[0].is_sum and quotient.below[0].exponent == 1:
        below = _latex_base(quotient.below[0].factor)  # below a line a sum needs no brackets
    minus, size = ("-", coefficient[1:]) if coefficient.startswith("-") else ("", coefficient)
    numerator = rf"{size}\,{above}" if above and size != "1" else above or size
    return rf"{minus}\frac{{{numerator}}}{{{below}}}" if below else minus + numerator


def _latex_base(factor: Factor) -> str:
    base = latex_name(factor.name)
    if factor.shift:
        base += f" {'-' if factor.shift < 0 else '+'} {latex_number(abs(factor.shift), None)}"
    return rf"\log\left({base}\right)" if factor.log else base


def _latex_power(power: Power, digits: int | None) -> str:
    if power.factor.exp:
        rate = latex_number(float(power.factor.exponent), digits)
        by = {"1": "", "-1": "-"}.get(rate, rf"{rate}\,")
        return rf"e^{{{by}{latex_name(power.factor.name)}}}"
    base, exponent = _latex_base(power.factor), power.exponent
    if power.wrap == "sign":
        return rf"\operatorname{{sgn}}({base})"
    if power.wrap == "abs":
        base = rf"\left|{base}\right|"
    if power.is_root:
        return rf"\sqrt{{{base}}}"
    if power.is_sum or (power.factor.log and not power.wrap and exponent != 1):
        base = rf"\left({base}\right)"
    if not isinstance(exponent, Fraction):
        return f"{base}^{{{latex_number(exponent, digits)}}}"
    if is_integer(exponent):
        return base if exponent == 1 else f"{base}^{{{exponent}}}"
    minus = "-" if exponent < 0 else ""
    return rf"{base}^{{{minus}\frac{{{abs(exponent.numerator)}}}{{{exponent.denominator}}}}}"


def latex_number(value: float, digits: int | None = None) -> str:
    r"""Return a number to ``digits`` significant digits, or with all of them when None.

    >>> print(latex_number(0.25), latex_number(-3.0), latex_number(1.5e-9))
    0.25 -3 1.5 \times 10^{-9}
    """
    written = repr(value) if digits is None else format(value, f".{digits}g")
    mantissa, _, power = written.partition("e")
    mantissa = mantissa.removesuffix(".0")
    return rf"{mantissa} \times 10^{{{int(power)}}}" if power else mantissa
