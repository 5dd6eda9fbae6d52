"""Shapley values by their definition, over all coalitions: the reference that shares nothing with the closed form.

The players are split in two halves. For a term the worth of a coalition (S, T) is the mean over background rows of a
factor of S times a factor of T, so all 2^P worths are one matrix product of two tables of 2^(P/2) rows; 22 columns take
seconds. That the game is the model's own is checked on random coalitions against `decision_function`.
"""

from __future__ import annotations

from math import factorial
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
CHECKED = 5


def enumerated(model: Any, rows: Floats, background: Floats) -> Floats:
    """Return the Shapley values (rows, columns) of the score of a sigmoid model on columns of numbers."""
    (equation,) = model.equations_.values()
    names = model.encoder_.feature_names
    used = [j for j, name in enumerate(names) if name in equation.names]
    beta = np.array([[float(term.exponents.get(names[j], 0)) for j in used] for term in equation.terms])
    alpha = np.array([term.coefficient for term in equation.terms])
    at_x, behind = (model.encoder_.log_features(X, warn=False).T[:, used] for X in (rows, background))
    rng = np.random.default_rng(0)
    result = np.zeros(rows.shape)
    for i, u in enumerate(at_x):
        worth = _worths(alpha, beta, u, behind)
        for coalition in rng.integers(0, worth.size, CHECKED).tolist():
            _check(model, rows[i], background, [j for k, j in enumerate(used) if coalition >> k & 1], worth[coalition])
        result[i, model.encoder_.feature_groups[used]] = _shapley(worth, len(used))
    return result


def _worths(alpha: Floats, beta: Floats, u: Floats, behind: Floats) -> Floats:
    """Return v(S) for every coalition, whose members are the bits of its position."""
    half = len(u) // 2
    total = np.zeros((2 ** (len(u) - half), 2**half))
    for a, b in zip(alpha, beta, strict=True):
        tables = []
        for part in (slice(0, half), slice(half, None)):
            n = len(b[part])
            inside = ((np.arange(2**n)[:, None] >> np.arange(n)) & 1).astype(np.float64)
            own = np.exp(inside @ (b[part] * u[part]))[:, None]
            tables.append(own * np.exp((1 - inside) @ (b[part] * behind[:, part]).T))
        total += a * (tables[1] @ tables[0].T) / len(behind)
    return total.ravel()


def _shapley(worth: Floats, n_groups: int) -> Floats:
    size = np.zeros(worth.size, dtype=np.intp)
    for j in range(n_groups):
        size += (np.arange(worth.size) >> j) & 1
    weight = np.array([factorial(s) * factorial(n_groups - 1 - s) / factorial(n_groups) for s in range(n_groups)])
    values = np.empty(n_groups)
    for j in range(n_groups):
        pairs, without = worth.reshape(-1, 2, 1 << j), size.reshape(-1, 2, 1 << j)[:, 0]
        values[j] = np.sum(weight[without] * (pairs[:, 1] - pairs[:, 0]))
    return values


def _check(model: Any, row: Floats, background: Floats, members: list[int], worth: float) -> None:
    mixed = background.copy()
    columns = model.encoder_.feature_groups[members]
    mixed[:, columns] = row[columns]
    expected = float(model.decision_function(mixed).mean())
    if abs(expected - worth) > 1e-9 * (1 + abs(expected)):
        raise AssertionError(f"the enumerated game is not the model's: {worth} against {expected}")
