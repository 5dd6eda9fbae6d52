"""Packed files that hold far more than they seem to: read or refused, in bounded memory and time."""

from __future__ import annotations

import gzip
import io
import struct
import zipfile
from typing import TYPE_CHECKING

import pandas as pd

from ecsel.cli.archives import HARMLESS
from ecsel.cli.errors import CommandError
from ecsel.cli.reading import read_file
from fuzz.attack import REFUSED, SERVED, refused, run_bounded

if TYPE_CHECKING:
    import random
    from pathlib import Path

MAX_BYTES = 3 * 2**30 // 2
"""Memory that a refusal may take, or a table of `HARMLESS` bytes of text."""
MAX_SECONDS = 60


class Archives:
    """Gzip files and workbooks of sizes around the bound, honest ones and such that tell another size."""

    name = "archives"

    def prepare(self, folder: Path) -> None:
        """Write a small workbook."""
        self.folder = folder
        buffer = io.BytesIO()
        pd.DataFrame({"x": range(20), "name": ["a", "b"] * 10}).to_excel(buffer, index=False)
        self.workbook = buffer.getvalue()

    def run(self, rng: random.Random) -> str:
        """Read one packed file in a process with bounds."""
        n_bytes = round(HARMLESS * 2 ** rng.uniform(-8, 2))
        how = rng.choice(["lines", "one line", "twice", "sheet", "strings", "lying sheet"])
        if how in ("lines", "one line", "twice"):
            path = self.folder / "t.csv.gz"
            text = b"a,b\n" + (b"1,2\n" * (n_bytes // 4) if how != "one line" else b"1" * n_bytes)
            packed = gzip.compress(text, compresslevel=1, mtime=0)
            path.write_bytes(packed if how != "twice" else packed + packed)
        else:
            path = self.folder / "t.xlsx"
            member = "xl/worksheets/sheet1.xml" if how != "strings" else "docProps/core.xml"
            path.write_bytes(self._grown(member, n_bytes, honest=how != "lying sheet"))
        outcome = self.folder / "outcome"

        def read() -> None:
            try:
                read_file(str(path))
            except CommandError as error:
                refused(str(error))
                outcome.write_text(REFUSED, encoding="ascii")
            else:
                outcome.write_text(SERVED, encoding="ascii")

        run_bounded(read, MAX_BYTES, MAX_SECONDS)
        reported = outcome.read_text(encoding="ascii")
        if reported == SERVED and n_bytes > HARMLESS:
            raise AssertionError(f"{how} of {n_bytes} bytes was read")
        return reported

    def _grown(self, grown: str, n_bytes: int, *, honest: bool) -> bytes:
        """Return the workbook with blanks at the end of one of its files; where it lies, it tells the size before."""
        buffer = io.BytesIO()
        with (
            zipfile.ZipFile(io.BytesIO(self.workbook)) as old,
            zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as new,
        ):
            for name in old.namelist():
                new.writestr(name, old.read(name) + (b" " * n_bytes if name == grown else b""))
            size = old.getinfo(grown).file_size
            grown_size = new.getinfo(grown).file_size
        content = buffer.getvalue()
        return content if honest else content.replace(struct.pack("<I", grown_size), struct.pack("<I", size))
