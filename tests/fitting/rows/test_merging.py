"""Canonical rows: neither the order of rows nor whether they are repeated or weighted changes a bit of the fit."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ecsel.fitting import L1, Logistic, fit_scores
from ecsel.fitting.fit import FitOptions
from ecsel.fitting.rows import merging as rows
from ecsel.fitting.rows.merging import content_folds, merge_equal_rows


@pytest.fixture
def repeated(make_table):
    """A table of few distinct rows, repeated."""
    u, codes, _ = make_table(n=60)
    picks = np.random.default_rng(3).integers(0, 60, 300)
    return np.round(u, 1)[:, picks], codes[picks], np.ones(300)


def equal(one, other):
    return all(a.tobytes() == b.tobytes() and a.shape == b.shape for a, b in zip(one, other, strict=True))


def test_merging_keeps_the_weight_of_every_content(repeated):
    u, codes, w = repeated
    found = merge_equal_rows(*repeated)
    content = {}
    for row, c, weight in zip(u.T, codes, w, strict=True):
        content[*row, c] = content.get((*row, c), 0) + weight
    assert {(*row, c): weight for row, c, weight in zip(found[0].T, *found[1:], strict=True)} == content
    assert found[0].flags.c_contiguous


def test_order_and_repetition_leave_no_trace(repeated):
    u, codes, w = repeated
    order = np.random.default_rng(0).permutation(len(w))
    merged = merge_equal_rows(u, codes, w)
    assert equal(merged, merge_equal_rows(u[:, order], codes[order], w[order]))
    assert equal(merged, merge_equal_rows(*merged))
    distinct, at, counts = np.unique(np.vstack([u, codes]), axis=1, return_index=True, return_counts=True)
    assert equal(merged, merge_equal_rows(u[:, at], codes[at], counts.astype(float)))
    assert distinct.shape[1] == len(merged[1])


def test_rows_of_weight_zero_are_dropped(repeated):
    u, codes, w = repeated
    w = w.copy()
    w[::3] = 0
    assert equal(merge_equal_rows(u, codes, w), merge_equal_rows(u[:, w > 0], codes[w > 0], w[w > 0]))


def test_the_fit_is_the_same_to_the_last_bit(repeated):
    u, codes, w = repeated
    order = np.random.default_rng(1).permutation(len(w))
    tables = [(u, codes, w), (u[:, order], codes[order], w[order]), merge_equal_rows(u, codes, w)]
    fits = [fit_scores(*merge_equal_rows(*t), Logistic(), L1(1e-2), 2, options=FitOptions(seed=0)) for t in tables]
    first, *others = (fit.terms.to_powers() for fit in fits)
    for other in others:
        assert equal(first, other)


def test_large_tables_are_merged_only_where_a_probe_shows_repetitions(monkeypatch, make_table, repeated):
    monkeypatch.setattr(rows, "ALWAYS_BELOW", 100)
    different = make_table(n=300)
    assert merge_equal_rows(*different)[0] is different[0]
    assert len(merge_equal_rows(*repeated)[1]) < 300


def test_equal_numbers_of_other_classes_stay_apart():
    u, codes = np.zeros((2, 4)), np.array([0, 1, 0, 1])
    _, found, weights = merge_equal_rows(u, codes, np.arange(1.0, 5.0))
    assert dict(zip(found.tolist(), weights.tolist(), strict=True)) == {0: 4.0, 1: 6.0}


@given(
    seed=st.integers(0, 1000),
    n_folds=st.integers(2, 6),
    heavy=st.sampled_from([1, 3, 40]),
    scale=st.sampled_from([1.0, 0.01]),
)
def test_folds_divide_every_class_in_proportion(seed, n_folds, heavy, scale):
    rng = np.random.default_rng(seed)
    codes = np.repeat([0, 1], [n_folds + 9, n_folds + 2])
    u, w = rng.normal(size=(2, len(codes))), rng.integers(1, heavy + 1, len(codes)) * scale
    w[np.searchsorted(codes, [0, 1])] = scale  # the unit of each class
    folds = content_folds(u, codes, w, n_folds)
    np.testing.assert_allclose(sum(test for _, test in folds), w)
    for train, test in folds:
        np.testing.assert_allclose(train + test, w, rtol=1e-12)
        for c in (0, 1):
            part = w[codes == c].sum() / n_folds
            assert abs(test[codes == c].sum() - part) < scale * (1 + 1e-9)
            assert train[codes == c].sum() > 0
        # A row of weight m is dealt like m rows: no fold gets more than its turn of them.
        np.testing.assert_array_less(np.abs(test / scale - w / scale / n_folds), 1 + 1e-9)


def test_repeated_rows_are_dealt_to_the_folds_as_rows(repeated):
    """Merged or not, the same content lies in the same folds."""
    merged = merge_equal_rows(*repeated)
    for (_, one), (_, other) in zip(content_folds(*merged, 5), content_folds(*repeated, 5), strict=True):
        total = {}
        for row, c, w in zip(repeated[0].T, repeated[1], other, strict=True):
            total[*row, c] = total.get((*row, c), 0) + w
        for row, c, w in zip(merged[0].T, merged[1], one, strict=True):
            assert total[*row, c] == w


def test_weights_without_a_common_unit_deal_whole_rows(make_table):
    u, codes, _ = make_table()
    w = np.random.default_rng(2).uniform(0.5, 2.0, len(codes))
    for train, test in content_folds(u, codes, w, 5):
        assert ((train == 0) | (test == 0)).all()


def test_seeds_deal_other_folds(make_table):
    table = make_table()
    assert not np.array_equal(content_folds(*table, 5)[0][1], content_folds(*table, 5, seed=7)[0][1])


def test_folds_follow_the_content(make_table):
    u, codes, w = make_table()
    order = np.random.default_rng(0).permutation(len(codes))
    one = content_folds(u, codes, w, 5)
    other = content_folds(u[:, order], codes[order], w[order], 5)
    for (_, test), (_, moved) in zip(one, other, strict=True):
        np.testing.assert_array_equal(test[order], moved)


def test_one_distinct_row_per_class_still_has_folds():
    folds = content_folds(np.array([[0.0, 1.0]]), np.array([0, 1]), np.array([15.0, 10.0]), 5)
    assert [test.tolist() for _, test in folds] == [[3.0, 2.0]] * 5
