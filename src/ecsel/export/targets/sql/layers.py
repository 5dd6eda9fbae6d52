"""A program as layers of columns, for languages in which a column cannot refer to another one beside it.

Layer 0 is the input columns. Each later layer names numbers that refer to earlier layers alone, and passes on the
columns that are still needed above it. Numbers that are used once are written where they are used, which makes for few
layers; every other number is computed once, however often it is used.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

from ecsel.export.program.expr import Condition, Expr, Input, IsMissing, Lookup, Var
from ecsel.export.targets.sql.sharing import shared_values

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ecsel.export.program.program import Program


@dataclass(frozen=True, slots=True)
class Layer:
    """Columns that are passed on from the layer below, and those that are new."""

    passed: tuple[str, ...]
    new: tuple[tuple[str, Expr], ...]


def input_name(position: int) -> str:
    """Return the name of an input in the layers."""
    return f"v{position}"


def answers_of(program: Program) -> list[str]:
    """Return the variables that a program is for: outputs, decision and contributions."""
    decision = [] if program.decision is None else [program.decision]
    explained = [variable for each in program.contributions for _, variable in each.by_column]
    return [*program.outputs, *decision, *explained]


def layers_of(program: Program) -> tuple[Layer, ...]:
    """Return the layers above the inputs; the last one has all answers of the program.

    Examples
    --------
    >>> from ecsel import Signomial
    >>> from ecsel.export.program.lowering import lower
    >>> layers = layers_of(lower(Signomial.parse("x**2 + x**3")))
    >>> [[name for name, _ in layer.new] for layer in layers], layers[-1].passed
    ([['ok0'], ['x0'], ['r1', 'r3'], ['prediction']], ())
    """
    answers = answers_of(program)
    values = shared_values(program, answers)
    depths: dict[str, int] = {}
    for name, value in values.items():
        depths[name] = 1 + max((depths.get(used, 0) for used in columns_read(value)), default=0)
    top = max(depths.values())
    last_use = dict.fromkeys(answers, top + 1)
    for name, value in values.items():
        for used in columns_read(value):
            last_use[used] = max(last_use.get(used, 0), depths[name])
    return tuple(
        Layer(
            passed=tuple(name for name in sorted(last_use) if depths.get(name, 0) < depth < last_use[name]),
            new=tuple((name, value) for name, value in values.items() if depths[name] == depth),
        )
        for depth in range(1, top + 1)
    )


def columns_read(node: Any) -> Iterator[str]:
    """Yield the names of the columns that an expression reads, inputs included."""
    if isinstance(node, (Input, IsMissing, Lookup)):
        yield input_name(node.position)
    elif isinstance(node, Var):
        yield node.name
    elif isinstance(node, tuple):
        for part in node:
            yield from columns_read(part)
    elif isinstance(node, (Expr, Condition)):
        for field in fields(node):
            yield from columns_read(getattr(node, field.name))
