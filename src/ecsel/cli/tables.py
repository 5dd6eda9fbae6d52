"""Results as tables: for people on the terminal, as CSV or JSON for scripts, or into a file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.table import Table
from rich.text import Text

from ecsel.cli.spreadsheet import inert
from ecsel.cli.wording import number
from ecsel.cli.writing import csv_text, write_table
from ecsel.signomial.text import format_name

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd

    from ecsel.cli.session import Session

MAX_ROWS = 20
"""A table for people shows so many rows; scripts get all."""


def people_table(frame: pd.DataFrame, *, rows: int = MAX_ROWS) -> Table:
    """Return the first rows of a frame as a table for the terminal, every name and value as plain text."""
    import pandas as pd

    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    for column in frame.columns:
        numeric = pd.api.types.is_numeric_dtype(frame[column].dtype)
        table.add_column(Text(format_name(column)), justify="right" if numeric else "left", overflow="fold")
    for row in frame.head(rows).itertuples(index=False):
        table.add_row(*(Text(cell(value)) for value in row))
    return table


def cell(value: Any) -> str:
    """Return a value for people; what is missing is an empty cell."""
    import pandas as pd

    if pd.isna(value):
        return ""
    return number(value.item() if hasattr(value, "item") else value)


def put(
    session: Session, frame: pd.DataFrame, *, as_csv: bool = False, output: Path | None = None, what: str = "rows"
) -> None:
    """Hand out a table: into a file, as CSV, or its first rows for people."""
    if output is not None:
        write_table(output, frame, safe_csv=session.safe_csv)
        session.note(f"Wrote {len(frame)} {what} to {output}.")
    elif as_csv:
        session.raw(csv_text(inert(frame) if session.safe_csv else frame))
    else:
        session.out.print(people_table(frame))
        if len(frame) > MAX_ROWS:
            session.note(f"The first {MAX_ROWS} of {len(frame)} {what}; --csv, --json or --output gives all.")
