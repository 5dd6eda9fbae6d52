"""Packed files are looked at before they are unpacked: a small file may hold more than the memory of a machine.

What a file unpacks to is bounded by a size and, beyond what every machine has, by a multiple of the file: tables in
text are rarely packed to less than a hundredth, files that are made to hurt to a thousandth and less.
"""

from __future__ import annotations

import gzip
import io
import zlib
from typing import Any
from zipfile import BadZipFile, ZipFile

from ecsel.cli.errors import CommandError

HARMLESS = 64 * 2**20
"""Bytes that any file may unpack to."""
MAX_UNPACKED = 2**30
"""Most bytes that a file may unpack to."""
MAX_TIMES = 100
"""Beyond `HARMLESS`, most times its own size that a file may unpack to."""
MAX_MEMBERS = 10_000
"""Files in a workbook."""
CELL_BYTES = 8
MAX_PARQUET = 2**32
"""Most bytes that the cells of a Parquet file may take in memory at once."""


def unpacked_limit(n_bytes: int) -> int:
    """Return the bytes that a packed file of so many may unpack to.

    >>> unpacked_limit(1_000) == HARMLESS, unpacked_limit(2_000_000), unpacked_limit(10**9) == MAX_UNPACKED
    (True, 200000000, True)
    """
    return min(MAX_UNPACKED, max(HARMLESS, MAX_TIMES * n_bytes))


def gunzip(content: bytes, name: str, bound: int = MAX_UNPACKED) -> bytes:
    """Return the bytes in a gzip file, of which there may be at most `bound`, and as many as its own size allows."""
    limit = min(bound, unpacked_limit(len(content)))
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(content)) as packed:
            unpacked = packed.read(limit + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise CommandError(f"{name} is a damaged gzip file ({error}).") from error
    if len(unpacked) > limit:
        _refuse(name, f"more than {_mib(limit)}")
    return unpacked


def check_workbook(content: bytes, name: str) -> None:
    """Refuse a workbook by the sizes that its list of files tells; a reader stops where a file tells too little."""
    try:
        with ZipFile(io.BytesIO(content)) as packed:
            members = packed.infolist()
    except (BadZipFile, OSError, ValueError, NotImplementedError, UnicodeDecodeError) as error:
        raise CommandError(f"{name} is a damaged zip file, and no readable Excel workbook ({error}).") from error
    total = sum(member.file_size for member in members)
    if len(members) > MAX_MEMBERS:
        raise CommandError(f"{name} is no readable Excel workbook: it holds {len(members)} files.")
    if total > unpacked_limit(len(content)):
        _refuse(name, _mib(total))


def check_parquet(metadata: Any, name: str) -> None:
    """Refuse a Parquet file whose cells would not fit: columns of equal values are packed to almost nothing."""
    total = metadata.num_rows * metadata.num_columns * CELL_BYTES
    if total > MAX_PARQUET:
        raise CommandError(
            f"{name} has {metadata.num_rows} rows of {metadata.num_columns} columns, {_mib(total)} in memory; take "
            "fewer rows or columns."
        )


def _mib(n_bytes: int) -> str:
    return f"{n_bytes / 2**20:.0f} MiB"


def _refuse(name: str, size: str) -> None:
    raise CommandError(
        f"{name} unpacks to {size}, far more than a table of its size; unpack it yourself if it is sound."
    )
