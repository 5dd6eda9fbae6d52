"""The group of commands: whatever a command raises ends as one line on standard error and an exit code."""

from __future__ import annotations

import sys
from typing import Any

import typer
from typer.core import TyperGroup

from ecsel.cli.errors import error_line


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
