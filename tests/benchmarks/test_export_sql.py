"""The race of queries: every method is there, and the query says what the model says."""

import pytest

from benchmarks.export_sql import measured, rounded
from benchmarks.tables import load

pytest.importorskip("xgboost", reason="XGBoost is the rival (ecsel[bench])")


def test_all_methods_are_measured_and_agree(folder):
    rows = list(measured(load(folder, "iris"), n_rows=500, repeats=1))
    assert [row["method"] for row in rows] == [
        "SQL in DuckDB",
        "SQL in DuckDB, with contributions",
        "predict_proba",
        "XGBoost",
        "fetching the rows",
    ]
    assert rows[0]["difference"] < 1e-12
    assert all(row["speed"] == pytest.approx(500 / row["seconds"] / 1e6) for row in rows)
    shown = rounded({"seconds": "1.234", "processor": "2", "speed": "8", "load": "0.5", "difference": "3e-15"})
    assert (shown["seconds"], shown["difference"]) == ("1.23", "3e-15")
