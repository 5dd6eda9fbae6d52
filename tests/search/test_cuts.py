"""Cuts are round, inside the range, and near their quantiles."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from ecsel.search.cuts import round_centres, round_cuts


@given(st.lists(st.floats(-1e6, 1e6, allow_subnormal=False), min_size=6, max_size=80, unique=True))
def test_cuts_separate_rows_and_do_not_depend_on_their_order(values):
    x = np.array(values)
    cuts = round_cuts(x, np.ones(len(x)))
    assert cuts == round_cuts(x[::-1], np.ones(len(x)))
    for cut in cuts:
        assert x.min() < cut < x.max()


def test_repeated_rows_are_weights():
    x = np.random.default_rng(0).normal(size=50)
    w = np.random.default_rng(1).integers(1, 5, 50)
    assert round_cuts(x, w.astype(float)) == round_cuts(np.repeat(x, w), np.ones(w.sum()))


def test_few_values_have_no_cuts():
    assert round_cuts(np.array([0.0, 1.0, 2.0, 1.0]), np.ones(4)) == ()


def test_cuts_have_few_digits():
    x = np.random.default_rng(2).lognormal(3, 1, 2000)
    assert all(len(f"{cut:g}".replace(".", "").strip("0")) <= 2 for cut in round_cuts(x, np.ones(2000)))


@given(st.lists(st.floats(-1e6, 1e6, allow_subnormal=False), min_size=6, max_size=80, unique=True))
def test_centres_are_different_and_lie_among_the_values(values):
    x = np.array(values)
    centres = round_centres(x, np.ones(len(x)))
    assert centres == round_centres(x[::-1], np.ones(len(x)))
    assert 1 <= len(set(centres)) == len(centres) <= 5
    assert all(x.min() <= centre <= x.max() for centre in centres)


def test_the_middle_comes_first():
    x = np.random.default_rng(3).lognormal(3, 1, 2000)
    middle, *others = round_centres(x, np.ones(2000))
    assert 0.44 <= (x <= middle).mean() <= 0.56
    assert others == sorted(others)
    assert round_centres(np.array([0.0, 1.0, 2.0, 1.0]), np.ones(4)) == ()
