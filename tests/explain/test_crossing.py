"""Crossings against functions whose crossing is known."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ecsel.explain.crossing import ROUNDS, WIDTH, crossing


@given(st.lists(st.tuples(st.floats(1e-6, 1.0), st.floats(0.05, 20.0)), min_size=1, max_size=8))
@settings(max_examples=60, deadline=None)
def test_powers_cross_where_they_must(cases):
    """g = share^k − r^k is flat on one side or the other; the answer holds and is within the width of the root."""
    root, power = np.array(cases).T
    evaluations = []

    def g(share):
        evaluations.append(share)
        return share**power - root**power

    found = crossing(g, len(cases))
    assert (g(found) >= 0).all()
    np.testing.assert_allclose(found, root, rtol=1e-12, atol=2 * WIDTH)
    assert len(evaluations) <= ROUNDS + 2


def test_smooth_functions_take_few_evaluations():
    evaluations = []

    def g(share):
        evaluations.append(share)
        return np.exp(share) - np.array([1.1, 1.5, 2.5])

    np.testing.assert_allclose(crossing(g, 3), np.log([1.1, 1.5, 2.5]), atol=2 * WIDTH)
    assert len(evaluations) <= 16


def test_a_step_is_found_by_halving():
    found = crossing(lambda share: np.where(share >= 1 / 3, 5.0, -1e-9), 1)
    np.testing.assert_allclose(found, 1 / 3, atol=2 * WIDTH)


@pytest.mark.parametrize("n", [0, 2])
def test_what_holds_at_the_start_stays_there(n):
    assert crossing(lambda share: share + 0.0, n).tolist() == [0.0] * n
