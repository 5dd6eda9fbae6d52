"""Standard errors by name: what they say of a logistic regression in the logs, how they print, and what is refused."""

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit
from sklearn.exceptions import NotFittedError

from ecsel import ECSELClassifier, explain

pytestmark = pytest.mark.filterwarnings("ignore:.*rows lie:UserWarning")


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(np.exp(rng.normal(size=(800, 3))), columns=["income", "debt ratio", "noise"])
    z = 2.5 * np.exp(0.6 * np.log(X["income"])) - 3 - 0.8 * np.log(X["debt ratio"])
    return X, np.where(rng.random(800) < expit(z), "yes", "no")


@pytest.fixture
def model(table):
    return ECSELClassifier(n_terms=1, l1=1e-3, scaling="ratio").fit(*table)


def test_estimates_are_those_of_the_formula_without_its_penalty(table, model):
    X, y = table
    frame = model.standard_errors(X, y).to_frame()
    number = {(r.parameter, r.feature): r.estimate for r in frame.fillna({"feature": ""}).itertuples()}
    features = model.to_model_features(X)
    names = model.encoder_.feature_names
    power = np.prod([features[:, j] ** number["exponent", n] for j, n in enumerate(names)], axis=0)
    z = number["intercept", ""] + number["coefficient", ""] * power
    t = (y == "yes").astype(float)
    refitted = np.mean(np.logaddexp(0, z) - t * z)
    own = model.decision_function(X)
    assert refitted <= np.mean(np.logaddexp(0, own) - t * own)
    # At an unpenalised optimum the residual is orthogonal to every derivative of the score.
    residual = expit(z) - t
    for column in (np.ones(len(y)), power, *(power * np.log(features).T)):
        assert abs(residual @ column) / len(y) < 1e-4


def test_intervals_are_symmetric_and_as_wide_as_asked(table, model):
    errors = model.standard_errors(*table)
    wide, narrow = errors.to_frame(0.95), errors.to_frame(0.5)
    known = wide["standard_error"].notna()
    assert known.any()
    ratio = ((wide["high"] - wide["low"]) / (narrow["high"] - narrow["low"]))[known]
    np.testing.assert_allclose(ratio, 1.959963984540054 / 0.6744897501960817)
    np.testing.assert_allclose((wide["high"] + wide["low"])[known] / 2, wide["estimate"][known], rtol=1e-6, atol=1e-9)
    with pytest.raises(ValueError, match="level=95"):
        errors.to_frame(95)


def test_real_effects_are_distinguished_from_noise(table, model):
    frame = model.standard_errors(*table).to_frame()
    slopes = frame[frame["parameter"] == "slope"].set_index("feature")
    ratio = slopes["estimate"].abs() / slopes["standard_error"]
    assert ratio["income"] > 5
    assert ratio["debt ratio"] > 3
    assert "noise" not in ratio or ratio["noise"] < 3


def test_elasticities_have_intervals_around_those_of_the_refit(table, model):
    X, y = table
    errors = model.standard_errors(X, y)
    frame = errors.elasticity(X.iloc[:30])
    own = explain.elasticity(model, X.iloc[:30])
    expected = np.asarray(own.values)[:, 0, own.feature_names.index("income")]
    mine = frame[frame["feature"] == "income"]
    positive = ~np.isnan(mine["elasticity"].to_numpy())
    assert positive.any()
    assert (mine["standard_error"][positive] > 0).all()
    inside = (mine["low"] <= expected) & (expected <= mine["high"])
    assert inside[positive & ~np.isnan(expected)].mean() > 0.9
    both = errors.elasticity(X.iloc[:30], absolute=True)
    assert both["elasticity"].notna().all()


def test_a_calibrated_model_has_the_same_errors(table, model):
    X, y = table
    warmer = ECSELClassifier(n_terms=1, l1=1e-3, scaling="ratio", calibrate=True).fit(X, y)
    assert warmer.temperature_ != 1
    one, other = (m.standard_errors(X, y).to_frame() for m in (model, warmer))
    np.testing.assert_allclose(one["estimate"], other["estimate"], rtol=1e-3)
    np.testing.assert_allclose(one["standard_error"], other["standard_error"], rtol=1e-3)


def test_levels_are_relative_to_the_largest(make_mixed):
    X, y = make_mixed(n=400)
    model = ECSELClassifier(n_terms=1, l1=0.0).fit(X, y)
    frame = model.standard_errors(X, y).to_frame()
    largest = "purpose=" + X["purpose"].mode()[0]
    levels = frame[frame["feature"].fillna("").str.startswith("purpose=")]
    assert set(levels["relative_to"]) == {largest}
    assert levels[levels["feature"] == largest]["standard_error"].isna().all()
    others = levels[(levels["feature"] != largest) & (levels["parameter"] == "slope")]
    assert len(others) == 2
    assert (others["standard_error"] > 0).all()
    assert f"slope of 'purpose=boat' from {largest!r}" in model.summary() or largest == "purpose=boat"


def test_the_summary_and_the_file_keep_what_was_computed(table, model, reloaded_with_errors):
    X, y = table
    assert "standard errors" not in model.summary()
    errors = model.standard_errors(X, y)
    other = reloaded_with_errors(model, errors)
    assert "conditional on the selected terms" in model.summary()
    with pytest.raises(ValueError, match="have no covariance"):
        other.standard_errors_.elasticity(X)
    assert model.select(0).standard_errors_ is None
    assert model.fit(X, y).standard_errors_ is None


def test_a_softmax_prints_a_dash_for_its_first_class(make_numbers, quick):
    X, y = make_numbers(n_classes=3, n=300)
    errors = quick().fit(X, y).standard_errors(X, y)
    first = [number for number in errors.numbers if number.label == 0]
    assert first
    assert all(number.standard_error is None for number in first)
    assert "± —" in str(errors)
    assert any(number.standard_error for number in errors.numbers if number.label == 1)


def test_weights_are_repetitions_and_zero_weights_nothing(make_numbers, quick):
    X, y = make_numbers(n=300)
    model = quick().fit(X, y)
    counts = np.random.default_rng(0).integers(0, 3, len(y))
    one = model.standard_errors(X, y, counts).to_frame()
    other = model.standard_errors(np.repeat(X, counts, axis=0), np.repeat(y, counts)).to_frame()
    np.testing.assert_allclose(one["standard_error"], other["standard_error"], rtol=1e-3)


def test_what_cannot_be_is_named(make_numbers, quick):
    X, y = make_numbers()
    with pytest.raises(NotFittedError):
        quick().standard_errors(X, y)
    model = quick().fit(X, y)
    with pytest.raises(ValueError, match=r"label 2, which is none of the classes \[0, 1\]"):
        model.standard_errors(X, y + 1)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        model.standard_errors(X, y[:5])


def test_errors_keep_no_rows(table, model):
    import pickle

    before = len(pickle.dumps(model))
    model.standard_errors(*table)
    assert len(pickle.dumps(model)) < before + 20_000
