"""Tables from files and standard input: CSV, TSV, gzip, Parquet, Excel and JSON, recognised by their content.

What pandas would mend in silence is refused by line: a row with fewer fields than the header, a column name that occurs
twice, letters of another encoding. Standard input and devices are read up to a bound, since they may never end.
"""

from __future__ import annotations

import io
import sys
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from ecsel.cli.archives import MAX_UNPACKED, check_parquet, check_workbook, gunzip
from ecsel.cli.delimited import read_delimited
from ecsel.cli.errors import CommandError
from ecsel.cli.options import Reading

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    import pandas as pd

STDIN = "-"
STREAM_LIMIT = 256 * 2**20
"""Most bytes that are read from standard input or a device, and unpacked from it."""

MAX_DIGITS = 308
"""Digits of a whole number in JSON that a double can hold."""

GZIP, ZIP, PARQUET, OLD_EXCEL = b"\x1f\x8b", b"PK\x03\x04", b"PAR1", b"\xd0\xcf\x11\xe0"
JSON_SUFFIXES = {".json", ".jsonl", ".ndjson"}


@dataclass(frozen=True, slots=True)
class TableFile:
    """A table, what to call it, and what a reader should know of how it was read."""

    frame: pd.DataFrame
    name: str
    remarks: tuple[str, ...] = field(default=())

    def __len__(self) -> int:
        return len(self.frame)


def read_file(path: str, options: Reading | None = None, text: Collection[str] = ()) -> TableFile:
    """Read the table in a file, or on standard input where `path` is a dash."""
    options = options or Reading()
    name, content = _content(path)
    start = content[:4]
    remarks: tuple[str, ...] = ()
    if start.startswith(PARQUET):
        frame = _parquet(content, name)
    elif start == ZIP:
        frame, remarks = _excel(content, name, options)
    elif start == OLD_EXCEL:
        raise CommandError(f"{name} is an Excel file of the old kind (.xls); save it as .xlsx.")
    elif _is_json(path, content):
        frame = _json(content, name)
    else:
        frame, remarks = read_delimited(content, name, _delimiter(path, options), options.encoding, text)
    frame.columns = [str(column) for column in frame.columns]
    if frame.empty:
        raise CommandError(f"{name} has columns but no rows.")
    return TableFile(_as_text(frame, text), name, remarks)


def _content(path: str) -> tuple[str, bytes]:
    """Return what to call the source, and its bytes, unpacked."""
    if path == STDIN:
        name, content, bound = "standard input", _standard_input(), STREAM_LIMIT
    else:
        file, name = Path(path), path
        if not file.exists():
            raise CommandError(f"{name}: there is no such file.")
        if file.is_dir():
            raise CommandError(f"{name} is a folder; name the file in it.")
        bound = MAX_UNPACKED if file.is_file() else STREAM_LIMIT
        with file.open("rb") as stream:
            content = stream.read() if file.is_file() else _bounded(stream, name)
    if content[:2] == GZIP:
        content = gunzip(content, name, bound)
    if not content.strip():
        raise CommandError(f"{name} is empty.")
    return name, content


def _bounded(stream: BinaryIO, name: str) -> bytes:
    content = stream.read(STREAM_LIMIT + 1)
    if len(content) > STREAM_LIMIT:
        size = STREAM_LIMIT // 2**20
        raise CommandError(
            f"{name} gave more than {size} MiB and may have no end; save it to a file and name the file."
        )
    return content


def _standard_input() -> bytes:
    if sys.stdin is None:
        raise CommandError("Standard input is closed; name a file.")
    try:
        return _bounded(sys.stdin.buffer, "standard input")
    except (OSError, ValueError) as error:
        raise CommandError(f"Standard input cannot be read: {error}.") from error


def _delimiter(path: str, options: Reading) -> str | None:
    if options.delimiter is not None:
        return "\t" if options.delimiter in {"tab", "\\t"} else options.delimiter
    names = path.lower().removesuffix(".gz")
    return "\t" if names.endswith((".tsv", ".tab")) else None


def _parquet(content: bytes, name: str) -> pd.DataFrame:
    import pandas as pd
    from pyarrow.parquet import read_metadata

    try:
        check_parquet(read_metadata(io.BytesIO(content)), name)
        frame = pd.read_parquet(io.BytesIO(content), engine="pyarrow")
    except (OSError, ValueError, NotImplementedError) as error:
        raise CommandError(f"{name} is not a readable Parquet file: {error}") from error
    return frame.reset_index(drop=all(level is None for level in frame.index.names))


def _excel(content: bytes, name: str, options: Reading) -> tuple[pd.DataFrame, tuple[str, ...]]:
    import pandas as pd

    check_workbook(content, name)
    with _naming_workbook(name):
        book = pd.ExcelFile(io.BytesIO(content), engine="openpyxl")
        sheets = [str(sheet) for sheet in book.sheet_names]
    if not sheets:
        raise CommandError(f"{name} is a workbook without sheets.")
    sheet = sheets[0] if options.sheet is None else options.sheet
    if sheet not in sheets:
        raise CommandError(f"{name} has no sheet {sheet!r}; its sheets are {', '.join(map(repr, sheets))}.")
    several = options.sheet is None and len(sheets) > 1
    remark = f"{name} has {len(sheets)} sheets; the first, {sheet!r}, was read (--sheet chooses another)."
    with _naming_workbook(name):
        return pd.read_excel(book, sheet_name=sheet), (remark,) if several else ()


@contextmanager
def _naming_workbook(name: str) -> Iterator[None]:
    """Tell what the reader of workbooks stumbled over: it has an exception of its own for every kind of damage."""
    try:
        yield
    except MemoryError:
        raise
    except Exception as error:
        message = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
        raise CommandError(f"{name} is a zip file but no readable Excel workbook ({message}).") from error


def _is_json(path: str, content: bytes) -> bool:
    return Path(path).suffix.lower() in JSON_SUFFIXES or (path == STDIN and content.lstrip()[:1] in {b"{", b"["})


def _json(content: bytes, name: str) -> pd.DataFrame:
    """Read a list of objects, one object, or an object per line."""
    import json

    import pandas as pd

    def whole(digits: str) -> int:
        if len(digits.lstrip("-")) > MAX_DIGITS:
            raise CommandError(
                f"{name} holds a whole number of {len(digits)} digits, more than a table of numbers can."
            )
        return int(digits)

    try:
        text = content.decode("utf-8-sig")
        try:
            records = json.loads(text, parse_int=whole)
        except ValueError:
            records = [json.loads(line, parse_int=whole) for line in text.splitlines() if line.strip()]
    except RecursionError:
        raise CommandError(f"{name} is nested too deeply for a table.") from None
    except ValueError as error:
        raise CommandError(f"{name} is not valid JSON ({error}).") from error
    rows = records if isinstance(records, list) else [records]
    if not rows or not all(isinstance(row, dict) for row in rows):
        raise CommandError(f"{name} must hold rows as JSON objects: a list of them, one alone, or one per line.")
    return pd.DataFrame(rows)


def _as_text(frame: pd.DataFrame, names: Collection[str]) -> pd.DataFrame:
    """Return the frame with the named columns as text, also where a file has typed them as numbers."""
    import pandas as pd

    for name in names:
        if name in frame and not pd.api.types.is_string_dtype(frame[name].dtype):
            values = [None if pd.isna(value) else _level_text(value) for value in frame[name].tolist()]
            frame = frame.assign(**{name: pd.Series(values, index=frame.index, dtype="str")})
    return frame


def _level_text(value: Any) -> str:
    """Return a number as a person writes it: whole numbers with gaps between them have become 1.0, 2.0 and so on."""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
