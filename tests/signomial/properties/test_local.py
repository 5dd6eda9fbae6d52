"""L1 is exact, L2 is first order, and both meet where theory says."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from ecsel.signomial import FeatureRows, ScoreTerms, Signomial, scores, term_values
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
    rows = FeatureRows.from_logs(rng.normal(0, 0.7, (5, terms.n_features)))
    return rows, FeatureRows.from_logs(rng.normal(0, 0.3, (1, terms.n_features)))


@given(any_terms)
@settings(max_examples=40, deadline=None)
def test_l1_adds_up_to_the_log_ratio_of_every_term(terms):
    rows, baseline = rows_and_baseline(terms)
    values = log_additive(terms, rows, baseline)
    assert values.shape == (5, terms.n_terms, terms.n_features)
    ratio = np.log(np.abs(term_values(terms, rows))) - np.log(np.abs(term_values(terms, baseline)))
    np.testing.assert_allclose(values.sum(axis=2), ratio, atol=1e-11)
    np.testing.assert_array_equal(log_additive(terms, rows, baseline.repeat(5)), values)


@given(any_terms)
@settings(max_examples=40, deadline=None)
def test_l2_and_its_error_add_up_to_the_change(terms):
    rows, baseline = rows_and_baseline(terms)
    for result, at_x in (
        (attribution(terms, rows, baseline), scores(terms, rows)),
        (probability_attribution(terms, rows, baseline, link="softmax"), probabilities(scores(terms, rows), "softmax")),
    ):
        assert result.base_values.shape == (terms.n_classes,)
        total = result.base_values + result.values.sum(axis=2) + result.error
        np.testing.assert_allclose(total, at_x, atol=1e-12 * (1 + np.abs(result.values).max()))
    per_row = baseline.repeat(5)
    np.testing.assert_allclose(attribution(terms, rows, per_row).values, attribution(terms, rows, baseline).values)
    assert attribution(terms, rows, per_row).base_values.shape == (5, terms.n_classes)


@given(any_terms)
@settings(max_examples=40, deadline=None)
def test_l2_is_the_gradient_at_the_baseline(terms):
    rows, baseline = rows_and_baseline(terms)
    expected = log_gradient(terms, baseline) * (rows.given - baseline.given)[:, None, :]
    np.testing.assert_allclose(attribution(terms, rows, baseline).values, expected)


def test_l2_error_is_of_second_order():
    terms = ScoreTerms([1.0, -2.0], [[1.5, 0.3], [-0.5, 1.0]], [0, 1], 2)
    direction, baseline = np.array([0.7, -0.4]), FeatureRows.from_logs([[0.2, 0.1]])
    errors = []
    for h in (1e-2, 1e-3):
        rows = baseline.scaled(np.exp(h * direction))
        both = attribution(terms, rows, baseline), probability_attribution(terms, rows, baseline, link="softmax")
        errors.append(np.abs(np.hstack([each.error for each in both])).max())
    assert errors[1] < errors[0] / 90


def test_one_positive_term_has_an_exact_log_score():
    terms = ScoreTerms([0.3, 2.0], [[1.5, -2.0], [0.4, 0.7]], [0, 1], 2)
    rows, baseline = rows_and_baseline(terms)
    result = log_score_attribution(terms, rows, baseline)
    np.testing.assert_allclose(result.error, 0, atol=1e-12)
    np.testing.assert_allclose(result.values, log_additive(terms, rows, baseline), atol=1e-12)
    np.testing.assert_allclose(result.base_values, np.log(scores(terms, baseline))[0])


def test_log_score_is_undefined_where_the_score_is_not_positive():
    terms = ScoreTerms([1.0, -1.0], [[1.0], [1.0]], [0, 1], 2)
    result = log_score_attribution(terms, FeatureRows.from_logs([[0.5]]), FeatureRows.from_logs([[0.0]]))
    assert np.isnan(result.values).tolist() == [[[False], [True]]]
    assert np.isnan(result.error).tolist() == [[False, True]]
    np.testing.assert_array_equal(elasticity(terms, FeatureRows.from_logs([[0.0]])).mask, [[True, False]])


NAMES = ("x", "y", "page value", "[x > 4]")
RAW = np.random.default_rng(17).uniform(1.3, 4.0, (6, 4))


@given(st.lists(st.from_type(Signomial), min_size=1, max_size=2))
@settings(max_examples=40, deadline=None)
def test_l1_adds_up_for_any_factors(signomials):
    terms = ScoreTerms.from_signomials(signomials, NAMES)
    rows, baseline = FeatureRows.from_values(RAW[:5]), FeatureRows.from_values(RAW[5:])
    ratio = np.log(np.abs(term_values(terms, rows))) - np.log(np.abs(term_values(terms, baseline)))
    np.testing.assert_allclose(log_additive(terms, rows, baseline).sum(axis=2), ratio, atol=1e-10)


def test_l1_is_undefined_where_a_factor_vanishes():
    terms = ScoreTerms.from_signomials([Signomial.parse("x*log(y) + y*(z - 2)")], ["x", "y", "z"])
    assert terms.is_power_law.tolist() == [False, False]
    rows = FeatureRows.from_values([[0.0, 2.0, 3.0], [4.0, 1.0, 2.0], [-1.0, 3.0, 5.0]])
    values = log_additive(terms, rows, FeatureRows.from_values([[1.0, 2.0, 4.0]]))
    undefined = np.isnan(values)
    by_term = {bool(use[0]): undefined[:, k] for k, use in enumerate(terms.uses)}
    assert by_term[True].tolist() == [[True, False, False], [False, True, False], [False, False, False]]
    assert by_term[False].tolist() == [[False, False, False], [False, False, True], [False, False, False]]


@given(st.from_type(Signomial), st.integers(0, 2**32 - 1))
@settings(max_examples=40, deadline=None)
def test_l2_of_indicators_is_the_difference_of_switching_them(z, seed):
    terms = ScoreTerms.from_signomials(
        [z.rename({"[x > 4]": "y"}) * Signomial.variable("[x > 4]") + z.select("x")], NAMES
    )
    raw = RAW.copy()
    raw[:, 3] = np.random.default_rng(seed).integers(0, 2, 6)
    rows, baseline = FeatureRows.from_values(raw[:5]), FeatureRows.from_values(raw[5:])
    try:
        result = attribution(terms, rows, baseline, indicators=[3])
    except ValueError:
        return  # a power or a logarithm of the indicator that is not defined at 0
    switched = np.repeat(raw[5:], 5, axis=0)
    switched[:, 3] = raw[:5, 3]
    expected = scores(terms, FeatureRows.from_values(switched)) - scores(terms, baseline)
    size = 1e-10 * (1 + np.abs(term_values(terms, rows)).max(initial=0.0) + np.abs(expected).max())
    np.testing.assert_allclose(result.values[:, :, 3], expected, rtol=0, atol=size)
    numbers = log_gradient(terms, baseline)[:, :, :3] * np.log(raw[:5, :3] / raw[5:, :3])[:, None]
    np.testing.assert_allclose(result.values[:, :, :3], numbers, rtol=1e-9, atol=size)
    assert not result.crossed.any()


def test_l2_of_the_probability_switches_indicators_too():
    terms = ScoreTerms.from_signomials([Signomial.parse("2*log(x)*[a] - 1*[a] + 0.3*x")], ["x", "[a]"])
    rows, baseline = FeatureRows.from_values([[3.0, 1.0], [3.0, 0.0]]), FeatureRows.from_values([[2.0, 0.0]])
    result = probability_attribution(terms, rows, baseline, link="sigmoid", indicators=[1])
    p = probabilities(scores(terms, FeatureRows.from_values([[2.0, 1.0], [2.0, 0.0]])), "sigmoid")
    np.testing.assert_allclose(result.values[:, :, 1], [p[0] - p[1], [0.0, 0.0]], atol=1e-15)
    total = result.base_values + result.values.sum(axis=2) + result.error
    np.testing.assert_allclose(total, probabilities(scores(terms, rows), "sigmoid"), rtol=1e-14)


def test_l2_of_numbers_that_cross_zero_is_undefined():
    terms = ScoreTerms.from_signomials([Signomial.parse("x*y + y"), Signomial.parse("y**2")], ["x", "y"])
    rows = FeatureRows.from_values([[2.0, 1.5], [-2.0, 1.5], [0.0, 1.5]])
    result = attribution(terms, rows, FeatureRows.from_values([[1.0, 1.0]]))
    assert result.crossed.tolist() == [[False, False], [True, False], [True, False]]
    assert np.isnan(result.values[:, 0, 0]).tolist() == [False, True, True]
    assert result.values[:, 1, 0].tolist() == [0.0, 0.0, 0.0]  # the second score does not depend on x
    np.testing.assert_allclose(result.values[:, 0, 1], 2 * np.log(1.5))
    total = result.base_values + np.nansum(result.values, axis=2) + result.error
    np.testing.assert_allclose(total, scores(terms, rows))
    negative = attribution(terms, FeatureRows.from_values([[-3.0, 1.0]]), FeatureRows.from_values([[-1.0, 1.0]]))
    np.testing.assert_allclose(negative.values[0, 0], [-np.log(3.0), 0.0])
