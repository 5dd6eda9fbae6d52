import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.preprocessing import MinMaxScaler

from ecsel.tables.scaling import QUANTILE_ROWS, Summary, affine_map, choose_scaling, summarise

finite = st.floats(allow_nan=False, allow_infinity=False, allow_subnormal=False)
moderate = st.floats(-1e6, 1e6)


def varied(values):
    summary = summarise(np.array(values))
    return None if summary.is_constant else summary


@settings(max_examples=100)
@given(st.lists(moderate, min_size=1, max_size=20), st.data())
def test_integer_weights_are_repeated_rows(values, data):
    counts = data.draw(st.lists(st.integers(1, 4), min_size=len(values), max_size=len(values)))
    values = np.array(values)
    assert summarise(values, np.array(counts, dtype=float)) == summarise(np.repeat(values, counts))


def test_quartiles_of_a_mostly_zero_column_describe_its_other_rows():
    summary = summarise(np.array([0.0] * 90 + [1.0, 2.0, 3.0, 4.0]))
    assert (summary.low, summary.median, summary.upper_quartile) == (0.0, 0.0, 3.0)
    summary = summarise(np.array([9.0] * 90 + [1.0, 2.0, 3.0, 4.0]))
    assert (summary.high, summary.median, summary.lower_quartile) == (9.0, 9.0, 1.0)


def test_extremes_come_from_all_rows_and_quantiles_from_a_sample():
    values = np.linspace(0.0, 1.0, 4 * QUANTILE_ROWS + 3)
    values[1] = -5.0
    values[-2] = 7.0
    summary = summarise(values)
    assert (summary.low, summary.high) == (-5.0, 7.0)
    assert summary.median == pytest.approx(0.5, abs=1e-4)


@settings(max_examples=200)
@given(st.lists(moderate, min_size=2, max_size=20))
def test_minmax_is_scikit_learns(values):
    summary = varied(values)
    # Ranges below 10 eps are constant to scikit-learn, but not to us.
    if summary is None or summary.high - summary.low < 1e-14:
        return
    affine = affine_map("minmax", summary)
    expected = MinMaxScaler((1, 10)).fit_transform(np.array(values)[:, None])[:, 0]
    np.testing.assert_array_equal(np.array(values) * affine.scale + affine.offset, expected)


@settings(max_examples=300)
@given(st.lists(finite, min_size=2, max_size=20), st.sampled_from(["minmax", "spread", "ratio"]), st.booleans())
def test_every_map_gives_positive_finite_features_for_any_doubles(values, kind, mirrored):
    summary = varied(np.abs(values) if kind == "ratio" else values)
    if summary is None or (kind == "ratio" and summary.low <= 0):
        return
    affine = affine_map(kind, summary, mirror=mirrored)
    assert math.copysign(1, affine.scale) == (-1 if mirrored else 1)
    image = np.array([summary.low, summary.high]) * affine.scale + affine.offset
    assert np.isfinite(image).all()
    assert (image > 0).all()


@pytest.mark.parametrize("low", [-1.7e308, 0.0, 1e300, -3.0])
def test_minmax_does_not_overflow(low):
    summary = summarise(np.array([low, 1.7e308]))
    affine = affine_map("minmax", summary)
    np.testing.assert_allclose([low * affine.scale + affine.offset, 1.7e308 * affine.scale + affine.offset], [1, 10])


def test_the_mirror_of_minmax_is_eleven_minus_it():
    summary = Summary(2.0, 3.0, 4.0, 6.0, 11.0)
    affine = affine_map("minmax", summary)
    mirror = affine_map("minmax", summary, mirror=True)
    x = np.linspace(2.0, 11.0, 7)
    np.testing.assert_allclose((affine.scale * x + affine.offset) + (mirror.scale * x + mirror.offset), 11.0)


@settings(max_examples=100)
@given(st.lists(st.integers(-1000, 1000), min_size=2, max_size=20), st.sampled_from(["minmax", "spread"]))
def test_the_mirror_map_is_the_map_of_the_mirrored_column(values, kind):
    summary = varied(np.array(values, dtype=float))
    if summary is None:
        return
    low, high = summary.low, summary.high
    mirrored = Summary(low, low + high - summary.upper_quartile, 0.0, low + high - summary.lower_quartile, high)
    plain, mirror = affine_map(kind, mirrored), affine_map(kind, summary, mirror=True)
    x = np.array(values)
    np.testing.assert_allclose(mirror.scale * x + mirror.offset, plain.scale * (low + high - x) + plain.offset)


def test_spread_puts_the_upper_quartile_at_five():
    affine = affine_map("spread", Summary(10.0, 12.0, 14.0, 18.0, 1e6))
    assert (affine.scale, affine.offset) == (0.5, -4.0)
    assert 18.0 * affine.scale + affine.offset == 5.0


def test_ratio_keeps_ratios_and_divides_by_a_power_of_ten():
    affine = affine_map("ratio", Summary(200.0, 300.0, 1000.0, 3000.0, 5000.0))
    assert (affine.scale, affine.offset) == (1e-3, 0.0)


@pytest.mark.parametrize(
    ("values", "constant"),
    [
        ([3.0, 3.0], True),
        ([1e16, 1e16 + 2], True),
        ([0.0, 5e-324], True),
        ([0.0, 1e-300], False),
        ([1.0, 1.0 + 1e-9], False),
        ([-1.7e308, 1.7e308], False),
    ],
)
def test_columns_that_vary_in_their_last_digits_only_are_constant(values, constant):
    assert summarise(np.array(values)).is_constant is constant


def test_auto_keeps_the_ratio_scale_of_tame_positive_columns():
    rng = np.random.default_rng(0)
    assert choose_scaling(summarise(rng.uniform(1, 20, size=1000))) == "ratio"
    assert choose_scaling(summarise(-rng.uniform(1, 20, size=1000))) == "spread"
    assert choose_scaling(summarise(rng.lognormal(0, 2, size=1000))) == "spread"
    assert choose_scaling(summarise(np.array([0.0] * 95 + [1.0] * 5))) == "spread"
    assert choose_scaling(summarise(np.array([5e-324, 1.0]))) == "spread"
