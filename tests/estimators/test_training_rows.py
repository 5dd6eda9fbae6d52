"""Rows of a search: their order, their folds and samples depend on content alone."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ecsel.estimators.training_rows import TrainingRows, like_sized


def measurements(n=200, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(3, n)).round(2), rng.lognormal(size=n).round(3)


def test_rows_of_measurements_are_ordered_by_content_and_merged():
    values, y = measurements()
    order = np.random.default_rng(1).permutation(np.repeat(np.arange(200), 2))
    once = TrainingRows.of_measurements(5, values, y, np.full(200, 2.0))
    twice = TrainingRows.of_measurements(5, values[:, order], y[order], np.ones(400))
    for name in ("values", "target", "weights", "codes"):
        np.testing.assert_array_equal(getattr(once, name), getattr(twice, name))
    assert set(zip(*once.values.tolist(), once.target.tolist(), strict=True)) == set(
        zip(*values.tolist(), y.tolist(), strict=True)
    )


@pytest.mark.parametrize("n_folds", [2, 5])
def test_every_fold_has_small_and_large_targets(n_folds):
    values, y = measurements(203)
    rows = TrainingRows.of_measurements(n_folds, values, y, np.ones(203))
    folds = rows.folds(n_folds, 0)
    assert len(folds) == n_folds
    np.testing.assert_array_equal(np.sum([test for _, test in folds], axis=0), rows.weights)
    rank = np.argsort(np.argsort(rows.target)) / len(rows)
    for train, test in folds:
        np.testing.assert_array_equal(train + test, rows.weights)
        assert abs(np.average(rank, weights=test) - 0.5) < 0.02
        assert abs(test.sum() - 203 / n_folds) <= 2


def test_folds_do_not_know_the_unit_of_the_target():
    values, y = measurements()
    plain, scaled = (TrainingRows.of_measurements(5, values, t, np.ones(200)) for t in (y, 1e6 * y - 3))
    place = {tuple(row): i for i, row in enumerate(scaled.values.T.tolist())}
    same = [place[tuple(row)] for row in plain.values.T.tolist()]
    for (_, one), (_, other) in zip(plain.folds(5, 0), scaled.folds(5, 0), strict=True):
        np.testing.assert_array_equal(one, other[same])


def test_another_seed_deals_other_folds():
    values, y = measurements()
    rows = TrainingRows.of_measurements(5, values, y, np.ones(200))
    assert any((a[1] != b[1]).any() for a, b in zip(rows.folds(5, 0), rows.folds(5, 1), strict=True))


@given(st.lists(st.integers(0, 5), min_size=1, max_size=40), st.integers(1, 10))
def test_strata_follow_the_order_of_the_numbers(numbers, n_strata):
    numbers = np.array(numbers, dtype=float)
    strata = like_sized(numbers, np.ones(len(numbers)), n_strata)
    assert ((strata >= 0) & (strata < n_strata)).all()
    order = np.argsort(numbers, kind="stable")
    assert (np.diff(strata[order]) >= 0).all()
    for value in np.unique(numbers):
        assert len(set(strata[numbers == value])) == 1


def test_a_sample_keeps_targets_with_their_rows():
    values, y = measurements(500)
    values[0] = y  # told again
    rows = TrainingRows.of_measurements(5, values, y, np.ones(500))
    sample = rows.thinned(100, 0)
    assert len(sample) == 100
    np.testing.assert_array_equal(sample.values[0], sample.target)
    assert sample.weights.sum() == pytest.approx(500)


def test_splits_name_rows_of_the_table():
    values, y = measurements(20)
    weights = np.ones(20)
    weights[3] = 0
    splits = [(np.arange(10), np.arange(10, 20)), (np.arange(10, 20), np.arange(10))]
    rows = TrainingRows.of_measurements(splits, values, y, weights)
    np.testing.assert_array_equal(rows.target, np.delete(y, 3))
    (_, first), (_, second) = rows.folds(splits, 0)
    np.testing.assert_array_equal(rows.target[first > 0], y[10:])
    np.testing.assert_array_equal(rows.target[second > 0], np.delete(y[:10], 3))


@pytest.mark.parametrize(("cv", "n", "expected"), [(None, 2999, 5), (None, 3000, 3), (7, 2999, 7), (7, 9000, 7)])
def test_many_rows_have_fewer_folds_unless_a_number_is_asked_for(cv, n, expected):
    values, codes = np.arange(n)[None, :] * 1.0, np.arange(n) % 2
    rows = TrainingRows.canonical(cv, values, codes, np.ones(n), codes)
    assert len(rows.folds(cv, 0)) == expected
