"""AUC, DeLong's interval, Gini and KS against their definitions, scikit-learn and SciPy, and a simulation."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import ks_2samp
from sklearn.metrics import roc_auc_score

from ecsel.quality import auc, gini, ks


def drawn(seed, n=80, ties=True):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    y[:2] = 0, 1
    y[2:4] = 0, 1
    s = rng.normal(size=n) + y
    return y, s.round(1) if ties else s


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32 - 1), st.booleans())
def test_auc_and_ks_agree_with_other_libraries(seed, ties):
    y, s = drawn(seed, ties=ties)
    area = auc(y, s)
    assert area.value == pytest.approx(roc_auc_score(y, s), abs=1e-12)
    assert gini(y, s) == pytest.approx(2 * roc_auc_score(y, s) - 1, abs=1e-12)
    assert ks(y, s) == pytest.approx(ks_2samp(s[y == 1], s[y == 0], method="asymp").statistic, abs=1e-12)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_delong_is_its_definition_over_all_pairs(seed):
    y, s = drawn(seed)
    x, z = s[y == 1], s[y == 0]
    kernel = (x[:, None] > z) + 0.5 * (x[:, None] == z)
    by_definition = kernel.mean(axis=1).var(ddof=1) / len(x) + kernel.mean(axis=0).var(ddof=1) / len(z)
    assert auc(y, s).standard_error == pytest.approx(np.sqrt(by_definition), rel=1e-9)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_an_integer_weight_is_that_many_rows(seed):
    y, s = drawn(seed)
    w = np.random.default_rng(seed).integers(0, 4, len(y))
    w[:4] = 1
    repeated = auc(np.repeat(y, w), np.repeat(s, w))
    weighted = auc(y, s, w)
    for name in ("value", "standard_error", "low", "high"):
        assert getattr(weighted, name) == pytest.approx(getattr(repeated, name), rel=1e-9, nan_ok=True)
    assert ks(y, s, w) == pytest.approx(ks(np.repeat(y, w), np.repeat(s, w)))


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_only_the_order_of_scores_counts_and_the_other_class_mirrors_it(seed):
    y, s = drawn(seed)
    area, stretched, mirrored = auc(y, s), auc(y, np.exp(s / 3)), auc(1 - y, s)
    assert stretched.value == area.value
    assert mirrored.value == pytest.approx(1 - area.value)
    assert mirrored.standard_error == pytest.approx(area.standard_error)
    assert mirrored.high == pytest.approx(1 - area.low, nan_ok=True)


def test_the_interval_covers_the_truth_as_often_as_it_says():
    # Two normals a standard deviation apart: AUC = Φ(1/√2).
    truth, rng = 0.7602499389065233, np.random.default_rng(0)
    areas, covered, runs = [], 0, 400
    for _ in range(runs):
        y = np.repeat([0, 1], [60, 40])
        area = auc(y, rng.normal(size=100) + y, level=0.9)
        areas.append((area.value, area.standard_error))
        covered += area.low <= truth <= area.high
    values, errors = np.array(areas).T
    assert errors.mean() == pytest.approx(values.std(ddof=1), rel=0.1)
    assert covered / runs == pytest.approx(0.9, abs=0.045)  # three standard errors of a share


def test_delong_agrees_with_the_bootstrap():
    y, s = drawn(3, n=300, ties=False)
    rng = np.random.default_rng(0)
    members = [np.flatnonzero(y == c) for c in (0, 1)]
    values = []
    for _ in range(600):
        rows = np.concatenate([rng.choice(m, len(m)) for m in members])
        values.append(auc(y[rows], s[rows]).value)
    assert auc(y, s).standard_error == pytest.approx(np.std(values, ddof=1), rel=0.12)


def test_what_has_no_spread_has_no_interval():
    perfect = auc([0, 0, 1, 1], [1, 2, 3, 4])
    assert perfect.value == 1
    assert np.isnan([perfect.standard_error, perfect.low, perfect.high]).all()
    assert np.isnan(auc([0, 0, 1], [1, 3, 2]).standard_error)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([0, 0], [1.0, 2.0]), "two classes, but it has 1"),
        (([0, 1, 2], [1.0, 2.0, 3.0]), "two classes, but it has 3"),
        (([0, 1], [1.0, np.nan]), "1 of 2 rows"),
        (([0, 1], [1.0, 2.0, 3.0]), r"shape \(2,\)"),
        (([0, 1], [1.0, 2.0], [1.0, -1.0]), "not be negative"),
        (([0, 1], [1.0, 2.0], [1.0, 0.0]), "one class have zero"),
        (([[0, 1]], [1.0, 2.0]), "one label per row"),
    ],
)
def test_bad_input_is_named(arguments, message):
    with pytest.raises(ValueError, match=message):
        auc(*arguments)


def test_a_level_is_a_probability():
    with pytest.raises(ValueError, match="level=95"):
        auc([0, 1], [0.0, 1.0], level=95)
