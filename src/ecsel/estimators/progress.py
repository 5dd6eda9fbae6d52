"""A progress bar on standard error: one line that is rewritten on a terminal, plain lines anywhere else."""

from __future__ import annotations

import shutil
import sys
import time
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Self, TextIO

from ecsel.discovery.progress import silent

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import TracebackType

    from ecsel.discovery.progress import Progress

CELLS = 24
PATIENCE = 3.0
"""Seconds of work without a word on a terminal."""

_DRAWN_ELSEWHERE: ContextVar[bool] = ContextVar("progress is shown elsewhere", default=False)


@contextmanager
def progress_elsewhere() -> Iterator[None]:
    """Let no fit show progress by itself: who calls it does, or wants none."""
    token = _DRAWN_ELSEWHERE.set(True)
    try:
        yield
    finally:
        _DRAWN_ELSEWHERE.reset(token)


_LISTENER: ContextVar[Progress | None] = ContextVar("ecsel_progress_listener", default=None)


@contextmanager
def progress_also_to(listener: Progress) -> Iterator[None]:
    """Let the fits inside tell a listener how far they are, in the place of a bar."""
    token = _LISTENER.set(listener)
    try:
        yield
    finally:
        _LISTENER.reset(token)


def progress_for(*, verbose: bool) -> AbstractContextManager[Any]:
    """Return a bar from the start where it is asked for, on a terminal one after three seconds, else none."""
    if (listener := _LISTENER.get()) is not None:
        return nullcontext(listener)
    if verbose:
        return ProgressBar()
    if sys.stderr is not None and sys.stderr.isatty() and not _DRAWN_ELSEWHERE.get():
        return ProgressBar(patience=PATIENCE)
    return nullcontext(silent)


class ProgressBar:
    """Shows how far long work is; the share never goes back.

    >>> with ProgressBar(sys.stdout) as progress:
    ...     progress(0.25, "one term")
    ecsel:  25 %  one term
    ecsel: 100 %  done
    """

    def __init__(self, stream: TextIO | None = None, patience: float = 0.0) -> None:
        self._stream = sys.stderr if stream is None else stream
        self._rewrites = self._stream.isatty()
        self._started = time.monotonic()
        self._share, self._doing, self._line = 0.0, "", ""
        self._patience, self._spoke = patience, False
        self._written: set[str] = set()

    def __call__(self, share: float, doing: str) -> None:
        """Show that a share of the work is done, and what is being done now."""
        self._share = max(self._share, min(share, 1.0))
        if not self._spoke and time.monotonic() - self._started < self._patience:
            return
        self._spoke = True
        if self._rewrites:
            self._rewrite(doing)
        else:
            line = f"ecsel: {self._share:4.0%}  {doing}\n".replace("%", " %")
            if doing != self._doing and line not in self._written:  # a log does not repeat what restarts do again
                self._written.add(line)
                self._stream.write(line)
        self._doing = doing
        self._stream.flush()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Finish the line, full only when the work was done."""
        if self._patience and not self._spoke:
            return  # work that was soon done needs no word
        self(self._share if kind else 1.0, "stopped" if kind else "done")
        if self._rewrites:
            self._stream.write("\n")
            self._stream.flush()

    def _rewrite(self, doing: str) -> None:
        full = round(CELLS * self._share)
        bar = "#" * full + "." * (CELLS - full)
        seconds = time.monotonic() - self._started
        # A line that wraps could not be rewritten; what the last line had more is blanked out.
        width = shutil.get_terminal_size().columns - 1
        line = f"ecsel [{bar}] {100 * self._share:3.0f} % {seconds:6.1f} s  {doing}"[:width]
        self._stream.write("\r" + line.ljust(len(self._line)))
        self._line = line
