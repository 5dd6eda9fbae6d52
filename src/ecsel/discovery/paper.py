"""The paper's own trainers, for a given number of terms K.

The loss is the mean squared error plus lambda times the l1 norm of the exponents (the paper's equation for symbolic
regression). One term: L-BFGS-B from several starts. Several terms: Adam with stronger sparsity, Adam with less, then
L-BFGS from the best Adam solution.
"""

from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize

from ecsel._typing import Floats
from ecsel.signomial.columns import LOG_LIMIT


@dataclass(frozen=True)
class PaperSettings:
    """Settings of the paper's trainers."""

    l1: float = 1e-4
    starts: int = 20
    steps: int = 2000
    learning_rate: float = 0.02
    largest_exponent: float = 6.0


@dataclass(frozen=True, eq=False)
class _Loss:
    log_x: Floats
    y: Floats
    n_terms: int

    def split(self, theta: Floats) -> tuple[Floats, Floats]:
        return theta[: self.n_terms], theta[self.n_terms :].reshape(self.n_terms, -1)

    def __call__(self, theta: Floats, l1: float) -> tuple[float, Floats]:
        """Return loss and gradient; |b| is smoothed near zero so that quasi-Newton steps make sense there."""
        a, b = self.split(theta)
        phi = np.exp(np.clip(self.log_x @ b.T, -LOG_LIMIT, LOG_LIMIT))
        residual = phi @ a - self.y
        n = len(self.y)
        smooth = np.sqrt(b**2 + 1e-8)
        grad_a = 2.0 / n * (phi.T @ residual)
        grad_b = 2.0 / n * (phi * a * residual[:, None]).T @ self.log_x + l1 * b / smooth
        return float(residual @ residual / n + l1 * smooth.sum()), np.concatenate([grad_a, grad_b.ravel()])


def _adam(loss: _Loss, theta: Floats, l1: float, settings: PaperSettings) -> Floats:
    first, second = np.zeros_like(theta), np.zeros_like(theta)
    best, best_value = theta, np.inf
    for t in range(1, settings.steps + 1):
        value, gradient = loss(theta, l1)
        if value < best_value:
            best, best_value = theta, value
        gradient = gradient / max(1.0, float(np.linalg.norm(gradient)))
        first, second = 0.9 * first + 0.1 * gradient, 0.999 * second + 0.001 * gradient**2
        step = settings.learning_rate * (first / (1 - 0.9**t)) / (np.sqrt(second / (1 - 0.999**t)) + 1e-8)
        theta = theta - step
    return best


def _polish(loss: _Loss, theta: Floats, l1: float, settings: PaperSettings) -> tuple[float, Floats]:
    k, m = loss.n_terms, loss.log_x.shape[1]
    bounds = [(None, None)] * k + [(-settings.largest_exponent, settings.largest_exponent)] * (k * m)
    start = np.concatenate([theta[:k], np.clip(theta[k:], -settings.largest_exponent, settings.largest_exponent)])
    result = minimize(loss, start, args=(l1,), jac=True, method="L-BFGS-B", bounds=bounds, options={"maxiter": 2000})
    return float(result.fun), np.asarray(result.x)


def train(
    X: Floats, y: Floats, n_terms: int, rng: np.random.Generator, settings: PaperSettings | None = None
) -> tuple[Floats, Floats]:
    """Return coefficients (K,) and exponents (K, columns) of the paper's training on positive columns.

    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(1, 5, (50, 2))
    >>> a, b = train(X, 2 * X[:, 0] / X[:, 1], 1, rng)
    >>> b.round(2)
    array([[ 1., -1.]])
    """
    settings = settings or PaperSettings()
    if np.any(X <= 0):
        bad = int(np.flatnonzero((X <= 0).any(axis=0))[0])
        raise ValueError(f"solver='paper' needs positive columns; column {bad} (counted from 0) is not")
    scale = float(np.std(y)) or 1.0
    loss = _Loss(np.log(X), y / scale, n_terms)
    size = n_terms * (1 + X.shape[1])
    found: list[tuple[float, Floats]] = []
    for _ in range(settings.starts if n_terms == 1 else max(2, settings.starts // 5)):
        theta = np.concatenate([rng.normal(0, 1, n_terms), rng.normal(0, 0.5, size - n_terms)])
        if n_terms > 1:
            theta = _adam(loss, theta, 10 * settings.l1, settings)
            theta = _adam(loss, theta, settings.l1, settings)
        found.append(_polish(loss, theta, settings.l1, settings))
    a, b = loss.split(min(found, key=lambda f: f[0])[1])
    return a * scale, b
