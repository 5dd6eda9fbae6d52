"""Probabilities, D1 and D2 against differences and identities."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ecsel.signomial import FeatureRows, ScoreTerms, Signomial, scores
from ecsel.signomial.properties import log_gradient, margin_sensitivity, probabilities, probability_sensitivity

any_terms = st.from_type(ScoreTerms)


def rows_for(terms):
    return FeatureRows.from_logs(np.random.default_rng(12).normal(0, 0.7, (5, terms.n_features)))


def one_score(terms):
    return ScoreTerms(terms.coefficients, terms.exponents, np.zeros(terms.n_terms, dtype=int), 1)


def differences_of_probabilities(terms, rows, link, step=1e-5):
    columns = []
    for shift in step * np.eye(rows.n_features):
        up, down = (probabilities(scores(terms, rows.scaled(np.exp(s))), link) for s in (shift, -shift))
        columns.append((up - down) / (2 * step))
    return np.stack(columns, axis=-1)


@given(any_terms)
@settings(max_examples=40, deadline=None)
def test_d2_is_the_derivative_of_the_probabilities(terms):
    rows = rows_for(terms)
    for link, model in (("softmax", terms), ("sigmoid", one_score(terms))):
        values = probability_sensitivity(model, rows, link=link)
        slack = 1e-6 * (1 + np.abs(log_gradient(model, rows)).max() ** 2)
        np.testing.assert_allclose(values, differences_of_probabilities(model, rows, link), rtol=0, atol=slack)
        np.testing.assert_allclose(values.sum(axis=1), 0, atol=1e-12 * (1 + np.abs(values).max()))


@given(any_terms)
@settings(max_examples=40, deadline=None)
def test_d1_is_the_difference_of_the_log_gradients(terms):
    rows = rows_for(terms)
    gradient = log_gradient(terms, rows)
    np.testing.assert_array_equal(
        margin_sensitivity(terms, rows, 1, 0, link="softmax"), gradient[:, 1] - gradient[:, 0]
    )
    model = one_score(terms)
    np.testing.assert_array_equal(
        margin_sensitivity(model, rows, 1, 0, link="sigmoid"), log_gradient(model, rows)[:, 0]
    )


@given(any_terms)
@settings(max_examples=40, deadline=None)
def test_sigmoid_is_the_softmax_with_a_zero_score(terms):
    model, rows = one_score(terms), rows_for(terms)
    two = ScoreTerms(model.coefficients, model.exponents, np.ones(model.n_terms, dtype=int), 2)
    p = probabilities(scores(model, rows), "sigmoid")
    np.testing.assert_allclose(p, probabilities(scores(two, rows), "softmax"), rtol=1e-12)
    np.testing.assert_allclose(
        probability_sensitivity(model, rows, link="sigmoid"),
        probability_sensitivity(two, rows, link="softmax"),
        rtol=1e-10,
    )


@pytest.mark.parametrize("link", ["softmax", "sigmoid"])
def test_d1_and_d2_of_raw_columns(link):
    equations = [Signomial.parse("2*log(x) - 0.3*y*[a = b]"), Signomial.parse("0.5*sqrt(y + 1) + [a = b]/x")]
    terms = ScoreTerms.from_signomials(equations[: 1 + (link == "softmax")], ["x", "y", "[a = b]"])
    rows = FeatureRows.from_values([[1.0, -0.5, 1.0], [0.4, 2.0, 0.0], [3.0, 0.0, 1.0]])
    values = probability_sensitivity(terms, rows, link=link)
    np.testing.assert_allclose(values, differences_of_probabilities(terms, rows, link), atol=1e-9)
    gradient = log_gradient(terms, rows)
    margin = margin_sensitivity(terms, rows, 1, 0, link=link)
    np.testing.assert_array_equal(margin, gradient[:, -1] - (gradient[:, 0] if link == "softmax" else 0.0))


def test_d2_keeps_its_digits_when_the_decision_is_nearly_sure():
    terms = ScoreTerms([50.0], [[1.0]], [0], 1)
    values = probability_sensitivity(terms, FeatureRows.from_logs([[0.0]]), link="sigmoid")
    np.testing.assert_allclose(values[0, 1, 0], 50 * np.exp(-50.0), rtol=1e-12)


def test_probabilities_do_not_overflow():
    z = np.array([[1e304, -1e304, 0.0], [-1000.0, -1001.0, -1e5]])
    p = probabilities(z, "softmax")
    assert np.isfinite(p).all()
    np.testing.assert_allclose(p.sum(axis=1), 1)
    assert probabilities(np.array([[-800.0]]), "sigmoid")[0, 0] == 1.0


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: probabilities(np.zeros((2, 2)), "sigmoid"), "a sigmoid takes one score, not 2"),
        (lambda: probabilities(np.zeros((2, 1)), "softmax"), "a softmax takes two or more scores, not 1"),
        (lambda: probabilities(np.zeros((2, 2)), "probit"), "link must be 'sigmoid' or 'softmax', not 'probit'"),
        (
            lambda: margin_sensitivity(
                ScoreTerms([1.0], [[1.0]], [0], 1), FeatureRows.from_logs([[0.0]]), 2, 0, link="sigmoid"
            ),
            "classes must lie between 0 and 1, not 2 and 0",
        ),
    ],
)
def test_misuse_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()
