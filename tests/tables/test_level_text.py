"""Spellings are merged, rare levels are one, and what is new is `other` where that exists."""

import numpy as np
import pandas as pd
import pytest

from ecsel.tables import TableEncoder
from ecsel.tables.level_text import rare_below

COMMON = ["a"] * 300 + ["b"] * 200


def test_spellings_are_one_level_and_said_so():
    frame = pd.DataFrame({"use": ["Other", "other ", "car", "Car", "car"] * 20})
    encoder = TableEncoder.fit(frame, scaling="raw")
    assert encoder.feature_names == ("[use = Other]", "[use = car]")
    rows = encoder.feature_rows(frame)
    np.testing.assert_array_equal(rows[0], [1, 1, 0, 0, 0] * 20)
    np.testing.assert_array_equal(rows[1], [0, 0, 1, 1, 1] * 20)
    assert any("differ only in case or outer blanks" in note for note in encoder.changes)
    as_written = TableEncoder.fit(frame, scaling="raw", categorical=["use"])
    assert len(as_written.features) == 4


@pytest.mark.parametrize("scaling", ["raw", "auto"])
def test_rare_levels_are_other_and_so_are_new_ones(scaling):
    frame = pd.DataFrame({"city": [*COMMON, *(f"village {i}" for i in range(40))]})
    encoder = TableEncoder.fit(frame, scaling=scaling)
    assert [feature.level for feature in encoder.features] == ["a", "b", "other"]
    assert "'city' has 42 levels; 40 of fewer than 11 rows are 'other'." in encoder.changes
    old, new = encoder.model_features(pd.DataFrame({"city": ["village 3", "never seen"]}))
    np.testing.assert_array_equal(old, new)
    assert old[2] > old[0]


def test_a_level_called_other_takes_the_rare_ones():
    frame = pd.DataFrame({"city": [*COMMON, *["Other"] * 50, *(f"v{i}" for i in range(40))]})
    encoder = TableEncoder.fit(frame, scaling="raw")
    assert [feature.level for feature in encoder.features] == ["Other", "a", "b"]
    assert encoder.feature_rows(pd.DataFrame({"city": ["v7"]}))[0] == 1


def test_any_number_of_levels():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"c": ["big"] * 5000 + [f"c{i}" for i in rng.integers(0, 20_000, 25_000)]})
    for scaling in ("raw", "auto"):
        assert [f.level for f in TableEncoder.fit(frame, scaling=scaling).features] == ["big", "other"]


def test_small_tables_keep_small_levels():
    frame = pd.DataFrame({"c": ["a"] * 80 + ["b"] * 60 + ["c"] * 5 + ["d"] * 5})
    assert len(TableEncoder.fit(frame, scaling="raw").features) == 4
    assert [rare_below(n, float(n)) for n in (100, 1000, 4000, 100_000)] == [2, 20, 20, 500]


def test_shares_as_weights_count_in_proportion():
    frame = pd.DataFrame({"city": [*COMMON, *(f"village {i}" for i in range(40))]})
    weighted = TableEncoder.fit(frame, scaling="raw", sample_weight=np.full(540, 1 / 540))
    assert weighted.feature_names == TableEncoder.fit(frame, scaling="raw").feature_names


@pytest.mark.parametrize("words", [("Yes", "no"), ("Y", "N"), ("true", "FALSE"), ("on", "off")])
def test_yes_and_no_are_one_indicator(words):
    frame = pd.DataFrame({"ok": list(words) * 20})
    for scaling in ("raw", "auto"):
        assert [feature.level for feature in TableEncoder.fit(frame, scaling=scaling).features] == [words[0]]


def test_numbers_mixed_with_text_are_levels():
    frame = pd.DataFrame({"grade": [1, 2, "A", "B"] * 10})
    encoder = TableEncoder.fit(frame, scaling="raw")
    assert encoder.feature_names == ("[grade = 1]", "[grade = 2]", "[grade = A]", "[grade = B]")
    np.testing.assert_array_equal(encoder.feature_rows(frame).sum(axis=0), 1)
