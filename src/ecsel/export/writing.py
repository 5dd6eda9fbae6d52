"""Writing expressions in another language: one rule per kind of node, applied from the leaves upwards.

A rule gets the fields of a node, in order; parts that are expressions themselves have been written already. So the
rules of a backend are a dictionary of one-liners, whatever it writes: text, nodes of a graph or of a syntax tree.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Any, TypeAlias, TypeVar

from ecsel.export.expr import Abs, Add, Condition, Div, Exp, Expr, Floor, Log, Lookup, Max, Min, Mul, Neg, Sqrt, Var

Written = TypeVar("Written")
Rules: TypeAlias = Mapping[type, Callable[..., Written]]


def fold(node: Expr | Condition, rules: Rules[Written]) -> Written:
    """Write a node by the rules.

    Examples
    --------
    >>> fold(Add((Var("a"), Mul((Var("b"), Var("c"))))), INFIX)
    '(a + (b * c))'
    """
    if isinstance(node, Lookup):  # its entries are data
        return rules[Lookup](node.position, node.entries, node.missing, node.otherwise)
    return rules[type(node)](*(_written(getattr(node, field.name), rules) for field in fields(node)))


def _written(value: Any, rules: Rules[Written]) -> Any:
    if isinstance(value, tuple):
        return [_written(part, rules) for part in value]
    return fold(value, rules) if isinstance(value, (Expr, Condition)) else value


def infix(operator: str) -> Callable[[list[str]], str]:
    """Return the rule that writes parts with an operator between them, in parentheses."""
    return lambda parts: f"({operator.join(parts)})"


def call(function: str) -> Callable[[list[str] | str], str]:
    """Return the rule that writes a function call."""
    return lambda operands: f"{function}({operands if isinstance(operands, str) else ', '.join(operands)})"


INFIX: Rules[str] = {
    Var: str,
    Add: infix(" + "),
    Mul: infix(" * "),
    Div: lambda numerator, denominator: f"({numerator} / {denominator})",
    Neg: lambda operand: f"(-{operand})",
    Min: call("min"),
    Max: call("max"),
    Abs: call("abs"),
    Exp: call("exp"),
    Log: call("log"),
    Sqrt: call("sqrt"),
    Floor: call("floor"),
}
"""What most languages have in common."""
