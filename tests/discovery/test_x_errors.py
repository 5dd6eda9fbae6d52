"""Errors in the columns: beside odrpack (ODRPACK95), York's line, and draws of new errors."""

import numpy as np
import pandas as pd
import pytest

from ecsel import ECSELRegressor
from ecsel.discovery.form import Form
from ecsel.discovery.x_errors import column_errors, distances


def drawn(function, truth, seed, sigma_x=0.1, sigma_y=0.15, n=60, low=1.0, high=5.0):
    rng = np.random.default_rng(seed)
    exact = rng.uniform(low, high, n)
    x, y = exact + sigma_x * rng.standard_normal(n), function(exact, truth) + sigma_y * rng.standard_normal(n)
    return x, y


FORMS = {
    "a*x + b": (lambda x, c: c[0] * x + c[1], [2.0, -1.0]),
    "a*x**b": (lambda x, c: c[0] * x ** c[1], [0.7, 1.8]),
    "a*exp(k*x) + c": (lambda x, c: c[0] * np.exp(c[1] * x) + c[2], [4.0, -0.6, 1.0]),
    "a*(x - x0)**2": (lambda x, c: c[0] * (x - c[1]) ** 2, [0.5, -0.4]),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("by_row", [False, True])
def test_constants_and_covariance_are_those_of_odrpack(form, by_row):
    odrpack = pytest.importorskip("odrpack")
    function, truth = FORMS[form]
    x, y = drawn(function, truth, len(form))
    rng = np.random.default_rng(1)
    sigma_x = rng.uniform(0.05, 0.2, len(x)) if by_row else np.full(len(x), 0.1)
    sigma_y = rng.uniform(0.05, 0.3, len(x)) if by_row else np.full(len(x), 0.15)
    model = ECSELRegressor(form=form, noise=sigma_y if by_row else 0.15, x_error={"x": sigma_x if by_row else 0.1}).fit(
        pd.DataFrame({"x": x}), y
    )
    reference = odrpack.odr_fit(
        function, x, y, np.array(truth), weight_x=1 / sigma_x**2, weight_y=1 / sigma_y**2, partol=1e-14, sstol=1e-14
    )
    np.testing.assert_allclose([c.value for c in model.law_.constants], reference.beta, rtol=1e-5)
    np.testing.assert_allclose(model.law_.constant_covariance, reference.cov_beta, rtol=2e-3)
    mean_variance = 1 / np.mean(1 / sigma_y**2)
    np.testing.assert_allclose(model.law_.mse * len(x) / mean_variance, reference.sum_square, rtol=1e-6)


def test_a_line_has_yorks_equation():
    """York (2004): the slope solves b = sum w_i b_i v / sum w_i b_i u with the weights 1/(s_y^2 + b^2 s_x^2)."""
    x, y = drawn(lambda x, c: c[0] * x + c[1], [1.7, 0.4], 3, sigma_x=0.4)
    b = 1.0
    for _ in range(200):
        w = 1 / (0.15**2 + b**2 * 0.4**2)
        u, v = x - x.mean(), y - y.mean()
        beta = w * (u * 0.15**2 + b * v * 0.4**2)
        b = float(beta @ v / (beta @ u))
    model = ECSELRegressor(form="b*x + a", noise=0.15, x_error={"x": 0.4}).fit(pd.DataFrame({"x": x}), y)
    constants = {c.name: c.value for c in model.law_.constants}
    assert constants["b"] == pytest.approx(b, rel=1e-8)
    assert constants["a"] == pytest.approx(y.mean() - b * x.mean(), rel=1e-7)


def test_without_errors_in_the_column_it_is_least_squares():
    x, y = drawn(lambda x, c: c[0] * x ** c[1], [0.7, 1.8], 4)
    table = pd.DataFrame({"x": x})
    plain = ECSELRegressor(form="a*x**b", noise=0.15).fit(table, y).law_
    tiny = ECSELRegressor(form="a*x**b", noise=0.15, x_error={"x": 1e-9}).fit(table, y).law_
    zero = ECSELRegressor(form="a*x**b", noise=0.15, x_error={"x": 0.0}).fit(table, y).law_
    for law in (tiny, zero):
        np.testing.assert_allclose([c.value for c in law.constants], [c.value for c in plain.constants], rtol=1e-6)
        np.testing.assert_allclose(law.constant_covariance, plain.constant_covariance, rtol=1e-5)


def test_the_bias_of_least_squares_is_gone_and_errors_cover():
    """Over draws the mean of an exponent is the true one, and the errors are as large as its scatter."""
    function, truth = FORMS["a*x**b"]
    found, errors, naive = [], [], []
    for seed in range(60):
        x, y = drawn(function, truth, 100 + seed, sigma_x=0.3, sigma_y=0.1, n=80)
        table = pd.DataFrame({"x": x})
        law = ECSELRegressor(form="a*x**b", noise=0.1, x_error={"x": 0.3}).fit(table, y).law_
        found.append(law.constants[1].value)
        errors.append(law.constants[1].standard_error)
        naive.append(ECSELRegressor(form="a*x**b", noise=0.1).fit(table, y).law_.constants[1].value)
    scatter = np.std(found, ddof=1)
    assert abs(np.mean(found) - 1.8) < 3 * scatter / np.sqrt(60)
    assert abs(np.mean(naive) - 1.8) > 5 * np.std(naive) / np.sqrt(60)
    assert 0.75 < scatter / np.mean(errors) < 1.3


def test_two_columns_with_errors_stationary_in_all_errors():
    """At the solution no other error of a row has a smaller sum of squares."""
    rng = np.random.default_rng(0)
    table = {"x": rng.uniform(1, 4, 20), "y": rng.uniform(1, 4, 20)}
    form = Form.parse("a*x**b/y", ["x", "y"])
    at = {"a": 2.0, "b": 1.5}
    target = form.predict(at, table) + rng.normal(0, 0.3, 20)
    errors = {"x": np.full(20, 0.2), "y": np.full(20, 0.1)}
    found = distances(form, at, table, target, np.full(20, 0.09), errors)
    for _ in range(50):
        moved = {name: found.columns[name] + 0.02 * rng.standard_normal(20) for name in table}
        other = (target - form.predict(at, moved)) ** 2 / 0.09
        other += sum(((moved[name] - table[name]) / errors[name]) ** 2 for name in table)
        assert (other >= found.residual**2 - 1e-9).all()


def test_what_is_missing_or_wrong_is_said():
    table, y = pd.DataFrame({"x": np.arange(1.0, 9.0)}), np.arange(8.0)
    with pytest.raises(ValueError, match="set form="):
        ECSELRegressor(x_error={"x": 0.1}, noise=0.1).fit(table, y)
    with pytest.raises(ValueError, match="noise= a standard deviation"):
        ECSELRegressor(form="a*x", x_error={"x": 0.1}).fit(table, y)
    with pytest.raises(ValueError, match="'z'"):
        ECSELRegressor(form="a*x", noise=0.1, x_error={"z": 0.1}).fit(table, y)
    with pytest.raises(TypeError, match="map columns"):
        column_errors(0.1, ("x",), 8)
    with pytest.raises(ValueError, match="'x'"):
        column_errors({"x": [0.1, 0.2]}, ("x",), 8)
