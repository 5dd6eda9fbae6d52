"""The table of a scorecard as the first sheet of a workbook."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ecsel.export.excel import put

if TYPE_CHECKING:
    from ecsel.export.scorecards import Scorecard

HEADINGS = ("class", "column", "value", "points", "times")


def add_table(book: Any, card: Scorecard) -> None:
    """Put the table and the rules of a card before the other sheets."""
    sheet = book.create_sheet("Scorecard", 0)
    for j, heading in enumerate(HEADINGS, start=1):
        put(sheet, 1, j, heading, bold=True)
    lines = card.lines
    for row, line in enumerate(lines, start=2):
        attribute = line.attribute or ("" if line.times else "every row")
        for j, value in enumerate((line.label, line.column, attribute, line.points, line.times), start=1):
            put(sheet, row, j, value)
    for row, text in enumerate(card.rules(), start=len(lines) + 3):
        put(sheet, row, 1, text)
    for letter, width in zip("ABCDE", (12, 24, 24, 22, 40), strict=True):
        sheet.column_dimensions[letter].width = width
    sheet.freeze_panes = "A2"
    book.active = 0
