"""The `ecsel` command: its subcommands, in the order in which a newcomer meets them, one module each."""

from __future__ import annotations

import sys
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from ecsel import __version__
from ecsel.cli.compare import compare
from ecsel.cli.counterfactual import counterfactual
from ecsel.cli.demo import demo
from ecsel.cli.discover import discover
from ecsel.cli.errors import error_line
from ecsel.cli.explain import explain
from ecsel.cli.export import export
from ecsel.cli.fit import fit
from ecsel.cli.info import info
from ecsel.cli.predict import predict
from ecsel.cli.report import report
from ecsel.cli.what_if import what_if

HELP = """Closed-form equations from tables.

\b
ecsel demo                                       see what it does
ecsel fit loans.csv --target bad -o model.json   learn an equation
ecsel predict new.csv -m model.json -o out.csv   use it
ecsel explain new.csv -m model.json --row 1      why?
ecsel report loans.csv -t bad -m model.json -o report.html
"""


class Commands(TyperGroup):
    """Runs a command and tells its errors without a traceback; a reader that went away (head, less) is no error."""

    def invoke(self, ctx: Any) -> Any:
        """Run the command that was asked for."""
        try:
            return super().invoke(ctx)
        except (typer.Exit, typer.Abort, BrokenPipeError):
            raise
        except Exception as error:  # the last place where an error can become a line for people
            line, code = error_line(error)
            sys.stderr.write(f"{line}\n")
            raise typer.Exit(code) from error


app = typer.Typer(
    name="ecsel",
    cls=Commands,
    help=HELP,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for command in (demo, fit, predict, explain, what_if, counterfactual, discover, export, report, info, compare):
    app.command(name=command.__name__.replace("_", "-"))(command)


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
    del version


_commands.__doc__ = HELP
