"""Laws of groups: shared exponents and prefactors of each group, beside least squares with all of them."""

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import curve_fit

from ecsel import ECSELRegressor, Signomial, export, load
from ecsel.discovery.criterion import Criterion
from ecsel.discovery.grouped import GroupedProblem
from ecsel.discovery.lattice import Lattice
from ecsel.discovery.model import Structure
from ecsel.discovery.rows import Rows

FACTORS = {"steel": 2.0, "brass": 0.7, "lead": 5.0}


def table(seed=0, n=150):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({"x": rng.uniform(1, 5, n), "material": rng.choice(list(FACTORS), n), "z": rng.uniform(1, 5, n)})
    return X, X["material"].map(FACTORS).to_numpy(), rng


def test_the_shared_law_and_all_prefactors_are_found():
    X, a, rng = table()
    y = a * X["x"] ** 1.5 / X["z"] + 0.01 * rng.standard_normal(len(X))
    model = ECSELRegressor(groups="material").fit(X, y)
    assert model.groups_ == ("brass", "lead", "steel")
    for label, equation in model.group_equations_.items():
        (term,) = equation.terms
        assert term.exponents == Signomial.parse("x**(3/2)/z").terms[0].exponents
        assert term.coefficient == pytest.approx(FACTORS[label], rel=0.01)
    np.testing.assert_allclose(model.predict(X), a * X["x"] ** 1.5 / X["z"], rtol=0.01)
    assert model.adequate_
    assert "steel: a = 2" in model.describe() or "steel: a = 1.99" in model.describe()


def test_coefficients_exponent_and_errors_are_those_of_curve_fit():
    X, a, rng = table(1)
    y = a * X["x"] ** 1.37 + 0.02 * rng.standard_normal(len(X))
    model = ECSELRegressor(groups="material", noise="constant", allowed_exponents="real", n_terms=1).fit(X, y)
    place = pd.Categorical(X["material"]).codes

    def function(x, b, *prefactors):
        return np.array(prefactors)[place] * x**b

    columns = {name for term in model.law_.terms for name in term.exponents} - {f"[material = {m}]" for m in FACTORS}
    assert "x" in columns
    only = ECSELRegressor(groups="material", noise="constant", allowed_exponents="real", n_terms=1).fit(
        X[["x", "material"]], y
    )
    expected, covariance = curve_fit(function, X["x"].to_numpy(), y, [1.0, 1.0, 1.0, 1.0], xtol=1e-12)
    found = {c.name: c for c in only.law_.constants}
    order = ["b[x]", "a[brass]", "a[lead]", "a[steel]"]
    np.testing.assert_allclose([found[name].value for name in order], expected, rtol=1e-5)
    errors = [found[name].standard_error for name in order]
    np.testing.assert_allclose(errors, np.sqrt(np.diag(covariance)), rtol=1e-3)
    rows = X[["x", "material"]]
    low, high = only.predict_interval(rows, noise=0.0).T
    steps = 1e-6 * np.eye(4)
    x = X["x"].to_numpy()
    gradient = [(function(x, *(expected + h)) - function(x, *(expected - h))) / 2e-6 for h in steps]
    ratio = (high - low) / np.sqrt(np.einsum("pn,pq,qn->n", gradient, covariance, gradient))
    np.testing.assert_allclose(ratio, ratio.mean(), rtol=2e-3)


def test_two_terms_have_a_prefactor_each_in_every_group():
    X, a, rng = table(2, 240)
    b = X["material"].map({"steel": 20.0, "brass": 3.0, "lead": 5.0})
    y = a * X["x"] ** 2 + b / np.sqrt(X["z"]) + 0.05 * rng.standard_normal(len(X))
    model = ECSELRegressor(groups="material").fit(X, y)
    steel = model.group_equations_["steel"]
    assert {tuple(t.exponents.items()) for t in steel.terms} == {
        tuple(t.exponents.items()) for t in Signomial.parse("x**2 + 1/sqrt(z)").terms
    }
    assert [t.coefficient for t in steel.terms] == pytest.approx([2.0, 20.0], rel=0.02)


def test_the_fit_of_a_structure_is_least_squares_in_each_group_alone():
    rng = np.random.default_rng(0)
    X, groups = rng.uniform(1, 4, (60, 2)), rng.integers(0, 3, 60)
    y = rng.normal(size=60)
    rows = Rows.from_table(X, y)
    lattice = Lattice.build(signed=rows.signed, has_zero=rows.has_zero)
    problem = GroupedProblem(rows, groups, 3, lattice, Criterion(60, rows.energy))
    exponents = np.array([[1.0, -1.0], [0.5, 2.0]])
    fit = problem.fit(Structure(exponents, np.array([[1, 1], [0, 0]], dtype=np.int8)))
    for g in range(3):
        mine = groups == g
        design = np.exp(np.log(X[mine]) @ exponents.T)
        rest = y[mine] - design @ np.linalg.lstsq(design, y[mine], rcond=None)[0]
        np.testing.assert_allclose(fit.residual[mine], rest, atol=1e-10)


def test_labels_may_be_an_array_or_a_column_of_an_array():
    X, a, rng = table(3)
    y = a * X["x"] ** 2 * (1 + 0.01 * rng.standard_normal(len(X)))
    numbers = X[["x", "z"]].to_numpy()
    model = ECSELRegressor(groups=X["material"].to_numpy()).fit(numbers, y)
    np.testing.assert_allclose(model.predict(numbers, groups=X["material"]), a * X["x"] ** 2, rtol=0.02)
    with pytest.raises(ValueError, match="give predict the labels"):
        model.predict(numbers)
    codes = pd.Categorical(X["material"]).codes
    by_position = ECSELRegressor(groups=0).fit(np.column_stack([codes, numbers]), y)
    assert by_position.groups_ == (0, 1, 2)
    np.testing.assert_allclose(
        by_position.predict(np.column_stack([codes, numbers])), model.predict(numbers, groups=X["material"]), rtol=1e-9
    )


def test_an_unknown_group_is_refused_by_name():
    X, a, _ = table(4)
    model = ECSELRegressor(groups="material").fit(X, a * X["x"])
    with pytest.raises(ValueError, match=r"'gold' in 2 of 3 rows.*'brass', 'lead', 'steel'"):
        model.predict(pd.DataFrame({"x": [1.0, 2, 3], "material": ["gold", "lead", "gold"], "z": 1.0}))


def test_files_keep_it_and_exports_point_to_the_equations_of_groups(tmp_path):
    X, a, rng = table(5)
    model = ECSELRegressor(groups="material").fit(X, a * X["x"] ** 2 + 0.01 * rng.standard_normal(len(X)))
    model.save(tmp_path / "law.json")
    again = load(tmp_path / "law.json")
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    np.testing.assert_array_equal(again.predict_interval(X), model.predict_interval(X))
    assert again.describe() == model.describe()
    assert again.summary() == model.summary()
    assert again.group_equations_ == model.group_equations_
    with pytest.raises(ValueError, match="group_equations_"):
        export.to_python(model)
    assert "predict" in export.to_python(model.group_equations_["lead"])
    smaller = model.select(0)
    assert smaller.predict(X).shape == (len(X),)


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"form": "a*x"}, "form"),
        ({"units": {"x": "m"}, "target_unit": "m"}, "units"),
        ({"positive": True}, "positive"),
        ({"loss": "robust"}, "robust"),
        ({"fixed_terms": "x"}, "fixed_terms"),
    ],
)
def test_what_does_not_go_together_is_refused(options, match):
    X, a, _ = table(6)
    with pytest.raises(ValueError, match=match):
        ECSELRegressor(groups="material", **options).fit(X, a * X["x"])


def test_wrong_columns_and_missing_labels_are_named():
    X, a, _ = table(7)
    with pytest.raises(ValueError, match="'metal' names no column"):
        ECSELRegressor(groups="metal").fit(X, a)
    with pytest.raises(ValueError, match="1 missing labels"):
        ECSELRegressor(groups="material").fit(X.assign(material=[None, *X["material"][1:]]), a)
    with pytest.raises(ValueError, match="has no groups"):
        ECSELRegressor().fit(X[["x"]], X["x"]).predict(X[["x"]], groups=X["material"])


def test_draws_of_rows_keep_groups_errors_of_columns_and_shifts():
    X, a, rng = table(8, 60)
    y = a * X["x"] ** 2 * (1 + 0.01 * rng.standard_normal(len(X)))
    rows, labels = X[["x"]], X["material"].to_numpy()
    firm = ECSELRegressor(groups=labels, noise="relative").fit(rows, y).stability(rows, y, n_bootstrap=2)
    assert firm.same_law == 1.0
    with_errors = ECSELRegressor(form="a*(x + s)**2", noise=0.1, x_error={"x": np.full(60, 0.01)}).fit(rows, y / a)
    assert with_errors.stability(rows, y / a, n_bootstrap=2).same_law == 1.0
