"""Exponentials exp(c·x) as factors: text, products, values beside NumPy's, derivatives, files and exports."""

import numpy as np
import pandas as pd
import pytest
import sympy
from hypothesis import given
from hypothesis import strategies as st

from ecsel import Signomial, Term, explain, export
from ecsel.files.equations import decode_equation, encode_equation
from ecsel.files.node import Node
from ecsel.signomial import Factor, Parity
from ecsel.signomial.factor_values import factor_derivatives

RATES = st.floats(-3, 3).filter(lambda c: abs(c) > 1e-3)


@given(RATES, RATES, st.floats(-5, 5), st.floats(0.1, 5))
def test_products_add_rates_and_values_are_numpys(a, b, t, x):
    left, right = Signomial.parse(f"2*exp({a!r}*t)*x"), Signomial.parse(f"exp({b!r}*t)/x**2")
    columns = {"t": np.array([t]), "x": np.array([x])}
    both = left * right
    assert len(both.terms) == 1
    np.testing.assert_allclose(both.evaluate(columns), 2 * np.exp((a + b) * t) / x, rtol=1e-12)
    assert Signomial.parse(str(both)) == both


def test_an_exponential_and_its_inverse_are_one():
    assert Signomial.parse("exp(2*t - x)*exp(x - 2*t)") == Signomial.parse("1")
    assert Signomial.parse("exp(2*t)**(-1/2)") == Signomial.parse("exp(-t)")
    assert Signomial.parse("exp(x + 1)").terms[0].coefficient == pytest.approx(np.e)


def test_a_column_called_exp_stays_a_column():
    (term,) = Signomial.parse("2*exp**2").terms
    assert term.exponents == {"exp": 2}
    assert str(Signomial([term])) == "2*`exp`**2"
    assert Signomial.parse("2*`exp`**2").terms[0] == term


def test_shifts_and_logarithms_of_it_are_refused():
    with pytest.raises(ValueError, match="coefficient"):
        Term.from_factors(1.0, [Factor("x", 1.0, Parity.PLAIN, shift=2.0, exp=True)])


@given(RATES, st.floats(-4, 4))
def test_derivatives_by_the_logarithm_are_those_of_sympy(rate, x):
    symbol = sympy.Symbol("x")
    f = sympy.exp(rate * symbol)
    first = symbol * sympy.diff(f, symbol)
    second = symbol * sympy.diff(first, symbol)
    found = factor_derivatives(Factor("x", rate, Parity.PLAIN, exp=True), np.array([x]))
    expected = [[float(each.subs(symbol, x))] for each in (first, second)]
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)


EQUATION = Signomial.parse("3*exp(-0.5*t)*x**2 - exp(t)/x + log(x) + 2")


def test_it_comes_back_from_a_file_and_older_factors_are_written_as_before():
    assert decode_equation(Node(encode_equation(EQUATION), "equation")) == EQUATION
    (factor,) = encode_equation(Signomial.parse("x"))["terms"][0]["factors"]
    assert "exp" not in factor


def test_sympy_and_latex_say_the_same():
    t, x = sympy.Symbol("t", real=True), sympy.Symbol("x", positive=True)
    expected = 3 * sympy.exp(-t / 2) * x**2 - sympy.exp(t) / x + sympy.log(x) + 2
    difference = EQUATION.to_sympy() - expected
    assert abs(float(difference.subs({t: 0.7, x: 1.9}))) < 1e-12
    assert "e^{-0.5\\,t}" in EQUATION.to_latex()


def test_programs_compute_it():
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"t": rng.normal(0, 3, 20), "x": rng.uniform(0.1, 4, 20)})
    expected = 3 * np.exp(-table["t"] / 2) * table["x"] ** 2 - np.exp(table["t"]) / table["x"] + np.log(table["x"]) + 2
    np.testing.assert_allclose(EQUATION.evaluate(table), expected, rtol=1e-12)
    scope = {}
    exec(export.to_python(EQUATION), scope)  # the exported program is what is tested
    found = [scope["predict"]({"t": t, "x": x})["prediction"] for t, x in zip(table["t"], table["x"], strict=True)]
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_elasticities_are_rates_times_values():
    table = pd.DataFrame({"t": [0.5, -2.0], "x": [1.5, 3.0]})
    found = explain.elasticity(Signomial.parse("4*exp(-0.5*t)*x**2"), table)
    values = found.values  # noqa: PD011 - an explanation, not a data frame
    position = list(found.feature_names).index("t")
    np.testing.assert_allclose(values[:, 0, position], -0.5 * table["t"], rtol=1e-12)
    np.testing.assert_allclose(values[:, 0, 1 - position], 2.0, rtol=1e-12)
