"""Score arrays are the same functions as the signomials they come from."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ecsel.signomial import ScoreTerms, Signomial, Term, scores, term_values

NAMES = ("x", "y", "page value", "[x > 4]")
DATA = np.random.default_rng(5).uniform(0.5, 2.0, (6, 4))


POWER_LAWS = st.from_type(Signomial).filter(lambda z: all(term.is_power_law for term in z.terms))


@given(st.lists(POWER_LAWS, min_size=1, max_size=3))
@settings(max_examples=50, deadline=None)
def test_scores_are_the_signomials(signomials):
    terms = ScoreTerms.from_signomials(signomials, NAMES)
    z = scores(terms, np.log(DATA))
    columns = dict(zip(NAMES, DATA.T, strict=True))
    for c, signomial in enumerate(signomials):
        size = 1 + sum(np.abs(term.evaluate(columns)).max() for term in signomial.terms)
        np.testing.assert_allclose(z[:, c], signomial(columns), rtol=0, atol=1e-12 * size)
    again = ScoreTerms.from_signomials(terms.to_signomials(NAMES), NAMES)
    np.testing.assert_allclose(scores(again, np.log(DATA)), z, rtol=1e-10, atol=1e-10)


def test_round_trip_of_natural_terms():
    signomials = (Signomial.parse("2*x**2/y - x**0.37"), Signomial(), Signomial.parse("y + 1"))
    terms = ScoreTerms.from_signomials(signomials, ["y", "x"])
    assert terms.to_signomials(["y", "x"]) == signomials
    assert isinstance(terms.to_signomials(["y", "x"])[0].terms[0].exponents["x"], Fraction)
    assert (terms.n_terms, terms.n_features, terms.n_classes) == (4, 2, 3)
    assert terms.classes.tolist() == [0, 0, 2, 2]


def test_terms_need_no_order():
    terms = ScoreTerms([1.0, 2.0, 3.0], [[1.0], [0.0], [2.0]], [1, 0, 1], 2)
    np.testing.assert_allclose(scores(terms, np.log([[2.0]])), [[2.0, 14.0]])
    np.testing.assert_allclose(term_values(terms, np.log([[2.0]])), [[2.0, 2.0, 12.0]])


def test_no_terms_give_zero_scores():
    assert scores(ScoreTerms([], np.zeros((0, 2)), [], 3), np.zeros((4, 2))).tolist() == [[0.0] * 3] * 4


def test_clipping_is_that_of_terms():
    terms = ScoreTerms([2.0], [[1000.0]], [0], 1)
    log_x = np.log([[10.0], [0.1]])
    expected = Term(2, {"x": 1000}).evaluate({"x": [10.0, 0.1]})
    np.testing.assert_array_equal(scores(terms, log_x)[:, 0], expected)


def test_equal_calls_give_equal_bits_and_leave_the_input():
    terms = ScoreTerms.from_signomials([Signomial.parse("x**0.3*y - y**-1.7 + 3")], NAMES)
    log_x = np.log(DATA)
    before = log_x.copy()
    assert scores(terms, log_x).tobytes() == scores(terms, log_x).tobytes()
    np.testing.assert_array_equal(log_x, before)


def test_arrays_are_copies_and_read_only():
    alpha = np.ones(1)
    terms = ScoreTerms(alpha, np.ones((1, 1)), np.zeros(1, dtype=int), 1)
    alpha[0] = 5.0
    assert terms.coefficients.tolist() == [1.0]
    with pytest.raises(ValueError, match="read-only"):
        terms.exponents[0, 0] = 2.0


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: ScoreTerms([1.0], [[1.0], [2.0]], [0], 1), r"must have shapes .* not \(1,\), \(2, 1\) and \(1,\)"),
        (lambda: ScoreTerms([np.nan], [[1.0]], [0], 1), "must be finite"),
        (lambda: ScoreTerms([1.0], [[1.0]], [2], 2), "between 0 and n_classes - 1 = 1"),
        (lambda: ScoreTerms([1.0], [[1.0]], [-1], 2), "between 0 and n_classes - 1 = 1"),
        (lambda: ScoreTerms.from_signomials([Signomial.variable("z")], ["x"]), "uses 'z', which is not among the 1"),
        (lambda: ScoreTerms.from_signomials([Signomial.variable("x")], ["x", "x"]), "'x' occurs more than once"),
        (lambda: ScoreTerms([1.0], [[1.0]], [0], 1).to_signomials(["x", "y"]), "1 names are needed"),
        (lambda: scores(ScoreTerms([1.0], [[1.0]], [0], 1), np.zeros((2, 3))), r"shape \(rows, 1\), not \(2, 3\)"),
    ],
)
def test_shapes_that_do_not_fit_are_refused(build, message):
    with pytest.raises(ValueError, match=message):
        build()
