"""Strengths of methods by Bradley and Terry's model of paired comparisons, on the scale of Elo, with intervals.

Each table is a round in which every two methods meet; the lower value wins, equal ones share the point. The model says
P(a beats b) = 1 / (1 + 10^((s_b − s_a)/400)); the strengths s have mean 1000. A draw of weight `PRIOR` between every
two methods keeps a method that never lost at a finite strength. Intervals are the 2.5th and 97.5th percentiles over
bootstrap samples of the tables.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

PRIOR = 0.5
SCALE, CENTRE = 400 / np.log(10), 1000.0


def wins(values: Floats) -> Floats:
    """Return how often each method (row) has the lower value than each other one; NaN loses to every number."""
    lowest = np.where(np.isnan(values), np.inf, values)
    less, equal = (
        compare(lowest[:, None, :], lowest[None, :, :]).sum(axis=2).astype(np.float64)
        for compare in (np.less, np.equal)
    )
    won = less + equal / 2
    np.fill_diagonal(won, 0.0)
    return np.asarray(won)


def strengths(won: Floats, *, prior: float = PRIOR) -> Floats:
    """Return the strengths that make the wins most likely, by the updates of Hunter (2004)."""
    n = len(won)
    games = won + prior / 2 * (1 - np.eye(n))
    both, total = games + games.T, games.sum(axis=1)
    rating = np.ones(n)
    for _ in range(10_000):
        fresh = total / (both / (rating[:, None] + rating[None, :])).sum(axis=1)
        fresh /= np.exp(np.log(fresh).mean())
        done = np.abs(np.log(fresh / rating)).max() < 1e-10
        rating = fresh
        if done:
            break
    return np.asarray(CENTRE + SCALE * np.log(rating))


def elo(values: Floats, *, n_samples: int = 200, seed: int = 0) -> tuple[Floats, Floats, Floats]:
    """Return strengths of the methods (rows) over the tables (columns), and the ends of their 95 % intervals."""
    rng = np.random.default_rng(seed)
    n_tables = values.shape[1]
    samples = [strengths(wins(values[:, rng.integers(0, n_tables, n_tables)])) for _ in range(n_samples)]
    low, high = np.percentile(samples, [2.5, 97.5], axis=0)
    return strengths(wins(values)), low, high
