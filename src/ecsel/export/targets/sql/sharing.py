"""What deserves a name in a query: numbers that are used more than once, be it under one name or written out twice."""

from __future__ import annotations

from collections import Counter
from dataclasses import fields
from typing import TYPE_CHECKING, Any

from ecsel.export.program.expr import Compare, Condition, Const, Expr, If, Input, Lookup, Null, Var, variables

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from ecsel.export.program.program import Program

_SIMPLE = (Const, Null, Var, Input)


def shared_values(program: Program, answers: list[str]) -> dict[str, Expr]:
    """Return the expressions of the answers and of all that is used more than once, by name and in order.

    Examples
    --------
    >>> from ecsel import Signomial
    >>> from ecsel.export.program.lowering import lower
    >>> list(shared_values(lower(Signomial.parse("x**2 + x")), ["prediction"]))
    ['ok0', 'x0', 'r1', 'prediction']
    """
    named = _with_names_for_repeated(program)
    uses = Counter(name for value in named.values() for name in variables(value))
    in_place: dict[str, Expr] = {}
    kept: dict[str, Expr] = {}
    for name, value in named.items():
        written = _substituted(value, in_place)
        (kept if name in answers or uses[name] > 1 else in_place)[name] = written
    return kept


def _with_names_for_repeated(program: Program) -> dict[str, Expr]:
    """Return all expressions, and a name for every part that occurs again."""
    counts = Counter(part for each in program.assignments for part in _parts(each.value))
    named: dict[str, Expr] = {}
    names: dict[Expr, Var] = {}

    def rewritten(node: Any) -> Any:
        if not isinstance(node, Expr) or isinstance(node, _SIMPLE) or counts[node] == 1:
            return _rebuilt(node, rewritten)
        if node not in names:
            value = _rebuilt(node, rewritten)
            names[node] = Var(f"r{len(names)}")
            named[names[node].name] = value
        return names[node]

    for each in program.assignments:
        named[each.name] = _rebuilt(each.value, rewritten)
    return named


def _parts(node: Any) -> Iterator[Expr]:
    """Yield an expression and all that it is made of, but for conditions and simple ones."""
    if isinstance(node, Expr) and not isinstance(node, _SIMPLE):
        yield node
    if isinstance(node, tuple):
        for part in node:
            yield from _parts(part)
    elif isinstance(node, (Expr, Condition)) and not isinstance(node, Lookup):
        for field in fields(node):
            yield from _parts(getattr(node, field.name))


def _rebuilt(node: Any, change: Callable[[Any], Any]) -> Any:
    """Return a node whose parts are changed."""
    if isinstance(node, tuple):
        return tuple(change(part) for part in node)
    if isinstance(node, (Expr, Condition)) and not isinstance(node, Lookup):
        return type(node)(*(change(getattr(node, field.name)) for field in fields(node)))
    return node


def _substituted(node: Any, values: Mapping[str, Expr]) -> Any:
    if isinstance(node, Var):
        return values.get(node.name, node)
    return _plain(_rebuilt(node, lambda part: _substituted(part, values)))


def _plain(node: Any) -> Any:
    """Return a condition itself in place of the question whether its flag is 1."""
    match node:
        case Compare("==", If(condition, Const(1.0), Const(0.0)), Const(1.0)):
            return condition
    return node
