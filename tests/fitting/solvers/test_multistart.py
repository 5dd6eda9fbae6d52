import numpy as np
import pytest
from sklearn.datasets import load_iris

from ecsel import ECSELClassifier
from ecsel.fitting import Newton
from ecsel.fitting.report import Status
from ecsel.fitting.solvers.base import Stop
from ecsel.fitting.solvers.initialization import grow
from ecsel.fitting.solvers.multistart import best_of, explore

SHARES = np.array([0.5, 0.5])
STOP = Stop(1e-6, 1e-4, 100)


def test_one_start_is_the_grown_one(make_table, make_problem):
    problem, _ = make_problem(make_table(n=300), n_terms=2)
    (found,), _ = explore(problem, SHARES, np.random.default_rng(0), Newton(), STOP)
    np.testing.assert_array_equal(found.theta, grow(problem, SHARES, STOP)[0].theta)


@pytest.mark.parametrize("seed", range(3))
def test_more_starts_never_end_higher_and_all_are_minima(make_table, make_problem, seed):
    problem, _ = make_problem(make_table(seed=seed, n=150, m=4), n_terms=3)
    grown, _ = grow(problem, SHARES, STOP)
    found, reached = explore(problem, SHARES, np.random.default_rng(seed), Newton(starts=16), STOP)
    best = found[0]
    assert best.objective <= grown.objective
    assert reached == sorted(reached)
    assert best.objective <= reached[0]
    assert best.iterations > grown.iterations
    gradient = problem.value_and_gradient(best.theta)[1]
    assert problem.kkt_residual(best.theta, gradient) <= 2 * STOP.kkt


def test_an_interrupt_keeps_the_best(make_table, make_problem):
    problem, _ = make_problem(make_table(n=150), n_terms=2)
    grown, _ = grow(problem, SHARES, STOP)
    count = 0

    def watch(*_):
        nonlocal count
        count += 1
        if count == 100:
            raise KeyboardInterrupt

    found, _ = explore(problem, SHARES, np.random.default_rng(0), Newton(starts=16), STOP, watch)
    assert found[0].status is Status.INTERRUPTED
    assert found[0].objective <= grown.objective


def test_iris_has_a_lower_minimum_than_the_grown_one():
    X, y = load_iris(return_X_y=True)
    quick, thorough = (
        ECSELClassifier(n_terms=1, l1=1e-3, solver=solver).fit(X, y).fit_report_ for solver in ("newton", Newton(64))
    )
    assert thorough.objective < 0.7 * quick.objective
    assert thorough.solver == quick.solver == "newton"
    assert thorough.converged


def test_a_single_start_is_not_followed_beyond_its_iterations(make_table, make_problem):
    problem, _ = make_problem(make_table(n=300), n_terms=2)
    start = grow(problem, SHARES, Stop(1e-1, np.inf, 1))[0].theta
    outcome = best_of(problem, [start], Stop(1e-12, 1e-12, 2), None)
    assert outcome.status is Status.MAX_ITER
    assert outcome.iterations == 2


@pytest.mark.parametrize("seed", range(2))
def test_where_pilots_find_the_minima_more_starts_never_end_higher_either(seed):
    rng = np.random.default_rng(seed)
    X = rng.uniform(1, 10, (9000, 4))  # more rows than are explored whole
    z = X[:, 0] ** 1.5 / X[:, 1] - X[:, 2] ** 0.5 * X[:, 3] ** 0.3
    y = z + rng.normal(0, 2, 9000) > np.median(z)
    quick, thorough = (
        ECSELClassifier(n_terms=3, l1=1e-3, solver=solver).fit(X, y).fit_report_ for solver in ("newton", Newton(8))
    )
    assert thorough.objective <= quick.objective * (1 + 1e-6)
    assert thorough.converged


def test_the_model_does_not_depend_on_the_number_of_threads():
    X, y = load_iris(return_X_y=True)
    one, two = (ECSELClassifier(n_terms=2, l1=1e-3, solver=Newton(12), n_jobs=n).fit(X, y).equations_ for n in (1, 2))
    assert one == two


@pytest.mark.parametrize("starts", [0, -1, 2.5, True, "many"])
def test_starts_are_a_positive_whole_number(starts):
    with pytest.raises(ValueError, match="Newton: starts must be a positive whole number"):
        Newton(starts=starts)
