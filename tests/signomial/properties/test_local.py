"""L1 is exact, L2 is first order, and both meet where theory says."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from ecsel.signomial import ScoreTerms, scores, term_values
from ecsel.signomial.properties import (
    attribution,
    elasticity,
    log_additive,
    log_gradient,
    log_score_attribution,
    probabilities,
    probability_attribution,
)

any_terms = st.from_type(ScoreTerms)


def rows_and_baseline(terms):
    rng = np.random.default_rng(13)
    return rng.normal(0, 0.7, (5, terms.n_features)), rng.normal(0, 0.3, terms.n_features)


@given(any_terms)
@settings(max_examples=40, deadline=None)
def test_l1_adds_up_to_the_log_ratio_of_every_term(terms):
    log_x, log_b = rows_and_baseline(terms)
    values = log_additive(terms, log_x, log_b)
    assert values.shape == (5, terms.n_terms, terms.n_features)
    ratio = np.log(np.abs(term_values(terms, log_x))) - np.log(np.abs(term_values(terms, log_b[None])))
    np.testing.assert_allclose(values.sum(axis=2), ratio, atol=1e-11)
    np.testing.assert_array_equal(log_additive(terms, log_x, np.broadcast_to(log_b, log_x.shape)), values)


@given(any_terms)
@settings(max_examples=40, deadline=None)
def test_l2_and_its_error_add_up_to_the_change(terms):
    log_x, log_b = rows_and_baseline(terms)
    for result, at_x in (
        (attribution(terms, log_x, log_b), scores(terms, log_x)),
        (probability_attribution(terms, log_x, log_b, link="softmax"), probabilities(scores(terms, log_x), "softmax")),
    ):
        assert result.base_values.shape == (terms.n_classes,)
        total = result.base_values + result.values.sum(axis=2) + result.error
        np.testing.assert_allclose(total, at_x, atol=1e-12 * (1 + np.abs(result.values).max()))
        per_row = np.tile(log_b, (5, 1))
    np.testing.assert_allclose(attribution(terms, log_x, per_row).values, attribution(terms, log_x, log_b).values)
    assert attribution(terms, log_x, per_row).base_values.shape == (5, terms.n_classes)


@given(any_terms)
@settings(max_examples=40, deadline=None)
def test_l2_is_the_gradient_at_the_baseline(terms):
    log_x, log_b = rows_and_baseline(terms)
    expected = log_gradient(terms, log_b[None]) * (log_x - log_b)[:, None, :]
    np.testing.assert_allclose(attribution(terms, log_x, log_b).values, expected)


def test_l2_error_is_of_second_order():
    terms = ScoreTerms([1.0, -2.0], [[1.5, 0.3], [-0.5, 1.0]], [0, 1], 2)
    direction, log_b = np.array([[0.7, -0.4]]), np.array([0.2, 0.1])
    errors = [
        np.abs(np.hstack([f(terms, log_b + h * direction, log_b).error, g.error])).max()
        for h in (1e-2, 1e-3)
        for f, g in [(attribution, probability_attribution(terms, log_b + h * direction, log_b, link="softmax"))]
    ]
    assert errors[1] < errors[0] / 90


def test_one_positive_term_has_an_exact_log_score():
    terms = ScoreTerms([0.3, 2.0], [[1.5, -2.0], [0.4, 0.7]], [0, 1], 2)
    log_x, log_b = rows_and_baseline(terms)
    result = log_score_attribution(terms, log_x, log_b)
    np.testing.assert_allclose(result.error, 0, atol=1e-12)
    np.testing.assert_allclose(result.values, log_additive(terms, log_x, log_b), atol=1e-12)
    np.testing.assert_allclose(result.base_values, np.log(scores(terms, log_b[None]))[0])


def test_log_score_is_undefined_where_the_score_is_not_positive():
    terms = ScoreTerms([1.0, -1.0], [[1.0], [1.0]], [0, 1], 2)
    result = log_score_attribution(terms, np.array([[0.5]]), np.zeros(1))
    assert np.isnan(result.values).tolist() == [[[False], [True]]]
    assert np.isnan(result.error).tolist() == [[False, True]]
    np.testing.assert_array_equal(elasticity(terms, np.zeros((1, 1))).mask, [[True, False]])
