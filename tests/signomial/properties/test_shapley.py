"""Shapley values against the definition, their axioms, and the limits of floating point."""

import itertools
import math
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ecsel.signomial import FeatureRows, ScoreTerms, Signomial, scores, term_values
from ecsel.signomial.properties import shapley

MODULE = sys.modules[shapley.__module__]  # the package has a function of the module's name


def by_enumeration(terms, rows, background, groups):
    """The definition: the average over coalitions of the gain from joining, absent groups from the background."""
    n_groups = max(groups) + 1

    def game(row, coalition):
        return scores(terms, background.with_features(np.isin(groups, list(coalition)), row)).mean(axis=0)

    values = np.zeros((len(rows), terms.n_classes, n_groups))
    for i in range(len(rows)):
        row = rows.take([i])
        worth = {s: game(row, s) for k in range(n_groups + 1) for s in itertools.combinations(range(n_groups), k)}
        for p in range(n_groups):
            for s, value in worth.items():
                if p not in s:
                    weight = math.factorial(len(s)) * math.factorial(n_groups - len(s) - 1) / math.factorial(n_groups)
                    values[i, :, p] += weight * (worth[tuple(sorted((*s, p)))] - value)
    return values


def random_case(seed, n_features, n_terms=3, std=0.7, n_rows=3, n_background=4):
    rng = np.random.default_rng(seed)
    exponents = rng.normal(0, 1, (n_terms, n_features)) * (rng.random((n_terms, n_features)) < 0.8)
    terms = ScoreTerms(rng.normal(0, 1, n_terms), exponents, rng.integers(0, 2, n_terms), 2)
    rows, background = (FeatureRows.from_logs(rng.normal(0, std, (n, n_features))) for n in (n_rows, n_background))
    return terms, rows, background


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("groups", [[0, 1, 2, 3, 4, 5], [0, 1, 1, 2, 0, 3, 4, 5], [0, 0, 0], [1, 0, 2, 1, 2]])
def test_agreement_with_the_definition(seed, groups):
    terms, rows, background = random_case(seed, len(groups))
    result = shapley(terms, rows, background, np.array(groups))
    expected = by_enumeration(terms, rows, background, groups)
    np.testing.assert_allclose(result.values, expected, rtol=0, atol=1e-10 * (1 + np.abs(expected).max()))


NAMES = ("x", "y", "page value", "[x > 4]")


@given(
    st.lists(st.from_type(Signomial), min_size=1, max_size=2),
    st.sampled_from([[0, 1, 2, 3], [0, 1, 1, 2], [1, 0, 1, 0]]),
    st.booleans(),
)
@settings(max_examples=40, deadline=None)
def test_any_factors_agree_with_the_definition(signomials, groups, has_zeros):
    """Logarithms, shifts and an indicator, at rows where some of them vanish or are negative."""
    terms = ScoreTerms.from_signomials(signomials, NAMES)
    raw = np.random.default_rng(3).uniform(0.3, 3.0, (7, 4))
    raw[:, 0] *= np.where(has_zeros, [1, -1, 1, 1, -1, 1, 0], 1)
    raw[:, 3] = [0, 1, 1, 0, 1, 0, 1] if has_zeros else 1.0
    rows, background = FeatureRows.from_values(raw[:3]), FeatureRows.from_values(raw[3:])
    try:
        size = max(np.abs(term_values(terms, each)).max(initial=0.0) for each in (rows, background))
        expected = by_enumeration(terms, rows, background, groups)
    except ValueError:
        return  # outside the domain of a factor
    result = shapley(terms, rows, background, np.array(groups))
    size = 1e-11 * (1 + size + np.abs(expected).max())
    np.testing.assert_allclose(result.values, expected, rtol=0, atol=size)
    total = result.base_values + result.values.sum(axis=2)
    np.testing.assert_allclose(total, scores(terms, rows), rtol=0, atol=4 * size)


def test_power_laws_on_positive_values_have_the_values_of_their_logs():
    terms, logs, background = random_case(5, 6)
    groups = np.arange(6)
    on_logs = shapley(terms, logs, background, groups).values
    values = (FeatureRows.from_values(each.values) for each in (logs, background))
    np.testing.assert_allclose(shapley(terms, *values, groups).values, on_logs, rtol=1e-10, atol=1e-13)


@given(st.integers(0, 2**32 - 1), st.integers(1, 30), st.floats(0.01, 3.0))
@settings(max_examples=50, deadline=None)
def test_values_add_up_to_the_score(seed, n_features, std):
    terms, rows, background = random_case(seed, n_features, std=std)
    result = shapley(terms, rows, background, np.arange(n_features))
    total = result.base_values + result.values.sum(axis=2)
    size = np.abs(result.values).sum(axis=2) + np.abs(result.base_values)
    assert np.all(np.abs(total - scores(terms, rows)) <= 1e-11 * (size + np.abs(scores(terms, rows))) + 1e-300)


@given(st.integers(0, 2**32 - 1), st.integers(2, 8))
@settings(max_examples=30, deadline=None)
def test_order_of_groups_and_of_terms_does_not_matter(seed, n_features):
    terms, rows, background = random_case(seed, n_features)
    groups = np.arange(n_features)
    values = shapley(terms, rows, background, groups).values
    order = np.random.default_rng(seed).permutation(n_features)
    shuffled = ScoreTerms(terms.coefficients[::-1], terms.exponents[::-1][:, order], terms.classes[::-1], 2)
    rows, background = (FeatureRows.from_logs(each.given[:, order]) for each in (rows, background))
    again = shapley(shuffled, rows, background, groups[order]).values
    np.testing.assert_allclose(again, values, rtol=0, atol=1e-11 * (1 + np.abs(values).max()))


def test_absent_groups_and_unchanged_groups_get_exactly_zero():
    terms = ScoreTerms.from_signomials([Signomial.parse("x*y + 3*y**2 - 7")], ["x", "y", "unused"])
    rows, background = (FeatureRows.from_values(x) for x in ([[2.0, 3.0, 5.0]], [[2.0, 1.0, 9.0], [2.0, 4.0, 1.0]]))
    result = shapley(terms, rows, background, np.array([0, 1, 2]), n_groups=5)
    assert result.values.shape == (1, 1, 5)
    assert result.values[0, 0, [0, 2, 3, 4]].tolist() == [0.0] * 4
    assert result.values[0, 0, 1] != 0


def test_symmetric_groups_share_equally():
    terms = ScoreTerms.from_signomials([Signomial.parse("x*y*z")], ["x", "y", "z"])
    values = shapley(
        terms, FeatureRows.from_values([[2.0, 2.0, 2.0]]), FeatureRows.from_values(np.ones((1, 3))), np.arange(3)
    ).values
    np.testing.assert_allclose(values, np.full((1, 1, 3), 7 / 3), rtol=1e-14)


def test_small_changes_keep_their_digits():
    terms = ScoreTerms([1.0], [[1.0, 1.0]], [0], 1)
    values = shapley(
        terms, FeatureRows.from_logs([[1e-14, 0.0]]), FeatureRows.from_logs([[0.0, 0.0]]), np.arange(2)
    ).values
    np.testing.assert_allclose(values[0, 0], [1e-14, 0.0], rtol=1e-12)


def test_large_opposite_factors_do_not_overflow():
    """Single factors beyond exp(±600) whose products stay moderate."""
    terms = ScoreTerms([1.0], [[1.0, 1.0]], [0], 1)
    rows, background = FeatureRows.from_logs([[600.0, -600.0]]), FeatureRows.from_logs([[0.0, 0.0]])
    values = shapley(terms, rows, background, np.arange(2)).values[0, 0]
    assert np.isfinite(values).all()
    np.testing.assert_allclose(values, [0.5 * np.exp(600.0), -0.5 * np.exp(600.0)], rtol=1e-12)


def test_a_clipped_game_is_refused():
    terms = ScoreTerms([1.0], [[1.0, 1.0]], [0], 1)
    with pytest.raises(ValueError, match=r"passes exp\(700\)"):
        shapley(terms, FeatureRows.from_logs([[500.0, -500.0]]), FeatureRows.from_logs([[-500.0, 500.0]]), np.arange(2))
    general = ScoreTerms.from_signomials([Signomial.parse("x**300*y**300*(z - 1)")], "xyz")
    with pytest.raises(ValueError, match=r"passes exp\(700\)"):
        shapley(
            general,
            FeatureRows.from_values([[5.0, 0.1, 2.0]]),
            FeatureRows.from_values([[0.1, 5.0, 2.0]]),
            np.arange(3),
        )


@given(st.integers(0, 2**32 - 1), st.integers(1, 12))
@settings(max_examples=30, deadline=None)
def test_scales_by_pair_change_nothing(seed, n_features):
    """The path for extreme magnitudes is an independent computation of the same values."""
    terms, rows, background = random_case(seed, n_features)
    usual = shapley(terms, rows, background, np.arange(n_features)).values
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(MODULE, "_SPAN", -1.0)
        for size in (1, 4, 4096):
            patch.setattr(MODULE, "_BLOCK_PAIRS", size)
            by_pair = shapley(terms, rows, background, np.arange(n_features)).values
            np.testing.assert_allclose(by_pair, usual, rtol=0, atol=1e-12 * (1 + np.abs(usual).max()))


def test_forty_features_are_no_obstacle():
    terms, rows, background = random_case(2, 40, n_rows=20, n_background=50)
    result = shapley(terms, rows, background, np.arange(40))
    z = scores(terms, rows)
    np.testing.assert_allclose(
        result.base_values + result.values.sum(axis=2), z, rtol=1e-10, atol=1e-10 * np.abs(z).max()
    )


@pytest.mark.parametrize(
    ("groups", "n_groups", "background", "message"),
    [
        ([0], None, np.zeros((1, 2)), r"one group per feature, shape \(2,\), not \(1,\)"),
        ([0, -1], None, np.zeros((1, 2)), "feature_groups must lie between 0 and 0"),
        ([0, 2], 2, np.zeros((1, 2)), "feature_groups must lie between 0 and 1"),
        ([0, 1], None, np.zeros((0, 2)), "at least one background row"),
    ],
)
def test_misuse_is_refused(groups, n_groups, background, message):
    terms = ScoreTerms([1.0], [[1.0, 1.0]], [0], 1)
    with pytest.raises(ValueError, match=message):
        shapley(
            terms,
            FeatureRows.from_logs(np.zeros((1, 2))),
            FeatureRows.from_logs(background),
            np.array(groups),
            n_groups=n_groups,
        )


def test_one_scale_for_all_rows_is_not_enough_for_every_span():
    """From exp(−650) to exp(650) no common scale keeps all products; every pair has its own."""
    terms = ScoreTerms([1.0], [[1.0, 1.0]], [0], 1)
    rows, background = FeatureRows.from_logs([[650.0, 0.0]]), FeatureRows.from_logs([[-650.0, 0.0], [-650.0, 1.0]])
    values = shapley(terms, rows, background, np.arange(2)).values[0, 0]
    # the second group adds nothing to the first pair and (1 − e)/2·exp(650) to the other
    large = np.exp(650.0)
    np.testing.assert_allclose(values, [large * (1 + (1 + np.e) / 2) / 2, large * (1 - np.e) / 4], rtol=1e-12)


@pytest.mark.parametrize(
    ("row", "behind"), [([-3.0, 2.0], [1.0, 4.0]), ([3.0, 2.0], [-1.0, 4.0]), ([3.0, 0.0], [1.0, 4.0])]
)
def test_signs_of_the_rows_alone_or_of_the_background_alone_count(row, behind):
    terms = ScoreTerms.from_signomials([Signomial.parse("x**3*y")], ["x", "y"])
    rows, background = FeatureRows.from_values([row]), FeatureRows.from_values([behind])
    found = shapley(terms, rows, background, np.arange(2)).values
    np.testing.assert_allclose(found, by_enumeration(terms, rows, background, [0, 1]), rtol=1e-12)
