import math

import numpy as np
import pandas as pd
import polars as pl
import pytest

from ecsel.tables import CategoricalColumn, OrdinalColumn, TableEncoder


def test_one_hot_at_one_and_ten(make_frame):
    frame = make_frame({"c": ["u", "v", "w", "u"]})
    encoder = TableEncoder.fit(frame)
    assert encoder.feature_names == ("c=u", "c=v", "c=w")
    np.testing.assert_array_equal(encoder.model_features(frame), [[10, 1, 1], [1, 10, 1], [1, 1, 10], [10, 1, 1]])
    np.testing.assert_allclose(encoder.baseline, np.log(10) * np.array([0.5, 0.25, 0.25]))


@pytest.mark.parametrize(
    "column",
    [
        pd.Series(["v", "u", "v"], dtype="category"),
        pd.Series(["v", "u", "v"], dtype=object),
        pd.Series(["v", "u", "v"], dtype="string"),
        pl.Series(["v", "u", "v"], dtype=pl.Categorical),
        pl.Series(["v", "u", "v"], dtype=pl.Enum(["w", "v", "u"])),
    ],
)
def test_every_kind_of_text_has_sorted_levels_that_occur(column):
    frame = pl.DataFrame({"c": column}) if isinstance(column, pl.Series) else pd.DataFrame({"c": column})
    encoder = TableEncoder.fit(frame)
    assert encoder.columns == (CategoricalColumn("c", "text", ("u", "v")),)
    np.testing.assert_array_equal(encoder.model_features(frame), [[1, 10], [10, 1], [1, 10]])


def test_a_boolean_is_one_feature(make_frame):
    frame = make_frame({"b": [True, False, True]})
    encoder = TableEncoder.fit(frame)
    assert encoder.feature_names == ("b=True",)
    np.testing.assert_array_equal(encoder.model_features(frame), [[10], [1], [10]])
    np.testing.assert_array_equal(encoder.model_features(np.array([[True], [False]])), [[10], [1]])


def test_numbers_declared_nominal_match_integers_and_floats():
    encoder = TableEncoder.fit(pd.DataFrame({"code": [3, 1, 3], "x": [1.0, 2.0, 4.0]}), categorical=["code"])
    assert encoder.feature_names == ("code=1", "code=3", "x")
    later = pd.DataFrame({"code": [1.0, 3.0], "x": [1.0, 2.0]})
    np.testing.assert_array_equal(encoder.model_features(later)[:, :2], [[10, 1], [1, 10]])


def test_categorical_columns_of_arrays_are_named_by_position():
    X = np.array([[0.5, 7.0], [1.5, 8.0], [2.5, 7.0]])
    assert TableEncoder.fit(X, categorical=[1]).feature_names == ("x0", "x1=7", "x1=8")
    assert TableEncoder.fit(X, categorical=["x1"]).feature_names == ("x0", "x1=7", "x1=8")


def test_an_unknown_level_contributes_nothing_and_is_reported(make_frame):
    encoder = TableEncoder.fit(make_frame({"c": ["u", "v"]}))
    with pytest.warns(
        UserWarning, match="2 of 3 rows have a level of 'c' that training never saw \\('boat', 'car'\\)"
    ) as reported:
        features = encoder.model_features(make_frame({"c": ["boat", "u", "car"]}))
    assert len(reported) == 1
    np.testing.assert_array_equal(features, [[1, 1], [10, 1], [1, 1]])


def test_ordinal_levels_are_spaced_evenly(make_frame):
    frame = make_frame({"size": ["mid", "low", "high", "mid"]})
    encoder = TableEncoder.fit(frame, ordinal={"size": ["low", "mid", "high"]})
    assert encoder.feature_names == ("size",)
    assert encoder.columns == (OrdinalColumn("size", "text", ("low", "mid", "high")),)
    np.testing.assert_allclose(encoder.model_features(frame)[:, 0], [5.5, 1, 10, 5.5])
    assert encoder.baseline[0] == pytest.approx((2 * math.log(5.5) + math.log(10)) / 4)
    with pytest.warns(UserWarning, match="training never saw"):
        unknown = encoder.log_features(make_frame({"size": ["huge"]}))
    assert unknown[0, 0] == pytest.approx(encoder.baseline[0])


def test_ordinal_numbers():
    encoder = TableEncoder.fit([[1.0], [3.0], [2.0]], ordinal={0: [3, 2, 1]})
    np.testing.assert_allclose(encoder.model_features([[1], [2], [3]])[:, 0], [10, 5.5, 1])


def test_a_level_outside_the_given_order_is_refused():
    with pytest.raises(ValueError, match="Column 'size' holds 'huge', which is not in its given order"):
        TableEncoder.fit(pd.DataFrame({"size": ["low", "huge"]}), ordinal={"size": ["low", "high"]})


def test_missing_levels_are_a_factor(make_frame):
    frame = make_frame({"c": ["u", None, "v", "u"]})
    encoder = TableEncoder.fit(frame)
    assert encoder.feature_names == ("c=u", "c=v", "c=?")
    np.testing.assert_array_equal(encoder.model_features(frame), [[10, 1, 1], [1, 1, 10], [1, 10, 1], [10, 1, 1]])
    assert any("'c' is missing in 1 of 4 rows" in note for note in encoder.notes)


def test_missing_levels_become_the_most_frequent_one(make_frame):
    frame = make_frame({"c": ["u", None, "v", "v"], "b": [True, True, None, False]})
    encoder = TableEncoder.fit(frame, missing="median")
    assert encoder.feature_names == ("c=u", "c=v", "b=True")
    np.testing.assert_array_equal(encoder.model_features(frame)[1:3], [[1, 10, 10], [1, 10, 10]])


def test_one_level_filled_everywhere_is_constant():
    frame = pd.DataFrame({"c": ["u", None, "u"], "b": [True, None, True]})
    assert TableEncoder.fit(frame, missing="median").features == ()
    assert TableEncoder.fit(frame).feature_names == ("c=u", "c=?", "b=True", "b=?")


def test_missing_ordinals():
    frame = pd.DataFrame({"size": ["low", None, "high", "high"]})
    order = {"size": ["low", "mid", "high"]}
    factor = TableEncoder.fit(frame, ordinal=order)
    assert factor.feature_names == ("size", "size=?")
    np.testing.assert_allclose(factor.log_features(frame)[:, 1], [factor.baseline[0], math.log(10)])
    median = TableEncoder.fit(frame, ordinal=order, missing="median")
    assert median.model_features(frame)[1] == 10.0


def test_missing_levels_that_training_never_met_are_refused(make_frame):
    encoder = TableEncoder.fit(make_frame({"c": ["u", "v"]}))
    with pytest.raises(ValueError, match="Column 'c' has 2 missing value"):
        encoder.log_features(make_frame({"c": ["u", None, None]}))


def test_missing_levels_are_refused_on_request(make_frame):
    with pytest.raises(ValueError, match=r"Column 'c' has 1 missing value.*in 2 rows"):
        TableEncoder.fit(make_frame({"c": ["u", None]}), missing="error")


def test_a_code_may_stand_for_a_missing_level():
    frame = pd.DataFrame({"c": ["u", "?", "v"]})
    assert TableEncoder.fit(frame, missing_codes=None).feature_names == ("c=?", "c=u", "c=v")
    encoder = TableEncoder.fit(frame, missing_codes={"c": ["?"]})
    assert encoder.feature_names == ("c=u", "c=v", "c=?")
    assert [feature.kind for feature in encoder.features] == ["level", "level", "missing"]
    np.testing.assert_array_equal(encoder.model_features(frame)[1], [1, 1, 10])


def test_a_level_that_looks_like_the_missing_factor_is_refused():
    with pytest.raises(ValueError, match=r"Two features would be named 'c=\?' \(from 'c'\).*missing_codes"):
        TableEncoder.fit(pd.DataFrame({"c": ["u", "?", None]}), missing_codes=None)


def test_a_level_that_looks_like_a_column_is_refused():
    with pytest.raises(ValueError, match="Two features would be named 'c=u' \\(from 'c', 'c=u'\\)"):
        TableEncoder.fit(pd.DataFrame({"c": ["u", "v"], "c=u": [1.0, 2.0]}))


def test_hostile_levels_are_data(make_frame):
    levels = ["", "a=b", "it's", 'say "x"', "line\nbreak", "数", "__import__('os')"]
    frame = make_frame({"c": levels})
    encoder = TableEncoder.fit(frame, missing_codes=None)
    assert [feature.level for feature in encoder.features] == sorted(levels)
    assert (encoder.model_features(frame).sum(axis=1) == 10 + len(levels) - 1).all()


def test_categories_that_are_neither_text_nor_numbers_are_refused():
    frame = pd.DataFrame({"bin": pd.cut(pd.Series([1.0, 2.0, 3.0]), 2)})
    with pytest.raises(
        ValueError, match="Column 'bin': A level must be text, a boolean or a finite number, but is Interval"
    ):
        TableEncoder.fit(frame)


def test_constant_levels_are_left_out():
    encoder = TableEncoder.fit(
        pd.DataFrame({"c": ["u", "u"], "b": [False, False], "o": ["x", "x"]}), ordinal={"o": ["x", "y"]}
    )
    assert encoder.features == ()
    assert [note for note in encoder.notes if "constant" in note] == list(encoder.notes)


@pytest.mark.parametrize("values", [["u", "v", "w", "u"], ["u", None, "v", "u"], ["v", "never seen", None, "u"]])
def test_short_columns_are_encoded_as_long_ones_are(make_frame, monkeypatch, values):
    """Short columns are looked up value by value, long ones by the data frame's library."""
    encoder = TableEncoder.fit(make_frame({"c": ["u", "v", "w", None]}))
    frame = make_frame({"c": values})
    short, reported = encoder.log_features(frame, warn=False), encoder.transform_report(frame)
    monkeypatch.setattr("ecsel.tables.raw.SHORT_TEXT", 0)
    np.testing.assert_array_equal(short, encoder.log_features(frame, warn=False))
    assert reported == encoder.transform_report(frame)
