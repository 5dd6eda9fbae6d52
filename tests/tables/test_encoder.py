import dataclasses
import gc
import pickle
import tracemalloc

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.preprocessing import MinMaxScaler

from ecsel.tables import EmptyColumn, NumericColumn, TableEncoder
from ecsel.tables.blocks import BLOCK_ROWS

DATA = {
    "income": [12.0, 40.0, 33.5, 27.0, 90.0, 12.5],
    "age": [31, 22, 57, 44, 61, 35],
    "purpose": ["car", "boat", "car", None, "home", "boat"],
    "owner": [True, False, True, True, False, False],
    "score": [0.5, None, 0.25, 0.75, 0.5, None],
}


def test_all_frames_are_encoded_alike(make_frame):
    reference = TableEncoder.fit(pd.DataFrame(DATA), two_sided=True)
    frame = make_frame(DATA)
    encoder = TableEncoder.fit(frame, two_sided=True)
    assert encoder == reference
    np.testing.assert_array_equal(encoder.log_features(frame), reference.log_features(pd.DataFrame(DATA)))


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64])
def test_minmax_is_bit_equal_to_scikit_learn(order, dtype):
    rng = np.random.default_rng(1)
    X = (rng.normal(size=(300, 5)) * [1, 10, 1e4, 1e6, 100]).astype(dtype, order=order)
    expected = MinMaxScaler((1, 10)).fit_transform(X.astype(np.float64))
    np.testing.assert_array_equal(TableEncoder.fit(X, scaling="minmax").model_features(X), expected)


def test_logs_are_the_logs_of_the_model_features():
    frame = pd.DataFrame(DATA)
    encoder = TableEncoder.fit(frame, two_sided=True)
    logs = encoder.log_features(frame)
    assert logs.flags.c_contiguous
    assert logs.shape == (len(encoder.features), len(frame))
    np.testing.assert_array_equal(logs, np.log(encoder.model_features(frame).T))
    np.testing.assert_allclose(encoder.log_features(frame, np.float32), logs, atol=2.5e-7)


def test_blocks_do_not_show():
    rng = np.random.default_rng(2)
    X = rng.lognormal(size=(2 * BLOCK_ROWS + 17, 2))
    encoder = TableEncoder.fit(X)
    logs = encoder.log_features(X)
    for row in (0, BLOCK_ROWS - 1, BLOCK_ROWS, 2 * BLOCK_ROWS + 16):
        np.testing.assert_array_equal(encoder.log_features(X[row : row + 1])[:, 0], logs[:, row])
    np.testing.assert_allclose(encoder.baseline, logs.mean(axis=1))


def test_groups_lead_back_to_raw_columns():
    encoder = TableEncoder.fit(pd.DataFrame(DATA), two_sided=["age"])
    assert encoder.feature_groups.tolist() == [0, 1, 1, 2, 2, 2, 2, 3, 4, 4]
    assert [encoder.raw_names[j] for j in encoder.feature_groups] == [feature.column for feature in encoder.features]


def test_raw_values_come_back():
    frame = pd.DataFrame(DATA)
    encoder = TableEncoder.fit(frame, two_sided=True)
    features = encoder.model_features(frame)
    for j, feature in enumerate(encoder.features):
        if feature.column in {"income", "age"}:
            np.testing.assert_allclose(feature.raw_value(features[:, j]), frame[feature.column], rtol=1e-13)


@settings(max_examples=40)
@given(st.lists(st.integers(0, 3), min_size=6, max_size=6).filter(any), st.sampled_from(["factor", "median"]))
def test_weights_are_repetitions_and_zero_weights_are_absence(counts, missing):
    frame = pd.DataFrame(DATA)
    weighted = TableEncoder.fit(frame, sample_weight=counts, missing=missing)
    repeated = TableEncoder.fit(frame.iloc[np.repeat(np.arange(6), counts)], missing=missing)
    assert weighted.columns == repeated.columns
    assert weighted.feature_names == repeated.feature_names
    np.testing.assert_allclose(weighted.baseline, repeated.baseline, atol=1e-14)
    for mine, theirs in zip(weighted.features, repeated.features, strict=True):
        assert (mine.scale, mine.offset, mine.low, mine.high) == (theirs.scale, theirs.offset, theirs.low, theirs.high)


def test_rows_of_weight_zero_may_hold_anything():
    frame = pd.DataFrame({"x": [1.0, np.inf, 3.0, np.nan], "c": ["u", "v", "w", "u"]})
    encoder = TableEncoder.fit(frame, sample_weight=[1, 0, 1, 0])
    assert encoder == TableEncoder.fit(frame.iloc[[0, 2]])


def test_constant_and_empty_columns_are_left_out_and_said_so():
    frame = pd.DataFrame(
        {"k": [5.0, 5.0], "e": [np.nan, np.nan], "x": [1.0, 2.0], "t": pd.Series([None, None], dtype=str)}
    )
    encoder = TableEncoder.fit(frame)
    assert encoder.feature_names == ("x",)
    assert isinstance(encoder.columns[0], NumericColumn)
    assert encoder.columns[1] == EmptyColumn("e")
    assert encoder.columns[3] == EmptyColumn("t")
    assert any("'k' is constant (5.0)" in note for note in encoder.notes)
    assert any("'e' has no values" in note for note in encoder.notes)
    # A column without features is not even looked at.
    later = pd.DataFrame({"k": ["?"], "e": ["?"], "x": [1.5], "t": [0]})
    assert encoder.model_features(later).shape == (1, 1)


def test_columns_that_never_had_a_value_are_empty_in_every_frame(make_frame):
    encoder = TableEncoder.fit(make_frame({"e": [None, None], "x": [1.0, 2.0]}))
    assert encoder.columns[0] == EmptyColumn("e")
    assert encoder.feature_names == ("x",)
    ordinal = TableEncoder.fit(make_frame({"e": [None, None], "x": [1.0, 2.0]}), ordinal={"e": ["low", "high"]})
    assert ordinal.columns[0] == EmptyColumn("e")


def test_columns_that_vary_in_their_last_digits_are_left_out_and_said_so():
    encoder = TableEncoder.fit([[1e16], [1e16 + 2]])
    assert encoder.features == ()
    assert "varies in its last digits only" in encoder.notes[0]
    assert "subtract a constant" in encoder.notes[0]


@pytest.mark.parametrize("X", [[[1.0, 2.0]], [[1.0, 2.0], [1.0, 2.0]]])
def test_no_features_at_all_is_allowed(X):
    encoder = TableEncoder.fit(X)
    assert encoder.features == ()
    assert encoder.baseline.shape == encoder.feature_groups.shape == (0,)
    assert encoder.log_features(X).shape == (0, len(X))
    assert encoder.model_features(X).shape == (len(X), 0)
    assert encoder.raw_elasticity_factor(X).shape == (0, len(X))


def test_more_columns_than_rows():
    X = np.random.default_rng(3).normal(size=(3, 50))
    assert TableEncoder.fit(X).model_features(X).shape == (3, 50)


def test_equal_columns_are_no_matter():
    X = np.repeat([[1.0], [2.0], [5.0]], 2, axis=1)
    features = TableEncoder.fit(X).model_features(X)
    np.testing.assert_array_equal(features[:, 0], features[:, 1])


def test_wrong_number_of_columns():
    encoder = TableEncoder.fit(np.eye(3))
    with pytest.raises(ValueError, match="X has 2 features, but TableEncoder is expecting 3 features as input"):
        encoder.log_features(np.ones((1, 2)))


def test_errors_use_the_names_of_training():
    encoder = TableEncoder.fit(pd.DataFrame({"age": [1.0, 2.0]}))
    with pytest.raises(ValueError, match="Column 'age'"):
        encoder.log_features([[np.nan]])


def test_input_is_never_changed():
    X = np.array([[1.0, np.nan], [-999.0, 2.0], [3.0, 4.0]])
    before = X.copy()
    X.flags.writeable = False
    encoder = TableEncoder.fit(X, missing_codes=[-999])
    encoder.log_features(X)
    np.testing.assert_array_equal(X, before)


def test_an_encoder_is_a_value():
    encoder = TableEncoder.fit(pd.DataFrame(DATA))
    assert encoder == TableEncoder.fit(pd.DataFrame(DATA))
    assert hash(encoder) == hash(TableEncoder.fit(pd.DataFrame(DATA)))
    with pytest.raises(dataclasses.FrozenInstanceError):
        encoder.notes = ()


def test_an_encoder_can_be_pickled():
    encoder = TableEncoder.fit(pd.DataFrame(DATA))
    assert pickle.loads(pickle.dumps(encoder)) == encoder


cells = {
    "number": st.one_of(st.none(), st.floats(allow_nan=False, allow_infinity=False)),
    "text": st.one_of(st.none(), st.sampled_from(["u", "v", "", "数"])),
    "flag": st.one_of(st.none(), st.booleans()),
}


@settings(max_examples=60)
@given(
    st.lists(st.fixed_dictionaries(cells), min_size=1, max_size=12),
    st.sampled_from(["auto", "minmax", "spread"]),
    st.sampled_from(["factor", "median"]),
)
def test_training_rows_always_have_finite_logs_around_the_baseline(rows, scaling, missing):
    frame = pl.DataFrame(rows, schema={"number": pl.Float64, "text": pl.String, "flag": pl.Boolean})
    encoder = TableEncoder.fit(frame, scaling=scaling, missing=missing, two_sided=True)
    logs = encoder.log_features(frame)
    assert np.isfinite(logs).all()
    np.testing.assert_allclose(logs.mean(axis=1), encoder.baseline, rtol=1e-9, atol=1e-9)
    assert (np.ptp(logs, axis=1) > 0).all()
    assert not encoder.transform_report(frame)
    assert set(encoder.feature_names) <= {"number", "number~", "number=?", "flag=True", "flag=?", "text=?"} | {
        f"text={level}" for level in ("u", "v", "", "数")
    }


def test_notes_tell_what_was_done():
    notes = TableEncoder.fit(pd.DataFrame(DATA | {"tail": [0.0, 1.0, 1.0, 2.0, 2.0, 900.0]})).notes
    assert "'tail' has spread scaling, 2·x + 1: it reaches zero, or its values lie far apart." in notes
    assert "'purpose' is nominal with 3 levels." in notes
    assert "'score' is missing in 2 of 6 rows; 'score=?' is a factor of its own." in notes


def test_an_encoder_that_is_gone_leaves_no_memory_behind():
    def encode(seed):
        X = pd.DataFrame({"level": np.random.default_rng(seed).permutation(np.repeat(np.arange(150), 12)).astype(str)})
        encoder = TableEncoder.fit(X.iloc[seed:], categorical=["level"], keep=["level"])
        encoder.log_features(X)
        return len(encoder.features)

    table_bytes = 8 * encode(1) ** 2
    assert table_bytes > 100_000  # most levels have a feature
    tracemalloc.start()
    try:
        encode(2)
        gc.collect()
        before, _ = tracemalloc.get_traced_memory()
        for seed in range(3, 7):
            encode(seed)
        gc.collect()
        grown = tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()
    assert grown < table_bytes
