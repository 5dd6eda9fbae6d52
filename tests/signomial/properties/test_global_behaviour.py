"""G1, G2, G3 against differences and against each other."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ecsel.signomial import ScoreTerms, Signomial, scores
from ecsel.signomial.properties import elasticity, log_gradient, scaled_scores

any_terms = st.from_type(ScoreTerms)


def rows_for(terms, n_rows=5):
    return np.random.default_rng(11).normal(0, 0.7, (n_rows, terms.n_features))


def central_differences(function, log_x, step=1e-5):
    """d function / d log x_j along the last axis."""
    columns = []
    for j in range(log_x.shape[1]):
        shift = step * (np.arange(log_x.shape[1]) == j)
        columns.append((function(log_x + shift) - function(log_x - shift)) / (2 * step))
    return np.stack(columns, axis=-1)


@given(any_terms)
@settings(max_examples=40, deadline=None)
def test_g3_is_the_derivative_of_the_scores(terms):
    log_x = rows_for(terms)
    numeric = central_differences(lambda u: scores(terms, u), log_x)
    gradient = log_gradient(terms, log_x)
    np.testing.assert_allclose(gradient, numeric, rtol=1e-6, atol=1e-6 * (1 + np.abs(gradient).max()))


@given(any_terms)
@settings(max_examples=40, deadline=None)
def test_g1_is_the_log_derivative_and_g3_is_z_times_g1(terms):
    log_x = rows_for(terms)
    z, gradient = scores(terms, log_x), log_gradient(terms, log_x)
    for absolute, defined in ((False, z > 0), (True, z != 0)):
        values, mask = elasticity(terms, log_x, absolute=absolute)
        np.testing.assert_array_equal(mask, defined)
        assert np.isnan(values[~mask]).all()
        size = 1e-12 * (1 + np.abs(gradient).max())
        np.testing.assert_allclose((z[:, :, None] * values)[mask], gradient[mask], rtol=1e-9, atol=size)


@given(any_terms, st.floats(0.2, 5.0))
@settings(max_examples=40, deadline=None)
def test_g2_is_the_score_at_the_scaled_features(terms, factor):
    log_x = rows_for(terms)
    log_q = np.zeros(terms.n_features)
    log_q[0] = np.log(factor)
    x = np.exp(log_x)
    x[:, 0] *= factor
    np.testing.assert_allclose(scaled_scores(terms, log_x, log_q), scores(terms, np.log(x)), rtol=1e-10, atol=1e-10)
    per_row = np.broadcast_to(log_q, log_x.shape)
    np.testing.assert_array_equal(scaled_scores(terms, log_x, per_row), scaled_scores(terms, log_x, log_q))


def test_g2_tends_to_g3_to_second_order():
    terms = ScoreTerms.from_signomials([Signomial.parse("2*x**1.3*y - x**-0.5"), Signomial.parse("y**2")], ["x", "y"])
    log_x = np.log([[1.3, 0.7], [2.0, 3.0]])
    errors = []
    for epsilon in (1e-2, 1e-3):
        change = scaled_scores(terms, log_x, np.log1p([epsilon, 0.0])) - scores(terms, log_x)
        errors.append(np.abs(change - epsilon * log_gradient(terms, log_x)[:, :, 0]).max())
    assert errors[1] < errors[0] / 90


@given(st.floats(0.3, 3.0), st.integers(0, 2))
@settings(max_examples=30, deadline=None)
def test_faithfulness_of_exponents_for_one_term(factor, j):
    """Scaling x_j by r multiplies a single term by r^β_j, so larger |β_j| respond more strongly."""
    beta = np.array([1.7, -0.6, 0.2])
    terms = ScoreTerms([-2.5], [beta], [0], 1)
    log_x = rows_for(terms)
    response = np.log(scaled_scores(terms, log_x, np.log(factor) * np.eye(3)[j]) / scores(terms, log_x))
    np.testing.assert_allclose(response, beta[j] * np.log(factor), atol=1e-12)


def test_one_term_has_its_exponents_as_elasticity():
    terms = ScoreTerms([0.3, 2.0], [[1.5, -2.0], [0.0, 0.7]], [0, 1], 2)
    values, mask = elasticity(terms, rows_for(terms))
    assert mask.all()
    np.testing.assert_allclose(values, np.broadcast_to(terms.exponents, (5, 2, 2)), rtol=1e-13)


def test_class_without_terms_has_no_elasticity():
    values, mask = elasticity(ScoreTerms([1.0], [[1.0]], [0], 2), np.zeros((1, 1)), absolute=True)
    assert mask.tolist() == [[True, False]]
    assert np.isnan(values[0, 1]).all()


def test_elasticity_of_huge_scores_is_finite():
    terms = ScoreTerms([1.0, 1.0], [[690.0], [690.5]], [0, 0], 1)
    values, _ = elasticity(terms, np.ones((1, 1)))
    assert 690.0 < values[0, 0, 0] < 690.5


def test_agreement_with_the_signomial_itself():
    z = Signomial.parse("2*x**2/y - 3*y**0.5 + 1")
    log_x = np.log([[1.5, 2.0], [0.3, 0.9]])
    terms = ScoreTerms.from_signomials([z], ["x", "y"])
    columns = {"x": np.exp(log_x[:, 0]), "y": np.exp(log_x[:, 1])}
    np.testing.assert_allclose(log_gradient(terms, log_x)[:, 0], z.log_gradient(columns), rtol=1e-13)


def test_shapes_are_checked():
    with pytest.raises(ValueError, match=r"shape \(rows, 1\), not \(2, 3\)"):
        log_gradient(ScoreTerms([1.0], [[1.0]], [0], 1), np.zeros((2, 3)))
