"""How the language of exported models is written in SQL, as nodes of sqlglot's syntax trees.

Numbers have an exponent (``1.5E0``), which makes them doubles rather than decimals where there is a difference; where
an expression has numbers only, it is cast besides. Imported by `to_sql` alone, which says what to install.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Any, TypeAlias

from sqlglot import exp, parse_one

from ecsel.export.program import expr
from ecsel.export.targets.sql.layers import input_name

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ecsel.export.program.program import InputColumn
    from ecsel.export.program.writing import Rules
    from ecsel.export.targets.sql.dialects import Dialect
    from ecsel.tables import Level

    Node: TypeAlias = exp.Expr

_EXACT_INTEGERS = 2**53
_COMPARISONS: dict[str, type[exp.Binary]] = {
    "<": exp.LT,
    "<=": exp.LTE,
    "==": exp.EQ,
    ">=": exp.GTE,
    ">": exp.GT,
}


def name(text: str) -> exp.Identifier:
    """Return a quoted name."""
    return exp.Identifier(this=text, quoted=True)


def column(text: str, table: str | None = None) -> exp.Column:
    """Return a column by its quoted name."""
    return exp.Column(this=name(text), table=None if table is None else name(table))


def number(value: float) -> Node:
    """Return a double.

    Examples
    --------
    >>> [number(value).sql("duckdb") for value in (0.5, -1.0, 1e-30)]
    ['0.5E0', '-1.0E0', '1e-30']
    """
    digits = repr(abs(value))
    literal = exp.Literal.number(digits if "e" in digits else f"{digits}E0")
    return exp.Neg(this=literal) if str(value).startswith("-") else literal


def text(value: str, dialect: Dialect) -> Node:
    """Return text, in the character set of Unicode where a dialect has several.

    Examples
    --------
    >>> from ecsel.export.targets.sql.dialects import DIALECTS
    >>> [text("${a}", DIALECTS[name]).sql(name) for name in ("duckdb", "tsql", "spark")]
    ["'${a}'", "N'${a}'", "CONCAT('$', '{a}')"]
    """
    if dialect.name == "tsql":
        return exp.National(this=value)
    if dialect.name == "spark" and "${" in value:
        # Spark puts variables into the text of a query before it reads it, inside of literals too
        return exp.Concat(expressions=[exp.Literal.string(part) for part in re.split(r"(?<=\$)(?=\{)", value)])
    return exp.Literal.string(value)


def as_double(node: Node) -> Node:
    """Return the node, cast unless it is a double for the sake of one of its parts."""
    return node if node.find(exp.Column, exp.Cast) else _cast(node)


def read(raw: InputColumn, table: str, dialect: Dialect) -> Node:
    """Return a raw column as the program wants it."""
    source = column(raw.name, table)
    if _has_large_levels(raw):  # as a double, neighbours would be equal
        return source
    template = {"number": dialect.number, "text": dialect.text, "boolean": dialect.boolean}[raw.kind]
    tree = _parsed(template, dialect.name).copy()
    for each in list(tree.find_all(exp.Column)):
        each.replace(source.copy())
    return tree


@cache
def _parsed(template: str, dialect: str) -> Node:
    tree: Node = parse_one(template, read=dialect)
    return tree


def _has_large_levels(raw: InputColumn) -> bool:
    known = (*(raw.levels or ()), *raw.missing_codes)
    return raw.kind == "number" and any(isinstance(x, int) and abs(x) >= _EXACT_INTEGERS for x in known)


def rules_of(dialect: Dialect) -> Rules[Any]:
    """Return how expressions are written in a dialect."""

    def level(value: Level) -> Node:
        if isinstance(value, str):
            return text(value + "." * dialect.full_stop, dialect)
        return exp.Literal.number(str(int(value))) if isinstance(value, int) else number(value)

    def lookup(position: int, entries: Sequence[tuple[Level, float]], missing: float, otherwise: float) -> Node:
        source = column(input_name(position))
        ifs = [exp.If(this=exp.EQ(this=source.copy(), expression=level(x)), true=number(value)) for x, value in entries]
        if missing != otherwise:
            ifs.insert(0, exp.If(this=_is_null(source), true=number(missing)))
        return _cast(exp.Case(ifs=ifs, default=number(otherwise)) if ifs else number(otherwise))

    def case(condition: Node, then: Node, otherwise: Node) -> Node:
        chosen = exp.Case(ifs=[exp.If(this=condition, true=then)], default=otherwise)
        of_numbers = not any(each.find(exp.Column, exp.Cast) for each in (then, otherwise))
        return _cast(chosen) if of_numbers else chosen

    return {
        expr.Const: number,
        expr.Null: exp.Null,
        expr.Var: column,
        expr.Input: lambda position: column(input_name(position)),
        expr.Lookup: lookup,
        expr.Add: _sum,
        expr.Mul: lambda parts: _chain(exp.Mul, [_grouped(part) for part in parts]),
        expr.Min: lambda parts: exp.Anonymous(this=dialect.smallest, expressions=parts),
        expr.Max: lambda parts: exp.Anonymous(this=dialect.largest, expressions=parts),
        expr.Div: lambda above, below: exp.Div(
            this=_grouped(above), expression=_grouped(below), typed=True, safe=False
        ),
        expr.Neg: lambda operand: exp.Neg(this=_grouped(operand)),
        expr.Abs: lambda operand: exp.Abs(this=operand),
        expr.Exp: lambda operand: exp.Exp(this=as_double(operand)),
        expr.Log: lambda operand: exp.Ln(this=as_double(operand)),
        expr.Sqrt: lambda operand: exp.Sqrt(this=as_double(operand)),
        expr.Floor: lambda operand: _cast(exp.Floor(this=as_double(operand))),
        expr.If: case,
        expr.IsMissing: lambda position: _is_null(column(input_name(position))),
        expr.Compare: lambda operator, left, right: _COMPARISONS[operator](this=left, expression=right),
        expr.And: lambda parts: _chain(exp.And, [_grouped(part, exp.Or) for part in parts]),
        expr.Or: lambda parts: _chain(exp.Or, [_grouped(part, exp.And) for part in parts]),
        expr.Not: lambda operand: exp.Not(this=_grouped(operand, exp.Connector)),
    }


def _cast(node: Node) -> Node:
    return exp.Cast(this=node, to=exp.DataType(this=exp.DataType.Type.DOUBLE))


def _is_null(node: Node) -> Node:
    return exp.Is(this=node, expression=exp.Null())


def _grouped(node: Node, *loose: type[Node]) -> Node:
    """Return the node in parentheses if it binds loosely: as any operator does, or as the given ones."""
    return exp.Paren(this=node) if isinstance(node, loose or (exp.Binary, exp.Neg)) else node


def _chain(operator: Callable[..., Node], parts: Sequence[Node]) -> Node:
    first, *others = parts
    for part in others:
        first = operator(this=first, expression=part)
    return first


def _sum(parts: Sequence[Node]) -> Node:
    """Return a sum; what is negative is subtracted."""
    first, *others = parts
    for part in others:
        if isinstance(part, exp.Neg):
            first = exp.Sub(this=first, expression=part.this)
        else:
            first = exp.Add(this=first, expression=part if isinstance(part, (exp.Mul, exp.Div)) else _grouped(part))
    return first
