"""Bootstrap stability of laws: certain terms are in every draw, doubtful ones are not, and draws are repeatable."""

import numpy as np
import pandas as pd
import pytest

from ecsel.estimators.regressor import ECSELRegressor


def orbits(noise):
    rng = np.random.default_rng(3)
    X = pd.DataFrame({"a": rng.uniform(0.5, 5, 60), "m": rng.uniform(0.5, 2, 60)})
    return X, (X["a"] ** 1.5 / np.sqrt(X["m"]) + noise * rng.standard_normal(60)).to_numpy()


def test_a_certain_law_is_in_every_draw():
    X, y = orbits(0.01)
    model = ECSELRegressor().fit(X, y)
    firm = model.stability(X, y, n_bootstrap=4)
    assert firm.terms == ("a**(3/2)/sqrt(m)",)
    assert firm.same_law == 1.0
    np.testing.assert_array_equal(firm.frequency, [1.0])
    np.testing.assert_array_equal(firm.column_frequency, [1.0, 1.0])
    assert firm.column_names == ("a", "m")
    frame = firm.to_frame()
    assert frame["low"][0] <= 1.0 <= frame["high"][0]
    assert frame["high"][0] - frame["low"][0] < 0.02


def test_draws_are_the_fits_of_resampled_rows_and_repeatable():
    X, y = orbits(1.5)
    model = ECSELRegressor(noise="constant", loss="squared").fit(X, y)
    loose = model.stability(X, y, n_bootstrap=4, random_state=1)
    assert len(loose.draws) == 4
    assert len(set(map(str, loose.draws))) > 1
    again = model.stability(X, y, n_bootstrap=2, random_state=1)
    assert again.draws == loose.draws[:2]
    assert loose.coefficients.shape == (4, len(loose.terms))
    shares = [np.mean([name in draw.names for draw in loose.draws]) for name in loose.column_names]
    np.testing.assert_allclose(loose.column_frequency, shares)


def test_a_real_exponent_is_the_same_term_in_every_draw():
    X, y = orbits(0.0)
    y = 2.0 * X["a"].to_numpy() ** 1.37 + 0.01 * np.random.default_rng(0).standard_normal(60)
    model = ECSELRegressor(form="k*a**p").fit(X, y)
    firm = model.stability(X, y, n_bootstrap=5)
    assert firm.same_law == 1.0
    std = np.std([float(draw.terms[0].exponents["a"]) for draw in firm.draws])
    (error,) = [c.standard_error for c in model.law_.constants if c.name == "p"]
    assert 0.2 * error < std < 4 * error


def test_a_prediction_has_draws_too_and_options_are_checked():
    X, y = orbits(0.3)
    model = ECSELRegressor(criterion="prediction").fit(X, y)
    firm = model.stability(X, y, n_bootstrap=3)
    assert firm.coefficients.shape == (3, len(model.equation_.terms))
    with pytest.raises(ValueError, match="n_bootstrap"):
        model.stability(X, y, n_bootstrap=0)
    with pytest.raises(ValueError, match="level"):
        firm.to_frame(level=2)
