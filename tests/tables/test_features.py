from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ecsel.tables.features import Feature, canonical_level


@given(
    st.floats(1e-3, 1e3),
    st.sampled_from([-1.0, 1.0]),
    st.floats(-1e3, 1e3),
    st.floats(-1e3, 1e3),
)
def test_raw_value_inverts_the_affine_map(scale, sign, offset, raw):
    feature = Feature("x", "x", "numeric", sign * scale, offset, -1e3, 1e3, 0.0)
    assert feature.raw_value(feature.positive(raw)) == pytest.approx(raw, abs=1e-8)


def test_floor_and_ceiling_follow_the_sign_of_the_scale():
    numeric = Feature("x", "x", "numeric", 2.0, 1.0, 0.0, 4.5, 0.0)
    mirror = Feature("x~", "x", "mirror", -2.0, 10.0, 0.0, 4.5, 0.0)
    assert (numeric.floor, numeric.ceiling) == (1.0, 10.0)
    assert (mirror.floor, mirror.ceiling) == (1.0, 10.0)


def test_arrays_map_elementwise():
    feature = Feature("x", "x", "numeric", 2.0, 1.0, 0.0, 4.5, 0.0)
    np.testing.assert_array_equal(feature.raw_value(feature.positive(np.array([1.0, 2.0]))), [1.0, 2.0])


@pytest.mark.parametrize(
    ("kind", "values"),
    [("number", [1, 3, 5]), ("step", [0, 0, 1]), ("above", [0, 0, 2]), ("below", [2, 0, 0]), ("missing", [0, 0, 0])],
)
def test_a_raw_feature_of_a_number(kind, values):
    feature = Feature("x", "x", kind, 1.0, 0.0, 0.0, 9.0, 0.0, cut=3.0)
    assert feature.is_raw
    np.testing.assert_array_equal(feature.of_number([1.0, 3.0, 5.0]), values)


def test_a_raw_level_of_a_number():
    feature = Feature("[x = 3]", "x", "level", 1.0, 0.0, 0.0, 1.0, 0.0, level=3)
    np.testing.assert_array_equal(feature.of_number([1.0, 3.0, 5.0]), [0, 1, 0])


def test_positive_features_are_not_raw():
    ratio = Feature("x", "x", "numeric", 1.0, 0.0, 1.0, 5.0, 0.0)
    ordinal = Feature("x", "x", "ordinal", 4.5, 1.0, 0.0, 2.0, 0.0)
    assert not ratio.is_raw
    assert not ordinal.is_raw
    with pytest.raises(TypeError, match="'x' is no raw feature of a numeric column"):
        ratio.of_number(2.0)


@pytest.mark.parametrize(
    ("value", "level"),
    [
        (np.str_("a"), "a"),
        (np.bool_(True), True),
        (np.int64(3), 3),
        (np.float32(2.0), 2),
        (2**60 + 1, 2**60 + 1),
        (Decimal("1.50"), 1.5),
    ],
)
def test_levels_become_plain_python_values(value, level):
    canonical = canonical_level(value)
    assert canonical == level
    assert type(canonical) is type(level)


@pytest.mark.parametrize("value", [None, float("nan"), float("inf"), (1, 2)])
def test_other_levels_are_refused(value):
    with pytest.raises(ValueError, match="must be text, a boolean or a finite number"):
        canonical_level(value)
