"""The `ecsel` command. Its libraries (typer, rich, pandas) are an extra; without them it says so in one line."""

import os
import signal
import sys
from types import FrameType
from typing import Any, NoReturn

from ecsel.cli.errors import FAILURE, Interrupted, missing_library

__all__ = ["main"]


def main() -> int:
    """Run the command line; the entry point of the `ecsel` script."""
    for stream in (sys.stdout, sys.stderr):
        _never_fail_at_a_letter(stream)
    signal.signal(signal.SIGINT, _interrupt)
    signal.signal(signal.SIGTERM, _terminate)
    try:
        from ecsel.cli.app import app

        app()
    except ModuleNotFoundError as error:
        advice = missing_library(error.name or "")
        if advice is None:
            raise
        sys.stderr.write(f"{advice}\n")
        return FAILURE
    except Interrupted as stop:
        sys.stderr.write("\nInterrupted.\n")
        return stop.exit_code
    return 0


def _interrupt(number: int, frame: FrameType | None) -> NoReturn:
    del frame
    raise Interrupted(number)


def _terminate(number: int, frame: FrameType | None) -> NoReturn:
    """End at once: nothing waits for threads that are still at work."""
    del frame
    sys.stderr.write("\nTerminated.\n")
    sys.stderr.flush()
    os._exit(128 + number)


def _never_fail_at_a_letter(stream: Any) -> None:
    """Print what the terminal's encoding lacks as an escape; a stream that was replaced may not know how."""
    if hasattr(stream, "reconfigure"):
        stream.reconfigure(errors="backslashreplace")
