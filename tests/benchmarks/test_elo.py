"""Strengths of paired comparisons: against closed forms, known odds and the order of the methods."""

import numpy as np
import pytest

from benchmarks.elo import CENTRE, PRIOR, SCALE, elo, strengths, wins


def test_wins_count_lower_values_share_ties_and_give_unfinished_nothing():
    values = np.array([[0.1, 0.2, np.nan], [0.3, 0.2, 0.5], [0.2, np.nan, np.nan]])
    assert wins(values).tolist() == [[0.0, 1.5, 2.5], [1.5, 0.0, 2.0], [0.5, 1.0, 0.0]]


def test_two_methods_have_the_closed_form():
    won = np.array([[0.0, 7.0], [2.0, 0.0]])
    first, second = strengths(won)
    assert first - second == pytest.approx(SCALE * np.log((7 + PRIOR / 2) / (2 + PRIOR / 2)))
    assert first + second == pytest.approx(2 * CENTRE)


def test_known_strengths_come_back_from_their_own_odds():
    truth = np.array([1200.0, 1050.0, 950.0, 800.0])
    odds = 10 ** ((truth[:, None] - truth[None]) / 400)
    won = 1000 * odds / (1 + odds) * (1 - np.eye(4))
    assert strengths(won, prior=0.0) == pytest.approx(truth, abs=1e-4)


def test_one_that_never_lost_is_first_with_a_finite_strength_and_intervals_hold_the_estimate():
    values = np.array([[1.0] * 12, [2.0] * 6 + [3.0] * 6, [3.0] * 6 + [2.0] * 6])
    rating, low, high = elo(values)
    assert rating.argmax() == 0
    assert np.isfinite(rating).all()
    assert (low <= rating + 1e-9).all()
    assert (rating <= high + 1e-9).all()
    assert rating[1] == pytest.approx(rating[2])
    assert high[1] > low[1]
