"""Laws made to predict: the size by cross-validation, real exponents, no poles, all rows."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ecsel.discovery.discover import discover, refit
from ecsel.discovery.options import Options
from ecsel.discovery.prediction import Size, by_size, choose_size, fold_errors, folds
from ecsel.estimators.regressor import ECSELRegressor

SIZES = [Size(0, real=False), Size(1, real=False), Size(1, real=True), Size(2, real=False), Size(2, real=True)]


@given(st.lists(st.fixed_dictionaries({size: st.floats(0.01, 10) for size in SIZES}), min_size=1, max_size=5))
def test_the_size_with_the_least_mean_error_is_chosen(errors):
    chosen = choose_size(errors, SIZES)
    means = {size: np.mean([fold[size] for fold in errors]) for size in SIZES}
    assert means[chosen] <= min(means.values()) * (1 + 1e-9)
    assert choose_size([dict.fromkeys(SIZES, 2.0)], SIZES) == SIZES[0]


def test_a_size_that_is_better_in_every_fold_wins_whatever_the_folds_differ_by():
    small, large = Size(1, real=False), Size(2, real=False)
    folds_ = [{small: 1e3 * scale, large: scale * (1 + 0.1 * i)} for i, scale in enumerate((1.0, 1e-4, 1e4))]
    assert choose_size(folds_, [small, large]) == large
    exact = [{small: 1.0, large: 1e-31, Size(3, real=False): 1e-32} for _ in range(3)]
    assert choose_size(exact, [small, large, Size(3, real=False)]) == large


def test_a_size_that_a_fold_lacks_is_judged_by_its_next_smaller_one():
    small, large, real = Size(1, real=False), Size(3, real=False), Size(2, real=True)
    errors = [{small: 5.0, large: 1.0}, {small: 2.0, Size(2, real=False): 0.5}]
    assert choose_size(errors, [small, large, real]) == large


def test_folds_are_a_partition():
    parts = folds(23, 5, np.random.default_rng(0))
    assert sorted(np.concatenate(parts)) == list(range(23))
    assert {len(part) for part in parts} == {4, 5}


def test_the_error_of_a_fold_is_that_of_its_own_search():
    rng = np.random.default_rng(1)
    X = rng.uniform(1, 5, (60, 1))
    y = 2 * X[:, 0] ** 2 + 3 + rng.normal(0, 0.01, 60)
    test, options = np.arange(12), Options(thorough=True, max_terms=2)
    errors = fold_errors(X, y, None, test, options)
    law = by_size(discover(X[12:], y[12:], None, options))[Size(2, real=False)]
    a, b = law.coefficients, law.structure.exponents[:, 0]
    expected = np.mean((y[test] - X[test] ** b @ a) ** 2)
    assert errors[Size(2, real=False)] == pytest.approx(expected, rel=1e-9)


def test_a_function_that_is_no_signomial_gets_real_exponents():
    """Three real powers follow a sine where three simple ones do not."""
    rng = np.random.default_rng(0)
    X, fresh = rng.uniform(1, 4, (80, 1)), rng.uniform(1, 4, (500, 1))
    model = ECSELRegressor(select="prediction", max_terms=3, cv=3).fit(X, np.sin(X[:, 0]))
    assert model.law_.free
    simple = ECSELRegressor(select="prediction", max_terms=3, cv=3, allowed_exponents="rational")
    simple.fit(X, np.sin(X[:, 0]))
    truth = np.sin(fresh[:, 0])
    assert np.mean((model.predict(fresh) - truth) ** 2) < 0.5 * np.mean((simple.predict(fresh) - truth) ** 2)


@pytest.mark.parametrize("seed", range(4))
def test_no_pole_where_a_column_may_reach_zero(seed):
    """The smallest row of a column that starts at zero is not zero; a pole there would ruin points below it."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(0, 5, (60, 1))
    found = discover(X, np.cos(X[:, 0]), options=Options(thorough=True, max_terms=4))
    assert min(law.structure.exponents.min(initial=0.0) for law in found.front) >= 0


def test_the_chosen_law_is_fitted_on_all_rows():
    rng = np.random.default_rng(2)
    X = rng.uniform(1, 5, (6000, 1))
    y = 1.2345678 * X[:, 0] ** 2 + rng.normal(0, 1, 6000)
    options = Options(thorough=True, max_terms=1, round_coefficients=False)
    law = by_size(discover(X, y, None, options))[Size(1, real=False)]
    again = refit(X, y, None, options, law)
    np.testing.assert_array_equal(again.structure.exponents, law.structure.exponents)
    square = X[:, 0] ** 2
    assert again.coefficients[0] == pytest.approx(square @ y / (square @ square), rel=1e-9)
    assert law.coefficients[0] != pytest.approx(again.coefficients[0], rel=1e-6)


def test_a_fold_without_the_smallest_size_is_no_obstacle():
    one, two, three = Size(1, False), Size(2, False), Size(3, False)
    errors = [{one: 1.0, two: 0.5, three: 0.4}, {two: 0.5, three: 0.4}, {one: 1.1, two: 0.5, three: 0.4}]
    assert choose_size(errors, [one, two, three]) == three


def test_the_numbers_of_a_prediction_are_not_rounded():
    rng = np.random.default_rng(3)
    X = rng.uniform(1, 5, (40, 1))
    y = 2 * X[:, 0] + 0.5 * rng.normal(size=40)
    model = ECSELRegressor(select="prediction", n_terms=1, allowed_exponents=[1], cv=2).fit(X, y)
    assert model.law_.rounded == (False,)
    assert model.equation_.terms[0].coefficient == pytest.approx(X[:, 0] @ y / (X[:, 0] @ X[:, 0]), rel=1e-12)
    assert model.near_ties_ == ()
    assert model.law_.validation_mse > model.law_.mse


@pytest.mark.parametrize("seed", range(2))
def test_more_terms_are_taken_where_they_predict_better(seed):
    """Four half waves need more than six powers."""
    rng = np.random.default_rng(seed)
    X, fresh = rng.uniform(0, 4, (120, 1)), rng.uniform(0, 4, (500, 1))
    waves = lambda x: np.sin(np.pi * x[:, 0])  # noqa: E731 - one formula, used twice
    few, many = (
        ECSELRegressor(select="prediction", max_terms=most, allowed_exponents="integers", cv=3).fit(X, waves(X))
        for most in (6, 14)
    )
    errors = [np.mean((model.predict(fresh) - waves(fresh)) ** 2) for model in (few, many)]
    assert many.law_.n_terms > 6
    assert errors[1] < 0.01 * errors[0]
