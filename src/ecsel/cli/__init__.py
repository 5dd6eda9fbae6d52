"""The `ecsel` command. Its libraries (typer, rich, pandas) are an extra; without them it says so in one line."""

import errno
import io
import os
import signal
import sys
import threading
from types import FrameType
from typing import Any, NoReturn

from ecsel.cli.errors import FAILURE, Interrupted, missing_library

__all__ = ["main"]

PATIENCE = 1.0
"""Seconds that an interrupted command has to remove unfinished files."""
SHOW_CURSOR = "\x1b[?25h"


def main() -> int:
    """Run the command line; the entry point of the `ecsel` script."""
    _stand_in_for_closed_streams()
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
        stop.late.cancel()
        sys.stderr.write("\nInterrupted.\n")
        return stop.exit_code
    return 0


class _ClosedOutput(io.TextIOBase):
    """Standard output that was closed: what is printed there would be lost, and that is an error."""

    def write(self, text: str) -> int:
        if not text:
            return 0
        raise OSError(errno.EBADF, "standard output is closed; open it, or name a file with --output")

    def writable(self) -> bool:
        return True


def _stand_in_for_closed_streams() -> None:
    """Let nothing be written to a file that was opened in the place of a closed stream."""
    if None not in (sys.stdin, sys.stdout, sys.stderr):
        return
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest number that is free, which is this one
    sys.stdout = sys.stdout or _ClosedOutput()
    sys.stderr = sys.stderr or open(os.devnull, "w")  # noqa: PTH123, SIM115 - for as long as the process lives


def _interrupt(number: int, frame: FrameType | None) -> NoReturn:
    """Let what was begun be put away; where that waits for threads that are still at work, end without them."""
    del frame
    late = threading.Timer(PATIENCE, _end_at_once, (number, "Interrupted."))
    late.daemon = True
    late.start()
    raise Interrupted(number, late)


def _terminate(number: int, frame: FrameType | None) -> NoReturn:
    """End at once: nothing waits for threads that are still at work."""
    del frame
    _end_at_once(number, "Terminated.")


def _end_at_once(number: int, word: str) -> NoReturn:
    cursor = SHOW_CURSOR if sys.stderr.isatty() else ""  # a bar that is cut short has hidden it
    sys.stderr.write(f"{cursor}\n{word}\n")
    sys.stderr.flush()
    os._exit(128 + number)


def _never_fail_at_a_letter(stream: Any) -> None:
    """Print what the terminal's encoding lacks as an escape; a stream that was replaced may not know how."""
    if hasattr(stream, "reconfigure"):
        stream.reconfigure(errors="backslashreplace")
