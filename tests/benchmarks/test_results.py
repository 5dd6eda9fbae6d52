"""Result files grow cell by cell and never mix versions."""

from benchmarks.results import ResultFile, markdown_table
from ecsel import __version__


def test_a_cell_is_replaced_and_found_again(tmp_path):
    path = tmp_path / "new" / "cells.csv"
    first = ResultFile(path, ("table", "l1"))
    first.put({"table": "a", "l1": 0.001, "loss": 1 / 3})
    first.put({"table": "b", "l1": 0.001, "loss": 2.0})
    first.put({"table": "a", "l1": 0.001, "loss": 0.5})
    again = ResultFile(path, ("table", "l1"))
    assert {"table": "a", "l1": 1e-3} in again
    assert {"table": "a", "l1": 1e-2} not in again
    assert [row["loss"] for row in again.rows] == ["0.5", "2"]


def test_rows_of_earlier_versions_stay_until_they_are_measured_anew(tmp_path):
    path = tmp_path / "cells.csv"
    path.write_text("version,table,loss\n0.0.0,old,1\n0.0.0,new,2\n", encoding="utf-8")
    ResultFile(path, ("table",)).put({"table": "new", "loss": 3.0})
    rows = ResultFile(path, ("table",)).rows
    assert [(row["version"], row["table"], row["loss"]) for row in rows] == [
        ("0.0.0", "old", "1"),
        (__version__, "new", "3"),
    ]


def test_markdown_escapes_bars():
    text = markdown_table([{"a": "x|y"}], {"a": "name"})
    assert text == "| name |\n| ---- |\n| x\\|y |"
