"""Columns as they are, of a regression or of bare equations: u = log|x| and sgn(x).

A factor is |x|^β, with the sign of x where the term carries it, and 0 where x is. As in the model, a row is refused
where x is missing or infinite, zero to a negative power, or negative to a power that refuses it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ecsel.export.accepted import LARGEST
from ecsel.export.expr import Abs, Compare, Condition, Const, Expr, If, Input, IsMissing, Log, Not, all_of, mul
from ecsel.export.program import InputColumn
from ecsel.export.reading import Reading, Sheet, is_one
from ecsel.signomial import Parity

if TYPE_CHECKING:
    from ecsel.explain.view import ModelView
    from ecsel.signomial import Factor


def read_plain(view: ModelView, sheet: Sheet) -> Reading:
    """Write down how the columns that the equations use are read."""
    by_column: dict[str, dict[int, Factor]] = {}
    for k, of_term in enumerate(view.factors):
        for factor in of_term:
            by_column.setdefault(factor.name, {})[k] = factor
    columns = [j for j, name in enumerate(view.feature_names) if name in by_column]
    inputs: list[InputColumn] = []
    conditions: list[Condition] = []
    parts: dict[tuple[int, int], Expr] = {}
    signs: dict[tuple[int, int], Expr] = {}
    column_signs: dict[int, Expr] = {}
    for i, j in enumerate(columns):
        name = view.feature_names[j]
        factors = by_column[name]
        may_be_zero = not any(factor.exponent < 0 for factor in factors.values())
        may_be_negative = not any(factor.refuses_negative for factor in factors.values())
        usable = If(all_of(_domain(i, zero=may_be_zero, negative=may_be_negative)), Const(1.0), Const(0.0))
        ok = sheet.let(f"ok{i}", usable, "value", f"{name} is usable")
        x = sheet.let(f"x{i}", If(is_one(ok), Input(i), Const(1.0)), "value", name)
        size: Expr = Abs(x) if may_be_negative else x
        if may_be_zero:
            size = If(Compare("==", x, Const(0.0)), Const(1.0), size)
        u = sheet.let(f"u{i}", Log(size), "log", f"log |{name}|")
        if may_be_zero or may_be_negative:
            below = If(Compare("<", x, Const(0.0)), Const(-1.0), Const(0.0))
            sign = sheet.let(f"s{i}", If(Compare(">", x, Const(0.0)), Const(1.0), below), "log", f"sign of {name}")
            column_signs[i] = sign
            signs.update({(k, i): sign if f.parity is Parity.ODD else Abs(sign) for k, f in factors.items()})
        parts.update({(k, i): mul([Const(float(f.exponent)), u]) for k, f in factors.items()})
        inputs.append(InputColumn(name, "number", None, (), refuses_missing=True))
        conditions.append(is_one(ok))
    return Reading(tuple(inputs), tuple(columns), tuple(conditions), parts, signs, column_signs)


def _domain(i: int, *, zero: bool, negative: bool) -> list[Condition]:
    """Return the conditions under which every factor of a column has a value."""
    x = Input(i)
    smallest = Const(-LARGEST if negative else 0.0)
    conditions: list[Condition] = [Not(IsMissing(i)), Compare(">=", x, smallest), Compare("<=", x, Const(LARGEST))]
    return conditions if zero else [*conditions, Compare(">", Abs(x), Const(0.0))]
