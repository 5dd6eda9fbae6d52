"""Results as a CSV file that grows cell by cell, and as a Markdown table; both are kept in git.

A cell is identified by its key columns, and a new measurement replaces the old one of its key. Every row says which
version of the library measured it: rivals, and models that a new version leaves as they were, need no new measurement.
"""

from __future__ import annotations

import csv
import os
import platform
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

from ecsel import __version__

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

FOLDER = Path(__file__).parent / "results"
Row = dict[str, str]


class ResultFile:
    """The rows of one CSV file, by key; every `put` is on disk when it returns."""

    def __init__(self, path: Path, key: Sequence[str]) -> None:
        self.path, self.key = path, tuple(key)
        self._rows: dict[tuple[str, ...], Row] = {}
        if path.is_file():
            with path.open(encoding="utf-8", newline="") as file:
                self._rows = {self._key(row): row for row in csv.DictReader(file)}

    def __contains__(self, cell: Mapping[str, object]) -> bool:
        return self._key(cell) in self._rows

    @property
    def rows(self) -> list[Row]:
        """All rows, sorted by their order of arrival."""
        return list(self._rows.values())

    def get(self, cell: Mapping[str, object]) -> Row | None:
        """Return the row of a cell, None where it is not measured."""
        return self._rows.get(self._key(cell))

    def put(self, row: Mapping[str, object]) -> Row:
        """Store one row and return it as it is written: numbers rounded to six digits."""
        written = {"version": __version__, **{name: _text(value) for name, value in row.items()}}
        self._rows[self._key(written)] = written
        self.path.parent.mkdir(parents=True, exist_ok=True)
        fresh = self.path.with_suffix(".part")
        with fresh.open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, list(written), lineterminator="\n")
            writer.writeheader()
            writer.writerows(self._rows.values())
        fresh.replace(self.path)  # in one step: a run that is killed here loses nothing
        return written

    def _key(self, row: Mapping[str, object]) -> tuple[str, ...]:
        return tuple(_text(row[name]) for name in self.key)


def _text(value: object) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def markdown_table(rows: Iterable[Mapping[str, str]], columns: Mapping[str, str]) -> str:
    """Return a Markdown table; `columns` maps the names of fields to headings."""
    lines = [list(columns.values())] + [[row[name].replace("|", "\\|") for name in columns] for row in rows]
    widths = [max(len(line[j]) for line in lines) for j in range(len(columns))]
    cells = [" | ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)) for line in lines]
    rule = " | ".join("-" * width for width in widths)
    return "\n".join(f"| {line} |" for line in [cells[0], rule, *cells[1:]])


def surroundings(libraries: Sequence[str]) -> str:
    """Return one line about where the figures were measured."""
    versions = ", ".join(f"{name} {version(name)}" for name in libraries)
    return f"ecsel {__version__}, Python {platform.python_version()}, {versions}; {os.cpu_count()} cores."
