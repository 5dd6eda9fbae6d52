r"""The paper's model in raw units as LaTeX; [column = level] is 1 where the column has that level and 0 elsewhere."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ecsel.export.readable.formula import Multiplier
from ecsel.signomial.latex import latex_name, latex_number
from ecsel.signomial.text import join_signed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ecsel.export.readable.formula import Base, Formula, FormulaTerm, Power


def formula_scores(formula: Formula) -> Iterator[str]:
    """Yield the sum of each score."""
    for _, terms in formula.scores:
        yield join_signed([_term(formula, term) for term in terms] or ["0"])


def clipped_columns(formula: Formula) -> Iterator[str]:
    """Yield a line for each limit at which a column is held."""
    for column in formula.columns:
        low, high = formula.clipped(column) or (None, None)
        for function, limit in ((r"\max", low), (r"\min", high)):
            if limit is not None:
                name = latex_name(column)
                yield rf"{name} &\leftarrow {function}\left({name}, {latex_number(limit)}\right)"


def latex_indicator(each: Multiplier) -> str:
    r"""Return the indicator of a level or of a missing value, ``[column = level]``."""
    level = "?" if each.level is None else latex_name(str(each.level))
    return rf"\left[{latex_name(each.column)} = {level}\right]"


def _term(formula: Formula, term: FormulaTerm) -> str:
    factors = [
        f"{_base_number(each.value)}^{{{latex_indicator(each)}}}"
        if isinstance(each, Multiplier)
        else _power(formula, each)
        for each in term.factors
    ]
    coefficient = latex_number(term.coefficient)
    if factors and coefficient in {"1", "-1"}:
        return coefficient.replace("1", r" \cdot ".join(factors))
    return r" \cdot ".join([coefficient, *factors])


def _power(formula: Formula, power: Power) -> str:
    base = _base(formula, power.base)
    return base if power.exponent == 1 else f"{base}^{{{latex_number(power.exponent)}}}"


def _base(formula: Formula, base: Base) -> str:
    x = latex_name(base.column)
    if formula.clipped(base.column) is None:  # else a line of its own says it once
        x = x if base.at_least is None else rf"\max\left({x}, {latex_number(base.at_least)}\right)"
        x = x if base.at_most is None else rf"\min\left({x}, {latex_number(base.at_most)}\right)"
    if base.unit is None:
        return x
    if base.unit < 0:
        moved = f"{latex_number(base.origin)} - {x}"
    else:
        sign = "-" if base.origin > 0 else "+"
        moved = x if base.origin == 0 else f"{x} {sign} {latex_number(abs(base.origin))}"
    if base.times is not None:
        return rf"\left({latex_number(base.times)} \cdot {x} + 1\right)"
    unit = latex_number(abs(base.unit))
    return rf"\left({moved} + 1\right)" if unit == "1" else rf"\left(\frac{{{moved}}}{{{unit}}} + 1\right)"


def _base_number(value: float) -> str:
    """Return a number that is raised to a power."""
    number = latex_number(value)
    return number if number.replace(".", "").isdigit() else rf"\left({number}\right)"
