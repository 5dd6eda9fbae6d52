import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ecsel.tables import TableEncoder

TRAIN = pd.DataFrame({"x": [1.0, 2.0, 4.0, 6.5, 9.0], "y": [3.5, None, 1.5, 2.5, 7.5], "c": ["u", "v", "u", "v", "u"]})


def by_name(encoder, X):
    return dict(zip(encoder.feature_names, encoder.feature_rows(X, warn=False), strict=True))


@settings(deadline=None)
@given(
    st.lists(st.floats(1.5, 8.5), min_size=1, max_size=4, unique=True),
    st.lists(st.floats(-5, 15), min_size=1, max_size=9),
)
def test_steps_and_hinges_of_the_clipped_number(cuts, later):
    encoder = TableEncoder.fit(TRAIN[["x"]], scaling="raw")
    wide = encoder.with_cuts({"x": [(kind, cut) for cut in cuts for kind in ("step", "above", "below")]})
    clipped = np.clip(later, 1.0, 9.0)
    features = wide.feature_rows(np.array(later)[:, None], warn=False)
    np.testing.assert_array_equal(features[0], clipped)
    for step, above, below, cut in zip(features[1::3], features[2::3], features[3::3], cuts, strict=True):
        np.testing.assert_array_equal(step, clipped > cut)
        np.testing.assert_allclose(above - below, clipped - cut, rtol=0, atol=1e-14)
        assert (above * below == 0).all()
        assert (np.minimum(above, below) >= 0).all()
    for feature in wide.features:
        value = wide.feature_rows([[feature.low]])[0] if feature.kind == "number" else None
        assert value is None or value == feature.low
        reached = feature.of_number([1.0, 9.0])
        assert (feature.low, feature.high) == (reached.min(), reached.max())


def test_cuts_stand_behind_the_features_of_their_column():
    encoder = TableEncoder.fit(TRAIN, scaling="raw").with_cuts(
        {"y": [("above", 3), ("step", 2.5)], "x": [("below", 4)]}
    )
    assert encoder.feature_names == ("x", "[x below 4]", "y", "[y missing]", "[y above 3]", "[y > 2.5]")
    assert [feature.cut for feature in encoder.features] == [None, 4.0, None, None, 3.0, 2.5]
    again = encoder.with_cuts({"x": [("below", 4.0), ("step", 4), ("step", 4)]})
    assert again.feature_names == ("x", "[x below 4]", "[x > 4]", *encoder.feature_names[2:])


@pytest.mark.parametrize(("missing", "step"), [("factor", 0.0), ("median", 1.0)])
def test_a_missing_number_is_its_fill_in_hinges_and_not_in_steps_unless_imputed(missing, step):
    encoder = TableEncoder.fit(TRAIN[["y"]], scaling="raw", missing=missing)
    encoder = encoder.with_cuts({"y": [("step", 2), ("above", 2), ("below", 4)]})
    values = by_name(encoder, pd.DataFrame({"y": [None]}, dtype=float))
    assert values["y"] == 2.5
    assert values["[y > 2]"] == step
    assert (values["[y above 2]"], values["[y below 4]"]) == (0.5, 1.5)


def test_the_rule_for_missing_numbers_outlives_the_indicator():
    encoder = TableEncoder.fit(TRAIN[["y"]], scaling="raw").keep_features(["y"]).with_cuts({"y": [("step", 2)]})
    np.testing.assert_array_equal(encoder.model_features([[np.nan]]), [[2.5, 0.0]])


def test_cuts_have_the_baseline_of_their_column():
    encoder = TableEncoder.fit(TRAIN[["x"]], scaling="raw").with_cuts({"x": [("step", 2), ("above", 3), ("below", 3)]})
    np.testing.assert_array_equal(encoder.baseline, encoder.model_features([[4.0]])[0])


@pytest.mark.parametrize(
    ("cuts", "error", "message"),
    [
        ({"z": [("step", 2)]}, ValueError, "cuts names the column 'z', which the encoder does not have"),
        ({"c": [("step", 2)]}, ValueError, "Column 'c' cannot be cut"),
        ({"x": [("jump", 2)]}, ValueError, "A cut of 'x' must be one of 'step', 'above', 'below', but is 'jump'"),
        ({"x": [("step", 9)]}, ValueError, r"The cut 9.0 of 'x' leaves all rows on one side: .* \[1.0, 9.0\]"),
        ({"x": [("below", 1)]}, ValueError, "leaves all rows on one side"),
        ({"x": [("above", np.nan)]}, ValueError, "leaves all rows on one side"),
    ],
)
def test_bad_cuts_are_refused_by_name(cuts, error, message):
    with pytest.raises(error, match=message):
        TableEncoder.fit(TRAIN, scaling="raw").with_cuts(cuts)


def test_positive_features_cannot_be_cut():
    with pytest.raises(TypeError, match="fit the encoder with scaling='raw'"):
        TableEncoder.fit(TRAIN).with_cuts({"x": [("step", 2)]})


def test_a_new_name_gives_way_to_those_that_exist():
    frame = pd.DataFrame({"a = b": [1.0, 2.5, 6.0] * 5, "a": ["b > 2", "v", "w"] * 5})
    encoder = TableEncoder.fit(frame, scaling="raw").with_cuts({"a = b": [("step", 2)]})
    assert encoder.feature_names[:3] == ("a = b", "[a = b > 2 #2]", "[a = b > 2]")
