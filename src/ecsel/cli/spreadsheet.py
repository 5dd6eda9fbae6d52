"""Text that stays text in spreadsheets: names, labels and cells are data, and none of them is a formula.

A workbook has types, so that its text cells are marked as text, whatever their first character is. CSV has none: a
spreadsheet reads `=1+1` in a CSV file as a formula. `inert` puts an apostrophe before such text, as OWASP advises; it
changes the data, and is therefore done only where it is asked for.
"""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

from ecsel.cli.errors import CommandError

if TYPE_CHECKING:
    import pandas as pd

STARTS_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")
"""What a cell begins with that spreadsheets may run (OWASP, CSV injection)."""


def workbook_bytes(frame: pd.DataFrame) -> bytes:
    """Return a workbook of one sheet in which every text is a text cell."""
    import pandas as pd
    from openpyxl.utils.exceptions import IllegalCharacterError

    buffer = io.BytesIO()
    try:
        with pd.ExcelWriter(buffer, engine="openpyxl") as writer:
            frame.to_excel(writer, index=False)
            for cells in writer.book.active.iter_rows():
                for cell in cells:
                    if isinstance(cell.value, str) and cell.data_type != "s":
                        cell.data_type = "s"
                        cell.quotePrefix = True  # stays text where a person edits the cell
    except IllegalCharacterError as error:
        raise CommandError(
            f"A workbook cannot hold control characters: {str(error)[:80]!r}; write .csv instead."
        ) from None
    return buffer.getvalue()


def inert(frame: pd.DataFrame) -> pd.DataFrame:
    r"""Return a table whose texts and names no spreadsheet takes for a formula.

    >>> import pandas as pd
    >>> inert(pd.DataFrame({"=a": ["=1+1", "-2.5", "plain"], "b": [-1.0, 0.0, 1.0]})).to_csv(index=False)
    "'=a,b\n'=1+1,-1.0\n-2.5,0.0\nplain,1.0\n"
    """
    import pandas as pd

    columns = [
        column.map(_inert) if not pd.api.types.is_numeric_dtype(column.dtype) else column for _, column in frame.items()
    ]
    fresh = pd.concat(columns, axis=1) if columns else frame.copy()
    fresh.columns = [_inert(name) for name in frame.columns]
    return fresh


def _inert(value: Any) -> Any:
    if not isinstance(value, str) or not value.startswith(STARTS_FORMULA):
        return value
    try:
        float(value)
    except ValueError:
        return f"'{value}"
    return value
