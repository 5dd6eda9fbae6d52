"""Raw features against a plain evaluation, cell by cell, of what their names say."""

import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ecsel.tables import TableEncoder, encoding_raw
from ecsel.tables.reading import read_table

TRAIN = {
    "x": [1.0, 2.5, 4.0, 9.0, None, 3.0] * 5,
    "k": [0, 1, 2, 2, 1, 0] * 5,
    "c": ["u", "v", None, "u", "w", "v"] * 5,
    "b": [True, False, True, True, False, None] * 5,
    "size": ["low", "mid", "high", "mid", None, "low"] * 5,
}
ORDER = ["low", "mid", "high"]
CUTS = {"x": [("step", 3), ("above", 2), ("below", 5)], "k": [("step", 0)]}


@pytest.fixture
def encoder():
    return TableEncoder.fit(pd.DataFrame(TRAIN), scaling="raw", ordinal={"size": ORDER}).with_cuts(CUTS)


def value_of(feature, row, *, clip=True):
    """Return the value that the feature's name promises for a row of plain values."""
    cell = row[feature.column]
    missing = cell is None
    if feature.kind == "missing":
        return float(missing)
    if feature.column in {"x", "k"}:
        if missing and feature.kind in {"level", "step"}:
            return 0.0
        low, high = (1.0, 9.0) if feature.column == "x" else (0, 2)
        cut = feature.cut or 0.0
        x = 3.0 if missing else min(max(cell, low), high) if clip else cell
        return {
            "number": x,
            "level": float(x == feature.level),
            "step": float(x > cut),
            "above": max(0.0, x - cut),
            "below": max(0.0, cut - x),
        }[feature.kind]
    if feature.kind == "ordinal":
        return float(ORDER.index(cell)) if cell in ORDER else 1.0
    return float(not missing and cell == feature.level)


rows = st.fixed_dictionaries(
    {
        "x": st.one_of(st.none(), st.floats(-20, 20), st.sampled_from([1.0, 2.0, 3.0, 5.0, 9.0])),
        "k": st.integers(-1, 4),
        "c": st.sampled_from([None, "u", "v", "w", "never seen"]),
        "b": st.sampled_from([None, True, False]),
        "size": st.sampled_from([None, *ORDER, "huge"]),
    }
)


@settings(max_examples=100, deadline=None)
@given(st.lists(rows, min_size=1, max_size=12), st.sampled_from(["clip", "extrapolate"]))
def test_features_are_what_their_names_say(later, rule):
    train = pd.DataFrame(TRAIN)
    encoder = TableEncoder.fit(train, scaling="raw", ordinal={"size": ORDER}, out_of_range=rule).with_cuts(CUTS)
    frame = pd.DataFrame(later)[list(TRAIN)].astype({"x": float, "c": object, "b": object, "size": object})
    expected = [[value_of(feature, row, clip=rule == "clip") for feature in encoder.features] for row in later]
    np.testing.assert_array_equal(encoder.model_features(frame, warn=False), expected)
    np.testing.assert_array_equal(encoder.feature_rows(frame, warn=False), np.transpose(expected))
    report = {column.column: column for column in encoder.transform_report(frame).columns}
    numbers = [row["x"] for row in later if row["x"] is not None]
    assert report["x"].n_below == sum(x < 1 for x in numbers)
    assert report["x"].n_above == sum(x > 9 for x in numbers)
    assert report["c"].n_unknown == sum(row["c"] == "never seen" for row in later)
    assert list(report) == ["x", "k", "c", "b", "size"]


def test_all_frames_are_encoded_alike(make_frame, encoder):
    frame = make_frame(TRAIN)
    own = TableEncoder.fit(frame, scaling="raw", ordinal={"size": ORDER}).with_cuts(CUTS)
    assert own == encoder
    np.testing.assert_array_equal(own.feature_rows(frame), encoder.feature_rows(pd.DataFrame(TRAIN)))


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64, bool, object])
def test_arrays_of_every_type(dtype):
    X = np.array([[0, 1, 5], [1, 1, 2], [1, 0, 7], [0, 1, 9]], dtype=dtype)
    encoder = TableEncoder.fit(np.array(X, dtype=float), scaling="raw")
    np.testing.assert_array_equal(encoder.model_features(X)[:, :2], X[:, :2].astype(float))


def test_layouts(encoder):
    frame = pd.DataFrame(TRAIN)
    features, feature_rows = encoder.model_features(frame), encoder.feature_rows(frame)
    for array in (features, feature_rows):
        assert array.flags.c_contiguous
        assert array.dtype == np.float64
    assert features.shape == (30, len(encoder.features))
    np.testing.assert_array_equal(features.T, feature_rows)


@pytest.mark.parametrize("cells", [1, 7, 40])
def test_blocks_do_not_show(monkeypatch, encoder, cells):
    frame = pd.DataFrame(TRAIN)
    frame.loc[[3, 20], "x"] = [-5.0, 50.0]
    whole, reported = encoder.feature_rows(frame, warn=False), encoder.transform_report(frame)
    factors = encoder.raw_elasticity_factor(frame)
    monkeypatch.setattr(encoding_raw, "BLOCK_CELLS", cells)
    np.testing.assert_array_equal(encoder.feature_rows(frame, warn=False), whole)
    np.testing.assert_array_equal(encoder.raw_elasticity_factor(frame), factors)
    assert encoder.transform_report(frame) == reported
    for i in range(len(frame)):
        np.testing.assert_array_equal(encoder.feature_rows(frame[i : i + 1], warn=False)[:, 0], whole[:, i])


def test_values_outside_the_training_range_are_reported_once(encoder):
    frame = pd.DataFrame(TRAIN)
    frame.loc[[3, 20, 21], "x"] = [-5.0, 50.0, 60.0]
    with pytest.warns(UserWarning, match="rows lie") as reported:
        encoder.model_features(frame)
    assert len(reported) == 1
    assert str(reported[0].message).splitlines() == [
        "1 of 30 rows lie below the training minimum of 'x' (1.0); they were set to it.",
        "2 of 30 rows lie above the training maximum of 'x' (9.0); they were set to it.",
    ]
    assert reported[0].filename == __file__


def test_nothing_odd_is_silent(encoder):
    assert not encoder.transform_report(pd.DataFrame(TRAIN))


@pytest.mark.parametrize("value", [0.5, 9.5])
def test_values_outside_are_refused_on_request(monkeypatch, value):
    encoder = TableEncoder.fit(pd.DataFrame({"x": TRAIN["x"]}), scaling="raw", out_of_range="error")
    monkeypatch.setattr(encoding_raw, "BLOCK_CELLS", 2)
    with pytest.raises(ValueError, match=f"Column 'x' is {value} in row 3, outside its training range"):
        encoder.feature_rows([[2.0], [np.nan], [9.0], [value], [99.0]])


@pytest.mark.parametrize("value", [np.inf, -np.inf])
@pytest.mark.parametrize("rule", ["clip", "extrapolate", "error"])
def test_infinities_are_refused_with_their_number(value, rule):
    encoder = TableEncoder.fit([[1.5], [2.5]], scaling="raw", out_of_range=rule)
    with pytest.raises(ValueError, match=r"Column 'x0' has 2 infinite values "):
        encoder.feature_rows([[2.0], [value], [value]])


def test_raw_features_have_no_logs(encoder):
    with pytest.raises(TypeError, match="no logs: use feature_rows or model_features"):
        encoder.log_features(pd.DataFrame(TRAIN))


def test_kept_features_are_the_only_ones_that_are_read(encoder):
    kept = encoder.keep_features(["[x > 3]", "[c = v]"])
    assert kept.feature_names == ("[x > 3]", "[c = v]")
    assert kept.raw_names == encoder.raw_names
    later = pd.DataFrame({"x": [4.0], "k": ["text"], "c": ["v"], "b": [99], "size": [None]})
    np.testing.assert_array_equal(kept.model_features(later), [[1, 1]])
    assert [column.column for column in kept.transform_report(later).columns] == ["x", "c"]
    table = read_table(later)
    kept.feature_rows(table)
    assert [known is not None for known in table.columns._known] == [True, False, True, False, False]
    assert kept.keep_features(()).model_features(later).shape == (1, 0)


def test_keeping_an_unknown_feature_is_refused(encoder):
    with pytest.raises(ValueError, match="The encoder has no feature 'ghost'"):
        encoder.keep_features(["x", "ghost"])


def test_positive_features_are_kept_too():
    X = np.array([[1.0, 5.0], [2.0, 9.0], [4.0, 7.0]])
    encoder = TableEncoder.fit(X, two_sided=True)
    kept = encoder.keep_features({"x1~", "x0"})
    assert not kept.is_raw
    np.testing.assert_array_equal(kept.log_features(X), encoder.log_features(X)[[0, 3]])
    np.testing.assert_array_equal(kept.feature_rows(X), kept.model_features(X).T)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.floats(-4, 14), min_size=1, max_size=8), st.sampled_from(["clip", "extrapolate"]))
def test_the_raw_elasticity_factor_is_the_log_derivative(later, rule):
    encoder = TableEncoder.fit(pd.DataFrame({"x": TRAIN["x"]}), scaling="raw", out_of_range=rule)
    encoder = encoder.with_cuts({"x": [("above", 2), ("below", 5), ("step", 3)]})
    x = np.array(later)
    # Away from zero, the ends of the range and the cuts, where there is no derivative.
    x = x[np.min(np.abs(x[:, None] - [0, 1, 2, 3, 5, 9]), axis=1) > 0.05][:, None]
    if not x.size:
        return
    step = 1e-6
    factors = encoder.raw_elasticity_factor(x)
    up = encoder.feature_rows(x * (1 + step), warn=False)
    down = encoder.feature_rows(x * (1 - step), warn=False)
    defined = (up * down > 0) & (np.arange(len(up)) != encoder.feature_names.index("[x missing]"))[:, None]
    slope = np.log(up[defined] / down[defined]) / np.log((1 + step) / (1 - step))
    np.testing.assert_allclose(factors[defined], slope, rtol=1e-4, atol=1e-6)
    assert (factors[~defined & (up == 0)] == 0).all()


def test_the_raw_elasticity_factor_is_zero_where_nothing_moves(encoder):
    later = pd.DataFrame(TRAIN)[:4].assign(x=[0.5, None, 50.0, 4.0])
    factors = dict(zip(encoder.feature_names, encoder.raw_elasticity_factor(later), strict=True))
    assert factors["x"].tolist() == [0, 0, 0, 1]
    assert factors["k"].tolist() == [1, 1, 1, 1]
    for name in ("[x missing]", "[x > 3]", "[k = 1]", "[c = u]", "size"):
        assert not factors[name].any()


def test_an_encoder_is_a_value_before_and_after_use(encoder):
    same = TableEncoder.fit(pd.DataFrame(TRAIN), scaling="raw", ordinal={"size": ORDER}).with_cuts(CUTS)
    encoder.feature_rows(pd.DataFrame(TRAIN))
    assert encoder == same
    assert hash(encoder) == hash(same)
    loaded = pickle.loads(pickle.dumps(encoder))
    assert loaded == encoder
    np.testing.assert_array_equal(loaded.feature_rows(pd.DataFrame(TRAIN)), same.feature_rows(pd.DataFrame(TRAIN)))
    assert "_plan" not in repr(encoder)


def test_the_features_of_a_column_of_many_levels_are_one_hot(make_frame):
    levels = [f"level {i}" for i in range(300)]
    frame = make_frame({"c": levels * 20})
    encoder = TableEncoder.fit(frame, scaling="raw", keep=["c"])
    features = encoder.feature_rows(frame)
    assert features.shape == (300, 6000)
    assert (features.sum(axis=0) == 1).all()
    chosen = [encoder.features[row].level for row in features.argmax(axis=0)]
    assert chosen == levels * 20


def test_input_is_never_changed():
    X = np.array([[1.5, np.nan], [-999.0, 2.0], [3.0, 40.5]])
    X.flags.writeable = False
    before = X.copy()
    encoder = TableEncoder.fit(X, scaling="raw", missing_codes=[-999])
    encoder.feature_rows(X * 3, warn=False)
    encoder.feature_rows(X)
    np.testing.assert_array_equal(X, before)
