"""Columns of levels: the type of their values, and the levels that a value of that type can be equal to."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ecsel.export.program import Kind
    from ecsel.tables import CategoricalColumn, Level, OrdinalColumn


def kind_of_levels(column: CategoricalColumn | OrdinalColumn) -> Kind:
    """Return the type of a column's values; text that reads as numbers is text where its levels are."""
    if column.dtype == "text" or all(isinstance(level, str) for level in column.levels):
        return "text"
    return "boolean" if column.dtype == "boolean" else "number"


def levels_of_kind(levels: Iterable[Level], kind: Kind) -> tuple[Level, ...]:
    """Return the levels that a value of this type can be equal to, in that type: True is 1, and never '1'."""
    if kind == "text":
        return tuple(level for level in levels if isinstance(level, str))
    numbers = [level for level in levels if not isinstance(level, str)]
    if kind == "number":
        return tuple(int(level) if isinstance(level, bool) else level for level in numbers)
    return tuple(bool(level) for level in numbers if level in {0, 1})
