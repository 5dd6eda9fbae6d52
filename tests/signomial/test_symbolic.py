"""SymPy expressions are the same functions, exactly."""

import sys
from fractions import Fraction

import numpy as np
import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st

from ecsel.signomial import Signomial, Term


@given(st.from_type(Signomial))
@settings(max_examples=25, deadline=None)
def test_values_agree(z):
    data = {"x": 0.5, "y": 1.7, "page value": 3.1, "[x > 4]": 0.8}
    expression = z.to_sympy()
    exact = expression.evalf(30, subs={s: sympy.Float(data[s.name], 30) for s in expression.free_symbols})
    size = 1 + sum(abs(term.evaluate(data)[0]) for term in z.terms)
    assert z(data)[0] == pytest.approx(float(exact), rel=0, abs=1e-12 * size)


def test_values_agree_for_negative_features():
    z = Signomial.parse("x**3 - 2*sign(x)*abs(x)**(1/3) + abs(x)**1.5 + x**2*sign(y) - abs(y)")
    function = sympy.lambdify([sympy.Symbol("x", real=True), sympy.Symbol("y", real=True)], z.to_sympy())
    x, y = np.array([-2.0, -0.3, 1.2]), np.array([-1.0, 2.0, -0.1])
    np.testing.assert_allclose(function(x, y), z({"x": x, "y": y}), rtol=1e-13)


def test_names_are_verbatim_and_exponents_exact():
    (symbol,) = Signomial.variable("page value; import os").to_sympy().free_symbols
    assert symbol.name == "page value; import os"
    power = Signomial([Term(1, {"x": Fraction(2, 3)})]).to_sympy()
    assert power.as_base_exp()[1] == sympy.Rational(2, 3) or power.args[1].exp == sympy.Rational(2, 3)


def test_one_assumption_per_name():
    symbols = {s.name: s for s in Signomial.parse("sqrt(x) + x + y**3 + abs(z) + w**2").to_sympy().free_symbols}
    assert len(symbols) == 4
    assert symbols["x"].is_positive
    assert all(symbols[name].is_real and symbols[name].is_positive is None for name in "yzw")


def test_shifts_and_logarithms():
    z = Signomial.parse("2*log(x)*sqrt(y + 3) - log(y + 2.5)**2/(x - 4)")
    x, y = sympy.Symbol("x", positive=True), sympy.Symbol("y", real=True)
    expected = 2 * sympy.log(x) * sympy.sqrt(y + 3) - sympy.log(y + 2.5) ** 2 / (x - 4)
    assert sympy.simplify(z.to_sympy() - expected) == 0


def test_zero():
    assert Signomial().to_sympy() == 0


def test_missing_sympy_is_said_clearly(monkeypatch):
    monkeypatch.setitem(sys.modules, "sympy", None)
    with pytest.raises(ImportError, match=r'pip install "ecsel\[symbolic\]"'):
        Signomial.constant(1).to_sympy()
