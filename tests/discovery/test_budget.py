"""The budget of a fit: what is spent, what ends, and what a time limit changes."""

import numpy as np
import pytest

from ecsel import ECSELRegressor
from ecsel.discovery import budget as module
from ecsel.discovery.budget import ROWS_OF_A_MOVE, Budget
from ecsel.discovery.discover import discover
from ecsel.discovery.noise_choice import NoiseSearch
from ecsel.discovery.options import Options


def nothing(_):
    """Stand for what is never called."""
    raise AssertionError


@pytest.fixture
def long_sum():
    """Return a table of a sum of six terms."""
    rng = np.random.default_rng(8)
    X = rng.uniform(0.5, 5.0, (60, 3))
    terms = [X[:, 0] ** 2, X[:, 1] / X[:, 0], np.sqrt(X[:, 2]), X[:, 1] ** 3, X[:, 2] / X[:, 1] ** 2, X[:, 0] * X[:, 2]]
    y = sum(term / term.std() for term in terms)
    return X, y + 0.05 * rng.standard_normal(60)


def test_moves_on_many_rows_count_more_and_on_few_rows_alike():
    one, half, double = Budget(10.0), Budget(10.0), Budget(10.0)
    one.spend(3.0)
    half.spend(3.0, ROWS_OF_A_MOVE // 2)
    double.spend(3.0, 2 * ROWS_OF_A_MOVE)
    assert (one.left, half.left, double.left) == (7.0, 7.0, 4.0)


def test_a_small_budget_ends_with_a_complete_law_and_the_same_one_each_time(long_sum):
    X, y = long_sum
    laws = []
    for _ in range(2):
        budget = Budget(20.0)
        found = discover(X, y, options=Options(budget=budget))
        assert budget.is_spent
        assert found.complete
        laws.append(found.law)
    assert len(laws[0]) > 0
    np.testing.assert_array_equal(laws[0].coefficients, laws[1].coefficients)


def test_no_search_begins_once_the_budget_is_spent(long_sum):
    X, y = long_sum
    search = NoiseSearch(X, y, None, nothing, nothing)
    assert search.may_search
    search.budget.spend(2.0 * search.budget.left)
    assert search.is_cut
    assert not search.may_search
    assert search.has_time
    patient = NoiseSearch(X, y, None, nothing, nothing, time_limit=1e6)
    patient.budget.spend(2.0 * patient.budget.left)
    assert patient.may_search


def test_a_fit_says_that_its_budget_was_spent(long_sum, monkeypatch):
    X, y = long_sum
    monkeypatch.setattr(module.Budget.__init__, "__defaults__", (20.0,))
    model = ECSELRegressor().fit(X, y)
    assert not model.search_completed_
    assert "time_limit=" in model.describe()
