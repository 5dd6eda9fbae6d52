"""How a command speaks: results on standard output, notes and progress on standard error, colours on terminals only.

Names of columns and classes are data: consoles have no markup, no emoji codes and no guessed highlighting.
"""

from __future__ import annotations

import json
import warnings
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.text import Text

from ecsel import __version__
from ecsel.cli.plain import plain

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ecsel.cli.options import Speech

FORMAT = 1
"""The version of the JSON documents; it changes when a field changes its name or meaning, not when one is added."""


@dataclass(frozen=True, slots=True)
class Session:
    """What the user wants to hear, and where it goes."""

    as_json: bool
    quiet: bool
    verbose: bool
    out: Console
    err: Console
    safe_csv: bool = False
    """Whether texts in CSV that a spreadsheet would run get an apostrophe."""

    @property
    def shows_progress(self) -> bool:
        """Whether long work shows how far it is."""
        return self.err.is_terminal and not self.quiet

    def note(self, text: str) -> None:
        """Tell something beside the result."""
        if not self.quiet:
            self.err.print(Text(text, style="dim"), soft_wrap=True)

    def json(self, command: str, document: dict[str, Any]) -> None:
        """Print the one JSON document of a command."""
        self.raw(json_text(command, document))

    def raw(self, text: str) -> None:
        """Print text as it is: what scripts read is neither wrapped nor coloured."""
        self.out.file.write(text)

    @contextmanager
    def stages(self, n: int) -> Iterator[Callable[[str], None]]:
        """Show a bar of `n` stages; the function that is handed out starts the next one."""
        shape = (SpinnerColumn(), BarColumn(24), TextColumn("{task.description}", markup=False), TimeElapsedColumn())
        live = self.shows_progress and not self.verbose
        with Progress(*shape, console=self.err, disable=not live, transient=True) as progress:
            bar = progress.add_task("", total=n)
            begun = 0

            def begin(doing: str) -> None:
                nonlocal begun
                progress.update(bar, completed=begun, description=doing)
                begun += 1
                if self.verbose:
                    self.note(f"ecsel: {doing}")

            yield begin


@contextmanager
def speaking(speech: Speech, *, safe_csv: bool = False) -> Iterator[Session]:
    """Yield a session; warnings of the library become notes, each printed once, when the work is done."""
    out, err = (Console(stderr=stderr, markup=False, emoji=False, highlight=False) for stderr in (False, True))
    session = Session(speech.as_json, speech.quiet, speech.verbose, out, err, safe_csv)
    from ecsel.estimators.progress import progress_elsewhere  # help must not wait for scikit-learn

    with progress_elsewhere(), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            yield session
        finally:
            for message in dict.fromkeys(str(each.message) for each in caught if _concerns_the_user(each.category)):
                session.note(message)


def json_text(command: str, document: dict[str, Any]) -> str:
    """Return the JSON document of a command, with the fields that all commands share first."""
    whole = {"command": command, "format": FORMAT, "ecsel": __version__, **plain(document)}
    return json.dumps(whole, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def _concerns_the_user(category: type[Warning]) -> bool:
    """Tell warnings about data from those for programmers."""
    if category.__name__ == "ColumnWarning":  # reported before the fit, in words of the command line
        return False
    return issubclass(category, UserWarning) and not issubclass(category, DeprecationWarning)
