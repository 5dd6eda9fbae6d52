"""Every error is one line with an exit code: 1 for data and files, 2 for usage, 128 + n for a signal.

The errors of the library already name the column or the option; here they lose their traceback, and those of files get
the words of the person who named them. An error that nobody foresaw is one line too, with the place it comes from.
"""

from __future__ import annotations

import traceback
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from threading import Timer

FAILURE, USAGE = 1, 2
EXTRA = {
    "typer": "cli",
    "rich": "cli",
    "pandas": "cli",
    "pyarrow": "cli",
    "openpyxl": "cli",
    "jinja2": "report",
    "sympy": "symbolic",
    "pint": "units",
}
"""The libraries that are no requirement of the package, and the extra that brings each."""


class CommandError(Exception):
    """What was asked for cannot be done; the message says why and what to do instead."""


class Interrupted(BaseException):
    """A signal asks to stop. Not a KeyboardInterrupt, at which long fits keep the best so far: nothing is kept here."""

    def __init__(self, number: int, late: Timer) -> None:
        super().__init__(number)
        self.exit_code = 128 + number
        self.late = late
        """Ends the process where it has not ended by then."""


def missing_library(name: str) -> str | None:
    """Return what to install for a library that could not be imported, None where it belongs to no extra.

    >>> missing_library("rich.table")
    'The ecsel command needs rich: pip install "ecsel[cli]"'
    """
    library = name.partition(".")[0]
    if library not in EXTRA:
        return None
    return f'The ecsel command needs {library}: pip install "ecsel[{EXTRA[library]}]"'


def error_line(error: Exception) -> tuple[str, int]:
    r"""Return an error as one line and its exit code.

    >>> error_line(ValueError("column 'x' is missing\n in 3 rows"))
    ("ecsel: column 'x' is missing in 3 rows", 1)
    """
    line, code = _line(error)
    return line if line.startswith("The ecsel") else f"ecsel: {line}", code


def _line(error: Exception) -> tuple[str, int]:
    if (usage := _usage(error)) is not None:
        return usage, USAGE
    if isinstance(error, ModuleNotFoundError) and (advice := missing_library(error.name or "")):
        return advice, FAILURE
    if isinstance(error, OSError) and error.strerror:
        about = f"{error.filename}: " if error.filename is not None else ""
        return f"{about}{error.strerror}", FAILURE
    if isinstance(error, MemoryError):
        return "There is not enough memory for this table; use fewer rows or columns.", FAILURE
    message = " ".join(str(error).split())
    if message and isinstance(error, (CommandError, ValueError, TypeError, ImportError, OSError)):
        return message, FAILURE
    last = traceback.extract_tb(error.__traceback__)[-1:]
    place = "".join(f" in {Path(frame.filename).name}, line {frame.lineno}" for frame in last)
    return f"Internal error{place}: {type(error).__name__}: {message}. This is a mistake of ecsel, not yours.", FAILURE


def _usage(error: Any) -> str | None:
    """Return the message of a wrong command line with the way to help; typer names the base class nowhere."""
    if not hasattr(error, "format_message"):
        return None
    message = " ".join(error.format_message().split()).rstrip(".")
    context = getattr(error, "ctx", None)
    return f"{message}. See {context.command_path if context else 'ecsel'} --help."
