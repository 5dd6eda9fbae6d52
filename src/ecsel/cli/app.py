"""The commands of `ecsel`: options and messages; what a command does lives in a module of its name."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from ecsel import __version__

app = typer.Typer(
    name="ecsel",
    help="Closed-form equations from tables.",
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"ecsel {__version__}")
        raise typer.Exit


@app.callback()
def _commands(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Closed-form equations from tables."""
    del version


@app.command()
def demo(
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="DIR", help="Folder for the model, the equations and the page.")
    ] = Path("ecsel-demo"),
) -> None:
    """Fit a small table that comes with scikit-learn, show its equations, and explain one row."""
    from ecsel.cli.demo import bundled_table, study
    from ecsel.cli.output import write_study
    from ecsel.cli.terminal import show_study, show_written

    # names of columns and classes are data: no markup, no emoji codes, no guessed highlighting
    console = Console(markup=False, emoji=False, highlight=False)
    found = study(bundled_table())
    show_study(console, found)
    try:
        written = write_study(found, output)
    except OSError as error:
        typer.echo(f"Cannot write to {output}: {error.strerror}. Choose another folder with --output.", err=True)
        raise typer.Exit(1) from error
    show_written(console, written)
