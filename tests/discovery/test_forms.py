"""Given forms, options, units and the paper's trainers."""

from fractions import Fraction

import numpy as np
import pytest

from ecsel.discovery.form import Form
from ecsel.discovery.form_fit import fit_form
from ecsel.discovery.form_numbers import Expression
from ecsel.discovery.option_values import allowed_exponents, exponent_bounds, largest_number_of_terms, number_of_terms
from ecsel.discovery.paper import PaperSettings, train
from ecsel.discovery.units import dimension_matrix, dimensionless_groups, product_with_dimension


def test_a_form_is_read_into_terms():
    form = Form.parse("a*x**b/y - 3*c*x**(1/2) + d", ["x", "y"])
    assert form.constants == ("a", "b", "c", "d")
    first, second, third = form.terms
    assert first.exponents["y"].number == -1
    assert first.exponents["x"] == Expression.constant("b")
    assert second.number == -3
    assert second.exponents["x"].number == Fraction(1, 2)
    assert not third.exponents


@pytest.mark.parametrize(
    "text",
    [
        "a*exp(x*y)",
        "a*log(x*y)",
        "a*(x0 - x)**b",
        "a**b",
        "x if x else a",
        "__import__('os')",
        "a*(x + y)",
        "x**y",
        "lambda: a",
        "",
        "a *",
    ],
)
def test_other_syntax_is_refused_and_never_executed(text):
    with pytest.raises(ValueError, match="form"):
        Form.parse(text, ["x", "y"])


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("a *", "character 4: expected a number"),
        ("a*x^b", r"character 4: unexpected '\^'; write a power as"),
        ("a*page value", "character 8: expected an operator before 'value'"),
        ("a*x/0", "divided by zero"),
        ("a*" + "9" * 400, "too large"),
        ("a*x" + "+1" * 1000, "the limit is 2000"),
    ],
)
def test_the_error_says_where_and_what(text, problem):
    with pytest.raises(ValueError, match=problem):
        Form.parse(text, ["x", "page value"])


def test_columns_that_are_no_identifiers_are_quoted_as_in_equations():
    form = Form.parse("a*`page value`**b - [plan = gold]/col('x')", ["page value", "[plan = gold]", "x"])
    assert form.constants == ("a", "b")
    assert [sorted(t.exponents) for t in form.terms] == [["page value"], ["[plan = gold]", "x"]]


def test_signs_and_brackets_are_those_of_arithmetic():
    columns = {"x": np.array([1.5, 2.0]), "y": np.array([3.0, 0.5])}
    text = "-(a*x - +2*y/(3*x)) - -x**-(2*b - 1)*4/2/y"
    at = {"a": 0.7, "b": 1.2}
    expected = eval(text, {**columns, **at})  # Python itself is the reference
    np.testing.assert_allclose(Form.parse(text, ["x", "y"]).predict(at, columns), expected, rtol=1e-14)


def test_a_shared_constant_is_one_number():
    rng = np.random.default_rng(0)
    table = {"x": rng.uniform(1, 3, 50), "y": rng.uniform(1, 3, 50)}
    target = 2.5 * table["x"] ** 1.3 + 2.5 * table["y"] ** -0.4
    found = fit_form(Form.parse("a*x**b + a*y**c", ["x", "y"]), table, target, None, rng)
    np.testing.assert_allclose([found["a"], found["b"], found["c"]], [2.5, 1.3, -0.4], rtol=1e-6)


def test_names_of_exponents():
    assert allowed_exponents(None) == (None, True)
    assert allowed_exponents("real") == ((), True)
    assert all(b.denominator == 1 for b in allowed_exponents("integers")[0])
    assert allowed_exponents([0.5, 2])[0] == (Fraction(1, 2), Fraction(2))
    with pytest.raises(ValueError, match="'integer'"):
        allowed_exponents("integer")
    with pytest.raises(ValueError, match="'x'"):
        allowed_exponents(["x"])


def test_bounds_by_column():
    low, high = exponent_bounds({"b": (-1, 2)}, ["a", "b"])
    assert low.tolist() == [-12, -1]
    assert high.tolist() == [12, 2]
    with pytest.raises(ValueError, match="'c'"):
        exponent_bounds({"c": (0, 1)}, ["a", "b"])
    with pytest.raises(ValueError, match="above"):
        exponent_bounds((2, 1), ["a"])


def test_number_of_terms():
    assert number_of_terms("auto", 5) is None
    assert number_of_terms(3, 5) == 3
    for bad in (0, 2.5, True, "two"):
        with pytest.raises(ValueError, match="n_terms"):
            number_of_terms(bad, 50)
    with pytest.raises(ValueError, match="at least 6 rows, got 5"):
        number_of_terms(4, 5)


def test_the_largest_number_of_terms():
    assert largest_number_of_terms(None) == 10
    assert largest_number_of_terms(np.int64(3)) == 3
    for bad in (0, 2.5, True, "two"):
        with pytest.raises(ValueError, match="max_terms"):
            largest_number_of_terms(bad)


def test_units():
    matrix, target = dimension_matrix(["m", "v", "k"], {"m": "g", "v": "km/hour"}, "kWh")
    np.testing.assert_allclose(matrix @ [1, 2, 5], target)
    with pytest.raises(ValueError, match="'kgx'"):
        dimension_matrix(["m"], {"m": "kgx"}, "kg")
    with pytest.raises(ValueError, match="target_unit='A'"):
        dimension_matrix(["m"], {"m": "kg"}, "A")
    with pytest.raises(ValueError, match="'z'"):
        dimension_matrix(["m"], {"z": "kg"}, "kg")


PENDULUM = {"length": "m", "mass": "kg", "g": "m/s^2", "angle": ""}
PIPE = {"rho": "kg/m^3", "v": "m/s", "d": "m", "mu": "Pa*s", "drop": "Pa", "l": "m"}


@pytest.mark.parametrize(("units", "n_groups"), [(PENDULUM, 1), (PIPE, 3)])
def test_there_are_as_many_groups_as_the_theorem_says_and_none_has_a_dimension(units, n_groups):
    names = list(units)
    matrix, target = dimension_matrix(names, units, "kg/m^3" if "rho" in units else "s")
    groups = dimensionless_groups(names, matrix)
    assert len(groups) == n_groups == len(names) - np.linalg.matrix_rank(matrix)
    exponents = np.array([[float(g.terms[0].exponents.get(n, 0)) for n in names] for g in groups])
    np.testing.assert_allclose(matrix @ exponents.T, 0.0, atol=1e-12)
    assert np.linalg.matrix_rank(exponents) == n_groups
    np.testing.assert_array_equal(exponents, np.round(exponents))
    scale = product_with_dimension(names, matrix, target).terms[0].exponents
    np.testing.assert_allclose(matrix @ [float(scale.get(n, 0)) for n in names], target)


def test_the_papers_trainer_reaches_two_terms():
    rng = np.random.default_rng(3)
    X = rng.uniform(1, 4, (60, 2))
    y = 2 * X[:, 0] ** 2 + 3 / X[:, 1]
    a, b = train(X, y, 2, rng, PaperSettings(starts=5, steps=400))
    fitted = np.exp(np.log(X) @ b.T) @ a
    assert 1 - np.var(fitted - y) / np.var(y) > 0.99
    with pytest.raises(ValueError, match="positive"):
        train(-X, y, 1, rng)
