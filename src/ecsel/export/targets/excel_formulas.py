"""A program as formulas of a spreadsheet: one column per named number, one row of the sheet per row of data.

A formula refers to cells and holds numbers, but no text at all: levels stand in cells of their own. Text is compared by
EXACT, since ``=`` and MATCH ignore case and take ``*`` and ``?`` as wildcards. A null is an empty text.

Excel takes 8192 characters a formula and 64 levels of nesting. Any part of a formula that is longer than 150 characters
is moved to a column of its own; 50 parts, the most that an expression has, then fit.

Excel reads no number above 9.99E+307 from a formula, nor one below 2.3E-308 that is not zero; constants are held within
these limits, and what is typed in beyond 9.9E+307 is refused like an infinite number.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ecsel.export.program import expr
from ecsel.export.program.writing import INFIX, call, fold

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ecsel.export.program.program import InputColumn, Program
    from ecsel.export.program.writing import Rules
    from ecsel.tables import Level

LONGEST_PART = 150
LONGEST_FORMULA = 8192
MAX_COLUMNS = 16384
LARGEST, SMALLEST = 9.9e307, 2.3e-308
NO_NUMBER = "9.99E+307"
"""What is read where there is text instead of a number: larger than anything that is accepted."""
ROW = "{r}"
"""Stands for the number of the row in a formula; nothing else in a formula has braces."""


def letters(column: int) -> str:
    """Return the name of a column, counted from 1.

    Examples
    --------
    >>> letters(1), letters(28), letters(16384)
    ('A', 'AB', 'XFD')
    """
    name = ""
    while column:
        column, place = divmod(column - 1, 26)
        name = chr(ord("A") + place) + name
    return name


@dataclass(frozen=True, slots=True)
class CalculatedColumn:
    """A column of formulas, with `ROW` for the number of the row."""

    title: str
    formula: str


@dataclass(frozen=True, slots=True)
class LevelColumn:
    """A column of the sheet of levels: a title, then from its second row on what it lists."""

    title: str
    cells: tuple[Level, ...]


@dataclass(slots=True)
class FormulaWriter:
    """Writes a program into columns of a sheet of calculations and of a sheet of levels.

    Attributes
    ----------
    program
        What is written.
    calculation, levels
        The columns of both sheets.
    variables
        The cell of every named number, on the sheet of calculations.
    level_ranges
        The cells that list the levels of an input, by position.
    """

    program: Program
    calculation: list[CalculatedColumn] = field(default_factory=list)
    levels: list[LevelColumn] = field(default_factory=list)
    variables: dict[str, str] = field(default_factory=dict)
    level_ranges: dict[int, str] = field(default_factory=dict)
    _inputs: list[str] = field(default_factory=list)

    def write(self) -> None:
        """Write all assignments."""
        for i, column in enumerate(self.program.inputs):
            read = self._quantity(i) if column.levels is None else self._position(i, column)
            self._inputs.append(self._let(column.name, read))
        rules = self._rules()
        for each in self.program.assignments:
            self.variables[each.name] = self._let(each.title, fold(each.value, rules))
        if len(self.calculation) > MAX_COLUMNS:
            raise ValueError(
                f"the model needs {len(self.calculation)} columns of formulas, but Excel has {MAX_COLUMNS}: leave out "
                "the contributions, or fit a smaller model"
            )

    def list_levels(self, title: str, cells: Sequence[Level]) -> str:
        """List something on the sheet of levels and return its cells."""
        self.levels.append(LevelColumn(title, tuple(cells)))
        column = letters(len(self.levels))
        return f"Levels!${column}$2:${column}${len(cells) + 1}"

    def _let(self, title: str, formula: str) -> str:
        self.calculation.append(CalculatedColumn(title, formula))
        return f"${letters(len(self.calculation))}{ROW}"

    def _quantity(self, i: int) -> str:
        x = typed(i)
        return f"IF(ISNUMBER({x}),{x},IF(ISLOGICAL({x}),{x}*1,IF(LEN({x})=0,0,{NO_NUMBER})))"

    def _position(self, i: int, column: InputColumn) -> str:
        """Return 1 for an unknown level, 2, 3, … for the known ones, and one more for a missing one."""
        x = typed(i)
        known = column.known
        is_text = column.kind == "text"
        cells = self.list_levels(column.name, known if is_text else [float(level) for level in known])
        self.level_ranges[i] = cells
        same = f"EXACT({cells},{x})" if is_text else f"({cells}=IF(ISLOGICAL({x}),{x}*1,{x}))"
        return f"IF(LEN({x})=0,{len(known) + 2},1+SUMPRODUCT({same}*(ROW({cells})-1)))"

    def _lookup(self, position: int, entries: Sequence[tuple[Level, float]], missing: float, otherwise: float) -> str:
        column = self.program.inputs[position]
        by_level = dict(entries)
        values = [by_level.get(level, otherwise) for level in column.known]
        cells = self.list_levels(f"{column.name}: unknown, levels, missing", [otherwise, *values, missing])
        return f"INDEX({cells},{self._inputs[position]})"

    def _rules(self) -> Rules[str]:
        written: dict[type, Callable[..., str]] = {
            **INFIX,
            **{node: call(node.__name__.upper()) for node in (expr.Min, expr.Max, expr.Abs, expr.Exp, expr.Sqrt)},
            expr.Log: call("LN"),
            expr.Floor: call("INT"),
            expr.Const: number,
            expr.Null: lambda: '""',
            expr.Var: self.variables.__getitem__,
            expr.Input: self._inputs.__getitem__,
            expr.Lookup: self._lookup,
            expr.If: lambda condition, then, otherwise: f"IF({condition},{then},{otherwise})",
            expr.IsMissing: lambda position: f"LEN({typed(position)})=0",
            expr.Compare: lambda operator, left, right: f"{left}{'=' if operator == '==' else operator}{right}",
            expr.And: call("AND"),
            expr.Or: call("OR"),
            expr.Not: call("NOT"),
        }
        return {node: self._short(node.__name__, rule) for node, rule in written.items()}

    def _short(self, title: str, rule: Callable[..., str]) -> Callable[..., str]:
        def write(*parts: Any) -> str:
            formula = rule(*parts)
            return formula if len(formula) <= LONGEST_PART else self._let(title, formula)

        return write


def typed(i: int) -> str:
    """Return the cell into which the value of an input is typed."""
    return f"Predict!${letters(i + 1)}{ROW}"


def number(value: float) -> str:
    """Return a number as it stands in a formula."""
    size = min(max(abs(value), SMALLEST), LARGEST) if value else 0.0
    return f"(-{size!r})".upper() if value < 0 else repr(size).upper()
