"""G1, G2, G3 against differences and against each other."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ecsel.signomial import FeatureRows, ScoreTerms, Signomial, scores, term_values
from ecsel.signomial.properties import elasticity, log_gradient, scaled_scores

any_terms = st.from_type(ScoreTerms)


NAMES = ("x", "y", "page value", "[x > 4]")
# no value near 1, where powers of a logarithm bend too sharply for differences; the last column is an indicator
RAW = np.random.default_rng(11).uniform(1.3, 4.0, (6, 4))
RAW[:, 3] = [0.0, 1.0, 1.0, 1.0, 0.0, 1.0]


def rows_for(terms, n_rows=5):
    return FeatureRows.from_logs(np.random.default_rng(11).normal(0, 0.7, (n_rows, terms.n_features)))


def central_differences(function, rows, step=1e-5):
    """d function / d log|x_j| along the last axis."""
    columns = []
    for j in range(rows.n_features):
        up, down = (np.where(np.arange(rows.n_features) == j, np.exp(s), 1.0) for s in (step, -step))
        columns.append((function(rows.scaled(up)) - function(rows.scaled(down))) / (2 * step))
    return np.stack(columns, axis=-1)


@given(any_terms)
@settings(max_examples=40, deadline=None)
def test_g3_is_the_derivative_of_the_scores(terms):
    rows = rows_for(terms)
    numeric = central_differences(lambda at: scores(terms, at), rows)
    gradient = log_gradient(terms, rows)
    np.testing.assert_allclose(gradient, numeric, rtol=1e-6, atol=1e-6 * (1 + np.abs(gradient).max()))


@given(st.lists(st.from_type(Signomial), min_size=2, max_size=2), st.sampled_from([1.0, -1.0]))
@settings(max_examples=60, deadline=None)
def test_g3_of_shifts_logarithms_and_indicators_is_the_derivative(signomials, side):
    """The last column is an indicator; negative values where the terms allow them."""
    terms = ScoreTerms.from_signomials(signomials, NAMES)
    try:
        rows = FeatureRows.from_values(RAW * [side, 1.0, 1.0, 1.0])
        values = np.abs(term_values(terms, rows))
    except ValueError:
        return  # outside the domain of a factor
    numeric = central_differences(lambda at: scores(terms, at), rows)
    np.testing.assert_allclose(log_gradient(terms, rows), numeric, rtol=0, atol=1e-5 * (1 + values.max(initial=0.0)))


@pytest.mark.parametrize(
    ("source", "row", "gradient"),
    [
        ("5*log(x)*y", [1.0, 3.0], [15.0, 0.0]),
        ("log(x)*[a = b]", [2.0, 0.0], [0.0, 0.0]),
        ("x*[a = b]", [2.0, 1.0], [2.0, 2.0]),
        ("(x - 2)*y", [2.0, 3.0], [6.0, 0.0]),
        ("x*log(x)*(x - 1)", [1.0], [0.0]),
        ("x**2*y", [0.0, 3.0], [0.0, 0.0]),
    ],
)
def test_g3_is_right_where_a_factor_vanishes(source, row, gradient):
    z = Signomial.parse(source)
    names = sorted(z.names, key=source.index)
    terms = ScoreTerms.from_signomials([z], names)
    np.testing.assert_allclose(log_gradient(terms, FeatureRows.from_values([row]))[0, 0], gradient, atol=1e-15)


@given(st.from_type(Signomial))
@settings(max_examples=40, deadline=None)
def test_g1_and_g2_of_any_terms(z):
    terms, rows = ScoreTerms.from_signomials([z], NAMES), FeatureRows.from_values(RAW[RAW[:, 3] > 0])
    values, mask = elasticity(terms, rows, absolute=True)
    total = scores(terms, rows)
    size = np.abs(term_values(terms, rows)).sum(axis=1)[:, None, None] + 1e-300
    product = np.where(mask[:, :, None], values * total[:, :, None], 0.0)
    expected = np.where(mask[:, :, None], log_gradient(terms, rows), 0.0)
    assert (np.abs(product - expected) <= 1e-9 * np.maximum(size, np.abs(expected))).all()
    q = np.array([2.0, 0.5, 1.0, 3.0])
    columns = dict(zip(NAMES, (rows.values * q).T, strict=True))
    np.testing.assert_allclose(scaled_scores(terms, rows, q)[:, 0], z(columns), rtol=1e-10, atol=1e-10 * size.max())


@given(any_terms)
@settings(max_examples=40, deadline=None)
def test_g1_is_the_log_derivative_and_g3_is_z_times_g1(terms):
    rows = rows_for(terms)
    z, gradient = scores(terms, rows), log_gradient(terms, rows)
    for absolute, defined in ((False, z > 0), (True, z != 0)):
        values, mask = elasticity(terms, rows, absolute=absolute)
        np.testing.assert_array_equal(mask, defined)
        assert np.isnan(values[~mask]).all()
        size = 1e-12 * (1 + np.abs(gradient).max())
        np.testing.assert_allclose((z[:, :, None] * values)[mask], gradient[mask], rtol=1e-9, atol=size)


@given(any_terms, st.floats(0.2, 5.0))
@settings(max_examples=40, deadline=None)
def test_g2_is_the_score_at_the_scaled_features(terms, factor):
    rows = rows_for(terms)
    q = np.ones(terms.n_features)
    q[0] = factor
    at_scaled = scores(terms, FeatureRows.from_logs(np.log(rows.values * q)))
    np.testing.assert_allclose(scaled_scores(terms, rows, q), at_scaled, rtol=1e-10, atol=1e-10)
    per_row = np.broadcast_to(q, rows.values.shape)
    np.testing.assert_array_equal(scaled_scores(terms, rows, per_row), scaled_scores(terms, rows, q))


def test_g2_tends_to_g3_to_second_order():
    terms = ScoreTerms.from_signomials([Signomial.parse("2*x**1.3*y - x**-0.5"), Signomial.parse("y**2")], ["x", "y"])
    rows = FeatureRows.from_logs(np.log([[1.3, 0.7], [2.0, 3.0]]))
    errors = []
    for epsilon in (1e-2, 1e-3):
        change = scaled_scores(terms, rows, np.array([1 + epsilon, 1.0])) - scores(terms, rows)
        errors.append(np.abs(change - epsilon * log_gradient(terms, rows)[:, :, 0]).max())
    assert errors[1] < errors[0] / 90


@given(st.floats(0.3, 3.0), st.integers(0, 2))
@settings(max_examples=30, deadline=None)
def test_faithfulness_of_exponents_for_one_term(factor, j):
    """Scaling x_j by r multiplies a single term by r^β_j, so larger |β_j| respond more strongly."""
    beta = np.array([1.7, -0.6, 0.2])
    terms = ScoreTerms([-2.5], [beta], [0], 1)
    rows = rows_for(terms)
    response = np.log(scaled_scores(terms, rows, factor ** np.eye(3)[j]) / scores(terms, rows))
    np.testing.assert_allclose(response, beta[j] * np.log(factor), atol=1e-12)


def test_one_term_has_its_exponents_as_elasticity():
    terms = ScoreTerms([0.3, 2.0], [[1.5, -2.0], [0.0, 0.7]], [0, 1], 2)
    values, mask = elasticity(terms, rows_for(terms))
    assert mask.all()
    np.testing.assert_allclose(values, np.broadcast_to(terms.exponents, (5, 2, 2)), rtol=1e-13)


def test_class_without_terms_has_no_elasticity():
    values, mask = elasticity(ScoreTerms([1.0], [[1.0]], [0], 2), FeatureRows.from_logs([[0.0]]), absolute=True)
    assert mask.tolist() == [[True, False]]
    assert np.isnan(values[0, 1]).all()


def test_elasticity_of_huge_scores_is_finite():
    terms = ScoreTerms([1.0, 1.0], [[690.0], [690.5]], [0, 0], 1)
    values, _ = elasticity(terms, FeatureRows.from_logs([[1.0]]))
    assert 690.0 < values[0, 0, 0] < 690.5


def test_agreement_with_the_signomial_itself():
    z = Signomial.parse("2*x**2/y - 3*y**0.5 + 1")
    x = np.array([[1.5, 2.0], [0.3, 0.9]])
    terms = ScoreTerms.from_signomials([z], ["x", "y"])
    expected = z.log_gradient({"x": x[:, 0], "y": x[:, 1]})
    for rows in (FeatureRows.from_values(x), FeatureRows.from_logs(np.log(x))):
        np.testing.assert_allclose(log_gradient(terms, rows)[:, 0], expected, rtol=1e-13)


def test_shapes_are_checked():
    with pytest.raises(ValueError, match=r"shape \(rows, 1\), not \(2, 3\)"):
        log_gradient(ScoreTerms([1.0], [[1.0]], [0], 1), FeatureRows.from_logs(np.zeros((2, 3))))
