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


def test_other_versions_are_dropped(tmp_path):
    path = tmp_path / "cells.csv"
    path.write_text(f"version,table,loss\n0.0.0,old,1\n{__version__},new,2\n", encoding="utf-8")
    results = ResultFile(path, ("table",))
    assert [row["table"] for row in results.rows] == ["new"]


def test_markdown_escapes_bars():
    text = markdown_table([{"a": "x|y"}], {"a": "name"})
    assert text == "| name |\n| ---- |\n| x\\|y |"
