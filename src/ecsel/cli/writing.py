"""What commands write: models and tables, whole or not at all, with one clear line where that cannot be."""

from __future__ import annotations

import io
import json
import os
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from ecsel.cli.errors import CommandError
from ecsel.cli.plain import plain
from ecsel.cli.spreadsheet import inert, workbook_bytes
from ecsel.files import atomic_write

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import pandas as pd

TABLE_SUFFIXES = (".csv", ".tsv", ".csv.gz", ".tsv.gz", ".parquet", ".xlsx", ".json")


def check_writable(path: Path | None) -> None:
    """Refuse a place where no file can be made, before the work is done that would be lost."""
    if path is None:
        return
    if path.is_dir():
        raise CommandError(f"{path} is a folder; name a file to write.")
    if path.exists() and not path.is_file():  # a device or a pipe is written to where it is
        if not os.access(path, os.W_OK):
            raise CommandError(f"{path}: no permission to write there.")
        return
    try:
        folder = path.resolve().parent
    except (OSError, RuntimeError):
        raise CommandError(f"{path} is a loop of links; name a file to write.") from None
    if not folder.is_dir():
        raise CommandError(f"{path}: there is no folder {folder}; make it first.")
    if not os.access(folder, os.W_OK) or (path.exists() and not os.access(path, os.W_OK)):
        raise CommandError(f"{path}: no permission to write there.")


def save_model(model: Any, path: Path) -> None:
    """Write a model file, whole or not at all."""
    with naming(path):
        model.save(path)


def write_whole(path: Path, content: bytes) -> None:
    """Write a file whole or not at all."""
    with naming(path):
        atomic_write.write_whole(path, content)


@contextmanager
def atomic_path(path: Path) -> Iterator[Path]:
    """Yield the name of a draft that takes the file's place when all went well."""
    with naming(path), atomic_write.atomic_path(path) as fresh:
        yield fresh


@contextmanager
def naming(path: Path) -> Iterator[None]:
    """Speak of the file that was asked for, not of the draft beside it."""
    try:
        yield
    except OSError as error:
        raise CommandError(f"{path} cannot be written: {error.strerror or error}.") from error


def check_table_path(path: Path | None) -> None:
    """Refuse a file that is no table by its name, or cannot be written."""
    if path is not None and not path.name.lower().endswith(TABLE_SUFFIXES):
        raise CommandError(f"{path}: tables are written as {', '.join(TABLE_SUFFIXES)}; choose one of these endings.")
    check_writable(path)


def write_table(path: Path, frame: pd.DataFrame, *, safe_csv: bool = False) -> None:
    """Write a table in the format that its name asks for."""
    write_whole(path, table_bytes(path.name.lower(), frame, safe_csv=safe_csv))


def table_bytes(name: str, frame: pd.DataFrame, *, safe_csv: bool = False) -> bytes:
    """Return a table in the format of a file name; `safe_csv` keeps texts in CSV from being formulas."""
    if name.endswith(".parquet"):
        buffer = io.BytesIO()
        frame.to_parquet(buffer, index=False)
        return buffer.getvalue()
    if name.endswith(".xlsx"):
        return workbook_bytes(frame)
    if name.endswith(".json"):
        return (json.dumps(plain(frame.to_dict("records")), ensure_ascii=False, allow_nan=False) + "\n").encode()
    text = csv_text(inert(frame) if safe_csv else frame, "\t" if ".tsv" in name else ",")
    if not name.endswith(".gz"):
        return text.encode()
    import gzip

    # without the time of day, so that the same rows give the same bytes
    return gzip.compress(text.encode(), mtime=0)


def csv_text(frame: pd.DataFrame, separator: str = ",") -> str:
    """Return a table as delimited text, numbers in their shortest exact form."""
    text: str = frame.to_csv(index=False, sep=separator, lineterminator="\n")
    return text
