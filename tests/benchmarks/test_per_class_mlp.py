"""The per-class networks: the formula, which parameters there are, and training that learns and repeats."""

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.preprocessing import minmax_scale

from benchmarks.hidden_layer import Sizes
from benchmarks.per_class_mlp import PerClassMLP, per_class, start


@pytest.mark.parametrize("activation", ["relu", "tanh"])
def test_probabilities_are_the_formula_of_one_network_per_class(activation):
    X, y = load_iris(return_X_y=True)
    X = minmax_scale(X, (1, 10))
    model = PerClassMLP(2, activation, epochs=5).fit(X, y)
    sigma = np.tanh if activation == "tanh" else lambda s: np.maximum(s, 0)
    theta, mixed = model.theta_, slice(30, 48)  # W is 4 × 6, a has 6, V is 6 × 3, b has 3
    w, a, v, b = theta[:24].reshape(4, 6), theta[24:30], theta[mixed].reshape(6, 3), theta[48:]
    z = np.array(
        [
            [b[c] + sum(v[k, c] * sigma(w[:, k] @ x + a[k]) for k in (2 * c, 2 * c + 1)) for c in range(3)]
            for x in X[::7]
        ]
    )
    p = np.exp(z) / np.exp(z).sum(axis=1, keepdims=True)
    assert model.predict_proba(X[::7]) == pytest.approx(p, rel=1e-12)
    # the weights from a class's units to another class's score are no parameters: they start and stay at zero
    sizes = Sizes(4, 6, 3)
    assert (theta[~per_class(sizes)] == 0).all()
    assert np.count_nonzero(start(sizes, np.random.default_rng(0))) == 3 * (2 * (4 + 2) + 1)


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
