"""The few columns that may take part: those that say something, counted with all their features."""

import numpy as np
import pytest

from ecsel.fitting import Constraints, Logistic
from ecsel.fitting.screening import first_columns


def table(seed=0, n=800, m=7):
    rng = np.random.default_rng(seed)
    u = rng.normal(size=(m, n))
    z = 2.0 * u[1] - 1.5 * u[4] + 1.0 * u[5]
    return u, (rng.random(n) < 1 / (1 + np.exp(-z))).astype(int), np.ones(n)


@pytest.mark.parametrize("most", [1, 2, 3])
def test_the_strongest_are_kept(most):
    kept = first_columns(table(), Logistic(), Constraints(), np.arange(7), most)
    assert kept.sum() == most
    assert kept[[1, 4, 5][:most]].all()


def test_a_column_counts_once_for_all_its_features():
    columns = np.array([0, 1, 0, 2, 1, 2, 3])
    kept = first_columns(table(), Logistic(), Constraints(), columns, 2)
    np.testing.assert_array_equal(kept, np.isin(columns, [1, 2]))


def test_nothing_is_left_out_where_columns_are_few():
    assert first_columns(table(), Logistic(), Constraints(), np.zeros(7, dtype=int), 1).all()


def test_what_limits_keep_out_is_not_kept():
    barred = Constraints().only(np.arange(7) != 1)
    kept = first_columns(table(), Logistic(), barred, np.arange(7), 2)
    np.testing.assert_array_equal(np.flatnonzero(kept), [4, 5])
