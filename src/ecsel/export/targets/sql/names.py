"""Names in a query: those of the user as they are, those of the results made of labels and columns, all different."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ecsel.tables.number_text import NumberText

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ecsel.export.program.program import InputColumn, Program
    from ecsel.export.targets.sql.dialects import Dialect
    from ecsel.tables import Level

LONGEST = 60
"""In bytes, with a number at the end where there is one. PostgreSQL cuts names off at 63, MySQL refuses longer ones."""


class ResultNames:
    """Names of result columns, handed out one after the other, none of them twice.

    Examples
    --------
    >>> from ecsel.export.targets.sql.dialects import DIALECTS
    >>> names = ResultNames(DIALECTS["duckdb"], ["label"])
    >>> names.of("label"), names.of("probability", "Yes"), names.of("probability", "yes"), names.of("probability", 1.5)
    ('label_2', 'probability_Yes', 'probability_yes_2', 'probability_1.5')
    """

    def __init__(self, dialect: Dialect, taken: Sequence[str]) -> None:
        self._unsafe = re.compile(dialect.not_in_names)
        self._taken = {each.lower() for each in taken}

    def of(self, *words: Level) -> str:
        """Return a name of the words that no other column has, whatever its case."""
        whole = self._unsafe.sub("_", "_".join(map(str, words)))
        name, n = _cut(whole, LONGEST), 1
        while name.lower() in self._taken:
            n += 1
            name = f"{_cut(whole, LONGEST - len(f'_{n}'))}_{n}"
        self._taken.add(name.lower())
        return name


def _cut(name: str, n_bytes: int) -> str:
    return name.encode()[:n_bytes].decode(errors="ignore")


def check_names(program: Program, keep: Sequence[str], dialect: Dialect) -> None:
    """Refuse names and levels that no table can have, with one message that says which and why."""
    for what, text in _texts(program, keep, dialect):
        if "\0" in text or any("\ud800" <= character <= "\udfff" for character in text):
            raise ValueError(f"{what} {text!r} has a character that SQL text cannot hold: rename it")
    columns = list(dict.fromkeys(_column_of(each, dialect) for each in program.inputs))
    if "" in (*columns, *keep):
        raise ValueError("a column has the empty name, which no database takes: rename it")
    _check_characters(program, [*columns, *keep], dialect)
    if dialect.ignores_case:
        seen: dict[str, str] = {}
        for each in columns:
            if each.lower() in seen:
                raise ValueError(
                    f"{seen[each.lower()]!r} and {each!r} are the same column in the dialect {dialect.name!r}, which "
                    "ignores case: rename one of them"
                )
            seen[each.lower()] = each


def _check_characters(program: Program, columns: Sequence[str], dialect: Dialect) -> None:
    """Refuse names of columns with characters that two dialects cannot take, quoted or not."""
    made = {each.name: each.prepared.column for each in program.inputs if each.prepared is not None}
    for each in columns:
        if dialect.name == "bigquery" and re.search(r"[!\"$()*,./;?@\[\\\]^`{}~]", each):
            of = f", which is made of {made[each]!r}" if made.get(each, each) != each else ""
            raise ValueError(f"BigQuery takes no column of the name {each!r}{of}: rename it, or fit without it")
        if dialect.name == "spark" and "${" in each:
            raise ValueError(f"Spark takes the '${{' in the column {each!r} for a variable of its own: rename it")


def _column_of(column: InputColumn, dialect: Dialect) -> str:
    """Return the column of the table that an input is read from."""
    return column.prepared.column if dialect.reads_text and column.prepared is not None else column.name


def _texts(program: Program, keep: Sequence[str], dialect: Dialect) -> Iterator[tuple[str, str]]:
    for each in keep:
        yield "the column", each
    for column in program.inputs:
        yield "the column", _column_of(column, dialect)
        if isinstance(column.prepared, NumberText):
            yield f"column {column.name!r}: the unit", column.prepared.unit
        for level in (*(column.levels or ()), *column.missing_codes):
            if isinstance(level, str):
                yield f"column {column.name!r}: the level", level
    for label in program.classes:
        if isinstance(label, str):
            yield "the class", label
