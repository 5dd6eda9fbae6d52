"""Delimited text (CSV, TSV and their kin): decoded, its delimiter found, every row checked against the header."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from typing import TYPE_CHECKING, Any

from ecsel.cli.errors import CommandError

if TYPE_CHECKING:
    from collections.abc import Collection

    import pandas as pd

DELIMITERS = (",", ";", "\t", "|")
NAMES = {",": "comma", ";": "semicolon", "\t": "tab", "|": "bar"}
DECIMAL_COMMA = re.compile(r"(?:^|[;\t|])\s*-?\d+,\d+\s*(?=[;\t|]|$)", re.MULTILINE)
DECIMAL_POINT = re.compile(r"(?:^|[;\t|])\s*-?\d+\.\d+\s*(?=[;\t|]|$)", re.MULTILINE)
GLANCE = 65_536
"""Characters that are looked at to tell the delimiter and the decimal mark."""


def read_delimited(
    content: bytes, name: str, delimiter: str | None, encoding: str | None, text_columns: Collection[str]
) -> tuple[pd.DataFrame, tuple[str, ...]]:
    """Return the table in some bytes, and remarks on what was not to be expected."""
    import pandas as pd

    text = decoded(content, name, encoding)
    if not text.strip():
        raise CommandError(f"{name} is empty.")
    separator = find_delimiter(text) if delimiter is None else delimiter
    if len(separator) != 1:
        raise CommandError(f"--delimiter must be one character or the word tab, not {separator!r}.")
    header = check_rows(text, name, separator)
    decimal = "," if separator != "," and has_decimal_comma(text) else "."
    frame = pd.read_csv(
        io.StringIO(text),
        sep=separator,
        decimal=decimal,
        dtype=dict.fromkeys((c for c in text_columns if c in header), "str"),
        index_col=False,
        skipinitialspace=True,
        low_memory=False,
    )
    remarks = []
    if delimiter is None and separator != ",":
        remarks.append(f"The columns of {name} are separated by a {NAMES[separator]} (--delimiter overrides).")
    if decimal == ",":
        remarks.append(f"Numbers in {name} have a decimal comma.")
    return frame, tuple(remarks)


def decoded(content: bytes, name: str, encoding: str | None) -> str:
    r"""Return bytes as text; UTF-8, with or without a mark, or UTF-16 with one, unless an encoding is given.

    >>> decoded(b"\xef\xbb\xbfa,b\n", "data.csv", None)
    'a,b\n'
    """
    wide = content[:2] in {b"\xff\xfe", b"\xfe\xff"}
    chosen = encoding or ("utf-16" if wide else "utf-8-sig")
    if not wide and encoding is None and b"\0" in content[:GLANCE]:
        raise CommandError(f"{name} is not a text table (it holds zero bytes); give CSV, TSV, Parquet, Excel or JSON.")
    try:
        return content.decode(chosen)
    except LookupError as error:
        raise CommandError(
            f"--encoding {chosen!r} is not known; use a name such as utf-8, latin-1 or cp1252."
        ) from error
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise CommandError(
            f"{name}, line {line}: byte 0x{content[error.start]:02x} is not {chosen.removesuffix('-sig')} text; give "
            "the right --encoding, such as cp1252 or latin-1."
        ) from error


def find_delimiter(text: str) -> str:
    r"""Return the delimiter that splits the header most; a comma where none does.

    >>> find_delimiter("a;b;c\n1,5;2;3\n"), find_delimiter("one column\n")
    (';', ',')
    """
    first = next(line for line in text.splitlines() if line.strip())
    unquoted = re.sub(r'"[^"]*"', "", first)
    return max(DELIMITERS, key=lambda mark: (unquoted.count(mark), mark == ","))


def has_decimal_comma(text: str) -> bool:
    r"""Tell whether numbers are written with a decimal comma, and none with a point.

    >>> has_decimal_comma("a;b\n1,5;x\n"), has_decimal_comma("a;b\n1.5;2,5\n"), has_decimal_comma("a;b\n1;2\n")
    (True, False, False)
    """
    glance = text[:GLANCE]
    return bool(DECIMAL_COMMA.search(glance)) and not DECIMAL_POINT.search(glance)


def check_rows(text: str, name: str, separator: str) -> list[str]:
    """Return the header; a row of another length, a repeated name and an unclosed quote are refused by line."""
    rows: Any = csv.reader(io.StringIO(text, newline=""), delimiter=separator, skipinitialspace=True, strict=True)
    try:
        header: list[str] = next(row for row in rows if row)
        _check_header(header, name)
        for row in rows:
            if row and len(row) != len(header):
                raise CommandError(
                    f"{name}, line {rows.line_num}: {len(row)} fields, but the header has {len(header)} columns; mend "
                    "the line, or give the right --delimiter."
                )
    except csv.Error as error:
        raise CommandError(f"{name}, line {rows.line_num}: {error}; is a quotation mark not closed?") from error
    return header


def _check_header(header: list[str], name: str) -> None:
    if repeated := [column for column, count in Counter(filter(None, header)).items() if count > 1]:
        raise CommandError(f"{name}: the column {repeated[0]!r} occurs twice in the header; rename one.")
    if all(_is_number(column) for column in header):
        raise CommandError(f"{name}: the first line holds numbers only; it must name the columns.")


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
