"""Columns of levels: the type of their values, and the levels that a value of that type can be equal to."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ecsel.tables.level_text import LevelReading

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ecsel.export.program.program import Kind
    from ecsel.tables import CategoricalColumn, Level, OrdinalColumn, TableEncoder


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


def spellings_of(encoder: TableEncoder, column: str) -> tuple[dict[Level, Level], Level | None]:
    """Return other ways to write the levels of a column, and the level of all unknown text, None where it has none."""
    for reading in encoder.readings:
        if isinstance(reading, LevelReading) and reading.column == column:
            return dict(reading.spellings), reading.other
    return {}, None


def with_spellings(
    by_level: dict[Level, float], spellings: dict[Level, Level], other: Level | None, unknown: float
) -> tuple[dict[Level, float], float]:
    """Return the value of every way to write a level, and that of any other text."""
    every = by_level | {text: by_level[level] for text, level in spellings.items() if level in by_level}
    return every, unknown if other is None else by_level.get(other, unknown)
