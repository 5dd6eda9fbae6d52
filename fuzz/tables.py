"""Damaged tables of every format to the readers of the command line: a table, or one line that names the file."""

from __future__ import annotations

import gzip
import io
import warnings
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from ecsel.cli.errors import CommandError
from ecsel.cli.reading import read_file
from fuzz.attack import SERVED, refused

if TYPE_CHECKING:
    import random
    from pathlib import Path


class Tables:
    """Files with bytes changed, cut, repeated or put in."""

    name = "tables"

    def prepare(self, folder: Path) -> None:
        """Write one table in every format."""
        self.folder = folder
        frame = pd.DataFrame({"x": np.arange(30.0), "n": np.arange(30) * 10**12, "name": ["é", "=1+1", 'a"b'] * 10})
        parquet, workbook = io.BytesIO(), io.BytesIO()
        frame.to_parquet(parquet)
        frame.to_excel(workbook, index=False)
        text = frame.to_csv(index=False).encode()
        self.sources = {
            "t.csv": text,
            "t.tsv": frame.to_csv(index=False, sep="\t").encode(),
            "s.csv": frame.to_csv(index=False, sep=";", decimal=",").encode(),
            "t.json": frame.to_json(orient="records").encode(),
            "t.jsonl": frame.to_json(orient="records", lines=True).encode(),
            "t.parquet": parquet.getvalue(),
            "t.xlsx": workbook.getvalue(),
            "t.csv.gz": gzip.compress(text, mtime=0),
            "u.csv": text.decode().encode("utf-16"),
        }

    def run(self, rng: random.Random) -> str:
        """Read one damaged file."""
        name, content = rng.choice(list(self.sources.items()))
        damaged = bytearray(content)
        for _ in range(rng.choice([1, 1, 2, 8])):
            at, n = rng.randrange(len(damaged) + 1), rng.choice([1, 1, 4, 40])
            how = rng.random()
            if how < 0.5:
                damaged[at : at + n] = rng.randbytes(n)
            elif how < 0.65:
                del damaged[at:]
            elif how < 0.8:
                damaged[at:at] = damaged[:n]
            else:
                damaged[at:at] = rng.choice([b"\0", b"\n", b'"', b",", b"\xff\xfe", b"9" * 400, b"[" * 50, b"{"])
        path = self.folder / name
        path.write_bytes(damaged)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                read_file(str(path))
            except CommandError as error:
                return refused(str(error)[:1000])
        return SERVED
