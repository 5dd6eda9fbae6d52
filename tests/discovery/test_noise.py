"""Noise models: weights of the rows, unbiased fits under relative noise, intervals that cover new rows everywhere."""

import numpy as np
import pandas as pd
import pytest

from ecsel.discovery.fitted import FittedLaw
from ecsel.discovery.noise import PER_ROW, RELATIVE, Noise, NoiseModel, noise_model
from ecsel.estimators.persistence import load
from ecsel.estimators.regressor import ECSELRegressor
from ecsel.signomial import Signomial

FORM = "a*x0**2"
TRUTH = Signomial.parse("2.3*x0**2*x1 + x1")


def test_noise_models():
    y = np.array([1.0, -2.0, 4.0])
    assert noise_model(None, y).precision is None
    assert noise_model(None, y).variance is None
    assert noise_model(0.5, y).variance == 0.25
    rows = noise_model([1.0, 2.0, 2.0], y)
    np.testing.assert_allclose(rows.precision / rows.variance, [1.0, 0.25, 0.25])
    relative = noise_model("relative", y)
    np.testing.assert_allclose(relative.precision * y**2, relative.precision[0])
    assert (rows.kind, relative.kind) == (PER_ROW, RELATIVE)
    for bad in ("big", -1.0, 0.0, [1.0, 2.0], [1.0, np.nan, 1.0], {"sd": 1}):
        with pytest.raises(ValueError, match="noise"):
            noise_model(bad, y)


def test_a_zero_target_does_not_take_all_the_weight():
    precision = NoiseModel.relative_to(np.array([0.0, 1.0, 2.0, 4.0])).precision
    np.testing.assert_allclose(precision, [16.0, 16.0, 4.0, 1.0])
    rng = np.random.default_rng(0)
    X = rng.uniform(0, 5, (60, 2))
    X[:3, 0] = 0
    y = 2 * X[:, 0] ** 2 * (1 + 0.01 * rng.normal(size=60))
    assert str(ECSELRegressor(noise="relative").fit(X, y).equation_) == "2*x0**2"


def test_a_law_that_crosses_zero_near_a_row_does_not_give_it_all_the_weight():
    noise = noise_model("relative", np.array([2.0, 4.0])).around(np.array([1e-9, 4.0]), np.array([2.0, 4.0]))
    np.testing.assert_allclose(noise.size, [1.0, 4.0])


def draw(rng, n, kind, level):
    """Rows of y = 3 x0^2 and the standard deviation of the noise of each."""
    X = rng.uniform(0.2, 5, (n, 1))
    truth = 3 * X[:, 0] ** 2
    if kind == "relative":
        sigma = level * truth
    else:
        sigma = level * rng.uniform(0.2, 3.0, n) if kind == "per row" else np.full(n, level)
    return X, truth + sigma * rng.normal(size=n), sigma


def coverages(kind, level, shares, fits=24):
    """Return, for each requested share, that of new rows inside, for smaller and for larger values of the law."""
    inside = np.zeros((fits, len(shares), 2))
    for seed in range(fits):
        rng = np.random.default_rng([seed, 77])
        X, y, sigma = draw(rng, 50, kind, level)
        noise = {"relative": "relative", "per row": sigma, "constant": None, "known": level}[kind]
        model = ECSELRegressor(form=FORM, noise=noise).fit(X, y)
        X, y, sigma = draw(rng, 2000, kind, level)
        for i, share in enumerate(shares):
            low, high = model.predict_interval(X, share, noise=sigma if kind == "per row" else None).T
            hit, large = (low <= y) & (y <= high), X[:, 0] > np.median(X)
            inside[seed, i] = hit[~large].mean(), hit[large].mean()
    return inside.mean(axis=0)


@pytest.mark.parametrize(
    ("kind", "level"), [("constant", 0.5), ("known", 0.5), ("relative", 0.02), ("relative", 0.2), ("per row", 0.5)]
)
def test_intervals_cover_small_and_large_targets_alike(kind, level):
    # The standard error of a mean over 24 fits of 50 rows is about 0.012 at 0.5 and 0.005 at 0.95.
    half, most = coverages(kind, level, (0.5, 0.95))
    assert half == pytest.approx([0.5, 0.5], abs=0.035)
    assert most == pytest.approx([0.95, 0.95], abs=0.015)


def test_intervals_of_a_searched_law_cover_under_relative_noise():
    inside = []
    for seed in range(4):
        rng = np.random.default_rng([seed, 5])
        X, fresh = rng.uniform(0.5, 5, (200, 2)), rng.uniform(0.5, 5, (1000, 2))
        truth = [2.3 * x[:, 0] ** 2 * x[:, 1] + x[:, 1] for x in (X, fresh)]
        y, new = (f * (1 + 0.05 * rng.normal(size=len(f))) for f in truth)
        model = ECSELRegressor(noise="relative", allowed_exponents="integers", max_terms=3).fit(X, y)
        assert {str(t.factors) for t in model.equation_.terms} == {str(t.factors) for t in TRUTH.terms}
        low, high = model.predict_interval(fresh, 0.9).T
        hit, large = (low <= new) & (new <= high), truth[1] > 20
        inside.append([hit[~large].mean(), hit[large].mean()])
        assert "% of the value" in model.describe()
    assert np.mean(inside, axis=0) == pytest.approx([0.9, 0.9], abs=0.03)


def test_relative_noise_does_not_shrink_the_law():
    """Weights from the noisy targets would give 1 - 2 s^2 = 0.92 of the coefficient."""
    rng = np.random.default_rng(3)
    X, y, _ = draw(rng, 4000, "relative", 0.2)
    (constant,) = ECSELRegressor(form=FORM, noise="relative").fit(X, y).law_.constants
    assert abs(constant.value - 3) < 4 * constant.standard_error < 0.06


def test_the_scale_of_the_weights_tells_nothing():
    rng = np.random.default_rng(4)
    X, y, _ = draw(rng, 60, "constant", 0.5)
    weight = rng.uniform(0.2, 2.0, 60)
    for options in ({"form": FORM}, {"allowed_exponents": "integers"}, {"form": FORM, "noise": "relative"}):
        one, other = (ECSELRegressor(**options).fit(X, y, sample_weight=w) for w in (weight, 8.5 * weight))
        np.testing.assert_allclose(one.predict_interval(X), other.predict_interval(X), rtol=1e-9)


def test_noise_of_a_known_size_is_taken_at_its_word():
    X = np.linspace(1, 3, 40)[:, None]
    model = ECSELRegressor(form=FORM, noise=2.0).fit(X, 3 * X[:, 0] ** 2)
    low, high = model.predict_interval(X, 0.95).T
    square = X[:, 0] ** 2
    expected = 1.959964 * 2.0 * np.sqrt(1 + square**2 / (square @ square))
    np.testing.assert_allclose((high - low) / 2, expected, rtol=1e-5)


def test_zero_noise_gives_intervals_of_the_law_itself():
    rng = np.random.default_rng(5)
    X, y, _ = draw(rng, 200, "constant", 0.5)
    model = ECSELRegressor(form=FORM).fit(X, y)
    low, high = model.predict_interval(X, 0.99, noise=0.0).T
    assert ((low < 3 * X[:, 0] ** 2) & (3 * X[:, 0] ** 2 < high)).all()
    wide_low, wide_high = model.predict_interval(X, 0.99).T
    assert ((wide_low < low) & (high < wide_high)).all()


def test_after_noise_for_each_row_that_of_new_rows_is_asked_for():
    rng = np.random.default_rng(6)
    X, y, sigma = draw(rng, 40, "per row", 0.5)
    model = ECSELRegressor(form=FORM, noise=sigma).fit(X, y)
    with pytest.raises(ValueError, match="noise="):
        model.predict_interval(X)
    with pytest.raises(ValueError, match="one for each of 40 rows"):
        model.predict_interval(X, noise=[1.0, 2.0])
    for bad in (-1.0, np.inf, "loud"):
        with pytest.raises(ValueError, match="noise"):
            model.predict_interval(X, noise=bad)
    assert np.diff(model.predict_interval(X, noise=0.3)).shape == (40, 1)


def test_relative_noise_is_that_of_the_whole_target_when_a_part_is_known():
    rng = np.random.default_rng(7)
    X = rng.uniform(1, 5, (200, 2))
    truth = 50 * X[:, 0] ** 2 + X[:, 1]
    y = truth * (1 + 0.002 * rng.normal(size=200))
    model = ECSELRegressor(noise="relative", fixed_terms="50*x0**2", n_terms=1).fit(X, y)
    assert model.law_.noise.sigma == pytest.approx(0.002, rel=0.2)
    width = np.diff(model.predict_interval(X))[:, 0]
    assert np.corrcoef(width, truth)[0, 1] > 0.99


@pytest.mark.parametrize("kind", ["constant", "known", "relative", "per row"])
def test_the_noise_survives_the_model_file(kind, tmp_path):
    rng = np.random.default_rng(8)
    X, y, sigma = draw(rng, 60, kind, 0.05)
    noise = {"relative": "relative", "per row": sigma, "constant": None, "known": 0.05}[kind]
    frame = pd.DataFrame(X, columns=["x0"])
    model = ECSELRegressor(noise=noise).fit(frame, y)
    model.save(tmp_path / "law.json")
    again = load(tmp_path / "law.json")
    assert again.law_.noise.kind == model.law_.noise.kind == (PER_ROW if kind == "per row" else model.law_.noise.kind)
    how = {"noise": sigma} if kind == "per row" else {}
    np.testing.assert_array_equal(again.predict_interval(frame, **how), model.predict_interval(frame, **how))
    np.testing.assert_array_equal(
        again.select(1).predict_interval(frame, **how), model.select(1).predict_interval(frame, **how)
    )


def test_a_file_from_before_noise_was_recorded_has_constant_noise():
    rng = np.random.default_rng(9)
    X, y, _ = draw(rng, 60, "constant", 0.5)
    law = ECSELRegressor(form=FORM).fit(X, y).law_
    plain = law.to_plain()
    del plain["noise"]
    assert FittedLaw.from_plain(plain).noise == law.noise
    with pytest.raises(ValueError, match="no kind of noise"):
        Noise("purple")


def test_intervals_of_huge_targets_are_infinite_where_their_squares_are():
    rng = np.random.default_rng(10)
    X = rng.uniform(1, 5, (60, 1))
    for scale, finite in ((1e99, True), (1e200, False)):
        model = ECSELRegressor(noise="relative").fit(X, scale * X[:, 0] ** 2 * (1 + 0.01 * rng.normal(size=60)))
        assert model.equation_.terms[0].coefficient == pytest.approx(scale, rel=0.01)
        assert model.law_.noise.sigma == pytest.approx(0.01, rel=0.3)
        assert np.isfinite(model.predict_interval(X)).all() == finite


def test_describe_names_the_error_that_it_tells():
    rng = np.random.default_rng(0)
    X = rng.uniform(0.3, 30, (60, 1))
    y = X[:, 0] ** 1.5 * (1 + 0.02 * rng.normal(size=60))
    model = ECSELRegressor(noise="relative").fit(X, y)
    text = model.describe()
    p = model.predict(X)
    relative = np.sqrt((((y - p) / p) ** 2).mean())
    plain = np.sqrt(((y - p) ** 2).mean())
    assert f"Root mean squared error {plain:.4g}. The fit weighs rows" in text
    assert f"with these weights it is {relative:.2g}"[:-1] in text
    assert "Root mean squared error" in ECSELRegressor().fit(X, y).describe()
