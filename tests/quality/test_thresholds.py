"""The best threshold against brute force over every decision that a threshold can make."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from sklearn.metrics import confusion_matrix, f1_score

from ecsel.quality import best_threshold
from ecsel.quality.thresholds import confusion

SEEDS = st.integers(0, 2**32 - 1)


def drawn(seed, n=40, digits=2):
    rng = np.random.default_rng(seed)
    p = rng.random(n).round(digits)
    y = (rng.random(n) < p).astype(int)
    y[:2] = 0, 1
    return y, p, rng.uniform(0.1, 3, n)


def value(rule, y, p, w, t):
    decision = (p >= t).astype(int)
    if rule == "f1":
        hits, wrong = w[(y == 1) & (decision == 1)].sum(), w[y != decision].sum()
        return 2 * hits / (2 * hits + wrong)
    if rule == "weighted_f1":
        return f1_score(y, decision, average="weighted", sample_weight=w, zero_division=0)
    rates = [w[(y == c) & (decision == 1)].sum() / w[y == c].sum() for c in (0, 1)]
    if isinstance(rule, str):
        return rates[1] - rates[0]
    return -sum(w[i] * rule[y[i]][decision[i]] for i in range(len(y)))


RULES = st.one_of(
    st.sampled_from(["f1", "weighted_f1", "youden"]),
    st.tuples(st.floats(0.1, 9), st.floats(0.1, 9), st.floats(-1, 0)).map(lambda c: [[c[2], c[0]], [c[1], 0.0]]),
)


@settings(max_examples=60, deadline=None)
@given(SEEDS, RULES, st.sampled_from([1, 2, 16]))
@example(1746, [[0.0, 0.125], [1.0, 0.0]], 1)  # a probability of 0, and all rows are best taken
def test_no_threshold_is_better(seed, rule, digits):
    y, p, w = drawn(seed, digits=digits)
    t = best_threshold(y, p, rule, w)
    assert 0 <= t <= 1
    assert t > 0 or p.min() == 0
    every = [0.0, *p.tolist(), *np.nextafter(p, 2).tolist()]
    best = max(value(rule, y, p, w, cut) for cut in every if cut <= 1)
    assert value(rule, y, p, w, t) == pytest.approx(best, abs=1e-9)


def test_costs_on_calibrated_probabilities_give_the_share_of_the_cost():
    rng = np.random.default_rng(0)
    p = rng.random(200_000)
    y = (rng.random(len(p)) < p).astype(int)
    for false_alarm, miss in ((1, 1), (1, 4), (7, 3)):
        expected = false_alarm / (false_alarm + miss)
        assert best_threshold(y, p, [[0, false_alarm], [miss, 0]]) == pytest.approx(expected, abs=0.02)


def test_neighbouring_floats_are_distinguished():
    low = 0.3
    high = np.nextafter(low, 1)
    t = best_threshold([0, 1], [low, high], "youden")
    assert low < t <= high


def test_probabilities_of_one_leave_no_way_to_decide_for_nobody():
    t = best_threshold([0, 1, 0], [1.0, 0.2, 1.0], [[0, 5], [1, 0]])
    assert t <= 1


def test_the_confusion_is_that_of_scikit_learn():
    rng = np.random.default_rng(0)
    y, decided, w = rng.integers(0, 3, 50), rng.integers(0, 3, 50), rng.random(50)
    np.testing.assert_allclose(confusion(y, decided, w, 4)[:3, :3], confusion_matrix(y, decided, sample_weight=w))
    assert not confusion(y, decided, w, 4)[3].any()


@pytest.mark.parametrize("rule", ["f2", [[0, 1]], [[0, np.inf], [1, 0]], [["a", "b"], ["c", "d"]], object()])
def test_an_unknown_rule_is_named(rule):
    with pytest.raises(
        ValueError, match="is not known: use None, a probability, 'f1', 'weighted_f1', 'youden', or a 2×2 cost"
    ):
        best_threshold([0, 1], [0.1, 0.9], rule)


def test_a_wrong_decision_must_cost():
    with pytest.raises(ValueError, match="must cost more than the right one"):
        best_threshold([0, 1], [0.1, 0.9], [[1, 0], [0, 1]])
