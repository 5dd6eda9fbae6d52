"""Packed files are bounded before they are unpacked, and every kind of damage is one clear line."""

import gzip
import io
import json
import re
import subprocess
import sys
import zipfile

import numpy as np
import pandas as pd
import pytest

from ecsel.cli import archives
from ecsel.cli.archives import check_parquet, check_workbook, gunzip, unpacked_limit
from ecsel.cli.errors import CommandError
from ecsel.cli.reading import read_file

FRAME = pd.DataFrame({"x": np.arange(50.0), "name": ["a", "b"] * 25})
SCRIPT = [sys.executable, "-c", "import sys; from ecsel.cli import main; sys.exit(main())"]


@pytest.fixture
def small(monkeypatch):
    """Bounds a thousand times smaller, so that no test needs the memory that it is about."""
    monkeypatch.setattr(archives, "HARMLESS", 64 * 2**10)
    monkeypatch.setattr(archives, "MAX_UNPACKED", 2**20)


def workbook(frame=FRAME):
    buffer = io.BytesIO()
    frame.to_excel(buffer, index=False)
    return buffer.getvalue()


def changed(content, change):
    """Return a zip file whose members went through a function of name and bytes; None leaves one out."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as old, zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            data = change(name, old.read(name))
            if data is not None:
                new.writestr(name, data)
    return buffer.getvalue()


@pytest.mark.usefixtures("small")
def test_a_gzip_file_that_unpacks_to_too_much_is_refused():
    assert gunzip(gzip.compress(b"a,b\n" * 1000), "t.csv.gz") == b"a,b\n" * 1000
    with pytest.raises(CommandError, match=r"t\.csv\.gz unpacks to more than"):
        gunzip(gzip.compress(b"1,2\n" * 2**18), "t.csv.gz")


@pytest.mark.usefixtures("small")
def test_no_more_is_unpacked_than_is_needed_to_refuse(monkeypatch):
    asked = []
    plain = gzip.GzipFile.read
    monkeypatch.setattr(gzip.GzipFile, "read", lambda self, n=-1: asked.append(n) or plain(self, n))
    content = gzip.compress(bytes(2**20))
    with pytest.raises(CommandError):
        gunzip(content, "t.gz")
    assert asked == [unpacked_limit(len(content)) + 1]


@pytest.mark.usefixtures("small")
def test_a_workbook_tells_its_size_before_it_is_opened(tmp_path):
    check_workbook(workbook(), "t.xlsx")
    grown = changed(workbook(), lambda name, data: data + b" " * 2**20 if "sheet1" in name else data)
    path = tmp_path / "t.xlsx"
    path.write_bytes(grown)
    with pytest.raises(CommandError, match=r"t\.xlsx unpacks to 1 MiB"):
        read_file(str(path))


def test_a_parquet_file_of_more_cells_than_memory_is_refused(monkeypatch, tmp_path):
    from pyarrow.parquet import read_metadata

    path = tmp_path / "t.parquet"
    FRAME.to_parquet(path)
    check_parquet(read_metadata(path), "t")
    monkeypatch.setattr(archives, "MAX_PARQUET", 100)
    with pytest.raises(CommandError, match="50 rows of 2 columns"):
        read_file(str(path))


DAMAGE = {
    "no_sheets.xlsx": changed(
        workbook(), lambda name, data: re.sub(b"<sheet .*?/>", b"", data) if name == "xl/workbook.xml" else data
    ),
    "cut_xml.xlsx": changed(workbook(), lambda name, data: data[: len(data) // 2] if "sheet1" in name else data),
    "no_styles.xlsx": changed(workbook(), lambda name, data: b"<" if "styles" in name else data),
    "no_list.xlsx": changed(workbook(), lambda name, data: None if "Content_Types" in name else data),
    "cut.xlsx": workbook()[:2000],
    "flipped.xlsx": workbook()[:1500] + b"\xff" * 40 + workbook()[1540:],
    "zip.xlsx": b"PK\x03\x04" + bytes(100),
    "cut.csv.gz": gzip.compress(b"a,b\n1,2\n" * 1000)[:40],
    "flipped.csv.gz": gzip.compress(bytes(range(256)) * 40)[:200] + b"\xff" * 100,
    "mark.csv": b"\xef\xbb\xbf",
    "mark16.csv": b"\xff\xfe",
    "blank.csv": b"\xef\xbb\xbf \n\n",
    "deep.json": b"[" * 100_000,
    "deep_lines.json": b'{"a":' * 100_000,
    "large.json": b'[{"a": 1' + b"0" * 400 + b"}]",
    "huge.json": b'[{"a": -1' + b"0" * 5000 + b"}]",
    "cut.parquet": b"PAR1" + bytes(30),
}


@pytest.mark.parametrize("name", DAMAGE)
def test_damage_is_one_clear_line(tmp_path, name, refused):
    path = tmp_path / name
    path.write_bytes(DAMAGE[name])
    with pytest.raises(CommandError) as caught:
        read_file(str(path))
    assert name in str(caught.value)
    assert "Internal error" not in str(refused("fit", path, "-t", "x"))


def test_whole_numbers_that_a_double_holds_are_read(tmp_path):
    path = tmp_path / "t.json"
    path.write_text(json.dumps([{"a": 10**300}, {"a": -(10**300)}]))
    assert read_file(str(path)).frame["a"].astype(float).tolist() == [1e300, -1e300]


def test_a_loop_of_links_is_named(tmp_path, refused, loans_file):
    loop = tmp_path / "loop.json"
    loop.symlink_to(tmp_path / "pool.json")
    (tmp_path / "pool.json").symlink_to(loop)
    assert "loop" in str(refused("fit", loans_file, "-t", "bad", "-o", loop))
    assert "loop.json" in str(refused("info", loop))


def shell(command, **options):
    return subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=False, **options)


@pytest.mark.parametrize(
    ("redirection", "reported"), [("<&-", "Standard input is closed"), (">&-", "standard output is closed")]
)
def test_closed_streams_are_reported(tmp_path, model_file, loans_file, redirection, reported):
    script = tmp_path / "run.py"
    script.write_text("import sys; from ecsel.cli import main; sys.exit(main())")
    data = "-" if "<" in redirection else loans_file
    done = shell(f'"{sys.executable}" "{script}" predict {data} -m {model_file} --csv {redirection}')
    assert done.returncode == 1
    assert reported in done.stderr
    assert "Internal error" not in done.stderr


def test_with_everything_closed_a_file_is_still_written(tmp_path, model_file, loans_file):
    script, output = tmp_path / "run.py", tmp_path / "out.csv"
    script.write_text("import sys; from ecsel.cli import main; sys.exit(main())")
    done = shell(f'"{sys.executable}" "{script}" predict {loans_file} -m {model_file} -o {output} <&- >&- 2>&-')
    assert done.returncode == 0
    assert len(pd.read_csv(output)) == 240
