"""What is said of laws is true: nothing found, rounded exponents, near-ties, and weighted errors."""

import re

import numpy as np
import pandas as pd
import pytest

from ecsel import ECSELRegressor, load
from ecsel.discovery.exponent_estimates import exponent_estimates, is_same_law
from ecsel.discovery.model import Structure
from ecsel.discovery.report import Verdict
from ecsel.discovery.rows import Rows

NOTHING = "better than a constant does"


def test_that_no_variable_explains_the_target_is_said_of_noise_alone():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.uniform(1, 3, (80, 2)), columns=["a", "b"])
    noise = ECSELRegressor().fit(X, 5 + rng.standard_normal(80))
    assert not noise.law_found_
    assert NOTHING in noise.describe()
    wave = ECSELRegressor(max_terms=1, allowed_exponents=[1]).fit(X, 5 + np.sin(12 * X["a"]))
    assert NOTHING not in wave.describe()


def test_few_rows_do_not_say_no():
    X = pd.DataFrame({"a": [1.0, 2.0, 3.0, 4.0, 5.0]})
    few = ECSELRegressor(noise="constant").fit(X, [2.0, 1.0, 2.5, 1.2, 2.1])
    assert not few.law_found_
    assert "5 rows are too few to tell" in few.describe()
    assert NOTHING not in few.describe()


@pytest.mark.parametrize(("p_value", "is_said"), [(0.5, True), (0.02, False)])
def test_a_weak_hint_leaves_it_open(p_value, is_said):
    (line,) = Verdict(found=False, p_value=p_value, n_rows=50).sentences()
    assert (NOTHING in line) == is_said


def loud(seed, exponent=0.7, share=0.25, n=60):
    rng = np.random.default_rng(seed)
    x = rng.uniform(1, 5, n)
    return pd.DataFrame({"x": x}), 2 * x**exponent + share * rng.standard_normal(n)


def test_a_true_exponent_of_0_7_is_compatible_with_two_thirds_and_its_estimate_is_told(tmp_path):
    found = 0
    for seed in range(12):
        X, y = loud(seed)
        model = ECSELRegressor(noise="constant", loss="squared").fit(X, y)
        estimates = model.law_.exponent_estimates
        if len(model.law_.terms) != 1 or not estimates:
            continue
        found += 1
        (e,) = estimates
        value = float(model.law_.terms[0].exponents["x"])
        assert abs(e.estimate - value) < 4 * e.standard_error
        assert abs(e.estimate - 0.7) < 4 * e.standard_error
        words = model.describe()
        assert re.search(r"The exponent of x is \d+/\d+, a simple number compatible with the data \(0\.\d+ ± ", words)
        assert "supported" not in words
        model.save(tmp_path / "law.json")
        assert load(tmp_path / "law.json").describe() == words
        assert "rounded from 0." in model.summary()
    assert found >= 6


def test_the_estimate_and_its_error_are_those_of_a_free_fit():
    X, y = loud(1)
    free = ECSELRegressor(noise="constant", loss="squared", form="a*x**b").fit(X, y).law_.constants[1]
    rows = Rows.from_table(X.to_numpy(), y)
    law = ECSELRegressor(noise="constant", loss="squared", n_terms=1, allowed_exponents=["2/3"]).fit(X, y).law_
    (e,) = law.exponent_estimates
    assert e.estimate == pytest.approx(free.value, rel=1e-5)
    assert e.standard_error == pytest.approx(free.standard_error, rel=1e-3)
    assert exponent_estimates(rows, _structure([[2.0]]), ("x",)) == ()


def _structure(exponents):
    return Structure(np.array(exponents), np.zeros((1, 1), dtype=np.int8))


@pytest.mark.parametrize("seed", range(6))
def test_near_ties_never_list_the_law_itself(seed):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.uniform(1, 4, (40, 2)), columns=["u", "v"])
    y = 3 * X["u"] ** 0.7 * X["v"] + 0.4 * rng.standard_normal(40)
    model = ECSELRegressor(noise="constant", loss="squared").fit(X, y)
    printed = {format(law.equation, ".4g") for law in model.near_ties_}
    assert format(model.equation_, ".4g") not in printed
    for law in model.near_ties_:
        assert not is_same_law(model.law_, law)
    assert is_same_law(model.law_, model.law_)


def test_weighted_errors_are_called_so_beside_that_of_predict():
    rng = np.random.default_rng(3)
    X = pd.DataFrame({"x": np.exp(rng.uniform(0, 5, 100))})
    y = 2 * X["x"] ** 1.5 * (1 + 0.05 * rng.standard_normal(100))
    model = ECSELRegressor(noise="relative").fit(X, y)
    error = float(np.sqrt(np.mean((y - model.predict(X)) ** 2)))
    assert f"Root mean squared error {error:.4g}. The fit weighs rows by their noise" in model.describe()
    assert "weighed by their noise" in model.summary()
    assert "weighted)" in repr(model.path_)
    last = np.mean((y - model.select(-1).predict(X)) ** 2)
    assert model.path_.to_frame()["plain_mse"].iloc[-1] == pytest.approx(last)
    plain = ECSELRegressor(noise="constant", loss="squared").fit(X, 2 * X["x"] + 0.1 * rng.standard_normal(100))
    assert "weigh" not in plain.describe() + plain.summary() + repr(plain.path_)
