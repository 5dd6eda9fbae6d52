"""Products and laws among the candidates of a prediction: judged on the same folds, taken where they are better."""

import numpy as np
import pandas as pd
import pytest

from ecsel.discovery.discover import powers_of_a_product
from ecsel.estimators.persistence import load
from ecsel.estimators.regressor import ECSELRegressor


@pytest.fixture(scope="module")
def cubes():
    """Return a sum with a product of three columns, which no piece is, with one percent of noise."""
    rng = np.random.default_rng(4)
    X = pd.DataFrame(rng.uniform(1, 4, (60, 3)), columns=["a", "b", "c"])
    y = (0.5 * X["a"] * X["b"] ** 2 / X["c"] + 2 * X["c"]) * (1 + 0.01 * rng.standard_normal(60))
    return X, y.to_numpy()


@pytest.fixture(scope="module")
def product():
    """Return a product of three columns, beside an indicator, with ten percent of noise."""
    rng = np.random.default_rng(5)
    X = pd.DataFrame(rng.uniform(1, 4, (80, 3)), columns=["a", "b", "c"]).assign(d=rng.integers(0, 2, 80))
    y = 3 * X["a"] ** 1.5 * X["b"] / X["c"] * (1 + 0.1 * rng.standard_normal(80))
    return X, y.to_numpy()


@pytest.fixture(scope="module")
def taken(cubes):
    return ECSELRegressor(criterion="prediction", laws=True).fit(*cubes)


def test_the_law_is_taken_where_it_predicts_better(cubes, taken):
    X, y = cubes
    without = ECSELRegressor(criterion="prediction").fit(X, y)
    assert str(taken.equation_) == "0.5*a*b**2/c + 2*c"
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


def test_a_product_of_powers_is_taken_where_it_predicts_better(product):
    X, y = product
    model = ECSELRegressor(criterion="prediction").fit(X, y)
    assert str(model.equation_) == "2.95*a**(3/2)*b/c"
    assert model.path_[-1].loss == pytest.approx(model.out_of_fold_.rmse**2)
    assert model.path_[-1].loss < 0.8 * min(each.loss for each in model.path_[:-1])
    restricted = ECSELRegressor(criterion="prediction", exponent_bounds=(-3, 3)).fit(X, y)
    assert restricted.equation_ != model.equation_
    low, high = model.predict_interval(X).T
    assert 0.9 <= np.mean((low <= y) & (y <= high)) <= 1.0


def test_held_out_errors_of_a_product_are_those_of_powers_found_without_the_rows(product):
    X, y = product
    splits = [(np.flatnonzero(np.arange(80) % 2 == k), np.flatnonzero(np.arange(80) % 2 != k)) for k in (0, 1)]
    model = ECSELRegressor(criterion="prediction", cv=splits).fit(X, y)
    table = X[["a", "b", "c"]].to_numpy()

    def squares(relative):
        found = []
        for train, test in splits:
            b = powers_of_a_product(table[train], y[train], relative=relative)
            inside, outside = np.prod(table[train] ** b, axis=1), np.prod(table[test] ** b, axis=1)
            slope = np.mean(y[train] / inside) if relative else inside @ y[train] / (inside @ inside)
            found.append((y[test] - slope * outside) ** 2)
        return np.mean(np.concatenate(found))

    assert model.path_[-1].loss == pytest.approx(min(squares(False), squares(True)), rel=1e-6)


def test_a_product_is_held_to_the_training_range_and_survives_its_file(product, tmp_path):
    X, y = product
    model = ECSELRegressor(criterion="prediction").fit(X, y)
    with pytest.warns(UserWarning, match="training"):
        far = model.predict(X.assign(a=1e9, c=1e-9))
    np.testing.assert_allclose(far, model.predict(X.assign(a=X["a"].max(), c=X["c"].min())))
    model.save(tmp_path / "model.json")
    np.testing.assert_array_equal(load(tmp_path / "model.json").predict(X), model.predict(X))


def test_no_product_is_taken_where_a_sum_of_pieces_is_as_good():
    rng = np.random.default_rng(6)
    X = pd.DataFrame(rng.uniform(1, 4, (100, 2)), columns=["a", "b"])
    y = 2 * X["a"] + X["b"] + 0.3 * rng.standard_normal(100)
    model = ECSELRegressor(criterion="prediction").fit(X, y)
    assert {tuple(sorted(term.exponents)) for term in model.equation_.terms} >= {("a",), ("b",)}


def test_the_option_is_checked(cubes):
    with pytest.raises((TypeError, ValueError), match="laws"):
        ECSELRegressor(criterion="prediction", laws="yes").fit(*cubes)
