"""The compiled loop of the MLP takes scikit-learn's steps: the same epochs, losses and probabilities."""

import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.neural_network import MLPClassifier

from benchmarks.mlp import CompiledMLP


@pytest.mark.parametrize("activation", ["relu", "tanh"])
@pytest.mark.parametrize(("n_classes", "options"), [(2, {"alpha": 0.5}), (3, {"batch_size": 33}), (2, {"tol": 0.02})])
def test_compiled_and_scikit_learn_agree(activation, n_classes, options):
    rng = np.random.default_rng(n_classes)
    X = rng.normal(size=(250, 4))
    y = np.array(["no", "yes", "perhaps"])[np.digitize(X[:, 0] + 0.3 * rng.normal(size=250), [0, 1][: n_classes - 1])]
    made = {"hidden_layer_sizes": 12, "activation": activation, "max_iter": 60, "random_state": 7, **options}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        theirs, ours = MLPClassifier(**made).fit(X, y), CompiledMLP(**made).fit(X, y)
    assert ours.n_iter_ == theirs.n_iter_
    assert ours.n_iter_ < 60 or "tol" not in options  # the rule to stop is tried too
    assert ours.loss_curve_ == pytest.approx(theirs.loss_curve_, rel=1e-9)
    assert ours.predict_proba(X) == pytest.approx(theirs.predict_proba(X), abs=1e-9)
    assert (ours.predict(X) == theirs.predict(X)).all()


def test_what_the_loop_does_not_do_is_refused():
    X, y = np.ones((40, 2)), np.arange(40) % 2
    with pytest.raises(ValueError, match="one hidden layer, is fitted by Adam and does not stop early"):
        CompiledMLP(hidden_layer_sizes=(3, 3)).fit(X, y)
