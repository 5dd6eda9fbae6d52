"""The paper's model in raw units as text, in Python syntax."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ecsel.export.readable.formula import Multiplier
from ecsel.signomial.text import print_name, print_shift

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ecsel.export.readable.formula import Base, Formula, FormulaTerm, Power

WORDS = frozenset({"P", "exp", "label", "max", "min", "missing", "pi"})
"""What means something in these lines beside the names that `ecsel.signomial.text` keeps clear of."""


def formula_scores(formula: Formula) -> Iterator[list[str]]:
    """Yield the terms of each score."""
    for _, terms in formula.scores:
        yield [_term(formula, term) for term in terms] or ["0"]


def formula_notes(formula: Formula) -> Iterator[str]:
    """Yield in words how values are read."""
    for column in formula.columns:
        name = column_text(column)
        if column in formula.orders:
            order = formula.orders[column]
            positions = ", ".join(f"{place} for {level!r}" for place, level in enumerate(order.levels))
            yield f"{name} is {positions}, {print_shift(order.unknown)} for any other level"
        low, high = formula.clipped(column) or (None, None)
        if low is not None:
            yield f"{name} counts as {print_shift(low)} below {print_shift(low)}"
        if high is not None:
            yield f"{name} counts as {print_shift(high)} above {print_shift(high)}"
        if column in formula.imputed:
            yield f"{name} counts as {print_shift(formula.imputed[column])} where it is missing"


def _term(formula: Formula, term: FormulaTerm) -> str:
    """Return a term; powers −1, −2, … are divisions and come last."""
    coefficient = print_shift(term.coefficient)
    factors = [
        f"*{_multiplier(each)}" if isinstance(each, Multiplier) else _power(formula, each) for each in term.factors
    ]
    product = "".join(sorted(factors, key=lambda factor: factor.startswith("/")))
    if coefficient in {"1", "-1"} and product.startswith("*"):
        return coefficient.replace("1", product[1:])
    return coefficient + product


def _power(formula: Formula, power: Power) -> str:
    below = power.exponent < 0 and power.exponent.is_integer()
    exponent = print_shift(-power.exponent if below else power.exponent)
    raised = "" if exponent == "1" else f"**{exponent}"
    return f"{'/' if below else '*'}{_base(formula, power.base)}{raised}"


def _base(formula: Formula, base: Base) -> str:
    x = column_text(base.column)
    if formula.clipped(base.column) is None:  # else the notes say it once
        x = x if base.at_least is None else f"max({x}, {print_shift(base.at_least)})"
        x = x if base.at_most is None else f"min({x}, {print_shift(base.at_most)})"
    if base.unit is None:
        return x
    origin = print_shift(abs(base.origin))
    if base.unit < 0:
        moved = f"({print_shift(base.origin)} - {x})"
    else:
        moved = x if base.origin == 0 else f"({x} {'-' if base.origin > 0 else '+'} {origin})"
    if base.times is not None:
        return f"({print_shift(base.times)}*{x} + 1)"
    unit = print_shift(abs(base.unit))
    return f"({moved} + 1)" if unit == "1" else f"({moved}/{unit} + 1)"


def _multiplier(each: Multiplier) -> str:
    name = column_text(each.column)
    condition = f"{name} == missing" if each.level is None else f"{name} == {each.level!r}"
    return f"{print_shift(each.value)}**({condition})"


def column_text(name: str) -> str:
    """Return a column's name as it stands in a text, where it must not be taken for anything else.

    >>> column_text("age"), column_text("page value"), column_text("exp")
    ('age', "col('page value')", "col('exp')")
    """
    is_plain = print_name(name) == name and name.isidentifier()
    return name if is_plain and name not in WORDS else f"col({name!r})"
