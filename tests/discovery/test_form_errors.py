"""Standard errors of the constants of a form, beside those of scipy.optimize.curve_fit."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import curve_fit

from ecsel.discovery.fitted import FittedLaw
from ecsel.estimators.regressor import ECSELRegressor


def table(seed, n=60):
    rng = np.random.default_rng(seed)
    return pd.DataFrame({"x": rng.uniform(1, 4, n), "y": rng.uniform(1, 4, n)}), rng


FORMS = {
    "a*x**b + c": (lambda X, a, b, c: a * X[0] ** b + c, [2.5, 1.7, 3.0]),
    "a*x**b*y**c": (lambda X, a, b, c: a * X[0] ** b * X[1] ** c, [0.7, -1.2, 0.4]),
    # constants that occur twice, as a factor and as an exponent
    "a*x**b + a*y**(2*b - 1)": (lambda X, a, b: a * X[0] ** b + a * X[1] ** (2 * b - 1), [2.0, 1.3]),
    "a**2*x - b*y**2 + 3": (lambda X, a, b: a**2 * X[0] - b * X[1] ** 2 + 3, [1.5, 0.3]),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("noise", [None, 0.05, "rows"])
def test_constants_have_the_covariance_of_curve_fit(form, noise):
    function, truth = FORMS[form]
    X, rng = table(len(form))
    sigma = rng.uniform(0.02, 0.1, len(X)) if noise == "rows" else np.full(len(X), 0.05)
    target = function(X.to_numpy().T, *truth) + sigma * rng.normal(size=len(X))
    law = ECSELRegressor(form=form, noise=sigma if noise == "rows" else noise).fit(X, target).law_
    names = [c.name for c in law.constants]
    order = [names.index(n) for n in "abc"[: len(names)]]
    expected, covariance = curve_fit(
        function, X.to_numpy().T, target, truth, sigma if noise else None, absolute_sigma=noise is not None
    )
    # forms are fitted up to the sign of a constant that only occurs squared
    values = np.array([law.constants[i].value for i in order])
    signs = np.where(np.sign(values) == np.sign(expected), 1.0, -1.0)
    np.testing.assert_allclose(signs * values, expected, rtol=1e-5)
    found = law.constant_covariance[np.ix_(order, order)] * np.outer(signs, signs)
    np.testing.assert_allclose(found, covariance, rtol=2e-4, atol=1e-6 * np.abs(covariance).max())
    errors = [law.constants[i].standard_error for i in order]
    np.testing.assert_allclose(errors, np.sqrt(np.diag(covariance)), rtol=1e-4)


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 2**16))
def test_intervals_follow_from_the_constants(seed):
    """The variance of a prediction is g' C g with g its gradient by the constants, here by finite differences."""
    function, truth = FORMS["a*x**b + a*y**(2*b - 1)"]
    X, rng = table(seed)
    target = function(X.to_numpy().T, *truth) + 0.05 * rng.normal(size=len(X))
    model = ECSELRegressor(form="a*x**b + a*y**(2*b - 1)", noise="constant").fit(X, target)
    law = model.law_
    at = np.array([c.value for c in law.constants])
    step = 1e-6 * np.eye(2)
    gradient = [(function(X.to_numpy().T, *(at + h)) - function(X.to_numpy().T, *(at - h))) / 2e-6 for h in step]
    variance = np.einsum("pn,pq,qn->n", gradient, law.constant_covariance, gradient) + law.noise_variance
    low, high = model.predict_interval(X, 0.95).T
    ratio = (high - low) / np.sqrt(variance)
    np.testing.assert_allclose(ratio, ratio[0], rtol=1e-5)


def test_given_numbers_have_no_error_and_degrees_of_freedom_count_constants():
    X, rng = table(1)
    target = 3 * X["x"] ** 1.4 + 0.05 * rng.normal(size=len(X))
    law = ECSELRegressor(form="3*x**b").fit(X, target).law_
    coefficient, exponent = law.parameters
    assert coefficient.standard_error == 0
    assert exponent.standard_error == pytest.approx(law.constants[0].standard_error)
    assert law.degrees_of_freedom == len(X) - 1


def test_constants_that_the_data_cannot_tell_apart_have_no_error_but_their_product_has():
    X, rng = table(2)
    target = 3 * X["x"] + 2 + 0.05 * rng.normal(size=len(X))
    model = ECSELRegressor(form="a*b*x + c").fit(X, target)
    errors = {c.name: c.standard_error for c in model.law_.constants}
    assert errors["a"] == errors["b"] == np.inf
    single = ECSELRegressor(form="a*x + c").fit(X, target).law_
    assert errors["c"] == pytest.approx(single.constants[1].standard_error, rel=1e-6)
    product = next(p for p in model.law_.parameters if model.law_.terms[p.term].exponents)
    assert product.standard_error == pytest.approx(single.constants[0].standard_error, rel=1e-6)
    assert "constant a" in model.summary()
    assert "—" in model.summary()


def test_constants_survive_plain_values_and_words():
    X, rng = table(3)
    model = ECSELRegressor(form="a*b*x + c").fit(X, 3 * X["x"] + 2 + 0.05 * rng.normal(size=len(X)))
    again = FittedLaw.from_plain(model.law_.to_plain())
    assert again.constants == model.law_.constants
    np.testing.assert_array_equal(again.constant_covariance, model.law_.constant_covariance)
    assert "The constant c is 2.0" in model.describe() or "The constant c is 1.9" in model.describe()
