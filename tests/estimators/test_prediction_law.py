"""A law among the candidates of a prediction: judged on the same folds, taken where it is better, stored and told."""

import numpy as np
import pandas as pd
import pytest

from ecsel.estimators.persistence import load
from ecsel.estimators.regressor import ECSELRegressor


@pytest.fixture(scope="module")
def cubes():
    """Return a product of three columns, which no piece is, with one percent of noise."""
    rng = np.random.default_rng(4)
    X = pd.DataFrame(rng.uniform(1, 4, (60, 3)), columns=["a", "b", "c"])
    y = 0.5 * X["a"] * X["b"] ** 2 / X["c"] * (1 + 0.01 * rng.standard_normal(60))
    return X, y.to_numpy()


@pytest.fixture(scope="module")
def taken(cubes):
    return ECSELRegressor(criterion="prediction", laws=True).fit(*cubes)


def test_the_law_is_taken_where_it_predicts_better(cubes, taken):
    X, y = cubes
    without = ECSELRegressor(criterion="prediction").fit(X, y)
    assert str(taken.equation_) == "0.5*a*b**2/c"
    assert taken.out_of_fold_.rmse < 0.5 * without.out_of_fold_.rmse
    assert taken.path_[-1].loss == pytest.approx(taken.out_of_fold_.rmse**2)
    assert taken.path_[-1].equations == (taken.equation_,)
    assert "It is the law of the table" in taken.describe()
    assert "It is the law of the table" in taken.summary()
    assert "law of the table" not in without.describe()
    assert [each.equations for each in taken.path_[:-1]] == [each.equations for each in without.path_]


def test_values_outside_the_training_range_count_as_its_end(cubes, taken):
    X, _ = cubes
    far = X.assign(a=1e6)
    with pytest.warns(UserWarning, match="training maximum"):
        predicted = taken.predict(far)
    np.testing.assert_allclose(predicted, taken.predict(X.assign(a=X["a"].max())))


def test_held_out_errors_of_the_law_are_those_of_fits_without_the_rows(cubes):
    X, y = cubes
    splits = [(np.arange(60) % 2 == k, np.arange(60) % 2 != k) for k in (0, 1)]
    splits = [(np.flatnonzero(train), np.flatnonzero(test)) for train, test in splits]
    model = ECSELRegressor(criterion="prediction", laws=True, cv=splits).fit(X, y)
    squares = []
    for train, test in splits:
        law = ECSELRegressor(random_state=0).fit(X.iloc[train], y[train])
        squares.append((law.predict(X.iloc[test]) - y[test]) ** 2)
    assert model.path_[-1].loss == pytest.approx(np.concatenate(squares).mean(), rel=1e-9)


def test_a_law_that_predicts_no_better_is_a_candidate_that_is_reported():
    rng = np.random.default_rng(2)
    X = pd.DataFrame({"x": rng.uniform(0.2, 3, 80), "kind": rng.choice(["p", "q"], 80)})
    y = np.log(X["x"]) + 2.0 * (X["kind"] == "p") + 0.05 * rng.standard_normal(80)
    model = ECSELRegressor(criterion="prediction", laws=True).fit(X, y)
    last = len(model.path_) - 1
    assert model.equation_ != model.path_[-1].equations[0]
    assert f"The law of the table predicts held-out rows no better: select({last})" in model.describe()
    assert model.select(last).equation_ == model.path_[-1].equations[0]
    assert np.isfinite(model.select(last).predict(X)).all()


def test_a_model_with_a_law_survives_its_file(cubes, taken, tmp_path):
    taken.save(tmp_path / "model.json")
    again = load(tmp_path / "model.json")
    np.testing.assert_array_equal(again.predict(cubes[0]), taken.predict(cubes[0]))
    assert again.describe() == taken.describe()
    np.testing.assert_array_equal(again.predict_interval(cubes[0]), taken.predict_interval(cubes[0]))


def test_the_option_is_checked(cubes):
    with pytest.raises((TypeError, ValueError), match="laws"):
        ECSELRegressor(criterion="prediction", laws="yes").fit(*cubes)
