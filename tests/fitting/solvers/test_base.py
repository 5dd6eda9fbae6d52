"""Solvers say what they support; the rest is refused by name before any work."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from ecsel import ECSELClassifier
from ecsel.fitting import L1, Adam, Constraints, Logistic, Newton, fit_scores
from ecsel.fitting.fit import FitOptions
from ecsel.fitting.solvers import SOLVERS, Need, check_support, solver_of


def test_options_lead_to_their_solver():
    assert solver_of(Newton(starts=4)) is SOLVERS["newton"]
    assert solver_of(Adam()) is SOLVERS["adam"]
    assert [solver_of(name).name for name in SOLVERS] == list(SOLVERS)


@pytest.mark.parametrize(
    ("option", "need", "others"),
    [
        ("lbfgs", Need.EXPONENT_BOUNDS, "'newton' or 'adam'"),
        (Adam(), Need.STREAMED_ROWS, "'newton' or 'lbfgs'"),
        (Adam(), Need.START, "'newton' or 'lbfgs'"),
    ],
)
def test_what_is_missing_is_named_with_those_that_have_it(option, need, others):
    name = solver_of(option).name
    with pytest.raises(ValueError, match=f"solver='{name}' does not support") as raised:
        check_support(option, {need})
    assert need.value in str(raised.value)
    assert str(raised.value).endswith(f"use solver={others}.")


@pytest.mark.parametrize("name", SOLVERS)
def test_what_is_supported_is_accepted(name):
    check_support(name, set(SOLVERS[name].supports))


def test_a_fit_refuses_before_it_begins(make_table):
    logs, codes, weights = make_table(m=3)
    bounds = Constraints(None, (np.full(3, -1.0), np.full(3, 1.0)))
    with pytest.raises(ValueError, match="solver='lbfgs' does not support exponent_bounds"):
        fit_scores(logs, codes, weights, Logistic(), L1(1e-2, constraints=bounds), 1, options=FitOptions("lbfgs"))


def test_a_warm_start_of_the_papers_trainer_is_refused():
    rng = np.random.default_rng(0)
    X, y = np.exp(rng.normal(size=(80, 2))), rng.integers(0, 2, 80)
    model = ECSELClassifier(n_terms=1, l1=1e-2, solver=Adam(epochs=2, restarts=1), warm_start=True)
    with pytest.warns(ConvergenceWarning):
        model.fit(X, y)
    with pytest.raises(ValueError, match=r"solver='adam' does not support a given start \(warm_start\)"):
        model.fit(X, y)
