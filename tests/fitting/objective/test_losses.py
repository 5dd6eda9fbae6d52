"""Links: loss, residual and curvature are one function and its derivatives, at any size of score."""

import numpy as np
import pytest

from ecsel.fitting import Logistic, Softmax

LOSSES = {"sigmoid": Logistic(), "softmax2": Softmax(2), "softmax4": Softmax(4)}


@pytest.fixture(params=LOSSES)
def loss(request):
    return LOSSES[request.param]


def draw(loss, n=30, seed=0):
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, loss.n_classes, n)
    w = rng.uniform(0.5, 2, n)
    return rng.normal(0, 2, (loss.n_scores, n)), loss.encode(codes, np.float64), w / w.sum(), codes


def test_loss_is_the_negative_log_probability_of_the_class(loss):
    z, target, w, codes = draw(loss)
    full = np.vstack([np.zeros(len(w)), z]) if loss.n_scores == 1 else z
    p = np.exp(full) / np.exp(full).sum(axis=0)
    expected = -(w * np.log(p[codes, np.arange(len(codes))])).sum()
    assert loss.value(z, target, w) == pytest.approx(expected, rel=1e-13)
    assert loss.value_and_residual(z, target, w)[0] == pytest.approx(expected, rel=1e-13)


def test_residual_is_the_derivative_of_the_loss(loss):
    z, target, w, _ = draw(loss)
    residual = loss.value_and_residual(z, target, w)[1]
    step = 1e-6
    for c in range(loss.n_scores):
        for i in range(0, z.shape[1], 5):
            move = np.zeros_like(z)
            move[c, i] = step
            slope = (loss.value(z + move, target, w) - loss.value(z - move, target, w)) / (2 * step)
            assert residual[c, i] == pytest.approx(slope, abs=1e-9)


def test_curvature_is_the_second_derivative_through_the_jacobian(loss):
    z, target, w, _ = draw(loss)
    rng = np.random.default_rng(1)
    jacobian = rng.normal(size=(loss.n_scores, 3, z.shape[1]))
    size = loss.n_scores * 3

    def gradient(theta):
        moved = z + np.einsum("cp,cpi->ci", theta.reshape(loss.n_scores, 3), jacobian)
        return np.einsum("ci,cpi->cp", loss.value_and_residual(moved, target, w)[1], jacobian).ravel()

    step = 1e-6 * np.eye(size)
    numeric = np.array([(gradient(s) - gradient(-s)) / 2e-6 for s in step])
    found = loss.curvature(jacobian, loss.value_and_residual(z, target, w)[2], w)
    np.testing.assert_allclose(found, numeric, atol=1e-8)
    np.testing.assert_allclose(found, found.T, rtol=1e-13)


def test_a_sigmoid_is_a_softmax_of_two_scores_with_the_first_zero():
    sigmoid, softmax = Logistic(), Softmax(2)
    z, target, w, codes = draw(sigmoid)
    both, indicator = np.vstack([np.zeros_like(z), z]), softmax.encode(codes, np.float64)
    value, residual, error = sigmoid.value_and_residual(z, target, w)
    value2, residual2, p = softmax.value_and_residual(both, indicator, w)
    assert value == pytest.approx(value2, rel=1e-14)
    np.testing.assert_allclose(residual[0], residual2[1], atol=1e-16)
    np.testing.assert_allclose(error[0], 1 - p[codes, np.arange(len(codes))], atol=1e-15)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_scores_of_a_thousand_lose_nothing(loss, dtype):
    z = np.zeros((loss.n_scores, 2), dtype)
    z[-1] = [1e3, -1e3]
    codes = np.array([0, loss.n_classes - 1])
    w, target = np.array([0.5, 0.5], dtype), loss.encode(codes, dtype)
    value, residual, p = loss.value_and_residual(z, target, w)
    assert value == pytest.approx(1e3 + (0 if loss.n_scores == 1 else np.log(loss.n_scores - 1) / 2), rel=1e-6)
    assert loss.value(z, target, w) == pytest.approx(value)
    assert np.isfinite(loss.curvature(np.ones((loss.n_scores, 1, 2), dtype), p, w)).all()
    np.testing.assert_allclose(np.abs(residual[-1]), 0.5)


def test_probabilities_that_are_nearly_one_keep_their_small_complement():
    z = np.array([[40.0]])
    residual = Logistic().value_and_residual(z, np.array([[1.0]]), np.ones(1))[1]
    assert residual[0, 0] == pytest.approx(-np.exp(-40.0), rel=1e-12)


def test_empty_scores_are_the_stationary_point_without_features(loss):
    shares = np.arange(1.0, loss.n_classes + 1)
    shares /= shares.sum()
    z = np.repeat(loss.empty_scores(shares)[:, None], loss.n_classes, axis=1)
    residual = loss.value_and_residual(z, loss.encode(np.arange(loss.n_classes), np.float64), shares)[1]
    np.testing.assert_allclose(residual.sum(axis=1), 0, atol=1e-15)
