"""Equations typeset as MathML, which browsers draw by themselves: z = Σ_k α_k Π_j x_j^β_kj.

Every sign with its coefficient and every factor is a ``<math>`` of its own, since browsers break lines between such
elements and never inside of one; a long equation then fits a telephone and a sheet of paper.
"""

from __future__ import annotations

import re
from fractions import Fraction
from typing import TYPE_CHECKING

from ecsel.discovery.fitted import number_text
from ecsel.report.html import Html, element, join
from ecsel.report.wording import MINUS, shown
from ecsel.signomial import Parity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ecsel.signomial import Signomial, Term
    from ecsel.signomial.factor import Exponent, Factor

DIGITS = 4
_LETTER_DIGITS = re.compile(r"([A-Za-z])_?([0-9]+)")


def equation(left: Html, right: Signomial, *, simple_numbers: bool = False) -> Html:
    """Return an equation as a run of ``<math>`` elements.

    Parameters
    ----------
    left : Html
        MathML of the left-hand side.
    right : Signomial
        The right-hand side, numbers to four digits.
    simple_numbers : bool, default=False
        Whether coefficients such as 1/2 and 4π are called by their names.

    Examples
    --------
    >>> from ecsel import Signomial
    >>> print(equation(symbol("y"), Signomial.parse("2*x**2 - 1")))
    <math><mi>y</mi><mo>=</mo></math> <math><mn>2</mn><mo>·</mo></math><math><msup><mi>x</mi><mn>2</mn></msup></math>
    <math><mo form="infix">−</mo><mn>1</mn></math>
    """
    terms = [join(_term(term, first=k == 0, simple=simple_numbers)) for k, term in enumerate(right.terms)]
    pieces = [_math(left, element("mo", "=")), *(terms or [_math(element("mn", "0"))])]
    return Html(" ".join(piece.text for piece in pieces))


def symbol(name: str) -> Html:
    """Return a name as a symbol; a letter with a number has the number below."""
    if match := _LETTER_DIGITS.fullmatch(name):
        return element("msub", element("mi", match[1]), element("mn", match[2]))
    return element("mi" if name.isidentifier() else "mtext", shown(name))


def score_of(label: object) -> Html:
    """Return z with the label of a class below."""
    return element("msub", element("mi", "z"), element("mtext", shown(label)))


def _math(*children: Html) -> Html:
    return element("math", *children)


def _term(term: Term, *, first: bool, simple: bool) -> Iterator[Html]:
    """Yield the sign with the coefficient, then the factors, each with the dot that follows it."""
    negative = term.coefficient < 0
    # at the start of an element an operator counts as a prefix, without room around it, unless it says otherwise
    form = None if first else "infix"
    sign = [element("mo", MINUS if negative else "+", form=form)] if negative or not first else []
    size = abs(term.coefficient)
    coefficient = number_text(size, DIGITS) if simple else f"{size:.{DIGITS}g}"
    if term.is_constant:
        yield _math(*sign, _number(coefficient))
        return
    dot = element("mo", "·")
    if coefficient != "1":
        yield _math(*sign, _number(coefficient), dot)
    elif sign:
        yield _math(*sign)
    last = len(term.factors) - 1
    for j, factor in enumerate(term.factors):
        yield _math(_factor(factor), *([dot] if j < last else []))


def _factor(factor: Factor) -> Html:
    name = symbol(factor.name)
    sign = element("mrow", element("mi", "sgn"), element("mo", "("), name, element("mo", ")"))
    if factor.exponent == 0:
        return sign
    size = element("mrow", element("mo", "|"), name, element("mo", "|"))
    if factor.parity is Parity.ABSOLUTE:
        return _power(size, factor.exponent)
    if factor.is_natural:
        return _power(name, factor.exponent)
    return element("mrow", sign, element("mo", "·"), _power(size, factor.exponent))


def _power(base: Html, exponent: Exponent) -> Html:
    if exponent == 1:
        return base
    if isinstance(exponent, Fraction):
        if exponent == Fraction(1, 2):
            return element("msqrt", base)
        return element("msup", base, _signed(exponent < 0, element("mn", str(abs(exponent)))))
    return element("msup", base, _signed(exponent < 0, _number(f"{abs(exponent):.{DIGITS}g}")))


def _signed(negative: bool, value: Html) -> Html:
    return element("mrow", element("mo", MINUS), value) if negative else value


def _number(text: str) -> Html:
    """Return a number that was printed, with a power of ten for an exponent."""
    mantissa, _, power = text.partition("e")
    if not power:
        return element("mn", text)
    ten = element("msup", element("mn", "10"), _signed(int(power) < 0, element("mn", str(abs(int(power))))))
    return element("mrow", element("mn", mantissa), element("mo", "×"), ten)
