"""The demo's study: exact, deterministic, and good for any table."""

import numpy as np
import pandas as pd
import pytest

from ecsel.cli.study import Table, bundled_table, study


@pytest.fixture(scope="module")
def wine():
    return study(bundled_table())


def test_reasons_multiply_to_the_odds_of_the_model(wine):
    row = wine.row
    assert row.base + sum(r.log_odds for r in row.reasons) == pytest.approx(row.margin, abs=1e-12)
    table = bundled_table()
    at = {r.column: r.value for r in row.reasons}
    found = table.X[(table.X[list(at)] == pd.Series(at)).all(axis=1)]
    p = wine.model.predict_proba(found)[0]
    a, b = (wine.model.classes_.tolist().index(label) for label in (row.predicted, row.rival))
    assert np.log(p[a] / p[b]) == pytest.approx(row.margin, abs=1e-9)
    assert p[a] == pytest.approx(row.probability)


def test_reasons_come_strongest_first_and_only_where_a_column_matters(wine):
    sizes = [abs(r.log_odds) for r in wine.row.reasons]
    assert sizes == sorted(sizes, reverse=True)
    used = {name for equation in wine.model.equations_.values() for name in equation.names}
    assert {r.column for r in wine.row.reasons} <= used


def test_quality_is_judged_on_held_out_rows_beside_logistic_regression(wine):
    assert [q.model for q in wine.qualities] == ["ECSEL", "logistic regression"]
    assert len(wine.training.y) + len(wine.held_out.y) == len(bundled_table().y)
    for quality in wine.qualities:
        assert quality.accuracy > 0.9
        assert 0 < quality.log_loss < 0.3
    assert wine.qualities[0].numbers < wine.qualities[1].numbers


def test_is_deterministic(wine):
    again = study(bundled_table())
    assert again.model.equations_ == wine.model.equations_
    assert again.row == wine.row
    assert again.qualities == wine.qualities


def test_explains_two_classes_and_levels():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"size": rng.uniform(1, 5, 80), "count": rng.integers(0, 9, 80)})
    y = np.where(X["size"] + rng.normal(0, 0.5, 80) > 3, "large", "small")
    found = study(Table("sizes", X, y))
    row = found.row
    assert row.base + sum(r.log_odds for r in row.reasons) == pytest.approx(row.margin, abs=1e-12)
    assert 1 / (1 + np.exp(-row.margin)) == pytest.approx(row.probability)
