"""Small tables with planted equations."""

import numpy as np
import pytest

from ecsel.search.dictionary import SearchColumn


@pytest.fixture(scope="session")
def make_columns():
    """Return columns: two positive numbers, a signed one, an indicator."""

    def make(n=300, seed=0):
        rng = np.random.default_rng(seed)
        return [
            SearchColumn("a", 0, rng.uniform(1, 9, n), centres=(5.0, 2.0, 3.0, 7.0, 8.0)),
            SearchColumn("b", 1, rng.lognormal(1, 0.7, n), centres=(3.0, 1.0, 8.0)),
            SearchColumn("c", 2, rng.normal(size=n), shift=4.5),
            SearchColumn("[d = yes]", 3, (rng.random(n) < 0.4) * 1.0, straight=True),
        ]

    return make


@pytest.fixture(scope="session")
def folds_of():
    """Return folds by position as pairs of weights."""

    def folds(weights, n_folds=5):
        turn = np.arange(len(weights)) % n_folds
        return [(weights * (turn != f), weights * (turn == f)) for f in range(n_folds)]

    return folds
