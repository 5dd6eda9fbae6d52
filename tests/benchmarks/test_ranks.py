"""Ranks and their tests, against published constants, SciPy and brute force."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import binomtest

from benchmarks.ranks import critical_difference, friedman_p, largest_block, mean_ranks, wilson_interval


@given(arrays(np.float64, (4, 6), elements=st.floats(-5, 5)))
def test_mean_ranks_average_to_the_middle(values):
    ranks = mean_ranks(values)
    assert ranks.mean() == pytest.approx(2.5)
    assert (ranks >= 1).all()
    assert (ranks <= 4).all()


def test_lower_is_better_and_unfinished_is_last():
    values = np.array([[0.1, 0.2], [0.3, np.nan], [0.2, 0.1]])
    assert mean_ranks(values).tolist() == [1.5, 3.0, 1.5]


@pytest.mark.parametrize(("k", "q"), [(2, 1.960), (3, 2.343), (5, 2.728), (10, 3.164)])
def test_critical_differences_are_the_published_ones(k, q):
    # Demšar 2006, table 5(a): q at 5 %; his example of 4 classifiers on 14 tables has 1.25
    assert critical_difference(k, 10) == pytest.approx(q * np.sqrt(k * (k + 1) / 60), rel=5e-4)
    assert critical_difference(4, 14) == pytest.approx(1.25, abs=5e-3)


def test_friedman_sees_a_constant_order_and_is_undefined_for_two():
    order = np.arange(4.0)[:, None] + np.zeros((4, 12))
    assert friedman_p(order) < 1e-4
    assert np.isnan(friedman_p(order[:2]))


@given(st.integers(1, 400).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_wilson_is_scipys(pair):
    hits, n = pair
    theirs = binomtest(hits, n).proportion_ci(method="wilson")
    assert wilson_interval(hits / n, n) == pytest.approx((theirs.low, theirs.high), abs=1e-7)


@given(st.sets(st.tuples(st.sampled_from("tuvw"), st.sampled_from("abcd"))))
def test_the_block_is_full_and_none_is_larger(complete):
    methods, tables = largest_block(complete, "abcd")
    assert {(t, m) for t in tables for m in methods} <= complete
    sizes = [
        len(ms) * len(ts)
        for i in range(1, 5)
        for j in range(1, 5)
        for ms in combinations("abcd", i)
        for ts in combinations("tuvw", j)
        if {(t, m) for t in ts for m in ms} <= complete
    ]
    assert len(methods) * len(tables) == max(sizes, default=0)
