"""Compiled networks of one hidden layer: the loss is the formula, the gradient its slope, frozen weights stay."""

import numpy as np
import pytest
from scipy.optimize import approx_fprime
from sklearn.metrics import log_loss

from benchmarks.hidden_layer import Adam, Sizes, epoch, gradient


@pytest.mark.parametrize("activation", ["relu", "tanh"])
@pytest.mark.parametrize("n_scores", [1, 3])
def test_the_loss_is_the_formula_and_the_gradient_its_slope(activation, n_scores):
    rng = np.random.default_rng(n_scores)
    sizes, ridge = Sizes(n_columns=4, n_units=5, n_scores=n_scores), 0.3
    theta, X = rng.normal(size=sizes.n_parameters), rng.normal(size=(20, 4))
    y = np.arange(20) % max(2, n_scores)
    sigma = np.tanh if activation == "tanh" else lambda s: np.maximum(s, 0)
    W, a, V, b = np.split(theta, np.cumsum([20, 5, 5 * n_scores]))
    W, V = W.reshape(4, 5), V.reshape(5, n_scores)
    z = sigma(X @ W + a) @ V + b
    z = np.hstack([np.zeros_like(z), z]) if n_scores == 1 else z
    p = np.exp(z) / np.exp(z).sum(axis=1, keepdims=True)
    loss, slopes = gradient(theta, sizes, activation == "tanh", ridge, X, y)
    expected = log_loss(y, p, labels=np.arange(p.shape[1])) + ridge * (np.sum(W**2) + np.sum(V**2)) / 40
    assert loss == pytest.approx(expected, rel=1e-12)

    def value(t):
        return gradient(t, sizes, activation == "tanh", ridge, X, y).loss

    assert slopes == pytest.approx(approx_fprime(theta, value, 1e-7), abs=1e-5)


def test_an_epoch_lowers_the_loss_and_moves_free_parameters_alone():
    rng = np.random.default_rng(0)
    sizes = Sizes(n_columns=2, n_units=3, n_scores=2)
    X = rng.normal(size=(200, 2))
    y = (X[:, 0] > 0).astype(int)
    theta = rng.normal(size=sizes.n_parameters)
    free = rng.random(sizes.n_parameters) < 0.8
    adam, before = Adam.start(theta.copy(), free), theta
    losses = [epoch(adam, 7 * t, sizes, True, 0.01, 0.0, 1.0, X, y, rng.permutation(200), 32) for t in range(30)]
    assert losses[-1] < 0.8 * losses[0]
    assert (adam.theta[~free] == before[~free]).all()
    assert (adam.theta[free] != before[free]).all()
