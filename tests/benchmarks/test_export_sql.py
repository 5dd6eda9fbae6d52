"""The race of queries: every method is there, and the query says what the model says."""

import sys

import pytest

from benchmarks.export_sql import main, measured, rounded
from benchmarks.tables import load

METHODS = ["SQL in DuckDB", "SQL in DuckDB, with contributions", "predict_proba", "fetching the rows"]


def test_the_query_and_the_model_are_measured_and_agree(folder, monkeypatch):
    monkeypatch.setitem(sys.modules, "xgboost", None)  # not needed
    rows = list(measured(load(folder, "iris"), n_rows=500, repeats=1, xgboost=False))
    assert [row["method"] for row in rows] == METHODS
    assert rows[0]["difference"] < 1e-12
    assert all(row["speed"] == pytest.approx(500 / row["seconds"] / 1e6) for row in rows)
    cells = rounded({"seconds": "1.234", "processor": "2", "speed": "8", "load": "0.5", "difference": "3e-15"})
    assert (cells["seconds"], cells["difference"]) == ("1.23", "3e-15")


def test_results_are_written(folder, tmp_path, capsys):
    options = ["--data", str(folder), "--tables", "iris", "--rows", "300", "--repeats", "1", "--no-xgboost"]
    assert main([*options, "--output", str(tmp_path)]) == 0
    written = (tmp_path / "export_sql.md").read_text(encoding="utf-8")
    assert all(f"| {method} " in written for method in METHODS)
    assert capsys.readouterr().out.strip() in written
    assert len((tmp_path / "export_sql.csv").read_text(encoding="utf-8").splitlines()) == 1 + len(METHODS)


def test_xgboost_runs_beside_them(folder):
    pytest.importorskip("xgboost", reason="XGBoost is the rival (ecsel[bench])")
    rows = list(measured(load(folder, "iris"), n_rows=500, repeats=1))
    assert [row["method"] for row in rows] == [*METHODS[:3], "XGBoost", METHODS[3]]
