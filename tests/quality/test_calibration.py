"""Brier, calibration error and temperature against scikit-learn, brute force and their defining properties."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar
from scipy.special import expit, softmax
from sklearn import metrics

from ecsel.quality import brier, calibration_error, fit_temperature, reliability
from ecsel.quality.calibration import LARGEST_TEMPERATURE, log_loss

SEEDS = st.integers(0, 2**32 - 1)


def drawn(seed, n=60, n_classes=2, sharper=2.0):
    """Scores that are too sharp by a factor, the classes that they stand for, and weights."""
    rng = np.random.default_rng(seed)
    z = rng.normal(size=(n, 1 if n_classes == 2 else n_classes)) * 1.5
    p = np.column_stack([expit(-z), expit(z)]) if n_classes == 2 else softmax(z, axis=1)
    codes = (rng.random(n)[:, None] > p.cumsum(axis=1)).sum(axis=1).clip(0, n_classes - 1)
    codes[:n_classes] = np.arange(n_classes)
    return z * sharper, codes, rng.uniform(0.1, 3, n)


def probabilities(z):
    return np.column_stack([expit(-z), expit(z)]) if z.shape[1] == 1 else softmax(z, axis=1)


@settings(max_examples=40, deadline=None)
@given(SEEDS, st.sampled_from([2, 3]))
def test_brier_and_log_loss_are_those_of_scikit_learn(seed, n_classes):
    z, codes, w = drawn(seed, n_classes=n_classes)
    p = probabilities(z)
    assert log_loss(z, codes, w) == pytest.approx(metrics.log_loss(codes, p, sample_weight=w), rel=1e-9)
    if n_classes == 2:
        assert brier(codes, p, w) == pytest.approx(metrics.brier_score_loss(codes, p[:, 1], sample_weight=w))
        assert brier(codes, p[:, 1], w) == pytest.approx(brier(codes, p, w))
    else:
        by_hand = np.average(((p - np.eye(3)[codes]) ** 2).sum(axis=1), weights=w)
        assert brier(codes, p, w) == pytest.approx(by_hand)


@settings(max_examples=40, deadline=None)
@given(SEEDS)
def test_bins_hold_equal_weight_where_probabilities_differ(seed):
    z, codes, _ = drawn(seed)
    bins = reliability(codes, expit(z[:, 0]), n_bins=6)
    assert bins.weight == (10.0,) * 6
    order = np.argsort(z[:, 0]).reshape(6, 10)
    np.testing.assert_allclose(bins.predicted, expit(z[:, 0])[order].mean(axis=1))
    np.testing.assert_allclose(bins.observed, codes[order].mean(axis=1))
    assert bins.error == pytest.approx(np.abs(np.subtract(bins.predicted, bins.observed)).mean())


@settings(max_examples=40, deadline=None)
@given(SEEDS, st.sampled_from([2, 3]))
def test_calibration_error_of_weights_is_that_of_repetitions(seed, n_classes):
    z, codes, _ = drawn(seed, n_classes=n_classes)
    p, w = probabilities(z), np.random.default_rng(seed).integers(0, 4, len(codes))
    one = calibration_error(codes, p, w, classes=range(n_classes))
    other = calibration_error(np.repeat(codes, w), np.repeat(p, w, axis=0), classes=range(n_classes))
    assert one == pytest.approx(other, abs=1e-12)
    assert 0 <= one <= 1


def test_equal_probabilities_stay_in_one_bin_and_their_error_is_the_gap():
    assert reliability([0, 1, 1, 1], [0.5] * 4).weight == (4.0,)
    assert calibration_error([0, 1, 1, 1], [0.5] * 4) == 0.25
    assert calibration_error([0, 1, 1, 1], [0.75] * 4) == 0.0


def test_with_more_classes_the_largest_probability_is_evaluated():
    p = np.array([[0.6, 0.3, 0.1], [0.2, 0.6, 0.2], [0.1, 0.3, 0.6], [0.6, 0.2, 0.2]])
    assert calibration_error([0, 1, 0, 1], p, classes=[0, 1, 2]) == pytest.approx(0.1)


@settings(max_examples=40, deadline=None)
@given(SEEDS, st.sampled_from([2, 3, 5]))
def test_the_temperature_is_the_best_one(seed, n_classes):
    z, codes, w = drawn(seed, n_classes=n_classes)
    best = fit_temperature(z, codes, w)
    ends = np.log([1 / LARGEST_TEMPERATURE, LARGEST_TEMPERATURE])
    search = minimize_scalar(lambda t: log_loss(z / np.exp(t), codes, w), bounds=ends, method="bounded")
    reached = log_loss(z / best, codes, w)
    assert reached <= search.fun + 1e-9
    assert reached <= log_loss(z, codes, w) + 1e-12


@settings(max_examples=40, deadline=None)
@given(SEEDS, st.sampled_from([2, 3]), st.floats(0.5, 2))
def test_the_temperature_undoes_a_scaling(seed, n_classes, factor):
    z, codes, w = drawn(seed, n_classes=n_classes, n=200)
    assert fit_temperature(factor * z, codes, w) == pytest.approx(factor * fit_temperature(z, codes, w), rel=1e-6)


def test_sharp_scores_of_many_rows_get_back_their_true_temperature():
    z, codes, w = drawn(0, n=40_000, sharper=3.0)
    assert fit_temperature(z, codes, w) == pytest.approx(3.0, rel=0.05)


def test_rows_that_name_no_limit_end_at_the_limit():
    perfect = np.array([[-1.0], [1.0]])
    assert fit_temperature(perfect, [0, 1]) == 1 / LARGEST_TEMPERATURE
    assert fit_temperature(perfect, [1, 0]) == LARGEST_TEMPERATURE
    assert fit_temperature(np.zeros((2, 1)), [1, 0]) == 1.0


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: brier([0, 1], [0.5, 1.5]), "between 0 and 1"),
        (lambda: brier([0, 0], [0.5, 0.5]), "name them by classes="),
        (lambda: brier([0, 2], [0.5, 0.5], classes=[0, 1]), "label 2, which is none"),
        (lambda: brier([0, 1], np.zeros((2, 1))), "column per class"),
        (lambda: fit_temperature(np.zeros(3), [0, 1, 0]), r"\(rows, scores\)"),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()
