"""The canonical form of factors and the algebra of their signs."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ecsel.signomial.factor import (
    Factor,
    Parity,
    as_exponent,
    canonical_factor,
    factor_magnitude,
    multiply_factors,
    raise_factor,
)

HALVES = st.integers(-8, 8).map(lambda n: Fraction(n, 2))
PARITIES = st.sampled_from(list(Parity))


def value(factor, x):
    """The definition, written out."""
    if factor is None:
        return 1.0
    if factor.refuses_negative and x < 0:
        return None
    sign = np.sign(x) if factor.parity is Parity.ODD else 1.0
    return sign * abs(x) ** float(factor.exponent)


@given(HALVES, PARITIES, HALVES, PARITIES, st.sampled_from([-2.0, -0.5, 0.25, 3.0]))
@settings(max_examples=100, deadline=None)
def test_product_is_the_product_wherever_both_factors_are_defined(b, parity_b, c, parity_c, x):
    left, right = canonical_factor("x", b, parity_b), canonical_factor("x", c, parity_c)
    if left is None or right is None or value(left, x) is None or value(right, x) is None:
        return
    assert value(multiply_factors(left, right), x) == pytest.approx(value(left, x) * value(right, x), rel=1e-12)
    assert multiply_factors(left, right) == multiply_factors(right, left)


@given(HALVES, PARITIES, st.integers(-3, 3), st.sampled_from([-2.0, 0.25, 3.0]))
@settings(max_examples=100, deadline=None)
def test_integer_power_is_the_power_wherever_the_factor_is_defined(b, parity, power, x):
    factor = canonical_factor("x", b, parity)
    if factor is not None and value(factor, x) is not None:
        raised = raise_factor(factor, Fraction(power))
        assert value(raised, x) == pytest.approx(value(factor, x) ** power, rel=1e-12)


@given(HALVES, PARITIES, st.sampled_from([0.5, Fraction(1, 2), Fraction(3, 4)]), st.sampled_from([-2.0, 0.25, 3.0]))
@settings(max_examples=100, deadline=None)
def test_real_power_is_the_power_wherever_the_base_is_positive(b, parity, power, x):
    factor = canonical_factor("x", b, parity)
    base = None if factor is None else value(factor, x)
    if base is not None and base > 0:
        assert value(raise_factor(factor, power), x) == pytest.approx(base ** float(power), rel=1e-12)


@given(HALVES, PARITIES, st.sampled_from([-2.0, 0.25, 3.0]))
@settings(max_examples=100, deadline=None)
def test_magnitude_is_the_absolute_value(b, parity, x):
    factor = canonical_factor("x", b, parity)
    if factor is not None and value(factor, x) is not None:
        assert value(factor_magnitude(factor), x) == pytest.approx(abs(value(factor, x)), rel=1e-12)


@pytest.mark.parametrize(
    ("exponent", "asked", "kept"),
    [
        (Fraction(2), Parity.ABSOLUTE, Parity.PLAIN),
        (Fraction(2), Parity.ODD, Parity.ODD),
        (Fraction(3), Parity.PLAIN, Parity.ODD),
        (Fraction(3), Parity.ABSOLUTE, Parity.ABSOLUTE),
        (-1.0, Parity.PLAIN, Parity.ODD),
        (4.0, Parity.ABSOLUTE, Parity.PLAIN),
        (Fraction(1, 3), Parity.PLAIN, Parity.PLAIN),
        (0.5, Parity.ODD, Parity.ODD),
        (0.5, Parity.ABSOLUTE, Parity.ABSOLUTE),
    ],
)
def test_equal_functions_have_one_form(exponent, asked, kept):
    assert canonical_factor("x", exponent, asked) == Factor("x", exponent, kept)


def test_power_zero_vanishes_but_its_sign_stays():
    assert canonical_factor("x", Fraction(0), Parity.ABSOLUTE) is None
    assert canonical_factor("x", 0.0, Parity.ODD) == Factor("x", Fraction(0), Parity.ODD)


@pytest.mark.parametrize("value_in", [3, np.int64(3), Fraction(3), True + 2])
def test_rational_exponents_are_exact(value_in):
    exponent = as_exponent(value_in, "x")
    assert isinstance(exponent, Fraction)
    assert exponent == 3


def test_other_exponents_are_plain_floats():
    assert type(as_exponent(np.float32(0.5), "x")) is float


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), -float("inf"), 1e301])
def test_exponents_that_are_not_usable_are_refused_by_name(bad):
    with pytest.raises(ValueError, match="exponent of 'page value' must be finite"):
        as_exponent(bad, "page value")


def test_exponents_of_other_types_are_refused_by_name():
    with pytest.raises(TypeError, match="exponent of 'x' must be a real number, not str"):
        as_exponent("2", "x")
    with pytest.raises(ValueError, match="too many digits"):
        as_exponent(Fraction(1, 3**1000), "x")
