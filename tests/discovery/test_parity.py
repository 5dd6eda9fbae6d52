"""The Walsh-Hadamard transform and the parities it suggests."""

import numpy as np
from scipy.linalg import hadamard

from ecsel.discovery.parity import likely_parities, walsh_hadamard
from ecsel.discovery.rows import Rows


def test_the_transform_is_multiplication_by_the_hadamard_matrix():
    values = np.random.default_rng(0).normal(size=16)
    np.testing.assert_allclose(walsh_hadamard(values), hadamard(16) @ values)


def test_the_parity_of_a_term_comes_first():
    rng = np.random.default_rng(1)
    X = np.column_stack([rng.normal(size=(80, 3)), rng.uniform(1, 2, 80)])
    rows = Rows.from_table(X, X[:, 0] * X[:, 2] ** 3 * X[:, 3] / X[:, 1] ** 2)
    assert likely_parities(rows, 3)[0].tolist() == [1, 0, 1, 0]


def test_positive_columns_have_no_parity():
    rows = Rows.from_table(np.random.default_rng(0).uniform(1, 2, (10, 2)), np.ones(10))
    assert likely_parities(rows, 5).tolist() == [[0, 0]]
