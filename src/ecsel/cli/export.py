"""`ecsel export`: the model as a program for another place; what `ecsel.export` can write, this command can."""

import inspect
from pathlib import Path
from typing import Annotated, Any

import typer

from ecsel.cli.errors import CommandError
from ecsel.cli.options import Speech, grouped
from ecsel.cli.session import speaking

FILES_ONLY = {"onnx", "excel"}
"""Formats that are no text."""

PREFIX = "to_"


@grouped
def export(
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="A model file.")],
    to: Annotated[str, typer.Option("--to", metavar="FORMAT", help="Such as sql, python, javascript, c, onnx.")],
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="Write here instead of standard output.")
    ] = None,
    dialect: Annotated[
        str | None, typer.Option(metavar="NAME", help="Of SQL: duckdb, postgres, sqlite, spark, bigquery, …")
    ] = None,
    table: Annotated[str | None, typer.Option(metavar="NAME", help="Of SQL: the table to score.")] = None,
    keep: Annotated[list[str] | None, typer.Option(metavar="COLUMN", help="Of SQL: a column to carry along.")] = None,
    contributions: Annotated[
        str | None, typer.Option(metavar="METHOD", help="Explanations too: shapley, attribution or log_additive.")
    ] = None,
    *,
    speech: Speech,
) -> None:
    """Write the model as a program: raw columns in, probability and label out, equal to the model.

    \b
    ecsel export model.json --to sql --dialect postgres --table loans --keep id
    ecsel export model.json --to python -o score.py
    ecsel export model.json --to onnx -o model.onnx
    """  # noqa: D301 - \b tells the help not to wrap the lines
    from ecsel.cli.models import load_model
    from ecsel.cli.writing import atomic_path, check_writable, write_whole

    with speaking(speech) as session:
        check_writable(output)
        write = exporter(to)
        given = {"dialect": dialect, "table": table, "keep": keep, "contributions": contributions}
        options = accepted(write, to, {name: value for name, value in given.items() if value})
        fitted = load_model(model)
        text = None
        if to in FILES_ONLY:
            if output is None:
                raise CommandError(f"{to} is no text: name a file with --output.")
            with atomic_path(output) as temporary:
                write(fitted, temporary, **options)
        else:
            text = f"{str(write(fitted, **options)).rstrip()}\n"
            if output is not None:
                write_whole(output, text.encode())
        if session.as_json:
            where = None if output is None else str(output)
            session.json("export", {"model": str(model), "to": to, "output": where, "text": text})
        elif output is not None:
            session.note(f"Wrote {output}.")
        elif text is not None:
            session.raw(text)


def formats() -> list[str]:
    """Return the formats that a model can be written in."""
    from ecsel import export as library

    return sorted(name.removeprefix(PREFIX) for name in library.__all__ if name.startswith(PREFIX))


def exporter(to: str) -> Any:
    """Return the function that writes a format."""
    from ecsel import export as library

    if to not in formats():
        raise CommandError(f"--to {to!r} is not known; a model can be written as {', '.join(formats())}.")
    return getattr(library, f"{PREFIX}{to}")


def accepted(write: Any, to: str, options: dict[str, Any]) -> dict[str, Any]:
    """Return the options, all of which the format must understand."""
    known = inspect.signature(write).parameters
    if foreign := [name for name in options if name not in known]:
        raise CommandError(f"--{foreign[0]} means nothing for {to}.")
    return options
