"""Levels that are numbers, for languages in which every number is a double."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ecsel.export.program.program import InputColumn, Program


def check_levels_are_doubles(program: Program) -> None:
    """Refuse a column of numbers as levels, two of which are one double, or one of which is none.

    Examples
    --------
    >>> from ecsel.export.program.program import InputColumn, Program
    >>> article = InputColumn("article", "number", (2**53, 2**53 + 1), (), refuses_missing=True)
    >>> check_levels_are_doubles(Program((article,), (), (), (), (), None))
    Traceback (most recent call last):
        ...
    ValueError: column 'article' has levels that are no numbers of double precision: fit the model with them as text
    """
    for column in program.inputs:
        if column.levels is not None and column.kind == "number" and not _all_differ(column):
            raise ValueError(
                f"column {column.name!r} has levels that are no numbers of double precision: fit the model with them "
                "as text"
            )


def _all_differ(column: InputColumn) -> bool:
    try:
        return len({float(level) for level in column.known}) == len(column.known)
    except OverflowError:
        return False
