import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from ecsel.tables.shifts import column_origin, column_shift

scales = st.sampled_from([1e-250, 1e-6, 1.0, 1e6, 1e250])
columns = st.one_of(
    st.lists(st.floats(-1e3, 1e3), min_size=1, max_size=30).map(np.array),
    st.lists(st.integers(0, 60), min_size=1, max_size=30).map(lambda values: np.array(values, dtype=float)),
    st.tuples(st.floats(-1e6, 1e6), st.lists(st.floats(0, 1), min_size=1, max_size=30)).map(
        lambda pair: pair[0] + np.array(pair[1])
    ),
    st.tuples(scales, st.lists(st.floats(-8, 8), min_size=1, max_size=30)).map(
        lambda pair: pair[0] * np.exp(np.array(pair[1]))
    ),
)
weights = st.lists(st.integers(0, 3), min_size=30, max_size=30)


def has_two_digits_at_most(value):
    return value == float(f"{value:.1e}")


@settings(max_examples=300)
@given(columns)
def test_shifted_values_are_positive_and_shifts_have_two_digits_at_most(values):
    shift = column_shift(values)
    assert shift >= 0 or not (values <= 0).any()
    assert (values + shift > 0).all()
    assert has_two_digits_at_most(shift)


@settings(max_examples=150)
@given(columns, weights, st.randoms())
def test_the_order_of_the_rows_does_not_matter(values, counts, random):
    counts = np.array(counts[: values.size], dtype=float)
    assume(counts.any())
    order = np.array(random.sample(range(values.size), values.size))
    for function in (column_shift, column_origin):
        assert function(values[order]) == function(values)
        assert function(values[order], counts[order]) == function(values, counts)


@settings(max_examples=150)
@given(columns, weights)
def test_integer_weights_are_repeated_rows(values, counts):
    counts = np.array(counts[: values.size])
    assume(counts.any())
    for function in (column_shift, column_origin):
        assert function(values, counts.astype(float)) == function(np.repeat(values, counts))


@settings(max_examples=300)
@given(st.lists(st.floats(0, 1e3), min_size=2, max_size=30), st.floats(0, 7))
def test_the_image_of_the_minimum_is_about_a_quarter_of_the_spread(distances, below):
    """Where the recipe asks for it and two digits, which are a tenth apart at most, can give it."""
    distances = np.array(distances) - min(distances)
    width = max(np.quantile(distances, 0.75, method="inverted_cdf") / 4, distances.max() / 400)
    values = distances - below * width
    if width < 1e-6 or (values == np.floor(values)).all():
        return
    assert width / 1.601 <= values.min() + column_shift(values) <= 1.601 * width  # the last digits of values.min()


@pytest.mark.parametrize(
    ("values", "shift"),
    [
        ([18, 40, 90], 0),  # tame and positive
        ([0.5, 1, 2, 1e6], 0),  # a wild maximum, but the median is near the minimum
        ([0, 1, 3, 12], 1),  # counts
        ([0, 100, 117, 140, 199], 50),  # large whole numbers that reach zero
        ([0.0, 0.2, 0.4, 0.8], 0.1),
        ([-3.2, 0.1, 1.5, 3.5], 5),
        ([0.001, 1.0, 20.0, 40.0, 70.0], 10),  # far above a minimum that says nothing
        ([5.0, 5.0], 0),
        ([-5.0, -5.0], 5.1),
        ([0.0, 0.0], 1),
        ([-12345.6, -12345.2, -12345.0], 13000),
    ],
)
def test_shifts_of_typical_columns(values, shift):
    assert column_shift(np.array(values, dtype=float)) == shift


@settings(max_examples=200)
@given(columns)
def test_an_origin_brings_a_far_column_near_zero_and_leaves_others_alone(values):
    low, high = values.min(), values.max()
    origin = column_origin(values)
    if 0 < 5 * (high - low) < max(low, -high):
        assert 0 <= low + origin <= high - low
    else:
        assert origin == 0


@pytest.mark.parametrize(
    ("values", "origin"),
    [
        ([2003, 2007, 2019], -2000),
        ([1987, 2006], -1980),
        ([1.601e9, 1.65e9], -1.6e9),
        ([-2019, -2003], 2020),
        ([18, 40, 90], 0),
        ([2000, 2000], 0),
        ([0, 2000], 0),
    ],
)
def test_origins_of_typical_columns(values, origin):
    assert column_origin(np.array(values, dtype=float)) == origin


def test_rows_of_weight_zero_and_no_rows_count_for_nothing():
    values = np.array([2003.0, 2019.0, -4.0])
    assert column_origin(values, np.array([1.0, 2.0, 0.0])) == -2000
    assert column_shift(values, np.array([1.0, 2.0, 0.0])) == 0
    assert column_shift(np.array([])) == column_origin(np.array([])) == 0
