"""Equations typeset as MathML, which browsers draw by themselves: z = Σ_k α_k Π_j φ_kj(x_j).

A product is laid out as in text and LaTeX (`ecsel.signomial.layout`): negative whole powers stand below a line. Every
sign with its coefficient and every factor is a ``<math>`` of its own, a quotient is one, since browsers break lines
between such elements and never inside of one; a long equation then fits a telephone and a sheet of paper.
"""

from __future__ import annotations

import re
from fractions import Fraction
from typing import TYPE_CHECKING

from ecsel.discovery.fitted import number_text
from ecsel.report.html import Html, element, join
from ecsel.report.wording import MINUS
from ecsel.signomial.layout import Power, lay_out
from ecsel.signomial.text import format_name, print_shift

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from ecsel.signomial import Signomial, Term
    from ecsel.signomial.factor import Factor

    Numbers = Callable[[float], str]
    """How a number is written."""

DIGITS = 4
LONG_ABOVE = 24
"""Letters of names above a line beyond which they stand before it: no browser breaks a line inside a quotient."""
_LETTER_DIGITS = re.compile(r"([A-Za-z])_?([0-9]+)")


def four_digits(value: float) -> str:
    """Return a number to four significant digits."""
    return f"{value:.{DIGITS}g}"


def simple_number(value: float) -> str:
    """Return a number to four significant digits; 1/2 and 4π are called by their names."""
    return number_text(value, DIGITS)


def all_digits(value: float) -> str:
    """Return the shortest text that is exactly this number."""
    return print_shift(value)


def equation(left: Html, right: Signomial, numbers: Numbers = four_digits) -> Html:
    """Return an equation as a run of ``<math>`` elements.

    Parameters
    ----------
    left : Html
        MathML of the left-hand side, or a span of text with its sign of equality, which may break.
    right : Signomial
        The right-hand side.
    numbers : function, default=four_digits
        How coefficients are written: `four_digits`, `simple_number` or `all_digits`.

    Examples
    --------
    >>> from ecsel import Signomial
    >>> print(equation(symbol("y"), Signomial.parse("2*x")))
    <math><mi>y</mi><mo>=</mo></math> <span class="term"><math><mn>2</mn><mo>·</mo></math><math><mi>x</mi></math></span>
    """
    terms = [_block(_term(term, numbers, first=k == 0)) for k, term in enumerate(right.terms)]
    lead = left if left.text.startswith("<span") else _math(left, element("mo", "="))
    pieces = [lead, *(terms or [_math(element("mn", "0"))])]
    return Html(" ".join(piece.text for piece in pieces))


def piece(term: Term) -> Html:
    """Return the product of a term's factors alone, without the coefficient.

    >>> from ecsel import Signomial
    >>> print(piece(Signomial.parse("-3*log(x)").terms[0]))
    <math><mrow><mi>log</mi><mo stretchy="false">(</mo><mi>x</mi><mo stretchy="false">)</mo></mrow></math>
    """
    return join(_term(term.from_factors(1.0, term.factors), four_digits, first=True))


def odds_product(left: Html, logarithm: Signomial) -> Html:
    """Return odds as a product of powers, from their logarithm: a sum of a constant, logarithms and levels.

    >>> from ecsel import Signomial
    >>> print(odds_product(symbol("o"), Signomial.parse("2*log(x) - 3")))  # doctest: +NORMALIZE_WHITESPACE
    <math><mi>o</mi><mo>=</mo></math>
    <span class="term"><math><msup><mi>e</mi><mrow><mo>−</mo><mn>3</mn></mrow></msup><mo>·</mo></math></span>
    <span class="term"><math><msup><mi>x</mi><mn>2</mn></msup></math></span>
    """
    ordered = sorted(logarithm.terms, key=lambda term: not term.is_constant)
    powers = [_odds_power(term) for term in ordered]
    dot = element("mo", "·")
    dotted = [_math(power, *([dot] if k < len(powers) - 1 else [])) for k, power in enumerate(powers)]
    pieces = [_math(left, element("mo", "=")), *(_block([each]) for each in dotted)]
    return Html(" ".join(each.text for each in pieces))


def _odds_power(term: Term) -> Html:
    """Return e to the power of a term; of a logarithm its column to the power of the coefficient."""
    coefficient = _signed(term.coefficient < 0, _number(all_digits(abs(term.coefficient))))
    if len(term.factors) == 1 and term.factors[0].log:
        (factor,) = term.factors
        inner = _inside(factor)
        base = inner[0] if len(inner) == 1 else element("mrow", *_bracketed(inner))
        return element("msup", base, coefficient)
    dotted = [part for factor in term.factors for part in (element("mo", "·"), *_base(factor))]
    return element("msup", element("mi", "e"), element("mrow", coefficient, *dotted) if dotted else coefficient)


def typeset_number(value: float) -> Html:
    """Return a number with all its digits.

    >>> print(typeset_number(-2.1e-06).text.partition("<mo>×")[0])
    <math><mo>−</mo><mrow><mn>2.1</mn>
    """
    sign = [element("mo", MINUS)] if value < 0 else []
    return _math(*sign, _number(all_digits(abs(value))))


def symbol(name: str) -> Html:
    """Return a name as a symbol; a letter with a number has the number below."""
    if match := _LETTER_DIGITS.fullmatch(name):
        return element("msub", element("mi", match[1]), element("mn", match[2]))
    return element("mi" if name.isidentifier() else "mtext", format_name(name))


def score_of(label: object) -> Html:
    """Return z with the label of a class below."""
    return element("msub", element("mi", "z"), element("mtext", format_name(label)))


def _block(parts: Iterable[Html]) -> Html:
    """Return a term that browsers break only where it is longer than a line."""
    return element("span", *parts, class_="term")


def _math(*children: Html) -> Html:
    return element("math", *children)


def _term(term: Term, numbers: Numbers, *, first: bool) -> Iterator[Html]:
    """Yield the sign with the coefficient, then the factors, each with the dot that follows it; a quotient whole."""
    negative = term.coefficient < 0
    # at the start of an element an operator counts as a prefix, without room around it, unless it says otherwise
    form = None if first else "infix"
    sign = [element("mo", MINUS if negative else "+", form=form)] if negative or not first else []
    coefficient = numbers(abs(term.coefficient))
    quotient = lay_out(term.factors)
    above = [_power(power) for power in quotient.above]
    below = [_power(power, alone=len(quotient.below) == 1) for power in quotient.below]
    if coefficient != "1" or not above:
        above.insert(0, _number(coefficient))
    if below and sum(len(power.factor.name) for power in quotient.above) > LONG_ABOVE:
        above.append(element("mfrac", element("mn", "1"), _product(below), displaystyle="true"))
    elif below:
        yield _math(*sign, element("mfrac", _product(above), _product(below), displaystyle="true"))
        return
    dot = element("mo", "·")
    for k, factor in enumerate(above):
        yield _math(*(sign if k == 0 else []), factor, *([dot] if k < len(above) - 1 else []))


def _product(factors: list[Html]) -> Html:
    dotted = [part for factor in factors for part in (element("mo", "·"), factor)][1:]
    return dotted[0] if len(dotted) == 1 else element("mrow", *dotted)


def _base(factor: Factor) -> list[Html]:
    """Return what is raised to a power: a name, a sum, or a logarithm of either."""
    inner = _inside(factor)
    return [_call("log", inner)] if factor.log else inner


def _inside(factor: Factor) -> list[Html]:
    """Return a name, or a sum of a name and a number."""
    inner = [symbol(factor.name)]
    if factor.shift:
        inner += [element("mo", MINUS if factor.shift < 0 else "+"), _number(print_shift(abs(factor.shift)))]
    return inner


def _call(function: str, inner: list[Html]) -> Html:
    return element("mrow", element("mi", function), *_bracketed(inner))


def _bracketed(inner: list[Html]) -> list[Html]:
    """Return something in brackets of the height of a letter: those that stretch tower over names on one line."""
    return [element("mo", "(", stretchy="false"), *inner, element("mo", ")", stretchy="false")]


def _power(power: Power, *, alone: bool = False) -> Html:
    """Return a power; one that stands alone below a line needs no brackets."""
    if power.factor.exp:
        rate = float(power.factor.exponent)
        product = [symbol(power.factor.name)]
        if abs(rate) != 1:
            product = [_number(four_digits(abs(rate))), element("mo", "·"), *product]
        return element("msup", element("mi", "e"), _signed(rate < 0, element("mrow", *product)))
    inner = _base(power.factor)
    if power.wrap == "sign":
        return _call("sgn", inner)
    if power.wrap == "abs":
        inner = [element("mrow", element("mo", "|"), *inner, element("mo", "|"))]
    exponent = power.exponent
    if power.is_root:
        return element("msqrt", *inner)
    if exponent == 1 and alone:
        return inner[0] if len(inner) == 1 else element("mrow", *inner)
    if power.is_sum or (power.factor.log and exponent != 1):
        inner = [element("mrow", *_bracketed(inner))]
    if exponent == 1:
        return inner[0]
    text = str(abs(exponent)) if isinstance(exponent, Fraction) else four_digits(abs(exponent))
    return element("msup", inner[0], _signed(exponent < 0, _number(text)))


def _signed(negative: bool, value: Html) -> Html:
    return element("mrow", element("mo", MINUS), value) if negative else value


def _number(text: str) -> Html:
    """Return a number that was printed, with a power of ten for an exponent."""
    mantissa, _, power = text.partition("e")
    if not power:
        return element("mn", text)
    ten = element("msup", element("mn", "10"), _signed(int(power) < 0, element("mn", str(abs(int(power))))))
    return element("mrow", element("mn", mantissa), element("mo", "×"), ten)
