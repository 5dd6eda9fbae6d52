"""Which noise, which rows and which law: the shortest description of the target wins, and clean data change nothing."""

import numpy as np
import pytest

from ecsel.discovery.discover import discover
from ecsel.discovery.methods import Table
from ecsel.discovery.model import Structure
from ecsel.discovery.noise import LOGNORMAL, RELATIVE, NoiseModel
from ecsel.discovery.options import Options
from ecsel.discovery.robust import smooth_fit, suspects
from ecsel.estimators.persistence import load
from ecsel.estimators.regressor import ECSELRegressor


def table(seed, n=100):
    """Return two positive columns, y = 2.5 a^(3/2) b^(-1/2), and a generator."""
    rng = np.random.default_rng([seed, 41])
    X = rng.uniform(0.5, 5.0, (n, 2))
    return X, 2.5 * X[:, 0] ** 1.5 / np.sqrt(X[:, 1]), rng


def powers(model):
    return [{name: float(b) for name, b in term.exponents.items()} for term in model.equation_.terms]


RIGHT = [{"x0": 1.5, "x1": -0.5}]


def noisy(kind, clean, rng):
    e = rng.standard_normal(len(clean))
    return {
        "constant": clean + 0.3 * e,
        "relative": clean * (1 + 0.05 * e),
        "lognormal": clean * np.exp(0.4 * e),
    }[kind]


@pytest.mark.parametrize("kind", ["constant", "relative", "lognormal"])
def test_the_noise_is_chosen_and_reported(kind):
    right = 0
    for seed in range(4):
        X, clean, rng = table(seed, 200)
        model = ECSELRegressor(max_terms=2).fit(X, noisy(kind, clean, rng))
        right += model.law_.noise.kind == kind
        word = {"constant": "same for all rows", "relative": "% of the value", "lognormal": "lognormal"}
        assert word[model.law_.noise.kind] in model.describe()
        assert word[model.law_.noise.kind] in model.summary()
    assert right == 4


@pytest.mark.parametrize("kind", ["constant", "relative", "lognormal"])
def test_a_code_length_in_units_of_the_target_is_the_likelihood(kind):
    """Up to the price of the parameters, which is the same, lengths differ as minus the logarithms of densities do."""
    X, clean, rng = table(0)
    y = noisy("relative", clean, rng)
    law = 2.4 * X[:, 0] ** 1.5 / np.sqrt(X[:, 1])
    n = len(y)
    if kind == "constant":
        noise, expected = NoiseModel(), 0.5 * n * np.log(np.mean((y - law) ** 2))
    elif kind == "relative":
        noise = NoiseModel.relative_to(law)
        expected = 0.5 * n * np.log(np.mean(((y - law) / law) ** 2)) + np.log(law).sum()
    else:
        noise = NoiseModel.lognormal_around(law, y)
        expected = 0.5 * n * np.log(np.mean(np.log(y / law) ** 2)) + np.log(y).sum()
    weight = None if noise.precision is None else noise.precision / noise.precision.mean()
    working = Table(X, noise.working_target(y), weight, ("a", "b"), noise, 0.0, y)
    residual = (working.y - law) * (1.0 if weight is None else np.sqrt(weight))
    assert working.length_in_target_units(0.5 * n * np.log(np.mean(residual**2))) == pytest.approx(expected, rel=1e-12)


def test_a_lognormal_fit_is_least_squares_of_logarithms():
    X, clean, rng = table(1, 300)
    y = noisy("lognormal", clean, rng)
    model = ECSELRegressor(form="k*x0**p*x1**q", noise="lognormal").fit(X, y)
    design = np.column_stack([np.ones(300), np.log(X)])
    k, p, q = np.linalg.lstsq(design, np.log(y))[0]
    found = {c.name: c.value for c in model.law_.constants}
    assert [np.log(found["k"]), found["p"], found["q"]] == pytest.approx([k, p, q], abs=2e-3)
    assert model.law_.noise.sigma == pytest.approx(np.std(np.log(y) - design @ [k, p, q], ddof=3), rel=0.01)


def test_one_product_is_not_taken_for_a_sum_under_loud_noise():
    """The sums a + a²/b and a²/2 + 3a/b differ from 5/2 a^(3/2) b^(-1/2) by less than the noise shows."""
    found = []
    for seed in range(3):
        X, clean, rng = table(seed)
        found.append(powers(ECSELRegressor(noise="lognormal", max_terms=3).fit(X, noisy("lognormal", clean, rng))))
    assert all(len(law) == 1 for law in found)
    assert found.count(RIGHT) >= 2


def test_intervals_under_lognormal_noise_are_factors_and_cover():
    X, clean, rng = table(2, 300)
    model = ECSELRegressor(form="k*x0**p*x1**q", noise="lognormal").fit(X, noisy("lognormal", clean, rng))
    low, high = model.predict_interval(X, 0.9).T
    f = model.predict(X)
    np.testing.assert_allclose(low * high, f**2, rtol=1e-12)
    fresh = noisy("lognormal", clean, rng)
    assert np.mean((low < fresh) & (fresh < high)) == pytest.approx(0.9, abs=0.05)


def test_intervals_cover_under_relative_noise_that_was_not_stated():
    inside = []
    for seed in range(40):
        X, clean, rng = table(seed)
        model = ECSELRegressor(form="k*x0**p*x1**q").fit(X, clean * (1 + 0.1 * rng.standard_normal(100)))
        truth = {"k": 2.5, "p": 1.5, "q": -0.5}
        inside += [abs(c.value - truth[c.name]) < 1.985 * c.standard_error for c in model.law_.constants]
    assert np.mean(inside) > 0.88


def test_outliers_are_left_out_and_listed():
    for seed in range(3):
        X, clean, rng = table(seed)
        y = clean + 0.2 * rng.standard_normal(100)
        rows = np.sort(rng.choice(100, 4, replace=False))
        y[rows] += rng.choice([-1.0, 1.0], 4) * rng.uniform(25, 80, 4)
        model = ECSELRegressor(max_terms=2).fit(X, y)
        assert powers(model) == RIGHT
        assert model.outliers_ == tuple(rows.tolist())
        assert all(str(row) in model.describe() for row in rows)
        squared = ECSELRegressor(max_terms=2, loss="squared").fit(X, y)
        assert squared.outliers_ == ()


def test_clean_data_lose_no_row():
    for seed in range(4):
        X, clean, rng = table(seed)
        y = clean + 0.2 * rng.standard_normal(100)
        models = [
            ECSELRegressor(loss=loss, noise=noise).fit(X, y) for loss in ("auto", "squared") for noise in ("auto", None)
        ]
        assert {str(m.equation_) for m in models} == {str(models[0].equation_)}
        assert all(m.outliers_ == () for m in models)


def test_rows_without_weight_are_no_outliers():
    X, clean, rng = table(3)
    y = clean + 0.2 * rng.standard_normal(100)
    y[:5] = 1e3
    weight = np.ones(100)
    weight[:5] = 0.0
    model = ECSELRegressor(max_terms=2).fit(X, y, sample_weight=weight)
    assert powers(model) == RIGHT
    assert model.outliers_ == ()


def test_a_misfit_is_reported_and_names_its_column():
    rng = np.random.default_rng(5)
    X = rng.uniform(1, 5, (200, 3))
    y = X[:, 0] + np.sin(6 * X[:, 2]) + 0.01 * rng.standard_normal(200)
    model = ECSELRegressor(max_terms=2).fit(X, y)
    assert not model.adequate_
    assert model.misfit_column_ == "x2"
    assert "an approximation, not a law: the residuals still depend on x2" in model.describe()
    honest = ECSELRegressor().fit(X, 2 * X[:, 0] * X[:, 1] + 0.1 * rng.standard_normal(200))
    assert honest.adequate_
    assert honest.misfit_column_ is None
    assert 1e-3 <= honest.misfit_p_value_ <= 1


def test_the_p_value_of_true_laws_is_seldom_small():
    small = 0
    for seed in range(30):
        X, clean, rng = table(seed, 60)
        small += (
            ECSELRegressor(form="k*x0**p*x1**q", noise=None).fit(X, clean + rng.standard_normal(60)).misfit_p_value_
            < 0.05
        )
    assert small <= 6


def test_verdicts_survive_the_model_file(tmp_path):
    X, clean, rng = table(6)
    y = clean * np.exp(0.4 * rng.standard_normal(100))
    y[7] *= 1e4
    model = ECSELRegressor(max_terms=2).fit(X, y)
    model.save(tmp_path / "law.json")
    again = load(tmp_path / "law.json")
    for name in ("adequate_", "misfit_p_value_", "misfit_column_", "outliers_"):
        assert getattr(again, name) == getattr(model, name)
    assert again.describe() == model.describe()
    assert again.summary() == model.summary()
    np.testing.assert_array_equal(again.predict_interval(X), model.predict_interval(X))


def test_a_rounded_number_is_reported_with_what_the_data_say():
    rng = np.random.default_rng(8)
    X = rng.uniform(1, 5, (60, 1))
    model = ECSELRegressor().fit(X, 0.7 * X[:, 0] ** 2 + 0.5 * rng.standard_normal(60))
    (coefficient,) = model.law_.parameters
    assert coefficient.rounded
    assert f"compatible with the data ({coefficient.estimate:.6g} ± " in model.describe()
    assert abs(coefficient.estimate - coefficient.value) < 3 * coefficient.standard_error


def test_errors_in_the_targets_unit_stand_beside_weighted_ones():
    X, clean, rng = table(9)
    y = noisy("relative", clean, rng)
    model = ECSELRegressor(noise="relative").fit(X, y)
    plain = np.sqrt(np.mean((model.predict(X) - y) ** 2))
    assert model.law_.plain_mse**0.5 == pytest.approx(plain)
    assert f"squared error {plain:.4g}. The fit weighs rows by their noise" in model.describe()


def test_near_ties_never_list_the_law_itself():
    for seed in range(6):
        rng = np.random.default_rng([seed, 9])
        X = rng.uniform(0.5, 2, (40, 2))
        model = ECSELRegressor(max_terms=3).fit(X, X[:, 0] ** 0.7 + 0.05 * rng.standard_normal(40))
        own = format(model.equation_, ".3g")
        assert own not in [format(tie.equation, ".3g") for tie in model.near_ties_]


def test_many_rows_and_sums_longer_than_allowed():
    """All of the best candidates of the sample may be longer than max_terms."""
    X = np.random.default_rng(101).uniform(1, 3, (400, 3))
    pairs = [(i, j) for i in range(3) for j in range(3) if i != j]
    y = sum(X[:, i] * X[:, j] ** 2 for i, j in pairs) + 0.01 * np.random.default_rng(1).standard_normal(400)
    model = ECSELRegressor().fit(X, y)
    assert len(model.equation_.terms) == 6
    assert {tuple(sorted(map(float, t.exponents.values()))) for t in model.equation_.terms} == {(1.0, 2.0)}


@pytest.mark.parametrize("scale", [1e-30, 1e30])
def test_columns_in_si_units_give_no_warnings(scale):
    X, _, rng = table(4)
    X = np.column_stack([X[:, 0] * scale, X[:, 1], rng.uniform(1, 5, 100) / scale])
    model = ECSELRegressor().fit(X, X[:, 0] * X[:, 1] ** 2 * (1 + 0.01 * rng.standard_normal(100)))
    assert powers(model) == [{"x0": 1.0, "x1": 2.0}]


def test_options_are_checked():
    X, clean, _ = table(0, 20)
    with pytest.raises(ValueError, match="loss='huber'"):
        ECSELRegressor(loss="huber").fit(X, clean)
    with pytest.raises(ValueError, match="without zeros"):
        ECSELRegressor(noise="lognormal").fit(X, np.where(clean > 5, clean, 0.0))
    with pytest.raises(ValueError, match="loss belongs to criterion='law'"):
        ECSELRegressor(criterion="prediction", loss="robust").fit(X, clean)


def test_laws_of_other_searches_are_candidates():
    rng = np.random.default_rng(5)
    X = rng.uniform(0.5, 5.0, (60, 4))
    exponents = np.array(
        [[2.0, 0.5, 0, 0], [0, 1.0, -2.0, 0.5], [-0.5, 0, 0, 3.0], [0, 0, 1.5, -1.0], [0.5, 0, 0.5, 2.0]]
    )
    parity = np.where(exponents == np.round(exponents), exponents % 2, 0).astype(np.int8)
    true, coefficients = Structure(exponents, parity), np.array([3.0, 0.7, -0.2, 2.0, 0.4])
    y = np.exp(np.log(X) @ exponents.T) @ coefficients
    found = discover(X, y, options=Options(hints=(true,), only_hints=True)).law
    assert found.structure.key() == true.key()
    assert sorted(found.coefficients) == sorted(coefficients)
    # Without the hint, what is a few moves away from a constant is no such sum.
    assert discover(X, y, options=Options(only_hints=True)).law.structure.key() != true.key()


def test_a_hint_off_the_lattice_or_in_a_column_left_out_is_passed_over():
    rng = np.random.default_rng(6)
    X = np.column_stack([rng.uniform(0.5, 5.0, 40), np.full(40, 3.0)])
    steep = Structure(np.array([[13.0, 0.0]]), np.array([[1, 0]], dtype=np.int8))
    constant_column = Structure(np.array([[1.0, 1.0]]), np.array([[1, 1]], dtype=np.int8))
    found = discover(X, 2.0 * X[:, 0], options=Options(hints=(steep, constant_column)))
    assert found.law.structure.exponents.tolist() == [[1.0, 0.0]]


def test_a_law_found_under_other_assumptions_is_tried_under_the_least():
    """Six terms of one column: where a search misses them, it must not end with rows left out of exact data."""
    rng = np.random.default_rng([11, 5, 0])
    x = rng.uniform(0.5, 5.0, 200)
    y = 1.99 / np.sqrt(x) + 0.926 / x + 0.924 * np.sqrt(x) + 0.46 * x + 0.0641 * x**3 + 0.37 * x**2
    model = ECSELRegressor().fit(x[:, None], y)
    assert sorted(b["x0"] for b in powers(model)) == [-1.0, -0.5, 0.5, 1.0, 2.0, 3.0]
    assert model.outliers_ == ()
    assert model.law_.noise.kind == "constant"


def test_suspects_are_few_and_far():
    rng = np.random.default_rng(0)
    assert not suspects(rng.standard_normal(5000)).any()
    assert not suspects(np.concatenate([rng.standard_normal(50), np.full(50, 100.0)])).any()


def test_the_smooth_fit_ignores_outliers():
    X, clean, _ = table(0, 200)
    y = clean.copy()
    y[:10] *= 50
    for logarithmic in (False, True):
        off = np.abs(smooth_fit(X, y, logarithmic=logarithmic) / clean - 1)
        assert np.median(off) < 0.1
    np.testing.assert_allclose(smooth_fit(X, y, logarithmic=True)[10:], clean[10:], rtol=1e-3)


def test_kinds_of_noise_have_their_own_residuals():
    y, law = np.array([2.0, -3.0]), np.array([1.0, -6.0])
    assert NoiseModel.lognormal_around(law, y).kind == LOGNORMAL
    np.testing.assert_allclose(NoiseModel.lognormal_around(law, y).standard_residuals(y, law), np.log(y / law))
    assert NoiseModel.relative_to(law).kind == RELATIVE
