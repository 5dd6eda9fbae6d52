"""The race: honest folds, ratios, and a note where rows were capped."""

import pytest
from sklearn.linear_model import LogisticRegression

from benchmarks.fit_speed import Method, race, with_ratios
from benchmarks.tables import load


def test_race_reports_means_over_folds_and_capped_rows(folder):
    table = load(folder, "iris")
    row = race(table, Method("linear", lambda _: LogisticRegression(max_iter=500), 1, 60))
    assert row["note"] == "fitted on 60 rows"
    assert row["rows"] == 150
    assert row["accuracy"] > 0.9
    assert row["auc"] > 0.95
    assert "note" in row
    assert race(table, Method("linear", lambda _: LogisticRegression(max_iter=500), 1))["note"] == ""


def test_ratios_are_to_xgboost_on_the_same_table():
    cell = {"accuracy": "1", "f1": "1", "log_loss": "0.1", "auc": "1"}
    rows = [
        {"table": "a", "method": "XGBoost", "seconds": "2", **cell},
        {"table": "a", "method": "ECSEL", "seconds": "1", **cell},
        {"table": "b", "method": "ECSEL", "seconds": "1", **cell},
    ]
    assert [row["to_xgboost"] for row in with_ratios(rows)] == ["1.00", "0.50", ""]
    assert float(with_ratios(rows)[1]["seconds"]) == pytest.approx(1)
