"""Residuals and curvatures are the derivatives of the values, whatever the loss."""

import numpy as np
import pytest
from scipy.special import logsumexp

from ecsel.search.losses import Logistic, Softmax, Squared

STEP = 1e-5


def targets(loss, n, rng):
    if loss.name == "squared":
        return rng.normal(size=n)
    return rng.integers(0, max(2, loss.n_scores), n).astype(float)


@pytest.mark.parametrize("loss", [Logistic(), Softmax(2), Softmax(4), Squared()], ids=lambda loss: loss.name)
def test_derivatives_against_finite_differences(loss):
    rng = np.random.default_rng(1)
    z, y = rng.normal(0, 2, (loss.n_scores, 50)), targets(loss, 50, rng)
    means = loss.means(z)
    residuals = loss.residuals(means, y)
    for c in range(loss.n_scores):
        up, down = z.copy(), z.copy()
        up[c] += STEP
        down[c] -= STEP
        slope = (loss.values(up, y) - loss.values(down, y)) / (2 * STEP)
        np.testing.assert_allclose(residuals[c], -slope, atol=1e-8)
        for d in range(loss.n_scores):
            difference = -(loss.residuals(loss.means(up), y)[d] - loss.residuals(loss.means(down), y)[d]) / (2 * STEP)
            np.testing.assert_allclose(np.broadcast_to(loss.curvature(means, c, d), 50), difference, atol=1e-8)


@pytest.mark.parametrize("loss", [Logistic(), Softmax(3), Squared()], ids=lambda loss: loss.name)
def test_the_start_is_the_best_constant(loss):
    rng = np.random.default_rng(2)
    y, w = targets(loss, 200, rng), rng.uniform(0.5, 2, 200)
    start = loss.start(y, w)[:, None]
    gradient = (w * loss.residuals(loss.means(np.repeat(start, 200, axis=1)), y)).sum(axis=1)
    np.testing.assert_allclose(gradient, 0, atol=1e-9)


def test_values_are_finite_far_out():
    z = np.array([[800.0, -800.0]])
    np.testing.assert_allclose(Logistic().values(z, np.array([0.0, 1.0])), [800, 800])
    far = np.array([[900.0, 0.0], [-900.0, 5.0]])
    np.testing.assert_allclose(Softmax(2).values(far, np.array([1.0, 0.0])), logsumexp(far, axis=0) - [-900, 0])


def test_the_dispersion_of_squared_errors_is_the_noise_variance():
    rng = np.random.default_rng(3)
    y = 3 + 0.5 * rng.normal(size=4000)
    z = np.full((1, 4000), 3.0)
    assert Squared().dispersion(z, y, np.ones(4000), 1) == pytest.approx(0.25, rel=0.06)
    assert Logistic().dispersion(z, (y > 3) * 1.0, np.ones(4000), 1) == 1
