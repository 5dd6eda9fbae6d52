"""L-BFGS: the same optimum as Newton from the same start, and chosen by itself where parameters are many."""

from functools import cached_property

import numpy as np
import pytest

from ecsel.fitting import L1, Logistic, PaperL1, Problem, Softmax, Status, fit, fit_scores
from ecsel.fitting.fit import FitOptions
from ecsel.fitting.solvers.base import Stop
from ecsel.fitting.solvers.initialization import first_starts
from ecsel.fitting.solvers.lbfgs import minimise_lbfgs
from ecsel.fitting.solvers.newton import minimise


@pytest.mark.parametrize("loss", ["sigmoid", "softmax"])
@pytest.mark.parametrize("penalty", [L1(1e-2), PaperL1(5e-3, 2.0)], ids=["l1", "paper"])
def test_agrees_with_newton_from_the_same_start(make_table, make_problem, loss, penalty):
    data = make_table(n_classes=3 if loss == "softmax" else 2)
    problem = make_problem(data, loss, penalty)[0]
    shares = np.bincount(data[1], weights=data[2]) / data[2].sum()
    start = first_starts(problem, shares)[0]
    one, other = minimise(problem, start, Stop()), minimise_lbfgs(problem, start, Stop(tol=1e-8))
    assert other.objective == pytest.approx(one.objective, rel=1e-6)
    # Scores of a softmax may shift together: the slopes are what two solutions must share.
    if isinstance(penalty, L1):
        np.testing.assert_allclose(problem.unpack(other.theta)[2], problem.unpack(one.theta)[2], atol=2e-3)
    assert ((problem.lower <= other.theta) & (other.theta <= problem.upper)).all()
    assert problem.objective(other.theta) == pytest.approx(other.objective, rel=1e-14)
    assert other.loss == pytest.approx(other.objective - problem.penalty_value(other.theta), rel=1e-12)


class Signed(Problem):
    """A problem whose slopes may not be negative in the first feature, nor positive or large in the second."""

    @cached_property
    def lower(self):
        lower = super().lower.copy()
        self.unpack(lower)[2][..., 0] = 0.0
        self.unpack(lower)[2][..., 1] = -0.05
        return lower

    @cached_property
    def upper(self):
        upper = super().upper.copy()
        self.unpack(upper)[2][..., 1] = 0.0
        return upper


@pytest.mark.parametrize("loss", ["sigmoid", "softmax"])
@pytest.mark.parametrize("solver", [minimise, minimise_lbfgs])
def test_bounds_of_slopes_hold_and_leave_no_residual(make_table, make_problem, loss, solver):
    data = make_table(n_classes=3 if loss == "softmax" else 2)
    free = make_problem(data, loss, L1(1e-2))[0]
    problem = Signed(free.blocks, free.loss, free.penalty, free.n_terms, free.intercept, free.std)
    start = problem.empty(np.bincount(data[1], weights=data[2]) / data[2].sum())
    found = solver(problem, start, Stop(tol=1e-9))
    assert ((problem.lower <= found.theta) & (found.theta <= problem.upper)).all()
    assert found.kkt_residual <= 1e-4
    assert free.kkt_residual(found.theta, free.value_and_gradient(found.theta)[1]) > 1e-3


def test_takes_over_by_itself_where_the_matrix_would_be_large(monkeypatch, make_table):
    data = make_table(n_classes=3)
    monkeypatch.setattr(fit, "MAX_NEWTON_PARAMETERS", 26)
    reports = {k: fit_scores(*data, Softmax(3), L1(1e-2), k, options=FitOptions(seed=0)).report for k in (1, 2)}
    assert {k: r.n_parameters for k, r in reports.items()} == {1: 15, 2: 27}
    assert {k: r.solver for k, r in reports.items()} == {1: "newton", 2: "lbfgs"}
    assert reports[2].objective <= reports[1].objective * (1 + 1e-3)


def watched(table, watch):
    """Return the report of a fit that a watch interrupts."""
    options = FitOptions("lbfgs", seed=0)
    return fit_scores(*table, Logistic(), L1(1e-2), 2, options=options, watch=watch).report


def test_an_interrupt_keeps_the_best_so_far(make_table):
    seen = []

    def watch(iteration, objective, residual):
        del iteration, residual
        seen.append(objective)
        if len(seen) == 5:
            raise KeyboardInterrupt

    report = watched(make_table(), watch)
    assert report.status is Status.INTERRUPTED
    assert report.objective == pytest.approx(min(seen), rel=1e-9)


def test_an_interrupt_of_the_second_start_is_reported_even_if_the_first_was_better(make_table):
    starts = []

    def watch(iteration, objective, residual):
        del objective, residual
        if iteration == 1:
            starts.append(iteration)
        if len(starts) == 2:
            raise KeyboardInterrupt

    assert watched(make_table(), watch).status is Status.INTERRUPTED
