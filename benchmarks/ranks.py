"""Ranks of methods over tables, and when a difference of mean ranks is more than chance.

With k methods on N tables the Friedman test asks whether the mean ranks differ at all; two of them differ by Nemenyi's
test when they are further apart than the critical difference q_α √(k(k+1)/(6N)), q_α the studentised range of k groups
over √2 (Demšar 2006).
"""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
from scipy.stats import friedmanchisquare, rankdata, studentized_range

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from numpy.typing import NDArray


def mean_ranks(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the mean rank of each method (row) over the tables (columns); 1 is the lowest value, NaN comes last."""
    return np.asarray(rankdata(np.where(np.isnan(values), np.inf, values), axis=0).mean(axis=1))


def friedman_p(values: NDArray[np.float64]) -> float:
    """Return the p-value of equal mean ranks; NaN below three methods or two tables, where the test is not defined."""
    if values.shape[0] < 3 or values.shape[1] < 2:
        return float("nan")
    return float(friedmanchisquare(*np.where(np.isnan(values), np.inf, values)).pvalue)


def critical_difference(n_methods: int, n_tables: int, level: float = 0.05) -> float:
    """Return the least difference of mean ranks that Nemenyi's test calls significant."""
    q = float(studentized_range.ppf(1 - level, n_methods, np.inf)) / np.sqrt(2)
    return float(q * np.sqrt(n_methods * (n_methods + 1) / (6 * n_tables)))


def largest_block(complete: Collection[tuple[str, str]], methods: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the methods and tables of the largest full block of (table, method) pairs, most methods first on ties.

    Ranks need every method on every table; a run in progress has holes.
    """
    tables = list(dict.fromkeys(table for table, _ in complete))
    best: tuple[list[str], list[str]] = ([], [])
    for size in range(len(methods), 0, -1):
        for chosen in combinations(methods, size):
            shared = [table for table in tables if all((table, method) in complete for method in chosen)]
            if len(shared) * size > len(best[0]) * len(best[1]):
                best = list(chosen), shared
    return best


def wilson_interval(share: float, n: int, z: float = 1.959964) -> tuple[float, float]:
    """Return Wilson's 95 % interval of a share of n rows."""
    centre = (share + z**2 / (2 * n)) / (1 + z**2 / n)
    half = z / (1 + z**2 / n) * np.sqrt(share * (1 - share) / n + z**2 / (4 * n**2))
    return float(centre - half), float(centre + half)
