"""The race: honest folds, ratios, and a note where rows were capped."""

import pytest
from sklearn.linear_model import LogisticRegression

from benchmarks.fit_speed import Method, compare, with_ratios
from benchmarks.tables import load


def test_the_comparison_reports_means_over_folds_and_capped_rows(folder):
    table = load(folder, "iris")
    row, whole = compare(
        table,
        [
            Method("capped", lambda _: LogisticRegression(max_iter=500), 1, 60),
            Method("whole", lambda _: LogisticRegression(max_iter=500), 2),
        ],
    )
    assert row["note"] == "fitted on 60 rows"
    assert row["rows"] == 150
    assert row["accuracy"] > 0.9
    assert row["auc"] > 0.95
    assert (row["method"], whole["method"]) == ("capped", "whole")
    assert whole["note"] == ""


def test_methods_take_turns_and_are_fitted_as_often_as_asked(folder):
    fits = []

    def maker(name):
        return lambda _: fits.append(name) or LogisticRegression(max_iter=500)

    compare(load(folder, "iris"), [Method("often", maker("often"), 3), Method("once", maker("once"), 1)])
    assert fits == ["often", "often", "often", "once"] * 5


def test_ratios_are_to_xgboost_on_the_same_table():
    cell = {"accuracy": "1", "f1": "1", "log_loss": "0.1", "auc": "1"}
    rows = [
        {"table": "a", "method": "XGBoost", "seconds": "2", **cell},
        {"table": "a", "method": "ECSEL", "seconds": "1", **cell},
        {"table": "b", "method": "ECSEL", "seconds": "1", **cell},
    ]
    assert [row["to_xgboost"] for row in with_ratios(rows)] == ["1.00", "0.50", ""]
    assert float(with_ratios(rows)[1]["seconds"]) == pytest.approx(1)
