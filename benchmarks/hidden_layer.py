"""Networks of one hidden layer, trained by compiled mini-batch Adam: what both kinds of network of the field share.

z(x) = b + Vᵀ σ(Wᵀ x + a) with σ the rectifier or tanh, and p the softmax of the scores, or the logistic function of a
single one. The loss of a batch of n rows is its mean cross-entropy plus α (|W|² + |V|²)/(2n), scikit-learn's ridge. Its
gradient is the chain rule: with r = p − onehot(y), ∂/∂b = r, ∂/∂V = σ rᵀ, and with s = (V r) ⊙ σ', ∂/∂a = s,
∂/∂W = x sᵀ, averaged over the batch.

Batches are small and many, so the time is that of calls, not of arithmetic: numba compiles the whole epoch.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numba
import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Codes = NDArray[np.intp]

BETAS = (0.9, 0.999)
EPSILON = 1e-8


class Sizes(NamedTuple):
    """Columns, hidden units and scores; parameters are one vector: W (columns, units), a, V (units, scores), b."""

    n_columns: int
    n_units: int
    n_scores: int

    @property
    def n_parameters(self) -> int:
        """The length of the vector of parameters."""
        return (self.n_columns + 1) * self.n_units + (self.n_units + 1) * self.n_scores


class Adam(NamedTuple):
    """The state of the trainer: parameters, both moments (changed in place) and which parameters may move."""

    theta: Floats
    first: Floats
    second: Floats
    free: NDArray[np.bool_]

    @classmethod
    def start(cls, theta: Floats, free: NDArray[np.bool_] | None = None) -> Adam:
        """Return the state before the first step."""
        free = np.ones(len(theta), dtype=bool) if free is None else free
        return cls(theta, np.zeros_like(theta), np.zeros_like(theta), free)


class Gradient(NamedTuple):
    """The loss of a batch and its gradient."""

    loss: float
    slopes: Floats


@numba.njit(cache=True)
def parts(theta: Floats, sizes: Sizes) -> tuple[Floats, Floats, Floats, Floats]:
    """Return W, a, V and b as views of the vector of parameters."""
    m, u, c = sizes
    after_a, after_v = (m + 1) * u, (m + 1) * u + u * c
    V = theta[after_a:after_v].reshape(u, c)
    return theta[: m * u].reshape(m, u), theta[m * u : after_a], V, theta[after_v:]


@numba.njit(cache=True)
def forward(theta: Floats, sizes: Sizes, tanh: bool, X: Floats, h: Floats, z: Floats) -> None:
    """Write the hidden units and the scores of rows."""
    W, a, V, b = parts(theta, sizes)
    np.dot(X, W, h)
    for i in range(len(h)):
        for k in range(h.shape[1]):
            s = h[i, k] + a[k]
            if tanh:
                # one exponential is cheaper than tanh, and as exact in absolute terms
                t = math.exp(-2 * abs(s))
                h[i, k] = math.copysign((1 - t) / (1 + t), s)
            else:
                h[i, k] = max(s, 0.0)
    np.dot(h, V, z)
    z += b


def scores(theta: Floats, sizes: Sizes, tanh: bool, X: Floats) -> Floats:
    """Return the scores of rows."""
    h, z = np.empty((len(X), sizes.n_units)), np.empty((len(X), sizes.n_scores))
    forward(theta, sizes, tanh, X, h, z)
    return z


@numba.njit(cache=True)
def residuals(z: Floats, y: Codes) -> float:
    """Turn scores into p − onehot(y) in place; return the sum of the cross-entropies."""
    loss = 0.0
    for i in range(len(z)):
        if z.shape[1] == 1:
            sign = 1.0 if y[i] == 1 else -1.0
            t = math.exp(-abs(z[i, 0]))
            loss += max(-sign * z[i, 0], 0.0) + math.log1p(t)
            z[i, 0] = (1 / (1 + t) if z[i, 0] >= 0 else t / (1 + t)) - y[i]
            continue
        top = z[i].max()
        loss += top - z[i, y[i]]
        total = 0.0
        for c in range(z.shape[1]):
            z[i, c] = math.exp(z[i, c] - top)
            total += z[i, c]
        loss += math.log(total)
        for c in range(z.shape[1]):
            z[i, c] /= total
        z[i, y[i]] -= 1
    return loss


@numba.njit(cache=True)
def _sum_of_squares(x: Floats) -> float:
    total = 0.0
    for value in x.flat:
        total += value * value
    return total


@numba.njit(cache=True)
def _gradient(
    theta: Floats,
    sizes: Sizes,
    tanh: bool,
    ridge: float,
    X: Floats,
    y: Codes,
    out: Floats,
    room: tuple[Floats, Floats, Floats],
) -> float:
    """Write the gradient of a batch's loss; return the loss. `room` is for units, scores and what is sent back."""
    n = len(X)
    h, r, s = room[0][:n], room[1][:n], room[2][:n]
    W, _, V, _ = parts(theta, sizes)
    to_w, to_a, to_v, to_b = parts(out, sizes)
    forward(theta, sizes, tanh, X, h, r)
    loss: float = residuals(r, y) / n
    for i in range(n):
        for c in range(r.shape[1]):
            r[i, c] /= n
    np.dot(r, V.T, s)
    to_a[:] = 0
    to_b[:] = 0
    for i in range(n):
        for k in range(s.shape[1]):
            s[i, k] *= (1 - h[i, k] * h[i, k]) if tanh else (1.0 if h[i, k] > 0 else 0.0)
            to_a[k] += s[i, k]
        for c in range(r.shape[1]):
            to_b[c] += r[i, c]
    np.dot(X.T, s, to_w)
    np.dot(h.T, r, to_v)
    if ridge > 0:
        loss += ridge * (_sum_of_squares(W) + _sum_of_squares(V)) / (2 * n)
        to_w += ridge / n * W
        to_v += ridge / n * V
    return loss


@numba.njit(cache=True)
def _room(sizes: Sizes, n_rows: int) -> tuple[Floats, Floats, Floats]:
    """Return arrays that are written anew for every batch: allocating them would take longer than filling them."""
    _, u, c = sizes
    return np.empty((n_rows, u)), np.empty((n_rows, c)), np.empty((n_rows, u))


def gradient(theta: Floats, sizes: Sizes, tanh: bool, ridge: float, X: Floats, y: Codes) -> Gradient:
    """Return the loss of a batch and its gradient."""
    out = np.empty_like(theta)
    return Gradient(_gradient(theta, sizes, tanh, ridge, X, y, out, _room(sizes, len(X))), out)


@numba.njit(cache=True)
def epoch(
    adam: Adam,
    steps: int,
    sizes: Sizes,
    tanh: bool,
    rate: float,
    ridge: float,
    clip: float,
    X: Floats,
    y: Codes,
    order: Codes,
    batch: int,
) -> float:
    """Take a step of Adam for every batch of rows in `order`, with gradients clipped at norm `clip`.

    `steps` were taken before. Returns the mean over rows of the losses of their batches, each before its step.
    """
    theta, first, second, free = adam
    g, room = np.empty_like(theta), _room(sizes, batch)
    X_batch, y_batch = np.empty((batch, X.shape[1])), np.empty(batch, dtype=y.dtype)
    total = 0.0
    for start in range(0, len(order), batch):
        n = min(batch, len(order) - start)
        for i in range(n):
            X_batch[i], y_batch[i] = X[order[start + i]], y[order[start + i]]
        total += n * _gradient(theta, sizes, tanh, ridge, X_batch[:n], y_batch[:n], g, room)
        g *= free
        shrink = min(1.0, clip / max(math.sqrt(_sum_of_squares(g)), 1e-12))
        steps += 1
        step = rate * math.sqrt(1 - BETAS[1] ** steps) / (1 - BETAS[0] ** steps)
        for j in range(len(theta)):
            slope = shrink * g[j]
            first[j] = BETAS[0] * first[j] + (1 - BETAS[0]) * slope
            second[j] = BETAS[1] * second[j] + (1 - BETAS[1]) * slope * slope
            theta[j] -= step * first[j] / (math.sqrt(second[j]) + EPSILON)
    return total / len(order)
