"""The options that several commands share, each said once.

Options that belong together are a dataclass. A command takes such a group as one argument, and `grouped` shows its
fields to typer as the options that they are.
"""

import functools
import inspect
from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass
from pathlib import Path
from typing import Annotated, Any, TypeAlias, get_type_hints

import typer

READING, SPEAKING = "Reading", "Output"

DataFile: TypeAlias = Annotated[
    str, typer.Argument(metavar="DATA", help="CSV, TSV, Parquet, Excel or JSON, also gzipped; - is standard input.")
]
ModelFile: TypeAlias = Annotated[Path, typer.Option("--model", "-m", metavar="FILE", help="A model that fit wrote.")]
Row: TypeAlias = Annotated[
    int | None, typer.Option("--row", "-r", min=1, metavar="N", help="This row alone; the first one is 1.")
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
Json: TypeAlias = Annotated[bool, typer.Option("--json", help="One JSON document.", rich_help_panel=SPEAKING)]
Quiet: TypeAlias = Annotated[
    bool, typer.Option("--quiet", "-q", help="The bare result: no notes, no progress.", rich_help_panel=SPEAKING)
]


@dataclass(frozen=True, slots=True)
class Reading:
    """How the user wants tables to be read; None leaves it to the content."""

    delimiter: Annotated[
        str | None,
        typer.Option(
            metavar="C", help="Between columns: a character, or tab. By default found.", rich_help_panel=READING
        ),
    ] = None
    encoding: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Such as cp1252 or latin-1; by default UTF-8.", rich_help_panel=READING),
    ] = None
    sheet: Annotated[
        str | None, typer.Option(metavar="NAME", help="Sheet of an Excel workbook.", rich_help_panel=READING)
    ] = None


@dataclass(frozen=True, slots=True)
class Csv:
    """Whether a table is handed out as CSV, and how."""

    as_csv: Annotated[bool, typer.Option("--csv", help="All rows as CSV.", rich_help_panel=SPEAKING)] = False
    safe_csv: Annotated[
        bool,
        typer.Option(
            "--safe-csv",
            help="In CSV, an apostrophe before text that spreadsheets would run.",
            rich_help_panel=SPEAKING,
        ),
    ] = False


@dataclass(frozen=True, slots=True)
class Speech:
    """What the user wants to hear."""

    as_json: Json = False
    quiet: Quiet = False
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", help="Tell every step and detail.", rich_help_panel=SPEAKING)
    ] = False


def grouped(command: Callable[..., None]) -> Callable[..., None]:
    """Return a command whose groups of options are single options to typer.

    Examples
    --------
    >>> def show(path: str, speech: Speech) -> None:
    ...     print(path, speech.quiet)
    >>> list(inspect.signature(grouped(show)).parameters)
    ['path', 'as_json', 'quiet', 'verbose']
    >>> grouped(show)(path="model.json", as_json=False, quiet=True, verbose=False)
    model.json True
    """
    hints = get_type_hints(command, include_extras=True)
    groups: dict[str, Any] = {name: hint for name, hint in hints.items() if is_dataclass(hint)}
    parameters: list[inspect.Parameter] = []
    for parameter in inspect.signature(command).parameters.values():
        if parameter.name not in groups:
            visible = [(parameter.name, parameter.default, hints[parameter.name])]
        else:
            own = get_type_hints(groups[parameter.name], include_extras=True)
            visible = [(field.name, field.default, own[field.name]) for field in fields(groups[parameter.name])]
        parameters += [
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=hint)
            for name, default, hint in visible
        ]

    @functools.wraps(command)
    def run(**given: Any) -> None:
        made = {
            name: group(**{field.name: given.pop(field.name) for field in fields(group)})
            for name, group in groups.items()
        }
        command(**given, **made)

    del run.__wrapped__  # typer would read the groups there
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return run
