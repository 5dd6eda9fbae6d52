"""A progress bar on standard error: one line that is rewritten on a terminal, plain lines anywhere else."""

from __future__ import annotations

import shutil
import sys
import time
from typing import TYPE_CHECKING, Self, TextIO

if TYPE_CHECKING:
    from types import TracebackType

CELLS = 24


class ProgressBar:
    """Shows how far long work is; the share never goes back.

    >>> with ProgressBar(sys.stdout) as progress:
    ...     progress(0.25, "one term")
    ecsel:  25 %  one term
    ecsel: 100 %  done
    """

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = sys.stderr if stream is None else stream
        self._rewrites = self._stream.isatty()
        self._started = time.monotonic()
        self._share, self._doing, self._shown = 0.0, "", ""

    def __call__(self, share: float, doing: str) -> None:
        """Show that a share of the work is done, and what is being done now."""
        self._share = max(self._share, min(share, 1.0))
        if self._rewrites:
            self._rewrite(doing)
        elif doing != self._doing:
            self._stream.write(f"ecsel: {self._share:4.0%}  {doing}\n".replace("%", " %"))
        self._doing = doing
        self._stream.flush()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Finish the line, full only when the work was done."""
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
        self._stream.write("\r" + line.ljust(len(self._shown)))
        self._shown = line
