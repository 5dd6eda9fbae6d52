"""The per-class networks: the formula, its gradient, and training that learns and repeats."""

import numpy as np
import pytest
from scipy.optimize import approx_fprime
from sklearn.datasets import load_iris
from sklearn.metrics import log_loss
from sklearn.preprocessing import minmax_scale

from benchmarks.per_class_mlp import Network, PerClassMLP


@pytest.mark.parametrize("activation", ["relu", "tanh"])
def test_probabilities_are_the_formula_and_the_gradient_its_slope(activation):
    rng = np.random.default_rng(0)
    network = Network(n_classes=3, n_units=2, n_columns=4, activation=activation)
    theta, X, y = network.start(rng), rng.uniform(1, 10, (20, 4)), rng.integers(0, 3, 20)
    sigma = np.tanh if activation == "tanh" else lambda s: np.maximum(s, 0)
    w, a, v, b = theta[:24].reshape(3, 2, 4), theta[24:30].reshape(3, 2), theta[30:36].reshape(3, 2), theta[36:]
    z = np.array([[b[c] + sum(v[c, k] * sigma(w[c, k] @ x + a[c, k]) for k in range(2)) for c in range(3)] for x in X])
    p = np.exp(z) / np.exp(z).sum(axis=1, keepdims=True)
    assert network.probabilities(theta, X) == pytest.approx(p, rel=1e-12)
    assert network.loss(theta, X, y) == pytest.approx(log_loss(y, p, labels=[0, 1, 2]), rel=1e-12)
    slope = approx_fprime(theta, lambda t: network.loss(t, X, y), 1e-7)
    assert network.gradient(theta, X, y) == pytest.approx(slope, abs=1e-5)


def test_training_learns_repeats_and_keeps_labels():
    X, y = load_iris(return_X_y=True)
    X, names = minmax_scale(X, (1, 10)), np.array(["s", "ve", "vi"])[y]
    model = PerClassMLP(2, "tanh", 1e-2, 32, epochs=200, random_state=1).fit(X, names)
    assert (model.predict(X) == names).mean() > 0.93
    again = PerClassMLP(2, "tanh", 1e-2, 32, epochs=200, random_state=1).fit(X, names)
    assert (again.theta_ == model.theta_).all()


def test_an_unknown_activation_is_refused():
    with pytest.raises(ValueError, match="activation='step' is not known"):
        PerClassMLP(activation="step").fit([[1.0], [2.0]], [0, 1])
