"""What no search could do better: terms that no target holds, and whether the true law is the likeliest of its kind.

A term is lost where the sum of the others, in double precision, is the target itself in every row.

Under lognormal noise a law f has the likelihood of the variance of ln(y/f). All products of at most two columns with
the powers below, and all sums of two of them with positive coefficients, are tried: where another one of as many terms
as the truth is likelier, a judge who knows the noise, the number of terms and the powers would still take that one.
"""

from __future__ import annotations

from itertools import combinations, product
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from benchmarks.laws_data import Task

    Floats = NDArray[np.float64]

POWERS = (-2.0, -1.0, -0.5, 0.5, 1.0, 1.5, 2.0, 3.0)
RATIOS = np.exp(np.linspace(-3.5, 3.5, 29))
"""Ratios of the two terms in the geometric mean over the rows, where both matter."""


def products(n_columns: int) -> Floats:
    """Return the exponents (products, columns) of at most two columns.

    >>> len(products(3))
    217
    """
    found = [np.zeros(n_columns)]
    for size in (1, 2):
        for columns in combinations(range(n_columns), size):
            for powers in product(POWERS, repeat=size):
                found.append(np.zeros(n_columns))
                found[-1][list(columns)] = powers
    return np.array(found)


def n_lost(task: Task) -> int:
    """Return how many terms of a law without noise no number of its target depends on."""
    values = np.array([term.evaluate(task.table) for term in task.terms])
    whole = values.sum(axis=0)
    return sum(bool((np.delete(values, i, axis=0).sum(axis=0) == whole).all()) for i in range(len(values)))


def is_likeliest(task: Task) -> bool:
    """Return whether no other product, or sum of two for a law of two terms, is likelier than the truth."""
    names = list(task.table)
    truth = np.array([[term.powers.get(str(name), 0.0) for name in names] for term in task.terms])
    exponents = products(len(names))
    logs = np.log(task.table.to_numpy()) @ exponents.T
    logs -= logs.mean(axis=0)
    target = np.log(task.target)[:, None]
    place = [int(np.flatnonzero((exponents == term).all(axis=1))[0]) for term in truth]
    if len(place) == 1:
        variance = (target - logs).var(axis=0)
        return bool(variance[place[0]] <= variance.min())
    i, j = np.triu_indices(len(exponents), 1)
    values, variance = np.exp(logs), np.full(len(i), np.inf)
    for ratio in RATIOS:
        variance = np.minimum(variance, (target - np.log(values[:, i] + ratio * values[:, j])).var(axis=0))
    own = int(np.flatnonzero((i == min(place)) & (j == max(place)))[0])
    return bool(variance[own] <= variance.min())
