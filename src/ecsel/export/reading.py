"""What terms know of the columns: for each term and input column the logarithm and the sign of its factor.

A term is α_k·Π_i s_ki·exp(part_ki) over the input columns i. Both ways of reading a table end in a `Reading`:
`ecsel.export.encoded` for positive features of an encoder, where all s = 1, and `ecsel.export.plain` for columns as
they are, with s ∈ {−1, 0, 1}.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ecsel.export.expr import Compare, Condition, Const, Expr, Var
from ecsel.export.program import Assignment, InputColumn, Stage

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(slots=True)
class Sheet:
    """The assignments of a program that is being written."""

    assignments: list[Assignment] = field(default_factory=list)

    def let(self, name: str, value: Expr, stage: Stage, title: str) -> Var:
        """Name a number and return the name."""
        self.assignments.append(Assignment(name, value, stage, title))
        return Var(name)


@dataclass(frozen=True, slots=True)
class Reading:
    """The columns as terms see them.

    Attributes
    ----------
    inputs, columns
        The input columns, and the position of each among the raw columns of the model.
    conditions
        What must hold for the model to accept a row.
    parts
        By term and input, log|factor|; absent where the term does not use the column.
    signs
        By term and input, the sign of the factor; absent where it is always 1.
    column_signs
        By input, the sign of the column; absent where it is always 1.
    """

    inputs: tuple[InputColumn, ...]
    columns: tuple[int, ...]
    conditions: tuple[Condition, ...]
    parts: Mapping[tuple[int, int], Expr]
    signs: Mapping[tuple[int, int], Expr]
    column_signs: Mapping[int, Expr]


def is_one(flag: Var) -> Condition:
    """Return the condition that a variable that is 0 or 1 is 1."""
    return Compare("==", flag, Const(1.0))
