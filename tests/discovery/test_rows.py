"""Designs from logarithms equal powers computed directly."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from ecsel.discovery.rows import Rows


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000))
def test_columns_are_signed_powers(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(12, 3)) * 10.0 ** rng.integers(-3, 4, 3)
    weight = rng.uniform(0.5, 2.0, 12)
    b = rng.uniform(-2, 2, (4, 3))
    p = rng.integers(0, 2, (4, 3)).astype(np.int8)
    direct = np.stack([np.prod(np.sign(X) ** p[k] * np.abs(X) ** b[k], axis=1) for k in range(4)], axis=1)
    rows = Rows.from_table(X, X[:, 0], weight)
    np.testing.assert_allclose(rows.raw_columns(b, p), direct * np.sqrt(weight)[:, None], rtol=1e-9)


def test_zero_to_a_positive_power_is_zero_and_to_the_zeroth_is_one():
    rows = Rows.from_table(np.array([[0.0], [2.0]]), np.ones(2))
    columns = rows.raw_columns(np.array([[1.0], [0.0], [0.2]]), np.zeros((3, 1), dtype=np.int8))
    np.testing.assert_allclose(columns[0], [0.0, 1.0, 0.0], atol=1e-50)


def test_a_product_of_indicators_that_exclude_each_other_is_zero():
    X = np.array([[1.0, 0.0, 2.0], [0.0, 1.0, 3.0], [0.0, 0.0, 4.0]])
    rows = Rows.from_table(X, np.ones(3))
    b = np.array([[1.0, 1.0, 0.0], [1.0, 0.0, 2.0], [0.01, 0.0, 0.0]])
    phi, log_scale = rows.columns(b, np.zeros((3, 3), dtype=np.int8))
    np.testing.assert_array_equal(phi, [[0.0, 1.0, 1.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
    np.testing.assert_allclose(np.exp(log_scale), [1.0, 4.0, 1.0])


def test_no_power_of_extreme_data_overflows():
    X = 10.0 ** np.linspace(-30, 30, 50)[:, None]
    phi, _ = Rows.from_table(X, X[:, 0]).columns(np.array([[12.0], [-12.0]]), np.zeros((2, 1), dtype=np.int8))
    assert np.isfinite(phi).all()
    np.testing.assert_allclose(np.abs(phi).max(axis=0), 1.0)


def test_reweighting_multiplies_weights():
    rows = Rows.from_table(np.array([[1.0], [2.0]]), np.array([3.0, 4.0]))
    again = rows.reweighted(np.array([2.0, 0.5]))
    np.testing.assert_allclose(again.target, [6.0, 2.0])
    np.testing.assert_allclose(again.raw_columns(np.array([[1.0]]), np.array([[1]], dtype=np.int8))[:, 0], [2.0, 1.0])
