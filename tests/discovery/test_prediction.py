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


@given(st.lists(st.fixed_dictionaries({size: st.floats(0.01, 10) for size in SIZES}), min_size=2, max_size=5))
def test_the_first_size_is_chosen_that_the_folds_cannot_tell_from_the_best(errors):
    means = {size: np.mean([fold[size] for fold in errors]) for size in SIZES}
    best = min(SIZES, key=lambda size: means[size])
    chosen = choose_size(errors, SIZES)

    def worse(size):
        """Return by how much the mean exceeds its standard error."""
        logs = [np.log(fold[size] / fold[best]) for fold in errors]
        return np.mean(logs) - np.std(logs, ddof=1) / np.sqrt(len(logs))

    assert all(worse(size) > -1e-9 for size in SIZES[: SIZES.index(chosen)])
    assert worse(chosen) < 1e-9


def test_a_size_that_is_better_in_every_fold_wins_whatever_the_folds_differ_by():
    small, large = Size(1, real=False), Size(2, real=False)
    folds_ = [{small: 1e3 * scale, large: scale * (1 + 0.1 * i)} for i, scale in enumerate((1.0, 1e-4, 1e4))]
    assert choose_size(folds_, [small, large]) == large
    exact = [{small: 1.0, large: 1e-31, Size(3, real=False): 1e-32} for _ in range(3)]
    assert choose_size(exact, [small, large, Size(3, real=False)]) == large


def test_a_size_that_a_fold_lacks_is_judged_by_its_next_smaller_one():
    small, large, real = Size(1, real=False), Size(3, real=False), Size(2, real=True)
    assert (
        choose_size([{small: 5.0, large: 1.0}, {small: 2.0, Size(2, real=False): 0.5}], [small, large, real]) == large
    )


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
