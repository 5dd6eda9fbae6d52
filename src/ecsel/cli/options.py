"""The options that several commands share, each said once."""

from pathlib import Path
from typing import Annotated, TypeAlias

import typer

READING, SPEAKING = "Reading", "Output"

DataFile: TypeAlias = Annotated[
    str, typer.Argument(metavar="DATA", help="CSV, TSV, Parquet, Excel or JSON, also gzipped; - is standard input.")
]
ModelFile: TypeAlias = Annotated[Path, typer.Option("--model", "-m", metavar="FILE", help="A model that fit wrote.")]
Row: TypeAlias = Annotated[
    int | None, typer.Option("--row", "-r", min=1, metavar="N", help="This row alone; the first one is 1.")
]
Delimiter: TypeAlias = Annotated[
    str | None,
    typer.Option(metavar="C", help="Between columns: a character, or tab. By default found.", rich_help_panel=READING),
]
Encoding: TypeAlias = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="Such as cp1252 or latin-1; by default UTF-8.", rich_help_panel=READING),
]
Sheet: TypeAlias = Annotated[
    str | None, typer.Option(metavar="NAME", help="Sheet of an Excel workbook.", rich_help_panel=READING)
]
Json: TypeAlias = Annotated[bool, typer.Option("--json", help="One JSON document.", rich_help_panel=SPEAKING)]
Csv: TypeAlias = Annotated[bool, typer.Option("--csv", help="All rows as CSV.", rich_help_panel=SPEAKING)]
SafeCsv: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--safe-csv", help="In CSV, an apostrophe before text that spreadsheets would run.", rich_help_panel=SPEAKING
    ),
]
TableOutput: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        "--output",
        "-o",
        metavar="FILE",
        help="Write a table: .csv, .tsv, .parquet, .xlsx, .json, also .csv.gz.",
        rich_help_panel=SPEAKING,
    ),
]
Quiet: TypeAlias = Annotated[
    bool, typer.Option("--quiet", "-q", help="The bare result: no notes, no progress.", rich_help_panel=SPEAKING)
]
Verbose: TypeAlias = Annotated[
    bool, typer.Option("--verbose", "-v", help="Tell every step and detail.", rich_help_panel=SPEAKING)
]
