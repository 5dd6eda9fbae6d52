"""The cases of cost: tables are as they are named, and a case is measured whole."""

import numpy as np
import pandas as pd
import pytest

from benchmarks import cliffs


def test_tables_are_as_they_are_named():
    X, y = cliffs.levels(100, n=500)
    assert X["place"].nunique() == len(set(X["place"])) <= 100
    assert set(y) == {0, 1}
    assert cliffs.wide(50, 7)[0].shape == (50, 7)
    assert len(set(cliffs.classes(26, 3, n=600)[1])) == 26
    X, y = cliffs.law(10)
    assert np.corrcoef(y, 2 * X[:, 0] ** 2 / X[:, 1] + 3 * np.sqrt(X[:, 2]))[0, 1] > 0.999


def test_rivals_get_numbers_with_rare_levels_as_one():
    frame = pd.DataFrame({"town": ["a"] * 30 + ["b"] * 30 + ["c", "d"], "x": [np.nan, *range(61)]})
    Z = cliffs.one_hot(frame)
    assert Z.shape == (62, 4)  # x, a, b and other
    assert np.isfinite(Z).all()


def test_a_case_of_the_classifier(monkeypatch):
    pytest.importorskip("xgboost")
    monkeypatch.setattr(cliffs, "classifier_cases", lambda _: {"small": lambda: cliffs.wide(200, 6)})
    row = cliffs.measure_classifier(None, "small")
    assert row["rows"] == 100
    assert row["ratio"] == row["cpu_seconds"] / row["xgboost_cpu_seconds"]
    assert 0 < row["log_loss"] < 1


def test_a_case_of_the_regressor_and_the_page(monkeypatch, tmp_path):
    monkeypatch.setattr(cliffs, "REGRESSOR_CASES", {"small": lambda: cliffs.law(3)})
    row = cliffs.measure_regressor("small")
    assert "x0**2" in row["found"]
    cliffs.ResultFile(tmp_path / "cliffs_laws.csv", ("case",)).put(row)
    monkeypatch.setattr(cliffs, "surroundings", lambda _: "here")
    assert "| small |" in cliffs.write_report(tmp_path, "About.")
