"""Writing expressions in another language: one rule per kind of node, applied from the leaves upwards.

A rule gets the fields of a node, in order; parts that are expressions themselves have been written already. So the
rules of a backend are a dictionary of one-liners, whatever it writes: text, nodes of a graph or of a syntax tree.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Any, TypeAlias, TypeVar

from ecsel.export.program import expr

Written = TypeVar("Written")
Rules: TypeAlias = Mapping[type, Callable[..., Written]]


def fold(node: expr.Expr | expr.Condition, rules: Rules[Written]) -> Written:
    """Write a node by the rules.

    Examples
    --------
    >>> from ecsel.export.program.expr import Add, Mul, Var
    >>> fold(Add((Var("a"), Mul((Var("b"), Var("c"))))), INFIX)
    '(a + (b * c))'
    """
    if isinstance(node, expr.Lookup):  # its entries are data
        return rules[expr.Lookup](node.position, node.entries, node.missing, node.otherwise)
    return rules[type(node)](*(_written(getattr(node, field.name), rules) for field in fields(node)))


def _written(value: Any, rules: Rules[Written]) -> Any:
    if isinstance(value, tuple):
        return [_written(part, rules) for part in value]
    return fold(value, rules) if isinstance(value, (expr.Expr, expr.Condition)) else value


def infix(operator: str) -> Callable[[list[str]], str]:
    """Return the rule that writes parts with an operator between them, in parentheses."""
    return lambda parts: f"({operator.join(parts)})"


def call(function: str) -> Callable[[list[str] | str], str]:
    """Return the rule that writes a function call."""
    return lambda operands: f"{function}({operands if isinstance(operands, str) else ', '.join(operands)})"


INFIX: Rules[str] = {
    expr.Const: lambda value: f"({value!r})" if value < 0 else repr(value),
    expr.Var: str,
    expr.Add: infix(" + "),
    expr.Mul: infix(" * "),
    expr.Div: lambda numerator, denominator: f"({numerator} / {denominator})",
    expr.Neg: lambda operand: f"(-{operand})",
    expr.Min: call("min"),
    expr.Max: call("max"),
    expr.Abs: call("abs"),
    expr.Exp: call("exp"),
    expr.Log: call("log"),
    expr.Sqrt: call("sqrt"),
    expr.Floor: call("floor"),
    expr.Compare: lambda operator, left, right: f"({left} {operator} {right})",
}
"""What most languages have in common."""
C_FAMILY: Rules[str] = {
    **INFIX,
    expr.If: lambda condition, then, otherwise: f"({condition} ? {then} : {otherwise})",
    expr.And: infix(" && "),
    expr.Or: infix(" || "),
    expr.Not: lambda operand: f"(!{operand})",
}
"""What C and its descendants have in common."""
