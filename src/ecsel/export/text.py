"""`to_text`: the model as equations in raw units, in Python syntax, and in words whatever is no equation."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

from ecsel.explain.view import ModelView
from ecsel.export.digits import Digits, check_complete, exact_name, readable_formula
from ecsel.export.formula import Multiplier
from ecsel.export.text_program import column_text, complete_text
from ecsel.signomial.factor import Exponent, Parity, is_integer

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ecsel.export.formula import Base, Formula, FormulaTerm, Power

WIDTH = 100
"""A sum that is longer is written with one term a line."""


def to_text(
    model: Any, *, digits: Digits = None, tolerance: float = 1e-3, X: Any = None, complete: bool = False
) -> str:
    """Return the model as equations for people.

    Columns stand for themselves, in their own units, the most important ones first. A level multiplies its term:
    ``2.5**(city == 'Oslo')`` is 2.5 in Oslo and 1 elsewhere. Fractions and multiples of π are kept exact.

    Parameters
    ----------
    model : ECSELClassifier, ECSELRegressor or Signomial
        The model.
    digits : int, "auto" or None, default=None
        How many significant digits numbers have; None keeps them all; ``"auto"`` is the fewest with which predictions
        stay within the tolerance.
    tolerance : float, default=1e-3
        What ``"auto"`` allows: the largest change of a probability, or of a prediction relative to the root mean square
        of all predictions.
    X : data frame or array, optional
        Rows on which that is judged; by default rows that are spread over the training ranges.
    complete : bool, default=False
        Whether to write all steps instead, which can be followed for any row to what the model says of it: which rows
        are refused, what a missing value, an unknown level and a value out of range count as, where exponents of e are
        clipped, and how the label is found. Numbers keep all their digits.

    Examples
    --------
    >>> from ecsel import Signomial
    >>> print(to_text(Signomial.parse("6.283185307179586*x**2/y + 0.12345"), digits=2))
    prediction = 2*pi*x**2/y + 0.12
    """
    view = ModelView.of(model)
    if complete:
        check_complete(digits, X)
        return complete_text(view)
    formula = readable_formula(view, digits, tolerance, X)
    lines = list(_equations(formula))
    if notes := list(_notes(formula)):
        lines += ["where", *(f"    {note}" for note in notes)]
    return "\n".join(lines)


def _equations(formula: Formula) -> Iterator[str]:
    for label, terms in formula.scores:
        yield _sum(_score_name(formula, label), [_term(formula, term) for term in terms])
    if formula.link == "sigmoid":
        first, second = formula.classes
        yield f"P({second!r}) = 1/(1 + exp(-{formula.score_name}))"
        yield f"P({first!r}) = 1 - P({second!r})"
    elif formula.link == "softmax":
        total = " + ".join(f"exp({_score_name(formula, label)})" for label in formula.classes)
        for label in formula.classes:
            yield f"P({label!r}) = exp({_score_name(formula, label)})/({total})"
    if formula.threshold is not None:
        yield f"the label is {formula.classes[1]!r} where P({formula.classes[1]!r}) >= {_number(formula.threshold)}"
    elif formula.link != "identity":
        yield "the label is the class with the largest P"


def _score_name(formula: Formula, label: Any) -> str:
    return f"{formula.score_name}[{label!r}]" if formula.link == "softmax" else formula.score_name


def _sum(name: str, terms: Sequence[str]) -> str:
    first, *others = terms or ["0"]
    signed = [f"- {term[1:]}" if term.startswith("-") else f"+ {term}" for term in others]
    line = " ".join([f"{name} = {first}", *signed])
    return line if len(line) <= WIDTH else "\n    ".join([f"{name} = {first}", *signed])


def _term(formula: Formula, term: FormulaTerm) -> str:
    """Return a term; powers −1, −2, … are divisions and come last."""
    coefficient = _number(term.coefficient)
    factors = [
        f"*{_multiplier(each)}" if isinstance(each, Multiplier) else _power(formula, each) for each in term.factors
    ]
    product = "".join(sorted(factors, key=lambda factor: factor.startswith("/")))
    if coefficient in {"1", "-1"} and product.startswith("*"):
        return coefficient.replace("1", product[1:])
    return coefficient + product


def _power(formula: Formula, power: Power) -> str:
    base = _base(formula, power.base)
    below = is_integer(power.exponent) and power.exponent < 0
    exponent = _exponent(-power.exponent if below else power.exponent)
    raised = "" if exponent == "1" else f"**{exponent}"
    operator = "/" if below else "*"
    if power.is_natural:
        return f"{operator}{base}{raised}"
    sign = f"*sign({base})" if power.parity is Parity.ODD else ""
    return f"{sign}{operator}abs({base}){raised}" if power.exponent else sign


def _base(formula: Formula, base: Base) -> str:
    x = column_text(base.column)
    if formula.held(base.column) is None:  # else the notes say it once
        x = x if base.at_least is None else f"max({x}, {_number(base.at_least)})"
        x = x if base.at_most is None else f"min({x}, {_number(base.at_most)})"
    if base.unit is None:
        return x
    origin = _number(abs(base.origin))
    if base.unit < 0:
        moved = f"({_number(base.origin)} - {x})"
    else:
        moved = x if base.origin == 0 else f"({x} {'-' if base.origin > 0 else '+'} {origin})"
    if base.times is not None:
        return f"({_number(base.times)}*{x} + 1)"
    unit = _number(abs(base.unit))
    return f"({moved} + 1)" if unit == "1" else f"({moved}/{_product(unit)} + 1)"


def _multiplier(each: Multiplier) -> str:
    name = column_text(each.column)
    condition = f"{name} == missing" if each.level is None else f"{name} == {each.level!r}"
    return f"{_product(_number(each.value))}**({condition})"


def _exponent(exponent: Exponent) -> str:
    if isinstance(exponent, Fraction) and not is_integer(exponent):
        return f"({exponent})"
    return _number(float(exponent))


def _number(value: float) -> str:
    name = exact_name(value)
    if name is None:
        return repr(value).removesuffix(".0")
    ratio, power = name
    if power == 0:
        return str(ratio)
    pi = "pi" if abs(power) == 1 else f"pi**{abs(power)}"
    if power > 0:
        numerator = pi if abs(ratio.numerator) == 1 else f"{abs(ratio.numerator)}*{pi}"
        written = numerator if ratio.denominator == 1 else f"{numerator}/{ratio.denominator}"
    else:
        bottom = pi if ratio.denominator == 1 else f"({ratio.denominator}*{pi})"
        written = f"{abs(ratio.numerator)}/{bottom}"
    return f"-{written}" if ratio < 0 else written


def _product(number: str) -> str:
    """Return a number in parentheses where it is a product or a quotient."""
    return f"({number})" if "/" in number or "*" in number else number


def _notes(formula: Formula) -> Iterator[str]:
    """Yield in words how values are read."""
    for column in formula.columns:
        name = column_text(column)
        if column in formula.orders:
            order = formula.orders[column]
            positions = ", ".join(f"{place} for {level!r}" for place, level in enumerate(order.levels))
            yield f"{name} is {positions}, {_number(order.unknown)} for any other level"
        low, high = formula.held(column) or (None, None)
        if low is not None:
            yield f"{name} counts as {_number(low)} below {_number(low)}"
        if high is not None:
            yield f"{name} counts as {_number(high)} above {_number(high)}"
        if column in formula.imputed:
            yield f"{name} counts as {_number(formula.imputed[column])} where it is missing"
