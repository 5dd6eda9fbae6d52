import math

from hypothesis import given
from hypothesis import strategies as st

from ecsel.tables.rounding import ceil_digits, floor_digits, round_inside

numbers = st.floats(-1e300, 1e300, allow_nan=False, allow_subnormal=False)


def significant_digits(value):
    return len(f"{value!r}".lower().split("e")[0].replace(".", "").replace("-", "").strip("0")) if value else 0


@given(numbers, st.integers(1, 6))
def test_floor_and_ceiling_enclose_the_value_by_neighbours_of_few_digits(value, digits):
    low, high = floor_digits(value, digits), ceil_digits(value, digits)
    assert low <= value <= high
    assert max(significant_digits(low), significant_digits(high)) <= digits
    # Two neighbouring numbers of d digits differ by a unit of the last digit, at most 10^(1 − d) of the value.
    assert high - low <= 1.0000001 * 10.0 ** (1 - digits) * max(abs(low), abs(high))


@given(numbers, st.floats(0, 0.5))
def test_rounding_stays_inside_with_the_fewest_digits(value, slack):
    low, high = sorted((value - slack * abs(value), value + slack * abs(value)))
    rounded = round_inside(value, low, high)
    assert low <= rounded <= high
    for digits in range(1, significant_digits(rounded)):
        assert not low <= float(f"{value:.{digits - 1}e}") <= high


def test_zero_and_infinity_stay_what_they_are():
    assert floor_digits(0.0, 2) == ceil_digits(0.0, 2) == round_inside(0.0, -1.0, 1.0) == 0.0
    assert ceil_digits(math.inf, 2) == math.inf
