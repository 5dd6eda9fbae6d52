"""Bootstrap stability: right features every time, noise now and then, the same draws whoever makes them."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import NotFittedError

from ecsel import ECSELClassifier, explain
from ecsel.estimators import stability as module
from ecsel.estimators.stability import mean_effects, resample

pytestmark = pytest.mark.filterwarnings("ignore:.*rows lie:UserWarning")


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    X = np.exp(rng.normal(size=(200, 4)))
    return X, (2 * np.log(X[:, 0]) - np.log(X[:, 1]) + rng.logistic(size=200) > 0).astype(int)


@pytest.fixture
def model(table):
    return ECSELClassifier(n_terms=1, l1=0.03, n_jobs=1).fit(*table)


def test_strong_features_are_always_selected_with_their_sign(table, model):
    result = model.stability(*table, n_bootstrap=20)
    np.testing.assert_array_equal(result.frequency[0, :2], [1, 1])
    np.testing.assert_array_equal(result.sign_agreement[0, :2], [1, 1])
    assert (result.frequency[0, 2:] < 1).all()
    low, high = result.interval(0.9)
    assert low[0, 0] > 0
    assert high[0, 1] < 0
    assert (low[0, 2:] <= 0).all()
    assert (high[0, 2:] >= 0).all()
    frame = result.to_frame()
    assert frame["feature"].tolist()[:2] == ["x0", "x1"]
    assert frame["frequency"].is_monotonic_decreasing


def test_the_model_s_own_effect_is_the_mean_log_gradient(table, model):
    result = model.stability(*table, n_bootstrap=1)
    expected = np.asarray(explain.log_gradient(model, table[0]).values).mean(axis=0)
    np.testing.assert_allclose(result.effect, expected, rtol=1e-9)
    assert result.classes == (1,)


def test_a_draw_is_a_fit_to_the_drawn_rows(table, model):
    X, y = table
    result = model.stability(X, y, n_bootstrap=3, random_state=7)
    seed = np.random.RandomState(7).randint(2**31 - 1)
    weights = resample(y, np.ones(200), np.random.default_rng([seed, 2]))
    # The features stay those of the model: ratios of powers of ten do not depend on the rows.
    logs, kept = model.encoder_.log_features(X), np.flatnonzero(weights)
    from ecsel.fitting import L1, Logistic, fit_scores

    terms = fit_scores(logs[:, kept].copy(), y[kept], weights[kept], Logistic(), L1(0.03), 1).terms
    np.testing.assert_array_equal(result.used[2], terms.exponents.any(axis=0, keepdims=True))
    np.testing.assert_allclose(result.effects[2], mean_effects(terms, logs, np.full(200, 1 / 200)), rtol=1e-3)


def test_the_same_seed_gives_the_same_bits_on_any_number_of_threads(table, model):
    results = [
        model.set_params(n_jobs=n).stability(*table, n_bootstrap=6, random_state=seed)
        for n, seed in ((1, 0), (3, None), (3, 1))
    ]
    assert results[0].effects.tobytes() == results[1].effects.tobytes()
    assert results[0].effects.tobytes() != results[2].effects.tobytes()


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_a_draw_keeps_the_weight_of_every_class_and_knows_no_row_without_weight(seed):
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 3, 60)
    weights = rng.integers(0, 4, 60).astype(float)
    weights[:9], codes[:9] = 1, np.arange(9) % 3
    drawn = resample(codes, weights, rng)
    np.testing.assert_allclose(np.bincount(codes, weights=drawn), np.bincount(codes, weights=weights))
    assert not drawn[weights == 0].any()


def test_draws_average_to_the_rows():
    codes, weights = np.repeat([0, 1], [30, 10]), np.random.default_rng(0).uniform(0.5, 2, 40)
    rng = np.random.default_rng(1)
    mean = np.mean([resample(codes, weights, rng) for _ in range(4000)], axis=0)
    np.testing.assert_allclose(mean, weights, rtol=0.12)


def test_three_classes_have_a_line_for_every_feature(make_numbers, quick):
    X, y = make_numbers(n_classes=3)
    result = quick(l1=0.03, n_jobs=1, class_weight="balanced").fit(X, y).stability(X, y, n_bootstrap=3)
    frame = result.to_frame()
    assert frame["class"].tolist() == [0] * 3 + [1] * 3 + [2] * 3
    assert result.used.shape == (3, 3, 3)
    unused = result.used.sum(axis=0) == 0
    assert np.isnan(result.sign_agreement[unused]).all()


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_an_interrupt_keeps_the_draws_that_are_done(interrupt_draw, table, model, n_jobs):
    with (
        interrupt_draw(module, 3),
        pytest.warns(UserWarning, match=r"interrupted after 3 of 30 draws, which were kept"),
    ):
        result = model.set_params(n_jobs=n_jobs).stability(*table, n_bootstrap=30)
    assert len(result.used) == 3
    whole = model.set_params(n_jobs=1).stability(*table, n_bootstrap=3)
    assert result.effects.tobytes() == whole.effects.tobytes()


def test_progress_is_reported(table, model, capsys):
    model.set_params(verbose=1).stability(*table, n_bootstrap=3)
    assert "bootstrap 3 of 3" in capsys.readouterr().err


def test_what_cannot_be_is_named(table, model):
    X, y = table
    with pytest.raises(NotFittedError):
        ECSELClassifier().stability(X, y)
    with pytest.raises(ValueError, match="n_bootstrap=0"):
        model.stability(X, y, n_bootstrap=0)
    with pytest.raises(ValueError, match="label 2, which is none"):
        model.stability(X, y * 2)
    with pytest.raises(ValueError, match="level=3"):
        model.stability(X, y, n_bootstrap=1).interval(3)
