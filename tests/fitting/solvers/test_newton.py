"""The default solver: optimality, quality against many starts of an independent solver, descent, interrupts."""

import numpy as np
import pytest
from scipy.optimize import minimize

from ecsel.fitting import L1, Logistic, Softmax, Status, fit_scores
from ecsel.fitting.fit import FitOptions, to_theta
from ecsel.fitting.solvers import newton
from ecsel.fitting.solvers.base import Stop
from ecsel.fitting.solvers.initialization import first_starts
from ecsel.fitting.solvers.newton import minimise

LOSSES = {2: Logistic(), 3: Softmax(3)}


def fit(data, penalty, n_terms, **options):
    return fit_scores(*data, LOSSES[data[1].max() + 1], penalty, n_terms, options=FitOptions(seed=0), **options)


def scattered(problem, n_starts=20):
    rng = np.random.default_rng(0)
    return [rng.normal(0, 0.5, problem.size) for _ in range(n_starts)]


def best_of_lbfgs(problem, starts):
    """The best objective of SciPy's L-BFGS-B on split variables, which shares only F and its gradient with us."""
    p = problem.size

    def objective(parts):
        theta = parts[:p] - parts[p:]
        value, gradient = problem.value_and_gradient(theta)
        penalty = problem.l1 @ (parts[:p] + parts[p:] - np.abs(theta))
        return value + penalty, np.concatenate([gradient + problem.l1, problem.l1 - gradient])

    split = [np.concatenate([np.maximum(theta, 0), np.maximum(-theta, 0)]) for theta in starts]
    return min(
        minimize(objective, x, jac=True, method="L-BFGS-B", bounds=[(0, None)] * (2 * p), options={"maxiter": 300}).fun
        for x in split
    )


@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("n_terms", [1, 2, 3])
def test_the_optimality_conditions_hold(make_table, seed, n_classes, n_terms):
    report = fit(make_table(seed, n_classes=n_classes), L1(1e-2), n_terms).report
    assert report.converged
    assert report.kkt_residual <= 1e-4 * report.kkt_scale


@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize("intercept", [True, False])
def test_one_term_and_one_score_is_as_good_as_the_best_of_twenty_starts(make_table, make_problem, seed, intercept):
    data = make_table(seed, n=120)
    problem = make_problem(data, "sigmoid", L1(1e-2), intercept=intercept)[0]
    found = fit(data, L1(1e-2), 1, intercept=intercept).report.objective
    assert found <= best_of_lbfgs(problem, scattered(problem)) * (1 + 1e-4)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("n_terms", [1, 2])
def test_from_the_same_starts_the_best_is_as_good(make_table, make_problem, n_classes, n_terms):
    data = make_table(1, n=120, m=2, n_classes=n_classes)
    problem = make_problem(data, "sigmoid" if n_classes == 2 else "softmax", L1(1e-2), n_terms)[0]
    starts = scattered(problem)
    found = min(minimise(problem, start, Stop()).objective for start in starts)
    assert found <= best_of_lbfgs(problem, starts) * (1 + 1e-4)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_objective_never_rises(make_table, make_problem, n_classes):
    problem = make_problem(make_table(n_classes=n_classes), "sigmoid" if n_classes == 2 else "softmax", n_terms=2)[0]
    seen = []
    start = np.random.default_rng(4).normal(0, 0.5, problem.size)
    outcome = minimise(problem, start, Stop(), lambda *step: seen.append(step))
    steps, objectives, residuals = zip(*seen, strict=True)
    assert list(steps) == sorted(set(steps))
    assert (np.diff(objectives) <= 1e-14).all()
    assert outcome.objective <= objectives[-1]
    assert residuals[0] > residuals[-1] >= 0
    assert outcome.kkt_residual <= Stop().kkt
    assert outcome.evaluations > outcome.iterations > 0


def interrupting(after, seen):
    def watch(iteration, objective, residual):
        del iteration, residual
        seen.append(objective)
        if len(seen) > after:
            raise KeyboardInterrupt

    return watch


@pytest.mark.parametrize("after", [0, 3])
def test_an_interrupt_keeps_the_best_so_far(make_table, make_problem, after):
    problem = make_problem(make_table())[0]
    seen = []
    start = first_starts(problem, np.array([0.5, 0.5]))[0]
    outcome = minimise(problem, start, Stop(), interrupting(after, seen))
    assert outcome.status is Status.INTERRUPTED
    assert outcome.objective == min(seen) == seen[-1]
    assert problem.objective(outcome.theta) == pytest.approx(outcome.objective, rel=1e-14)


@pytest.mark.parametrize("after", [1, 8, 25, 45])
def test_a_fit_may_be_interrupted_at_any_stage(make_table, make_problem, after):
    data, seen = make_table(n_classes=3), []
    result = fit(data, L1(1e-3), 3, watch=interrupting(after, seen))
    assert result.report.status is Status.INTERRUPTED
    assert [len(powers) for powers in result.terms.to_powers(3)] == [3, 3, 3]
    problem, centred = make_problem(data, "softmax", L1(1e-3), 3)
    assert problem.objective(to_theta(problem, result.terms, centred)) <= seen[0]


def test_max_iter_is_kept_and_reported(make_table, make_problem):
    problem = make_problem(make_table(), n_terms=2, penalty=L1(1e-4))[0]
    outcome = minimise(problem, np.random.default_rng(1).normal(0, 0.5, problem.size), Stop(max_iter=2))
    assert outcome.status is Status.MAX_ITER
    assert outcome.iterations == 2


def test_known_optimum_needs_no_step(make_table, make_problem):
    data = make_table()
    problem, centred = make_problem(data, penalty=L1(1e-2))
    first = fit(data, L1(1e-2), 1)
    again = minimise(problem, to_theta(problem, first.terms, centred), Stop(tol=1e-4))
    assert again.status is Status.CONVERGED
    assert again.iterations <= 1


def test_an_empty_term_near_a_useless_shape_finds_its_slopes(make_table, make_problem):
    """Near φ = π/2 a term without slopes has hardly any gradient by them; the price of bending leads it to φ = 0."""
    problem, _ = make_problem(make_table(0), penalty=L1(1e-2))
    theta = problem.empty(np.array([0.5, 0.5]))
    problem.unpack(theta)[1][...] = 0.95 * np.pi / 2
    outcome = minimise(problem, theta, Stop())
    assert outcome.status is Status.CONVERGED
    assert outcome.kkt_residual <= 1e-4
    assert outcome.objective < 0.95 * problem.objective(theta)


def test_two_threads_share_the_rows_of_a_compiled_fit_and_change_no_bit(make_table, make_problem):
    data = make_table(n=3000, m=6, n_classes=3)  # enough for two halves
    alone, shared = (make_problem(data, "softmax", L1(1e-3), n_terms=3, n_threads=n)[0] for n in (1, 2))
    start = first_starts(alone, np.full(3, 1 / 3))[1]
    one, two = (minimise(problem, start, Stop(1e-6, 1e-4, 15)) for problem in (alone, shared))
    np.testing.assert_array_equal(one.theta, two.theta)
    assert (one.objective, one.iterations, one.evaluations) == (two.objective, two.iterations, two.evaluations)
    assert one.objective == pytest.approx(alone.objective(one.theta), rel=1e-12)


@pytest.mark.parametrize(("share", "status"), [(1.9, Status.CONVERGED), (2.1, Status.STALLED), (2.9, Status.STALLED)])
def test_where_no_step_helps_twice_the_tolerance_is_still_converged(
    monkeypatch, make_table, make_problem, share, status
):
    problem, _ = make_problem(make_table())
    theta = np.full(problem.size, 0.3)
    residual = problem.kkt_residual(theta, problem.gradient(problem.evaluate(theta)))
    monkeypatch.setattr(newton, "_step", lambda *_: (None, 1.0, 3, 0.0))
    outcome = minimise(problem, theta, Stop(1e-6, residual / share, 20), lambda *_: None)
    assert outcome.status is status
    assert (outcome.iterations, outcome.evaluations) == (1, 1 + 3)
