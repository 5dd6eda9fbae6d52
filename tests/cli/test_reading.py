"""The same table comes out of every format; what is broken is refused by line."""

import gzip
import io
import json
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from ecsel.cli import reading
from ecsel.cli.errors import CommandError
from ecsel.cli.options import Reading
from ecsel.cli.reading import read_file
from ecsel.cli.writing import table_bytes

TABLE = pd.DataFrame(
    {"n": [1, 2, 3], "x": [0.5, np.nan, 2.25], "word": ["a", "b;c", 'd "e"'], "yes": [True, False, True]}
)


@pytest.mark.parametrize("name", ["t.csv", "t.tsv", "t.csv.gz", "t.tsv.gz", "t.parquet", "t.xlsx", "t.json"])
def test_every_format_gives_the_same_table(tmp_path, name):
    path = tmp_path / name
    path.write_bytes(table_bytes(name, TABLE))
    pd.testing.assert_frame_equal(read_file(str(path)).frame, TABLE, check_dtype=False)


@pytest.mark.parametrize("name", ["t.csv", "t.csv.gz", "t.parquet", "t.xlsx", "t.json"])
def test_the_content_tells_the_format_where_the_name_does_not(name, monkeypatch):
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(table_bytes(name, TABLE))))
    pd.testing.assert_frame_equal(read_file("-").frame, TABLE, check_dtype=False)


def test_json_lines_and_one_object(tmp_path):
    lines, one = tmp_path / "t.jsonl", tmp_path / "t.json"
    lines.write_text('{"a": 1, "b": "x"}\n{"a": 2, "b": "y"}\n', encoding="utf-8")
    one.write_text(json.dumps({"a": 1, "b": "x"}), encoding="utf-8")
    assert read_file(str(lines)).frame["a"].tolist() == [1, 2]
    assert len(read_file(str(one))) == 1


def test_semicolons_and_decimal_commas_are_found_and_reported(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("größe;name\n1,5;a,b\n-2,25;c\n", encoding="utf-8")
    table = read_file(str(path))
    assert table.frame["größe"].tolist() == [1.5, -2.25]
    assert table.frame["name"].tolist() == ["a,b", "c"]
    assert "semicolon" in table.remarks[0]
    assert "decimal comma" in table.remarks[1]


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_marks_of_encodings_are_understood(tmp_path, encoding):
    path = tmp_path / "t.csv"
    path.write_text("naïve,b\n1,é\n", encoding=encoding)
    assert list(read_file(str(path)).frame.columns) == ["naïve", "b"]


def test_another_encoding_is_refused_by_line_and_read_when_named(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,b\n1,x\n2,é\n", encoding="latin-1")
    with pytest.raises(CommandError, match=r"line 3: byte 0xe9 .*--encoding"):
        read_file(str(path))
    assert read_file(str(path), Reading(encoding="latin-1")).frame["b"].tolist() == ["x", "é"]
    with pytest.raises(CommandError, match="martian"):
        read_file(str(path), Reading(encoding="martian"))


def test_text_columns_stay_text(tmp_path):
    for name in ("t.csv", "t.xlsx"):
        path = tmp_path / name
        path.write_bytes(table_bytes(name, pd.DataFrame({"grade": [1, None, 2], "n": [1, 2, 3]})))
        grade = read_file(str(path), text=["grade"]).frame["grade"]
        assert grade.isna().tolist() == [False, True, False]
        assert [str(v).removesuffix(".0") for v in grade.dropna()] == ["1", "2"]


def test_sheets(tmp_path):
    path = tmp_path / "book.xlsx"
    with pd.ExcelWriter(path) as book:
        TABLE.to_excel(book, sheet_name="first", index=False)
        TABLE.head(1).to_excel(book, sheet_name="second", index=False)
    assert "first" in read_file(str(path)).remarks[0]
    assert len(read_file(str(path), Reading(sheet="second"))) == 1
    with pytest.raises(CommandError, match="'first', 'second'"):
        read_file(str(path), Reading(sheet="third"))


BROKEN = {
    "empty.csv": (b"", "is empty"),
    "blank.csv": (b" \n\n", "is empty"),
    "header.csv": (b"a,b\n", "no rows"),
    "short.csv": (b"a,b\n1,2\n3\n", "line 3: 1 fields, but the header has 2"),
    "long.csv": (b"a,b\n1,2,3\n4,5,6\n", "line 2: 3 fields"),
    "twice.csv": (b"a,b,a\n1,2,3\n", "'a' occurs twice"),
    "numbers.csv": (b"1,2\n3,4\n", "must name the columns"),
    "quote.csv": (b'a,b\n"1,2\n3,4\n', "quotation mark"),
    "bytes.csv": (b"\x00\x01\x02a,b\n", "not a text table"),
    "damaged.csv.gz": (gzip.compress(b"a,b\n" * 99)[:20], "damaged gzip"),
    "damaged.parquet": (b"PAR1 and no more", "not a readable Parquet"),
    "damaged.xlsx": (b"PK\x03\x04 and no more", "no readable Excel"),
    "old.xls": (b"\xd0\xcf\x11\xe0 old", "save it as .xlsx"),
    "broken.json": (b'{"a": ', "not valid JSON"),
    "list.json": (b"[1, 2]", "JSON objects"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_broken_files_are_refused(tmp_path, name):
    content, why = BROKEN[name]
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(CommandError) as caught:
        read_file(str(path))
    assert why in str(caught.value)
    assert name in str(caught.value)


def test_missing_files_and_folders_are_refused(tmp_path):
    with pytest.raises(CommandError, match="no such file"):
        read_file(str(tmp_path / "nothing.csv"))
    with pytest.raises(CommandError, match="folder"):
        read_file(str(tmp_path))


def test_what_has_no_end_is_refused(monkeypatch):
    monkeypatch.setattr(reading, "STREAM_LIMIT", 2**20)
    with pytest.raises(CommandError, match="1 MiB and may have no end"):
        read_file("/dev/zero")


def test_a_small_stream_may_not_unpack_to_an_endless_one(monkeypatch):
    monkeypatch.setattr(reading, "STREAM_LIMIT", 2**20)

    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(gzip.compress(b"\n" * 2**22))))
    with pytest.raises(CommandError, match="unpacks to more than 1 MiB"):
        read_file("-")
