"""Scores of finite rows are finite, whatever the model, and the array form agrees with the equation and with logs."""

import itertools
import math
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ecsel import Signomial, Term
from ecsel.signomial import FeatureRows, ScoreTerms, scores, term_values
from ecsel.signomial.columns import clip_limits
from ecsel.signomial.factor import Factor, Parity
from ecsel.signomial.properties import probabilities

NAMES = ("x", "y", "z")
SIZES = [5e-324, 1e-310, 1e-200, 1e-7, 0.5, 1.0, 3.0, 1e7, 1e13, 1e200, 1e304, sys.float_info.max]
COEFFICIENTS = st.sampled_from([-4e307, -1e300, -2.5, 1e-320, 1e-300, 1e-7, 1.0, 105221725.0, 1e20, 4e307])
EXPONENTS = st.sampled_from([-400.0, -25.7, -3.0, -1.0, 0.5, 1.0, 2.0, 3.0, 25.7, 400.0])
FACTORS = st.builds(
    Factor,
    st.sampled_from(NAMES),
    EXPONENTS,
    st.just(Parity.PLAIN),
    st.sampled_from([0.0, 0.0, 1.0, 1e300]),
    st.just(False),
    st.booleans(),
).map(lambda factor: factor._replace(shift=0.0) if factor.exp else factor)
TERMS = st.builds(Term.from_factors, COEFFICIENTS, st.lists(FACTORS, max_size=3))
ROWS = st.lists(st.tuples(*[st.sampled_from(SIZES)] * 3), min_size=1, max_size=5)


@pytest.mark.parametrize("alpha", [1e-300, 1e-20, 1.0, 1e20, 1e300])
def test_no_term_overflows_or_vanishes(alpha):
    ((low, high),) = clip_limits([alpha])
    assert -700 <= low < high <= 700
    assert 0 < alpha * np.exp(low) < alpha * np.exp(high) < np.inf
    if alpha == 1.0:
        assert (low, high) == (-700.0, 700.0)


@pytest.mark.parametrize("n_terms", [1, 3, 40])
def test_the_room_against_overflow_is_a_quarter_of_the_largest_double_for_all_terms_together(n_terms):
    limits = clip_limits([1e200] * n_terms)
    total = n_terms * 1e200 * math.exp(limits[0][1])
    assert total == pytest.approx(sys.float_info.max / 4, rel=1e-12)


@given(st.lists(st.lists(TERMS, max_size=3).map(Signomial), min_size=2, max_size=3), ROWS)
def test_probabilities_of_finite_rows_are_finite_and_add_up_to_one(equations, rows):
    terms = ScoreTerms.from_signomials(equations, NAMES)
    values = np.array(rows)
    logs = [FeatureRows.from_logs(np.log(values))] if terms.is_power_law.all() else []
    for each in [FeatureRows.from_values(values), *logs]:
        z = scores(terms, each)
        assert np.isfinite(z).all()
        p = probabilities(z, "softmax")
        assert np.isfinite(p).all()
        np.testing.assert_allclose(p.sum(axis=1), 1.0, rtol=1e-12)
        assert np.isfinite(z[:, 0] - z[:, 1]).all()


@given(st.lists(TERMS, min_size=1, max_size=3).map(Signomial), ROWS)
def test_the_array_form_computes_what_the_equation_says(equation, rows):
    values = np.array(rows)
    terms = ScoreTerms.from_signomials([equation], NAMES)
    expected = equation.evaluate(dict(zip(NAMES, values.T, strict=True)))
    found = term_values(terms, FeatureRows.from_values(values))
    # exp(u) has the error of its exponent, a sum of terms β·log g that may cancel: at most 3 · 400 · 745 · ε = 2e-10
    size = np.abs(found).sum(axis=1)
    assert (np.abs(found.sum(axis=1) - expected) <= 1e-9 * size + 1e-300).all()


def test_a_product_whose_factors_leave_the_range_of_doubles_keeps_its_value():
    terms = ScoreTerms.from_signomials([Signomial.parse("x**3/y**3"), Signomial.parse("x**3*y**-3*z")], NAMES)
    row = FeatureRows.from_values([[2e200, 1e200, 5.0], [1e-200, 2e-200, -8.0], [2.0, 1.0, 3.0]])
    np.testing.assert_allclose(scores(terms, row), [[8, 40], [0.125, -1], [8, 24]], rtol=1e-12)
    small = ScoreTerms.from_signomials([Signomial.parse("x**-1*y**-1*sqrt(z + 1)")], NAMES)  # 1e-317 on the way
    np.testing.assert_allclose(scores(small, FeatureRows.from_values([[1e13, 1e304, 1e304]])), [[1e-165]], rtol=1e-12)


def test_ordinary_rows_keep_their_bits():
    rng = np.random.default_rng(0)
    terms = ScoreTerms.from_signomials([Signomial.parse("3*x**2*y - 0.5*log(x)/z + 2*z**-2 + 1e9*(y - 1)**3")], NAMES)
    x = rng.lognormal(0, 2, (400, 3))
    parts = {
        (2, 1): 3.0 * (np.abs(x[:, 0]) ** 2.0 * x[:, 1]),
        (0, 2): 2.0 * np.abs(x[:, 2]) ** -2.0,
    }
    found = term_values(terms, FeatureRows.from_values(x))
    for part in parts.values():
        assert any((found[:, k] == part).all() for k in range(terms.n_terms))


@pytest.mark.parametrize("zero", list(itertools.product([0.0, 1.0], repeat=2)))
def test_zeros_stay_zeros(zero):
    terms = ScoreTerms.from_signomials([Signomial.parse("7*x**2*y")], ["x", "y"])
    assert scores(terms, FeatureRows.from_values([list(zero)]))[0, 0] == 7 * zero[0] ** 2 * zero[1]
