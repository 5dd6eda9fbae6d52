"""A file is written whole or not at all."""

import pandas as pd
import pytest

from ecsel.cli.errors import CommandError
from ecsel.cli.writing import atomic_path, check_table_path, check_writable, table_bytes, write_whole


def test_a_write_that_fails_leaves_the_old_file_alone(tmp_path):
    path = tmp_path / "old.txt"
    write_whole(path, b"old")

    def interrupted():
        with atomic_path(path) as temporary:
            temporary.write_bytes(b"half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_link_stays_a_link(tmp_path):
    target, link = tmp_path / "target", tmp_path / "link"
    target.write_bytes(b"")
    link.symlink_to(target)
    write_whole(link, b"new")
    assert link.is_symlink()
    assert target.read_bytes() == b"new"


def test_errors_name_the_file_that_was_asked_for(tmp_path):
    path = tmp_path / "gone" / "file.csv"
    with pytest.raises(CommandError, match=r"gone/file.csv cannot be written: No such file"):
        write_whole(path, b"")
    with pytest.raises(CommandError, match="make it first"):
        check_writable(path)
    with pytest.raises(CommandError, match="endings"):
        check_table_path(tmp_path / "file.doc")


def test_the_same_rows_give_the_same_bytes():
    frame = pd.DataFrame({"a": [1.5, None], "b": ["x", "y"]})
    for name in ("t.csv", "t.csv.gz", "t.tsv", "t.json"):
        assert table_bytes(name, frame) == table_bytes(name, frame)
    assert table_bytes("t.csv", frame) == b"a,b\n1.5,x\n,y\n"
