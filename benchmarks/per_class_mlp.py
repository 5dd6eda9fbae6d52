"""The paper's control: a small network per class in the place of the signomial, trained like it.

z_c(x) = b_c + Σ_{k=1..K} v_ck σ(⟨w_ck, x⟩ + a_ck) with σ the rectifier or tanh, and a softmax over the classes (two of
them for two classes): a network of C·K hidden units (`hidden_layer`) of which each feeds one score alone. The trainer
is that of the paper's ECSEL: mini-batch Adam, gradients clipped at norm 1, early stopping on an inner stratified 20 %
of the rows, the best epoch kept.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numba
import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.model_selection import train_test_split

from benchmarks.hidden_layer import Adam, Sizes, epoch, forward, parts, residuals, scores

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from benchmarks.hidden_layer import Codes, Floats

CLIP_NORM = 1.0


def per_class(sizes: Sizes) -> NDArray[np.bool_]:
    """Return which parameters there are: a unit of class c feeds the score of class c alone."""
    free = np.ones(sizes.n_parameters, dtype=bool)
    own = np.repeat(np.eye(sizes.n_scores, dtype=bool), sizes.n_units // sizes.n_scores, axis=0)
    parts.py_func(free, sizes)[2][:] = own
    return free


def start(sizes: Sizes, rng: np.random.Generator) -> NDArray[np.float64]:
    """Return uniform numbers within ±1/√(inputs of the layer), PyTorch's habit for linear layers."""
    inputs = np.full(sizes.n_parameters, sizes.n_columns)
    inputs[(sizes.n_columns + 1) * sizes.n_units :] = sizes.n_units // sizes.n_scores
    return np.where(per_class(sizes), rng.uniform(-1, 1, sizes.n_parameters) / np.sqrt(inputs), 0.0)


@numba.njit(cache=True)
def _train(
    adam: Adam,
    sizes: Sizes,
    tanh: bool,
    rate: float,
    X: Floats,
    y: Codes,
    X_test: Floats,
    y_test: Codes,
    rounds: tuple[int, int, int],
    rng: np.random.Generator,
) -> Floats:
    """Return the parameters of the epoch with the least loss on the rows that are held out."""
    batch, epochs, patience = rounds
    kept, best, waited = adam.theta.copy(), np.inf, 0
    units, z = np.empty((len(X_test), sizes[1])), np.empty((len(X_test), sizes[2]))
    order = np.arange(len(X))
    for n_epochs in range(epochs):
        rng.shuffle(order)
        epoch(adam, n_epochs * -(-len(X) // batch), sizes, tanh, rate, 0.0, CLIP_NORM, X, y, order, batch)
        forward(adam.theta, sizes, tanh, X_test, units, z)
        loss = residuals(z, y_test) / len(X_test)
        waited += 1
        if loss < best - 1e-6:
            kept[:] = adam.theta
            best, waited = loss, 0
        if waited >= patience:
            break
    return kept


class PerClassMLP(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Classifier of one small network per class; `n_units` hidden units each."""

    def __init__(
        self,
        n_units: int = 2,
        activation: str = "relu",
        learning_rate: float = 1e-3,
        batch_size: int = 32,
        epochs: int = 1000,
        patience: int = 20,
        random_state: int = 0,
    ) -> None:
        self.n_units = n_units
        self.activation = activation
        self.learning_rate = learning_rate
        self.batch_size = batch_size
        self.epochs = epochs
        self.patience = patience
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> Self:
        """Train by Adam until the validation loss has not fallen for `patience` epochs."""
        if self.activation not in {"relu", "tanh"}:
            raise ValueError(f"activation={self.activation!r} is not known: use 'relu' or 'tanh'.")
        X = np.ascontiguousarray(X, dtype=np.float64)
        self.classes_, codes = np.unique(np.asarray(y), return_inverse=True)
        rng = np.random.default_rng(self.random_state)
        train, test = train_test_split(
            np.arange(len(codes)), test_size=0.2, stratify=codes, random_state=self.random_state
        )
        n_classes, tanh = len(self.classes_), self.activation == "tanh"
        self.sizes_ = sizes = Sizes(X.shape[1], self.n_units * n_classes, n_classes)
        adam = Adam.start(start(sizes, rng), per_class(sizes))
        parted = (X[train], codes[train], X[test], codes[test])
        rounds = (self.batch_size, self.epochs, self.patience)
        self.theta_ = _train(adam, sizes, tanh, self.learning_rate, *parted, rounds, rng)
        return self

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the probabilities of the classes."""
        z = scores(self.theta_, self.sizes_, self.activation == "tanh", np.ascontiguousarray(X, dtype=np.float64))
        p = np.exp(z - z.max(axis=1, keepdims=True))
        return np.asarray(p / p.sum(axis=1, keepdims=True))

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the most probable class."""
        labels: NDArray[Any] = self.classes_[self.predict_proba(X).argmax(axis=1)]
        return labels
