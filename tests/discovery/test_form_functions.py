"""Forms with shifts, logarithms and exponentials: values, derivatives, fits and errors beside SciPy's."""

# ruff: noqa: ARG005 - all functions of a form take the same constants

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import curve_fit

from ecsel import ECSELRegressor, load
from ecsel.discovery.form import Form
from ecsel.discovery.form_fit import fit_form, linear_constants

COLUMNS = {"x": np.array([2.5, 3.0, 4.0]), "y": np.array([0.5, -1.0, 2.0])}
AT = {"a": 0.7, "b": 1.3, "x0": 1.2, "c": -0.4, "tau": 2.5, "d": 0.3}
TEXTS = {
    "a*(x - x0)**b + c": lambda x, y, a, b, x0, c, tau, d: a * (x - x0) ** b + c,
    "a*exp(-x/tau)*y**2": lambda x, y, a, b, x0, c, tau, d: a * np.exp(-x / tau) * y**2,
    "exp(c*x - 2*d*y + 1)/a": lambda x, y, a, b, x0, c, tau, d: np.exp(c * x - 2 * d * y + 1) / a,
    "a*log(x)**2 - b*log(x + 3)/y": lambda x, y, a, b, x0, c, tau, d: a * np.log(x) ** 2 - b * np.log(x + 3) / y,
    "a*abs(y - x0)**b*sqrt(x)": lambda x, y, a, b, x0, c, tau, d: a * np.abs(y - x0) ** b * np.sqrt(x),
    "a*x**(b*c/tau) + x*(y + d)**3": lambda x, y, a, b, x0, c, tau, d: a * x ** (b * c / tau) + x * (y + d) ** 3,
    "a/(x - x0)**2": lambda x, y, a, b, x0, c, tau, d: a / (x - x0) ** 2,
    "a*log(x - x0)": lambda x, y, a, b, x0, c, tau, d: a * np.log(x - x0),
}


@pytest.mark.parametrize("text", TEXTS)
def test_a_form_has_the_values_of_python_as_a_function_and_as_an_equation(text):
    form = Form.parse(text, ["x", "y"])
    expected = TEXTS[text](**COLUMNS, **AT)
    np.testing.assert_allclose(form.predict(AT, COLUMNS), expected, rtol=1e-13)
    terms = form.written(AT, COLUMNS)
    np.testing.assert_allclose(sum(term.evaluate(COLUMNS) for term in terms), expected, rtol=1e-12)


@pytest.mark.parametrize("text", TEXTS)
def test_derivatives_are_those_of_finite_differences(text):
    form = Form.parse(text, ["x", "y"])
    by_constant, by_column = form.slopes(AT, COLUMNS)
    h = 1e-6
    for i, name in enumerate(form.constants):
        up, down = (form.predict(AT | {name: AT[name] + s * h}, COLUMNS) for s in (1, -1))
        np.testing.assert_allclose(by_constant[:, i], (up - down) / (2 * h), rtol=1e-6, atol=1e-8)
    for name, column in COLUMNS.items():
        up, down = (form.predict(AT, COLUMNS | {name: column + s * h}) for s in (1, -1))
        np.testing.assert_allclose(by_column[name], (up - down) / (2 * h), rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("a*(x0 - x)**b", "abs"),
        ("a*(x + y)**b", "column plus or minus constants"),
        ("a*exp(x*y)", "multiples of columns"),
        ("a*exp(c*x + d)", "factor"),
        ("a*log(2*x)", "column plus or minus constants"),
        ("a*exp(x/(tau + d))", "divided"),
        ("(x - x0)**y", "exponent"),
        ("a*sign(x)", "sum of products"),
        ("a**b*x", "whole powers"),
    ],
)
def test_what_cannot_be_fitted_is_refused_with_a_reason(text, why):
    with pytest.raises(ValueError, match=why):
        Form.parse(text, ["x", "y"])


def test_linear_constants_are_found():
    assert linear_constants(Form.parse("a*(x - x0)**b + c*log(x) + d", ["x"])) == ("a", "c", "d")
    assert linear_constants(Form.parse("a*x**b + b*x", ["x"])) == ("a",)
    assert linear_constants(Form.parse("a**2*x + a*b", ["x"])) == ("b",)


FITS = {
    "a*(x - x0)**b": (lambda x, a, x0, b: a * (x - x0) ** b, [2.0, 1.3, 1.6], (2.0, 6.0)),
    "a*exp(-x/tau) + c": (lambda x, a, tau, c: a * np.exp(-x / tau) + c, [5.0, 2.2, 0.7], (0.0, 9.0)),
    "a*log(x) + c": (lambda x, a, c: a * np.log(x) + c, [-1.5, 4.0], (0.2, 9.0)),
    "a*exp(k*x)*x**b": (lambda x, a, k, b: a * np.exp(k * x) * x**b, [3.0, -0.8, 1.5], (0.2, 9.0)),
    "a*abs(x - x0)**b + c": (lambda x, a, x0, b, c: a * abs(x - x0) ** b + c, [2.0, 4.1, 0.6, 1.0], (2.0, 6.0)),
    "a*log(x - x0) + c": (lambda x, a, x0, c: a * np.log(x - x0) + c, [1.5, 0.7, 2.0], (1.0, 4.0)),
}


@pytest.mark.parametrize("text", FITS)
@pytest.mark.parametrize("scale", [1.0, 1e-3, 1e5])
def test_fits_errors_and_intervals_are_those_of_curve_fit_in_any_unit_of_the_column(text, scale):
    function, truth, (low, high) = FITS[text]
    rng = np.random.default_rng(11)
    x = rng.uniform(low, high, 120)
    target = function(x, *truth) + 0.02 * rng.standard_normal(120)
    model = ECSELRegressor(form=text, noise="constant", loss="squared").fit(pd.DataFrame({"x": x * scale}), target)
    expected, covariance = curve_fit(function, x, target, truth, xtol=1e-12, ftol=1e-12)
    if scale == 1.0:
        np.testing.assert_allclose([c.value for c in model.law_.constants], expected, rtol=1e-4)
        errors = [c.standard_error for c in model.law_.constants]
        np.testing.assert_allclose(errors, np.sqrt(np.diag(covariance)), rtol=1e-3)
        np.testing.assert_allclose(model.law_.constant_covariance, covariance, rtol=2e-3, atol=1e-3 * covariance.max())
    np.testing.assert_allclose(model.predict(pd.DataFrame({"x": x * scale})), function(x, *expected), atol=1e-4)
    steps = 1e-6 * np.eye(len(truth))
    gradient = [(function(x, *(expected + h)) - function(x, *(expected - h))) / 2e-6 for h in steps]
    variance = np.einsum("pn,pq,qn->n", gradient, covariance, gradient)
    low_end, high_end = model.predict_interval(pd.DataFrame({"x": x * scale}), noise=0.0).T
    ratio = (high_end - low_end) / 2 / np.sqrt(variance)
    np.testing.assert_allclose(ratio, ratio.mean(), rtol=5e-3)


def test_such_a_law_survives_a_file_and_an_export(tmp_path):
    rng = np.random.default_rng(2)
    table = pd.DataFrame({"t": rng.uniform(0, 9, 60), "x": rng.uniform(1, 4, 60)})
    target = 3 * np.exp(-table["t"] / 2) * table["x"] ** 2 + np.log(table["x"] + 1) + 0.01 * rng.standard_normal(60)
    model = ECSELRegressor(form="a*exp(-t/tau)*x**2 + b*log(x + s)").fit(table, target)
    model.save(tmp_path / "law.json")
    again = load(tmp_path / "law.json")
    assert again.equation_ == model.equation_
    np.testing.assert_array_equal(again.predict(table), model.predict(table))
    np.testing.assert_array_equal(again.predict_interval(table), model.predict_interval(table))
    assert "tau is 2.0" in model.describe() or "tau is 1.9" in model.describe()


def test_a_form_that_is_defined_nowhere_says_so():
    table = pd.DataFrame({"x": [-1.0, -2.0, -3.0, 1.0, 2.0, 3.0]})
    with pytest.raises(ValueError, match=r"log\(x\)"):
        ECSELRegressor(form="a*log(x)", noise="constant").fit(table, np.arange(6.0))


def test_constants_are_found_in_units_far_from_one():
    """Linear constants are solved for, so that their magnitude does not matter."""
    rng = np.random.default_rng(0)
    kelvin = rng.uniform(300.0, 900.0, 80)
    rate = 4e13 * np.exp(-9000.0 / kelvin)
    form = Form.parse("A*exp(-E*beta)", ["beta"])
    found = fit_form(form, {"beta": 1.0 / kelvin}, rate, 1.0 / rate, rng)
    np.testing.assert_allclose([found["A"], found["E"]], [4e13, 9000.0], rtol=1e-6)
