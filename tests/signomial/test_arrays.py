"""Score arrays are the same functions as the signomials they come from."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ecsel.signomial import FeatureRows, ScoreTerms, Signomial, Term, scores, term_values

NAMES = ("x", "y", "page value", "[x > 4]")
DATA = np.random.default_rng(5).uniform(0.5, 2.0, (6, 4))


LOGS, VALUES = FeatureRows.from_logs(np.log(DATA)), FeatureRows.from_values(DATA)


@given(st.lists(st.from_type(Signomial), min_size=1, max_size=3))
@settings(max_examples=50, deadline=None)
def test_scores_are_the_signomials(signomials):
    terms = ScoreTerms.from_signomials(signomials, NAMES)
    columns = dict(zip(NAMES, DATA.T, strict=True))
    for rows in (LOGS, VALUES):
        z = scores(terms, rows)
        for c, signomial in enumerate(signomials):
            size = 1 + sum(np.abs(term.evaluate(columns)).max() for term in signomial.terms)
            np.testing.assert_allclose(z[:, c], signomial(columns), rtol=0, atol=1e-12 * size)
    assert terms.to_signomials(NAMES) == tuple(signomials)


SIGNED = Signomial.parse("3*x**3*y - 2*abs(x)**0.5*y**2 + sign(y)*sqrt(abs(y)) - x*log(y + 40)/(w - 50) + 0.5*(x + 1)")


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=20, deadline=None)
def test_values_may_have_any_sign(seed):
    x = np.random.default_rng(seed).normal(0, 2, (20, 3))
    x[:4, 0] = 0.0
    terms = ScoreTerms.from_signomials([SIGNED], ["x", "y", "w"])
    expected = SIGNED.evaluate(dict(zip("xyw", x.T, strict=True)))
    rows = FeatureRows.from_values(x)
    np.testing.assert_allclose(scores(terms, rows)[:, 0], expected, rtol=1e-12, atol=1e-12)
    for k, term in enumerate(SIGNED.terms):
        product = np.prod(list(terms.feature_values(rows, k).values()), axis=0)
        np.testing.assert_allclose(term.coefficient * product, term_values(terms, rows)[:, k], rtol=1e-13, atol=1e-13)
        for j, jet in terms.feature_jets(rows, k).items():
            np.testing.assert_allclose(jet.value, terms.feature_values(rows, k)[j], rtol=1e-15)


def test_a_row_has_its_score_whatever_the_other_rows_are():
    terms = ScoreTerms.from_signomials([SIGNED], ["x", "y", "w"])
    x = np.random.default_rng(0).normal(0, 2, (20, 3))
    whole = scores(terms, FeatureRows.from_values(x))
    alone = [scores(terms, FeatureRows.from_values(row[None]))[0] for row in x]
    assert whole.tobytes() == np.array(alone).tobytes()


def test_power_laws_on_logs_are_one_matrix_product_and_one_exponential():
    rng = np.random.default_rng(1)
    alpha, beta, u = rng.normal(size=5), rng.normal(0, 2, (5, 4)), rng.normal(size=(30, 4))
    expected = np.exp(np.clip(u @ beta.T, -700, 700)) * alpha
    terms = ScoreTerms(alpha, beta, np.zeros(5, dtype=int), 1)
    assert term_values(terms, FeatureRows.from_logs(u)).tobytes() == expected.tobytes()
    signomial = Signomial(Term(a, dict(zip("abcd", b, strict=True))) for a, b in zip(alpha, beta.tolist(), strict=True))
    general = ScoreTerms.from_signomials([signomial + Signomial.parse("log(a)")], "abcd")
    np.testing.assert_allclose(
        scores(general, FeatureRows.from_logs(u))[:, 0], expected.sum(axis=1) + u[:, 0], rtol=1e-12, atol=1e-12
    )


def test_uses_and_power_laws_are_known():
    z = Signomial.parse("x*log(w) + sqrt(y + 1) + x*y + 3")
    terms = ScoreTerms.from_signomials([z], ["x", "y", "w"])
    assert terms.is_power_law.tolist() == [term.is_power_law for term in z.terms]
    for k, term in enumerate(z.terms):
        assert {"xyw"[j] for j in np.flatnonzero(terms.uses[k])} == set(term.names)


@pytest.mark.parametrize(
    ("source", "x", "message"),
    [
        ("log(x)", 0.0, "column 'x' is not positive in 1 of 1 rows"),
        ("sqrt(x)", -1.0, "column 'x' is negative in 1 of 1 rows"),
        ("1/(x + 1)", -1.0, r"x \+ 1 of column 'x' is zero"),
    ],
)
def test_the_domain_of_values_is_that_of_signomials(source, x, message):
    terms = ScoreTerms.from_signomials([Signomial.parse(source)], ["x"])
    with pytest.raises(ValueError, match=message):
        scores(terms, FeatureRows.from_values([[x]]))


def test_rows_can_be_taken_scaled_and_mixed():
    x = np.array([[1.0, -2.0], [0.0, 3.0]])
    rows, logs = FeatureRows.from_values(x), FeatureRows.from_logs(np.log([[1.0, 2.0]]))
    assert rows.signs.tolist() == [[1, -1], [0, 1]]
    np.testing.assert_allclose(rows.log_abs, np.log([[1.0, 2.0], [1.0, 3.0]]))
    np.testing.assert_allclose(rows.scaled(np.array([2.0, 0.5])).values, x * [2.0, 0.5])
    np.testing.assert_allclose(logs.scaled(np.array([2.0, 0.5])).values, [[2.0, 1.0]])
    assert rows.with_features([1], logs).values.tolist() == [[1.0, 2.0], [0.0, 2.0]]
    assert rows.take([1]).values.tolist() == [[0.0, 3.0]]
    assert logs.repeat(3).values.shape == (3, 2)
    assert (rows.is_positive(), rows.take([0]).is_positive([0]), logs.is_positive()) == (False, True, True)
    with pytest.raises(ValueError, match=r"shape \(rows, features\), not \(2,\)"):
        FeatureRows.from_values([1.0, 2.0])


def test_round_trip_of_natural_terms():
    signomials = (Signomial.parse("2*x**2/y - x**0.37"), Signomial(), Signomial.parse("y + 1"))
    terms = ScoreTerms.from_signomials(signomials, ["y", "x"])
    assert terms.to_signomials(["y", "x"]) == signomials
    assert isinstance(terms.to_signomials(["y", "x"])[0].terms[0].exponents["x"], Fraction)
    assert (terms.n_terms, terms.n_features, terms.n_classes) == (4, 2, 3)
    assert terms.classes.tolist() == [0, 0, 2, 2]


def test_terms_need_no_order():
    terms = ScoreTerms([1.0, 2.0, 3.0], [[1.0], [0.0], [2.0]], [1, 0, 1], 2)
    np.testing.assert_allclose(scores(terms, FeatureRows.from_logs(np.log([[2.0]]))), [[2.0, 14.0]])
    np.testing.assert_allclose(term_values(terms, FeatureRows.from_logs(np.log([[2.0]]))), [[2.0, 2.0, 12.0]])


def test_no_terms_give_zero_scores():
    assert (
        scores(ScoreTerms([], np.zeros((0, 2)), [], 3), FeatureRows.from_logs(np.zeros((4, 2)))).tolist()
        == [[0.0] * 3] * 4
    )


def test_clipping_is_that_of_terms():
    terms = ScoreTerms([2.0], [[1000.0]], [0], 1)
    log_x = np.log([[10.0], [0.1]])
    expected = Term(2, {"x": 1000}).evaluate({"x": [10.0, 0.1]})
    np.testing.assert_array_equal(scores(terms, FeatureRows.from_logs(log_x))[:, 0], expected)


def test_equal_calls_give_equal_bits_and_leave_the_input():
    terms = ScoreTerms.from_signomials([Signomial.parse("x**0.3*y - y**-1.7 + 3")], NAMES)
    log_x = np.log(DATA)
    before = log_x.copy()
    rows = FeatureRows.from_logs(log_x)
    assert scores(terms, rows).tobytes() == scores(terms, rows).tobytes()
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
        (lambda: ScoreTerms([1.0, 2.0], [[1.0], [2.0]], [0, 0], 1, ((),)), "for all 2 terms, not for 1"),
        (lambda: ScoreTerms([1.0], [[1.0]], [0], 1).to_signomials(["x", "y"]), "1 names are needed"),
        (
            lambda: scores(ScoreTerms([1.0], [[1.0]], [0], 1), FeatureRows.from_logs(np.zeros((2, 3)))),
            r"shape \(rows, 1\), not \(2, 3\)",
        ),
    ],
)
def test_shapes_that_do_not_fit_are_refused(build, message):
    with pytest.raises(ValueError, match=message):
        build()
