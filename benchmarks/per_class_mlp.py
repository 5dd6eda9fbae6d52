"""The paper's control: a small network per class in the place of the signomial, trained like it.

z_c(x) = b_c + Σ_{k=1..K} v_ck σ(⟨w_ck, x⟩ + a_ck) with σ the rectifier or tanh, and a softmax over the classes (two of
them for two classes). The trainer is that of the paper's ECSEL: mini-batch Adam, gradients clipped at norm 1, early
stopping on an inner stratified 20 % of the rows, the best epoch kept. The gradient of the mean cross-entropy is the
chain rule: with r = p − onehot(y), ∂/∂b_c = r_c, ∂/∂v_ck = r_c σ_ck, ∂/∂w_ck = r_c v_ck σ'_ck x.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.model_selection import train_test_split

if TYPE_CHECKING:
    from numpy.typing import NDArray

CLIP_NORM = 1.0
BETAS = (0.9, 0.999)


@dataclass(frozen=True, slots=True)
class Network:
    """The networks of all classes; parameters are one vector: w (C, K, m), a (C, K), v (C, K), b (C)."""

    n_classes: int
    n_units: int
    n_columns: int
    activation: str

    @property
    def n_parameters(self) -> int:
        """The length of the vector of parameters."""
        return self.n_classes * (self.n_units * (self.n_columns + 2) + 1)

    def start(self, rng: np.random.Generator) -> NDArray[np.float64]:
        """Return uniform numbers within ±1/√(inputs of the layer), PyTorch's habit for linear layers."""
        hidden = self.n_classes * self.n_units * (self.n_columns + 1)
        inputs = np.where(np.arange(self.n_parameters) < hidden, self.n_columns, self.n_units)
        return np.asarray(rng.uniform(-1, 1, self.n_parameters) / np.sqrt(inputs))

    def _parts(self, theta: NDArray[np.float64]) -> tuple[NDArray[np.float64], ...]:
        units = self.n_classes * self.n_units
        ends = (units * self.n_columns, units * (self.n_columns + 1), units * (self.n_columns + 2))
        w = theta[: ends[0]].reshape(units, self.n_columns)
        return w, theta[ends[0] : ends[1]], theta[ends[1] : ends[2]], theta[ends[2] :]

    def _forward(self, theta: NDArray[np.float64], X: NDArray[np.float64]) -> tuple[NDArray[np.float64], ...]:
        """Return the units and the scores; small batches are many, so each line is one call of NumPy."""
        w, a, v, b = self._parts(theta)
        h = X @ w.T
        h += a
        h = np.tanh(h, out=h) if self.activation == "tanh" else np.maximum(h, 0, out=h)
        z = (h * v).reshape(len(X), self.n_classes, self.n_units).sum(axis=2)
        z += b
        return h, z

    def probabilities(self, theta: NDArray[np.float64], X: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the softmax of the scores."""
        return _softmax(self._forward(theta, X)[1])

    def loss(self, theta: NDArray[np.float64], X: NDArray[np.float64], y: NDArray[np.intp]) -> float:
        """Return the mean cross-entropy."""
        z = self._forward(theta, X)[1]
        return float(np.mean(np.logaddexp.reduce(z, axis=1) - z[np.arange(len(y)), y]))

    def gradient(self, theta: NDArray[np.float64], X: NDArray[np.float64], y: NDArray[np.intp]) -> NDArray[np.float64]:
        """Return the gradient of the mean cross-entropy."""
        h, z = self._forward(theta, X)
        r = _softmax(z)
        r[np.arange(len(y)), y] -= 1
        r /= len(y)
        out = np.empty(self.n_parameters)
        w, a, v, b = self._parts(out)
        pull = np.repeat(r, self.n_units, axis=1)
        np.add.reduce(pull * h, axis=0, out=v)
        pull *= self._parts(theta)[2]
        pull *= 1 - h * h if self.activation == "tanh" else h > 0
        np.matmul(pull.T, X, out=w)
        np.add.reduce(pull, axis=0, out=a)
        np.add.reduce(r, axis=0, out=b)
        return out


def _softmax(z: NDArray[np.float64]) -> NDArray[np.float64]:
    p = np.exp(z - np.maximum.reduce(z, axis=1, keepdims=True))
    p /= np.add.reduce(p, axis=1, keepdims=True)
    return np.asarray(p)


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
        X = np.asarray(X, dtype=np.float64)
        self.classes_, codes = np.unique(np.asarray(y), return_inverse=True)
        rng = np.random.default_rng(self.random_state)
        train, held = train_test_split(
            np.arange(len(codes)), test_size=0.2, stratify=codes, random_state=self.random_state
        )
        self.network_ = Network(len(self.classes_), self.n_units, X.shape[1], self.activation)
        theta = self.network_.start(rng)
        first, second, steps = np.zeros_like(theta), np.zeros_like(theta), 0
        self.theta_, best, waited = theta, np.inf, 0
        for _ in range(self.epochs):
            order = rng.permutation(train)
            for a in range(0, len(order), self.batch_size):
                rows = order[a : a + self.batch_size]
                g = self.network_.gradient(theta, X[rows], codes[rows])
                g *= min(1.0, CLIP_NORM / max(math.sqrt(g @ g), 1e-12))
                steps += 1
                first *= BETAS[0]
                first += (1 - BETAS[0]) * g
                second *= BETAS[1]
                second += (1 - BETAS[1]) * (g * g)
                rate = self.learning_rate * math.sqrt(1 - BETAS[1] ** steps) / (1 - BETAS[0] ** steps)
                theta = theta - rate * first / (np.sqrt(second) + 1e-8)
            loss = self.network_.loss(theta, X[held], codes[held])
            waited += 1
            if loss < best - 1e-6:
                self.theta_, best, waited = theta, loss, 0
            if waited >= self.patience:
                break
        return self

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the probabilities of the classes."""
        return self.network_.probabilities(self.theta_, np.asarray(X, dtype=np.float64))

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the most probable class."""
        labels: NDArray[Any] = self.classes_[self.predict_proba(X).argmax(axis=1)]
        return labels
