import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ecsel import _compiled
from ecsel.tables import TableEncoder
from ecsel.tables.blocks import BLOCK_ROWS

TRAIN = np.array([[2.0], [4.0], [6.0], [10.0]])


def test_missing_numbers_are_a_factor_at_the_log_mean(make_frame):
    frame = make_frame({"x": [1.0, None, 2.0, 4.0]})
    encoder = TableEncoder.fit(frame, two_sided=True)
    assert encoder.feature_names == ("x", "x~", "x=?")
    logs = encoder.log_features(frame)
    np.testing.assert_allclose(logs[:2, 1], logs[:2, [0, 2, 3]].mean(axis=1))
    np.testing.assert_allclose(encoder.baseline[:2], logs[:2].mean(axis=1))
    np.testing.assert_allclose(np.exp(logs[2]), [1, 10, 1, 1])


def test_missing_numbers_become_the_median_also_if_training_had_none():
    encoder = TableEncoder.fit([[1.0], [3.0], [100.0]], missing="median", scaling="minmax")
    assert encoder.feature_names == ("x0",)
    np.testing.assert_array_equal(encoder.model_features([[np.nan]]), encoder.model_features([[3.0]]))


def test_missing_numbers_that_training_never_met_are_refused():
    encoder = TableEncoder.fit(pd.DataFrame({"age": [1.0, 2.0]}))
    with pytest.raises(ValueError, match=r"Column 'age' has 2 missing value.*had none in training"):
        encoder.log_features(pd.DataFrame({"age": [1.0, None, None]}))


def test_missing_numbers_are_refused_on_request(make_frame):
    with pytest.raises(ValueError, match=r"Column 'x' has 1 missing value.*in 3 rows"):
        TableEncoder.fit(make_frame({"x": [1.0, None, 2.0]}), missing="error")


@pytest.mark.parametrize("codes", [[-999], {"x": [-999]}])
def test_codes_for_missing_numbers(codes):
    frame = pd.DataFrame({"x": [1, -999, 3], "flag": [True, False, True]})
    encoder = TableEncoder.fit(frame, missing_codes=codes)
    assert encoder.feature_names == ("x", "x=?", "flag=True")
    assert (encoder.columns[0].low, encoder.columns[0].high) == (1, 3)
    np.testing.assert_array_equal(encoder.model_features(frame)[:, 1], [1, 10, 1])


def test_a_code_of_one_does_not_make_truth_missing():
    encoder = TableEncoder.fit(pd.DataFrame({"flag": [True, False, True]}), missing_codes=[1])
    assert encoder.feature_names == ("flag=True",)


def test_constant_but_sometimes_missing_keeps_its_factor_only():
    frame = pd.DataFrame({"x": [5.0, None, 5.0]})
    encoder = TableEncoder.fit(frame)
    assert encoder.feature_names == ("x=?",)
    np.testing.assert_array_equal(encoder.model_features(pd.DataFrame({"x": [7.0, None]})), [[1], [10]])


def test_below_is_clipped_and_above_extrapolates():
    encoder = TableEncoder.fit(TRAIN, scaling="minmax", two_sided=True)
    X = np.array([[-50.0], [1.0], [5.0], [18.0]])
    with pytest.warns(UserWarning, match=r"2 of 4 rows lie below.*'x0' \(2.0\); they were set to it.") as reported:
        features = encoder.model_features(X)
    assert len(reported) == 1
    assert "1 of 4 rows lie above the training maximum of 'x0' (10.0); the equation extrapolates" in str(
        reported[0].message
    )
    np.testing.assert_allclose(features[:, 0], [1, 1, 4.375, 19])
    # The mirror image does the reverse: above is clipped, below extrapolates.
    np.testing.assert_allclose(features[:, 1], [68.5, 11.125, 6.625, 1])


def test_warnings_can_be_silenced_and_read_instead(recwarn):
    encoder = TableEncoder.fit(TRAIN)
    encoder.log_features([[0.0]], warn=False)
    encoder.model_features([[0.0]], warn=False)
    report = encoder.transform_report([[0.0], [3.0]])
    assert (report.columns[0].n_below, report.columns[0].n_above, report.n_rows) == (1, 0, 2)
    assert report
    assert not encoder.transform_report(TRAIN)
    assert not recwarn


def test_extrapolation_goes_as_far_as_the_feature_is_positive():
    encoder = TableEncoder.fit(TRAIN, scaling="minmax", out_of_range="extrapolate")
    with pytest.warns(UserWarning, match="extrapolates there"):
        assert encoder.model_features([[1.5]])[0, 0] == pytest.approx(0.4375)
    with pytest.raises(ValueError, match=r"Column 'x0' is 0.0 in row 1, so far outside.*not positive"):
        encoder.log_features([[3.0], [0.0]])


@pytest.mark.parametrize("value", [1.9, 10.1])
def test_out_of_range_values_are_refused_on_request(value):
    encoder = TableEncoder.fit(TRAIN, out_of_range="error")
    with pytest.raises(ValueError, match=f"Column 'x0' is {value} in row 2, outside its training range"):
        encoder.log_features([[3.0], [4.0], [value]])
    encoder.log_features(TRAIN)


def test_the_row_of_an_error_is_counted_over_all_blocks():
    X = np.full((BLOCK_ROWS + 10, 1), 3.0)
    X[BLOCK_ROWS + 7] = 11.0
    with pytest.raises(ValueError, match=f"in row {BLOCK_ROWS + 7}, outside"):
        TableEncoder.fit(TRAIN, out_of_range="error").log_features(X)


@pytest.mark.parametrize("value", [np.inf, -np.inf])
def test_infinities_are_refused_with_their_number(value, make_frame):
    with pytest.raises(ValueError, match=r"Column 'x' has 2 infinite values "):
        TableEncoder.fit(make_frame({"x": [1.0, value, value, 2.0]}))
    encoder = TableEncoder.fit(make_frame({"x": [1.0, 2.0]}))
    with pytest.raises(ValueError, match=r"Column 'x' has 1 infinite value "):
        encoder.log_features(make_frame({"x": [1.0, value]}))


def test_enormous_values_neither_overflow_nor_pass_silently():
    X = np.array([[-1.7e308], [1e300], [1.7e308]])
    for scaling, largest in (("minmax", 10), ("spread", 5)):
        features = TableEncoder.fit(X, scaling=scaling).model_features(X)
        np.testing.assert_allclose(features[[0, 2], 0], [1, largest])
    encoder = TableEncoder.fit([[0.0], [1e-3]])
    with pytest.raises(ValueError, match=r"Column 'x0' is 1e\+308 in row 0, .*overflows"):
        encoder.log_features([[1e308]])


@settings(max_examples=60)
@given(
    st.lists(st.floats(-1e3, 1e3), min_size=3, max_size=12),
    st.sampled_from(["minmax", "spread"]),
    st.lists(st.floats(-2e3, 2e3), min_size=1, max_size=8),
)
def test_the_raw_elasticity_factor_is_the_log_derivative(train, scaling, later):
    encoder = TableEncoder.fit(np.array(train)[:, None], scaling=scaling, two_sided=True)
    x = np.array(later)
    step = 1e-6
    # Away from the kinks at the clips and from x = 0, where a relative step means nothing.
    smooth = (np.abs(x) > 1) & np.all(np.abs(x[:, None] - [min(train), max(train)]) > 0.1, axis=1)
    if encoder.features == () or not smooth.any() or max(train) - min(train) < 1e-2:
        return
    x = x[smooth][:, None]
    up = encoder.log_features(x * (1 + step), warn=False)
    down = encoder.log_features(x * (1 - step), warn=False)
    numerical = (up - down) / np.log((1 + step) / (1 - step))
    np.testing.assert_allclose(encoder.raw_elasticity_factor(x), numerical, rtol=1e-3, atol=1e-3)


def test_the_raw_elasticity_factor_is_zero_where_nothing_moves():
    frame = pd.DataFrame({"x": [1.0, None, 3.0], "c": ["u", "v", "u"]})
    encoder = TableEncoder.fit(frame, two_sided=["x"])
    later = pd.DataFrame({"x": [0.5, None, 5.0], "c": ["u", "v", "u"]})
    factor = dict(zip(encoder.feature_names, encoder.raw_elasticity_factor(later), strict=True))
    assert factor["x"][0] == 0  # below the minimum: clipped
    assert factor["x~"][2] == 0  # above the maximum: the mirror is clipped
    assert factor["x"][1] == factor["x~"][1] == 0
    assert not factor["x=?"].any()
    assert not factor["c=u"].any()
    assert factor["x"][2] != 0


def test_a_ratio_scale_has_elasticity_one():
    X = np.array([[200.0], [3000.0], [5000.0]])
    encoder = TableEncoder.fit(X, scaling="ratio")
    np.testing.assert_array_equal(encoder.raw_elasticity_factor(X), 1.0)


def test_a_ratio_scale_needs_positive_values():
    with pytest.raises(ValueError, match=r"Column 'x0' cannot have scaling='ratio': its minimum is 0.0"):
        TableEncoder.fit([[0.0], [1.0]], scaling="ratio")


def log_features_both_ways(monkeypatch, encoder, X):
    found = encoder.log_features(X, np.float32, warn=False)
    with monkeypatch.context() as patch:
        patch.setattr(_compiled, "compiled", None)
        return found, encoder.log_features(X, np.float32, warn=False)


@pytest.mark.needs_kernel
@pytest.mark.parametrize("scaling", ["minmax", "spread", "ratio"])
def test_compiled_logs_are_correct_to_the_last_digit_of_single_precision(monkeypatch, scaling):
    X = np.exp(np.random.default_rng(0).uniform(-12, 12, (5003, 2)))
    encoder = TableEncoder.fit(X, scaling=scaling, two_sided=True)
    found, twin = log_features_both_ways(monkeypatch, encoder, X)
    exact = np.log(encoder.model_features(X, warn=False).T)
    ulp = np.spacing(np.maximum(np.abs(exact), 0.5).astype(np.float32))
    assert (np.abs(found - exact) <= 2 * ulp).all()
    assert (np.abs(found - twin) <= 3 * ulp).all()


@pytest.mark.needs_kernel
@pytest.mark.parametrize("odd", [[-3.0], [99.0], [np.nan]])
def test_blocks_with_odd_values_are_treated_as_numpy_treats_them(monkeypatch, odd):
    X = np.linspace(1, 50, 100)[:, None]
    encoder = TableEncoder.fit(np.vstack([X, [[np.nan]]]))
    rows = np.vstack([X, [odd]])
    found, twin = log_features_both_ways(monkeypatch, encoder, rows)
    np.testing.assert_allclose(found, twin, rtol=3e-7, atol=3e-7)
    assert encoder.transform_report(rows).columns[0].n_above == (odd == [99.0])


@pytest.mark.needs_kernel
def test_infinities_are_refused_by_name_in_single_precision():
    encoder = TableEncoder.fit(TRAIN)
    with pytest.raises(ValueError, match="'x0'"):
        encoder.log_features([[np.inf]], np.float32)


def test_numbers_may_lie_anywhere_in_memory():
    values = np.linspace(1, 9, 50)
    afloat = np.frombuffer(b"." + values.tobytes(), np.uint8)[1:].view(np.float64)[:, None]
    encoder = TableEncoder.fit(afloat)
    for X in (afloat, values[:, None].astype(">f8"), np.repeat(values, 2)[::2, None], values[:, None][::-1]):
        found = encoder.log_features(X, np.float32)
        np.testing.assert_allclose(found, encoder.log_features(X), rtol=3e-7, atol=3e-7)
