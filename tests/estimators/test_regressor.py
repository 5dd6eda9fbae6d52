"""ECSELRegressor: scikit-learn's contract, the options, the laws it must find and the input it must refuse."""

import warnings
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone

from ecsel.discovery.fitted import FittedLaw
from ecsel.estimators.persistence import load
from ecsel.estimators.regressor import ECSELRegressor
from ecsel.signomial import Signomial


def table(n=80, m=3, seed=0):
    return np.random.default_rng(seed).uniform(1, 5, (n, m))


def noise(n=80, sigma=0.01, seed=1):
    return np.random.default_rng(seed).normal(0, sigma, n)


@pytest.fixture(scope="module")
def kinetic():
    X = table()
    return pd.DataFrame(X, columns=["m", "v", "t"]), 0.5 * X[:, 0] * X[:, 1] ** 2 + noise()


@pytest.fixture(scope="module")
def fitted(kinetic):
    return ECSELRegressor().fit(*kinetic)


def test_the_equation_is_exact(fitted):
    (term,) = fitted.equation_.terms
    assert term.coefficient == 0.5
    assert dict(term.exponents) == {"m": Fraction(1), "v": Fraction(2)}
    assert str(fitted.equation_) == "0.5*m*v**2"
    assert fitted.law_found_
    assert fitted.search_completed_


def test_the_formula_is_the_model(fitted, kinetic):
    X, _ = kinetic
    np.testing.assert_array_equal(fitted.predict(X), fitted.equation_.evaluate(X))
    np.testing.assert_allclose(fitted.predict(X), Signomial.parse(str(fitted.equation_)).evaluate(X))


def test_every_kind_of_table_gives_the_same_law(fitted, kinetic):
    X, y = kinetic
    assert ECSELRegressor().fit(pl.from_pandas(X), y).equation_ == fitted.equation_
    assert str(ECSELRegressor().fit(X.to_numpy(), y).equation_) == "0.5*x0*x1**2"


def test_the_path_and_select(fitted, kinetic):
    assert [law.size for law in fitted.path_] == sorted({law.size for law in fitted.path_})
    frame = fitted.path_.to_frame()
    assert list(frame.columns) == ["n_terms", "size", "code_length", "mse", "validation_mse", "plain_mse", "equation"]
    for i in range(len(fitted.path_)):
        other = fitted.select(i)
        assert other.equation_ == fitted.path_[i].equation
        assert np.isfinite(other.predict(kinetic[0])).all()
    assert fitted.equation_ in [law.equation for law in fitted.path_]
    with pytest.raises(IndexError, match="there is no law"):
        fitted.select(99)


def test_the_old_name_of_the_criterion_works_with_a_warning_that_names_the_new_one():
    with pytest.warns(FutureWarning, match="select= is now criterion=") as reported:
        model = ECSELRegressor(select="prediction", max_terms=2)
    assert model.get_params()["criterion"] == "prediction"
    assert "select" not in model.get_params()
    assert reported[0].filename == __file__
    with pytest.warns(FutureWarning, match="select= is now criterion="):
        assert clone(model).set_params(select="law", max_terms=3).criterion == "law"
    with pytest.raises(TypeError, match="unexpected keyword argument 'selekt'"):
        ECSELRegressor(selekt="law")


def test_words_tables_and_latex(fitted):
    assert "1/2·m*v**2" in fitted.describe()
    assert "std. error" in fitted.summary()
    assert fitted.to_latex() == r"\frac{1}{2}\,m\,v^{2}"


def test_pi_is_recognised():
    X = table()
    law = ECSELRegressor().fit(X, 4 * np.pi * X[:, 0] ** 2 + noise(sigma=1e-3))
    assert "4π" in law.describe()
    assert law.to_latex() == r"4\pi\,x_{0}^{2}"
    assert law.equation_.terms[0].coefficient == pytest.approx(4 * np.pi, rel=1e-15)


def test_prediction_intervals_cover():
    X = table(400)
    y = 2 * X[:, 0] ** 0.7391 + noise(400, 0.05)
    model = ECSELRegressor().fit(X[:200], y[:200])
    low, high = model.predict_interval(X[200:], 0.9).T
    assert 0.82 < np.mean((y[200:] >= low) & (y[200:] <= high)) < 0.97
    (exponent,) = [p for p in model.law_.parameters if p.feature == "x0"]
    assert abs(exponent.value - 0.7391) < 4 * exponent.standard_error < 0.1


def test_a_saved_model_is_the_same(fitted, kinetic, tmp_path):
    path = tmp_path / "law.json"
    fitted.save(path)
    again = load(path)
    np.testing.assert_array_equal(again.predict(kinetic[0]), fitted.predict(kinetic[0]))
    assert again.equation_ == fitted.equation_
    np.testing.assert_array_equal(again.predict_interval(kinetic[0]), fitted.predict_interval(kinetic[0]))
    assert again.describe() == fitted.describe()
    assert again.get_params() == fitted.get_params()


def test_a_law_survives_plain_values(fitted):
    again = FittedLaw.from_plain(fitted.law_.to_plain())
    assert again.equation == fitted.law_.equation
    np.testing.assert_array_equal(again.covariance, fitted.law_.covariance)


def test_negative_inputs_are_sign_aware():
    X = np.random.default_rng(0).normal(size=(100, 2))
    model = ECSELRegressor().fit(X, X[:, 0] ** 3 - 2 * np.abs(X[:, 1]) ** 1.5 + noise(100))
    assert model.equation_ == Signomial.parse("x0**3 - 2*abs(x1)**(3/2)")
    assert "takes the absolute value of x1" in model.describe()


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"n_terms": 2}, 2),
        ({"max_terms": 1}, 1),
    ],
)
def test_the_number_of_terms_can_be_given(options, expected):
    X = table(m=2)
    model = ECSELRegressor(**options).fit(X, X[:, 0] + X[:, 1] ** 2 + noise())
    assert model.law_.n_terms == expected


def test_allowed_exponents_and_bounds_hold():
    X = table(m=2)
    y = X[:, 0] ** 0.5 * X[:, 1] + noise()
    for allowed in ("integers", [1, 2]):
        law = ECSELRegressor(allowed_exponents=allowed, max_terms=3).fit(X, y).law_
        assert all(e.denominator == 1 for t in law.terms for e in t.exponents.values())
    real = ECSELRegressor(allowed_exponents="real").fit(X, y).equation_.terms[0]
    assert all(isinstance(e, float) for e in real.exponents.values())
    bounded = ECSELRegressor(exponent_bounds={"x0": (1, 2)}, max_terms=2).fit(X, y).law_
    assert all(1 <= e <= 2 for t in bounded.terms for name, e in t.exponents.items() if name == "x0")


def test_a_form_and_fixed_terms():
    X = table(m=2)
    model = ECSELRegressor(form="a*x0**b + c").fit(X, 2.5 * X[:, 0] ** 1.7 + 3 + noise(sigma=1e-4))
    term, constant = model.equation_.terms
    assert term.coefficient == pytest.approx(2.5, abs=1e-2)
    assert term.exponents["x0"] == pytest.approx(1.7, abs=1e-2)
    assert constant.coefficient == pytest.approx(3, abs=1e-2)
    rest = ECSELRegressor(fixed_terms="x0**2").fit(X, X[:, 0] ** 2 + 4 * X[:, 1] + noise())
    assert rest.equation_ == Signomial.parse("x0**2 + 4*x1")


def test_noise_models_and_weights():
    X = table(m=2)
    relative = X[:, 0] ** 3 * X[:, 1] ** 4 * (1 + noise(sigma=0.02))
    assert str(ECSELRegressor(noise="relative").fit(X, relative).equation_) == "x0**3*x1**4"
    sigma = 0.01 * X[:, 1]
    y = X[:, 0] * X[:, 1] + sigma * noise(sigma=1.0)
    assert str(ECSELRegressor(noise=sigma).fit(X, y).equation_) == "x0*x1"
    y[0] += 1000
    weight = np.ones(80)
    weight[0] = 0
    assert str(ECSELRegressor().fit(X, y, sample_weight=weight).equation_) == "x0*x1"


def test_units_are_a_hard_constraint(kinetic):
    X, y = kinetic
    model = ECSELRegressor(units={"m": "kg", "v": "m/s", "t": "s"}, target_unit="J").fit(X, y)
    assert str(model.equation_) == "0.5*m*v**2"


def test_a_constant_column_with_a_unit_is_a_known_constant():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"G": np.full(60, 6.6743e-11), "m": rng.uniform(1e24, 9e24, 60), "r": rng.uniform(6e6, 9e6, 60)})
    y = X["G"] * X["m"] / X["r"] ** 2 + 0.01 * rng.standard_normal(60)
    units = {"G": "m^3/kg/s^2", "m": "kg", "r": "m"}
    model = ECSELRegressor(units=units, target_unit="m/s^2").fit(X, y)
    assert str(model.equation_) == "G*m/r**2"
    assert model.columns_left_out_ == ()
    assert ECSELRegressor().fit(X, y).columns_left_out_ == ("G",)
    # Without it no term has the dimension of the target, which is no news about the variables.
    with pytest.raises(ValueError, match="no product of powers of the columns"):
        ECSELRegressor(units={"m": "kg", "r": "m"}, target_unit="m/s^2").fit(X[["m", "r"]], y)


def test_a_law_of_dimensionless_groups_is_the_law_of_the_columns():
    rng = np.random.default_rng(1)
    X = pd.DataFrame({"g": np.full(80, 9.81), "length": rng.uniform(0.5, 3, 80), "angle": rng.uniform(0.1, 0.6, 80)})
    y = np.sqrt(X["length"] / X["g"]) * (6.3 + 0.4 * X["angle"] ** 2) + 1e-4 * rng.standard_normal(80)
    model = ECSELRegressor(units={"g": "m/s^2", "length": "m", "angle": ""}, target_unit="s").fit(X, y)
    assert [str(group) for group in model.dimensionless_groups_] == ["angle"]
    assert "Dimensionless groups of the columns: angle." in model.describe()
    columns = {name: X[name].to_numpy() for name in X}
    groups = np.column_stack([group.evaluate(columns) for group in model.dimensionless_groups_])
    scale = model.target_scale_.evaluate(columns)
    inner = ECSELRegressor().fit(groups, y / scale)
    np.testing.assert_allclose(inner.predict(groups) * scale, model.predict(X), rtol=1e-3)
    assert ECSELRegressor().fit(X, y).dimensionless_groups_ == ()


def test_the_papers_solver():
    X = table()
    model = ECSELRegressor(1, solver="paper").fit(X, 2 * X[:, 0] / X[:, 2] + noise())
    (term,) = model.equation_.terms
    assert term.exponents["x0"] == pytest.approx(1, abs=0.01)
    with pytest.raises(ValueError, match="n_terms"):
        ECSELRegressor(solver="paper").fit(X, X[:, 0])
    with pytest.raises(ValueError, match="leave out sample_weight and noise"):
        ECSELRegressor(1, solver="paper").fit(X, X[:, 0], sample_weight=np.linspace(0.1, 1, 80))


def test_prediction_chooses_a_size():
    X = np.linspace(0.1, 5, 60)[:, None]
    y = np.log(X[:, 0] + 1)
    model = ECSELRegressor(criterion="prediction", max_terms=4, cv=3).fit(X, y)
    assert model.score(X, y) > 0.9999


def test_a_time_limit_keeps_the_best_so_far():
    X = table(100, 6)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = ECSELRegressor(time_limit=1e-3).fit(X, np.sin(7 * X[:, 0] * X[:, 1]))
    assert not model.search_completed_
    assert "stopped" in model.describe()


def test_the_path_of_a_large_table_is_that_of_all_rows():
    rng = np.random.default_rng(5)
    X = rng.uniform(1, 5, (6000, 2))
    y = 3 * X[:, 0] ** 2 + X[:, 1] + rng.normal(0, 0.3, 6000)
    model = ECSELRegressor().fit(X, y)
    for law in model.path_:
        assert law.mse == pytest.approx(np.mean((law.equation.evaluate({"x0": X[:, 0], "x1": X[:, 1]}) - y) ** 2))
        assert law.code_length > model.law_.code_length - 2.5
    assert model.equation_ in [law.equation for law in model.path_]


def test_all_rows_decide_for_a_term_that_the_sample_does_not_show():
    rng = np.random.default_rng(6)
    X = rng.uniform(1, 5, (60_000, 2))
    y = 3 * X[:, 0] ** 2 + 0.01 * X[:, 1] + rng.normal(0, 0.5, 60_000)
    weak = ECSELRegressor(max_terms=2).fit(X[:2000], y[:2000])
    assert weak.law_.n_terms == 1
    assert ECSELRegressor(max_terms=2).fit(X, y).law_.n_terms == 2


def test_every_law_has_an_error_on_left_out_rows():
    """A law may be the simplest of near-ties and yet not on the front."""
    X = table(100)
    rng = np.random.default_rng(0)
    for _ in range(3):
        model = ECSELRegressor().fit(X, 0.05 * X[:, 0] / X[:, 2] ** 2 + 0.01 * rng.normal(size=100))
        assert np.isfinite([law.validation_mse for law in (model.law_, *model.near_ties_, *model.path_)]).all()


class TestBadInput:
    def test_constant_and_zero_targets(self):
        X = table(20, 2)
        constant = ECSELRegressor().fit(X, np.full(20, 3.25))
        assert str(constant.equation_) == "3.25"
        assert not constant.law_found_
        assert "No law was found" in constant.describe()
        assert ECSELRegressor().fit(X, np.zeros(20)).predict(X).tolist() == [0.0] * 20

    def test_repeated_and_constant_columns_are_left_out(self):
        X = table(60, 2)
        wide = np.column_stack([X, 2 * X[:, 0], np.ones(60)])
        model = ECSELRegressor().fit(wide, X[:, 0] * X[:, 1] + noise(60))
        assert str(model.equation_) == "x0*x1"
        assert model.columns_left_out_ == ("x2", "x3")

    def test_a_column_with_zeros_gets_no_negative_exponent(self):
        X = table(60, 2)
        X[3, 0] = 0
        model = ECSELRegressor().fit(X, X[:, 0] ** 2 / X[:, 1] + noise(60))
        assert str(model.equation_) == "x0**2/x1"
        assert np.isfinite(model.predict(X)).all()

    def test_fewer_rows_than_parameters(self):
        X = table(4, 2)
        with pytest.raises(ValueError, match="n_terms=4 needs at least 6 rows, got 4"):
            ECSELRegressor(n_terms=4).fit(X, X[:, 0])
        assert np.isfinite(ECSELRegressor().fit(X[:2], X[:2, 0]).predict(X)).all()

    def test_missing_values_and_text_name_the_column(self):
        X = pd.DataFrame({"a": [1.0, np.nan, 2.0], "b": ["x", "y", "z"]})
        with pytest.raises(ValueError, match="column 'a' has 1 missing"):
            ECSELRegressor().fit(X[["a"]], [1, 2, 3])
        with pytest.raises(ValueError, match="column 'b' holds"):
            ECSELRegressor().fit(X[["b"]], [1, 2, 3])

    def test_a_target_of_text_is_refused(self):
        with pytest.raises(ValueError, match="y holds text"):
            ECSELRegressor().fit(table(3), ["a", "b", "a"])

    def test_new_rows_outside_the_domain_of_a_power_are_named(self):
        X = table(60, 2)
        model = ECSELRegressor().fit(X, X[:, 0] / X[:, 1] + noise(60))
        X[0, 1] = 0
        for ask in (model.predict, model.predict_interval):
            with pytest.raises(ValueError, match="column 'x1' is zero in 1 of 60 rows"):
                ask(X)

    def test_huge_dynamic_range(self):
        X = 10 ** np.random.default_rng(0).uniform(-30, 30, (60, 2))
        y = X[:, 0] ** 0.5 / X[:, 1]
        assert str(ECSELRegressor().fit(X, y).equation_) == "sqrt(x0)/x1"
        assert str(ECSELRegressor().fit(table(40, 1), 1e200 * table(40, 1)[:, 0]).equation_) == "1e+200*x0"

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"criterion": "best"}, "criterion='best'"),
            ({"solver": "adam"}, "solver='adam'"),
            ({"n_terms": 0}, "n_terms"),
            ({"max_terms": 0}, "max_terms"),
            ({"max_terms": 2.5}, "max_terms"),
            ({"time_limit": -1}, "time_limit"),
            ({"time_limit": "3"}, "time_limit"),
            ({"cv": 1, "criterion": "prediction"}, "must be a whole number of at least 2"),
            ({"cv": "five", "criterion": "prediction"}, "must be a whole number of at least 2"),
            ({"l1": -1}, "l1"),
            ({"units": {"x0": "m"}}, "target_unit"),
            ({"fixed_terms": "zz**2"}, "'zz'"),
            ({"form": "a*sin(x0)"}, "form"),
            ({"noise": "loud"}, "noise"),
            ({"noise": [1.0, 2.0]}, "one for each of 20 rows"),
            ({"exponent_bounds": (3, 1)}, "exponent_bounds"),
            ({"allowed_exponents": "some"}, "allowed_exponents"),
        ],
    )
    def test_bad_options_have_one_clear_message(self, options, message):
        X = table(20, 2)
        with pytest.raises(ValueError, match=message):
            ECSELRegressor(**options).fit(X, X[:, 0])

    def test_hostile_names_are_data(self):
        X = pd.DataFrame(table(60, 3), columns=["__import__('os')", "a b\n", "N"])
        model = ECSELRegressor().fit(X, X["N"] / X["a b\n"] + noise(60))
        assert Signomial.parse(str(model.equation_)) == model.equation_
        assert set(model.equation_.names) == {"a b\n", "N"}


def test_indicators_have_no_powers_and_no_explosions():
    rng = np.random.default_rng(3)
    X, level = rng.uniform(1, 5, (150, 2)), rng.integers(0, 3, 150)
    indicators = np.column_stack([level == k for k in range(3)]).astype(float)
    y = 2 * X[:, 0] * X[:, 1] + 3 * indicators[:, 0] * X[:, 1] + rng.normal(0, 0.1, 150)
    model = ECSELRegressor().fit(np.column_stack([X, indicators]), y)
    assert str(model.equation_) == "2*x0*x1 + 3*x1*x2"
    for law in (*model.path_, *model.near_ties_):
        assert all(abs(term.coefficient) < 100 for term in law.terms)
        assert all(float(term.exponents.get(name, 1)) == 1 for term in law.terms for name in ("x2", "x3", "x4"))
