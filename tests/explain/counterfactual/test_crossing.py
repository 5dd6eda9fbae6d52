"""Crossings against functions whose crossing is known."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ecsel.explain.counterfactual.crossing import ROUNDS, WIDTH, crossing


def solved(g, n):
    return crossing(g, g(np.zeros(n)), g(np.ones(n)))


@given(st.lists(st.tuples(st.floats(1e-6, 1.0), st.floats(0.05, 20.0)), min_size=1, max_size=8))
@settings(max_examples=60, deadline=None)
def test_powers_cross_where_they_must(cases):
    """g = share^k − r^k is flat on one side or the other; the answer holds and is within the width of the root."""
    root, power = np.array(cases).T
    evaluations = []

    def g(share):
        evaluations.append(share)
        return share**power - root**power

    found = solved(g, len(cases))
    assert (g(found) >= 0).all()
    np.testing.assert_allclose(found, root, rtol=1e-12, atol=2 * WIDTH)
    assert len(evaluations) <= ROUNDS + 2


def test_smooth_functions_take_few_evaluations():
    evaluations = []

    def g(share):
        evaluations.append(share)
        return np.exp(share) - np.array([1.1, 1.5, 2.5])

    np.testing.assert_allclose(solved(g, 3), np.log([1.1, 1.5, 2.5]), atol=2 * WIDTH)
    assert len(evaluations) <= 16


def test_a_step_is_found_by_halving():
    found = solved(lambda share: np.where(share >= 1 / 3, 5.0, -1e-9), 1)
    np.testing.assert_allclose(found, 1 / 3, atol=2 * WIDTH)


@pytest.mark.parametrize("n", [0, 2])
def test_what_holds_at_the_start_stays_there(n):
    assert solved(lambda share: share + 0.0, n).tolist() == [0.0] * n


def test_a_wide_enough_bracket_is_left_alone():
    found = crossing(lambda share: share**2 - 0.25, np.array([-0.25]), np.array([0.75]), 0.01)
    assert 0.5 <= found[0] <= 0.51
    assert crossing(lambda share: share - 0.5, np.array([-0.5]), np.array([0.5]), 1.0).tolist() == [1.0]
