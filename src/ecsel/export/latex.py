r"""`to_latex`: the model as LaTeX in math mode, in raw units, one line per equation.

Names are escaped by `ecsel.signomial.latex.latex_name`. Products are written with ``\cdot``, so that a name before a
parenthesis is no function, and [column = level] is 1 where the column has that level and 0 elsewhere.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

from ecsel.explain.view import ModelView
from ecsel.export.digits import Digits, check_complete, exact_name, readable_formula
from ecsel.export.formula import Multiplier
from ecsel.export.latex_program import complete_latex, decimal
from ecsel.signomial.factor import Exponent, Parity, is_integer
from ecsel.signomial.latex import latex_name

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ecsel.export.formula import Base, Formula, FormulaTerm, Power


def to_latex(
    model: Any, *, digits: Digits = None, tolerance: float = 1e-3, X: Any = None, complete: bool = False
) -> str:
    r"""Return the model as LaTeX: an ``aligned`` environment for math mode.

    First come the values that columns are held at, then scores, then probabilities. This formula refuses no row, and
    missing values are to be replaced first: `to_text` says by what, `ecsel.export.formula_inputs` does it. With
    ``complete=True`` all of that is part of what is written.

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
    >>> print(to_latex(Signomial.parse("2.5*x1**2/sqrt(abs(y))")))
    \begin{aligned}
    \hat{y} &= 2.5 \cdot x_{1}^{2} \cdot \left|y\right|^{-\frac{1}{2}}
    \end{aligned}
    """
    view = ModelView.of(model)
    if complete:
        check_complete(digits, X)
        return complete_latex(view)
    formula = readable_formula(view, digits, tolerance, X)
    lines = " \\\\\n".join([*_held(formula), *_scores(formula), *_probabilities(formula)])
    return f"\\begin{{aligned}}\n{lines}\n\\end{{aligned}}"


def latex_indicator(each: Multiplier) -> str:
    r"""Return the indicator of a level or of a missing value, ``[column = level]``."""
    level = "?" if each.level is None else latex_name(str(each.level))
    return rf"\left[{latex_name(each.column)} = {level}\right]"


def _held(formula: Formula) -> Iterator[str]:
    for column in formula.columns:
        low, high = formula.held(column) or (None, None)
        for function, limit in ((r"\max", low), (r"\min", high)):
            if limit is not None:
                name = latex_name(column)
                yield rf"{name} &\leftarrow {function}\left({name}, {_number(limit)}\right)"


def _scores(formula: Formula) -> Iterator[str]:
    for label, terms in formula.scores:
        first, *others = [_term(formula, term) for term in terms] or ["0"]
        signed = "".join(f" - {term[1:]}" if term.startswith("-") else f" + {term}" for term in others)
        yield f"{_score_name(formula, label)} &= {first}{signed}"


def _score_name(formula: Formula, label: Any) -> str:
    if formula.link == "identity":
        return r"\hat{y}"
    name = latex_name(formula.score_name)
    return f"{name}_{{{latex_name(str(label))}}}" if formula.link == "softmax" else name


def _probabilities(formula: Formula) -> Iterator[str]:
    if formula.link == "sigmoid":
        score = _score_name(formula, None)
        for label, signed in zip(formula.classes, (score, f"-{score}"), strict=True):
            yield rf"P\left({latex_name(str(label))}\right) &= \frac{{1}}{{1 + \exp\left({signed}\right)}}"
    elif formula.link == "softmax":
        weights = [rf"\exp\left({_score_name(formula, label)}\right)" for label in formula.classes]
        for label, weight in zip(formula.classes, weights, strict=True):
            yield rf"P\left({latex_name(str(label))}\right) &= \frac{{{weight}}}{{{' + '.join(weights)}}}"


def _term(formula: Formula, term: FormulaTerm) -> str:
    factors = [
        f"{_base_number(each.value)}^{{{latex_indicator(each)}}}"
        if isinstance(each, Multiplier)
        else _power(formula, each)
        for each in term.factors
    ]
    coefficient = _number(term.coefficient)
    if factors and coefficient in {"1", "-1"}:
        return coefficient.replace("1", r" \cdot ".join(factors))
    return r" \cdot ".join([coefficient, *factors])


def _power(formula: Formula, power: Power) -> str:
    base = _base(formula, power.base)
    if power.is_natural:
        return _raised(base, power.exponent)
    size = _raised(rf"\left|{base}\right|", power.exponent)
    if power.parity is not Parity.ODD:
        return size
    sign = rf"\operatorname{{sgn}}\left({base}\right)"
    return rf"{sign} \cdot {size}" if power.exponent else sign


def _raised(base: str, exponent: Exponent) -> str:
    if isinstance(exponent, Fraction) and not is_integer(exponent):
        if exponent == Fraction(1, 2):
            return rf"\sqrt{{{base}}}"
        minus = "-" if exponent < 0 else ""
        return rf"{base}^{{{minus}\frac{{{abs(exponent.numerator)}}}{{{exponent.denominator}}}}}"
    return base if exponent == 1 else f"{base}^{{{_number(float(exponent))}}}"


def _base(formula: Formula, base: Base) -> str:
    x = latex_name(base.column)
    if formula.held(base.column) is None:  # else a line of its own says it once
        x = x if base.at_least is None else rf"\max\left({x}, {_number(base.at_least)}\right)"
        x = x if base.at_most is None else rf"\min\left({x}, {_number(base.at_most)}\right)"
    if base.unit is None:
        return x
    if base.unit < 0:
        moved = f"{_number(base.origin)} - {x}"
    else:
        sign = "-" if base.origin > 0 else "+"
        moved = x if base.origin == 0 else f"{x} {sign} {_number(abs(base.origin))}"
    if base.times is not None:
        return rf"\left({_number(base.times)} \cdot {x} + 1\right)"
    unit = _number(abs(base.unit))
    return rf"\left({moved} + 1\right)" if unit == "1" else rf"\left(\frac{{{moved}}}{{{unit}}} + 1\right)"


def _number(value: float) -> str:
    name = exact_name(value)
    if name is None:
        return decimal(value)
    ratio, power_of_pi = name
    top, bottom = str(abs(ratio.numerator)), str(ratio.denominator)
    if power_of_pi:
        pi = r"\pi" if abs(power_of_pi) == 1 else rf"\pi^{{{abs(power_of_pi)}}}"
        if power_of_pi > 0:
            top = pi if top == "1" else rf"{top} \cdot {pi}"
        else:
            bottom = pi if bottom == "1" else rf"{bottom} \cdot {pi}"
    written = top if bottom == "1" else rf"\frac{{{top}}}{{{bottom}}}"
    return f"-{written}" if ratio < 0 else written


def _base_number(value: float) -> str:
    """Return a number that is raised to a power."""
    number = _number(value)
    return number if number.replace(".", "").isdigit() else rf"\left({number}\right)"
