"""Positive coefficients, and geometric programs of such laws beside closed forms and SciPy."""

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize, nnls

from ecsel import ECSELRegressor, Signomial, load

cvxpy = pytest.importorskip("cvxpy")


def columns(seed, n=120):
    rng = np.random.default_rng(seed)
    return pd.DataFrame({"x": rng.uniform(0.5, 4, n), "z": rng.uniform(0.5, 4, n)}), rng


def test_a_positive_law_is_found_as_without_the_option():
    X, rng = columns(0)
    y = 2 * X["x"] ** 1.5 / X["z"] + 3 * X["z"] ** 2 + 0.02 * rng.standard_normal(len(X))
    model = ECSELRegressor(positive=True).fit(X, y)
    assert model.equation_ == ECSELRegressor().fit(X, y).equation_ == Signomial.parse("2*x**(3/2)/z + 3*z**2")
    assert model.equation_.is_posynomial
    assert "posynomial" in model.describe()


@pytest.mark.parametrize("seed", [1, 2])
def test_every_law_on_the_way_is_positive_where_the_target_asks_for_a_negative_term(seed):
    X, rng = columns(seed, 60)
    y = 3 + X["x"] ** 2 - 0.5 * X["x"] * X["z"] + 0.05 * rng.standard_normal(len(X))
    y = y - y.min() + 1
    free = ECSELRegressor(noise="constant", loss="squared").fit(X, y)
    assert not free.equation_.is_posynomial
    model = ECSELRegressor(positive=True, noise="constant", loss="squared").fit(X, y)
    for law in (model.law_, *model.path_, *model.near_ties_):
        assert law.equation.is_posynomial
    # with the monomials held, no nonnegative coefficients fit better than the law before rounding does
    design = np.column_stack([t.evaluate(X) / t.coefficient for t in model.law_.terms])
    best, norm = nnls(design, y.to_numpy())
    np.testing.assert_allclose(model.law_.estimates, best, rtol=1e-4)
    assert norm**2 <= model.law_.plain_mse * len(X) * (1 + 1e-9)


def test_what_has_no_posynomial_is_refused():
    X, _ = columns(3, 20)
    with pytest.raises(ValueError, match="not all numbers of 'x', 'z'"):
        ECSELRegressor(positive=True).fit(X - 1, X["z"])
    with pytest.raises(ValueError, match="positive on average"):
        ECSELRegressor(positive=True).fit(X, -X["z"])
    with pytest.raises(ValueError, match="fixed_terms"):
        ECSELRegressor(positive=True, fixed_terms="-2*x", noise="constant").fit(X, X["z"] ** 2)


def test_a_program_has_its_closed_form():
    """min x*y + 4/x + 2/y has x = (16/2)^(1/3), y = 1 by its two first-order conditions."""
    program = Signomial.parse("x*y + 4/x + 2/y").to_cvxpy()
    problem = cvxpy.Problem(cvxpy.Minimize(program.expression), program.constraints)
    assert problem.is_dgp()
    problem.solve(gp=True)
    # x y = 4/x = 2/y at the optimum: x = 2y, 2y^2 = 2/y
    assert program.variables["y"].value == pytest.approx(1.0, rel=1e-4)
    assert program.variables["x"].value == pytest.approx(2.0, rel=1e-4)
    assert problem.value == pytest.approx(6.0, rel=1e-5)


def test_bounds_are_the_ranges_of_the_rows_and_the_optimum_is_scipys(tmp_path):
    X, rng = columns(4)
    y = 2 * X["x"] ** 1.5 / X["z"] + 3 * X["z"] ** 2 + 1 / X["x"] + 0.01 * rng.standard_normal(len(X))
    model = ECSELRegressor(positive=True).fit(X, y)
    model.save(tmp_path / "law.json")
    for each in (model, load(tmp_path / "law.json")):
        program = each.to_cvxpy()
        problem = cvxpy.Problem(cvxpy.Minimize(program.expression), program.constraints)
        problem.solve(gp=True)
        reference = minimize(
            lambda u: float(model.predict(pd.DataFrame([np.exp(u)], columns=X.columns))[0]),
            np.zeros(2),
            bounds=[tuple(np.log(model.column_ranges_[name])) for name in X.columns],
            tol=1e-12,
        )
        assert problem.value == pytest.approx(reference.fun, rel=1e-5)
    narrow = model.to_cvxpy(ranges={"x": (2.0, 3.0), "z": (2.0, 3.0)})
    value = cvxpy.Problem(cvxpy.Maximize(1 / narrow.expression), narrow.constraints).solve(gp=True)
    assert value <= 1 / reference.fun + 1e-6
    assert narrow.variables["x"].value == pytest.approx(2.0, rel=1e-4)


def test_expression_and_equation_agree_at_points():
    equation = Signomial.parse("2*x**(3/2)/z + 0.5*x + 3")
    program = equation.to_cvxpy()
    for x, z in ((0.5, 2.0), (3.0, 0.1)):
        program.variables["x"].value, program.variables["z"].value = x, z
        assert program.expression.value == pytest.approx(float(equation.evaluate({"x": x, "z": z})[0]), rel=1e-12)


@pytest.mark.parametrize("text", ["x - y", "log(x)", "exp(x)", "sqrt(x + 1)", "-x", "sign(x)"])
def test_what_is_no_posynomial_says_why(text):
    with pytest.raises(ValueError, match="positive=True"):
        Signomial.parse(text).to_cvxpy()
