"""The problem: derivatives by central differences, optimality conditions, and sums that do not depend on the tiles."""

from dataclasses import replace

import numpy as np
import pytest

from ecsel.fitting import L1, PaperL1
from ecsel.fitting.rows import blocks

pytestmark = pytest.mark.usefixtures("either_path")

CASES = [
    (loss, intercept, n_terms)
    for loss in ("sigmoid", "softmax")
    for intercept in (True, False)
    for n_terms in (1, 2, 3)
]


def somewhere(problem, seed=5):
    """A θ away from every kink."""
    rng = np.random.default_rng(seed)
    return rng.choice([-1.0, 1.0], problem.size) * rng.uniform(0.1, 0.9, problem.size)


def smooth(problem, theta):
    return problem.objective(theta) - problem.l1 @ np.abs(theta)


def central(function, theta, step=1e-5):
    moves = step * np.eye(len(theta))
    return np.array([(function(theta + d) - function(theta - d)) / (2 * step) for d in moves])


@pytest.fixture(params=CASES, ids=lambda c: f"{c[0]}-{'intercept' if c[1] else 'none'}-{c[2]}")
def posed(request, either_path, make_table, make_problem):
    del either_path  # chosen before the problem is posed
    loss, intercept, n_terms = request.param
    data = make_table(n=60, m=2, n_classes=3 if loss == "softmax" else 2)
    return make_problem(data, loss, L1(3e-2), n_terms, intercept=intercept)[0]


def test_gradient_is_the_derivative_of_the_objective(posed):
    theta = somewhere(posed)
    wanted = central(lambda x: smooth(posed, x), theta)
    value, gradient = posed.value_and_gradient(theta)
    point = posed.evaluate(theta)
    assert value == pytest.approx(posed.objective(theta), rel=1e-14)
    assert point.objective == pytest.approx(value, rel=1e-14)
    np.testing.assert_allclose(gradient, wanted, atol=2e-8)
    np.testing.assert_allclose(posed.gradient(point), gradient, atol=1e-13)
    np.testing.assert_allclose(posed.derivatives(point).gradient, gradient, atol=1e-13)


def test_exact_curvature_is_the_derivative_of_the_gradient(posed):
    theta = somewhere(posed)
    found = posed.derivatives(posed.evaluate(theta))
    wanted = central(lambda x: posed.value_and_gradient(x)[1], theta)
    np.testing.assert_allclose(found.exact, wanted, atol=1e-7 * max(1, np.abs(wanted).max()))
    np.testing.assert_allclose(found.exact, found.exact.T, atol=1e-14)


def test_convex_curvature_is_positive_and_above_the_exact_one(posed):
    found = posed.derivatives(posed.evaluate(somewhere(posed)))
    size = np.abs(found.convex).max()
    assert np.linalg.eigvalsh(found.convex).min() >= -1e-12 * size
    assert np.linalg.eigvalsh(found.convex - found.exact).min() >= -1e-12 * size
    assert (found.convex.diagonal() >= found.diagonal - 1e-12 * size).all()


def test_objective_is_loss_plus_penalty(posed):
    theta = somewhere(posed)
    point = posed.evaluate(theta)
    assert point.objective == pytest.approx(point.loss + posed.penalty_value(theta), rel=1e-14)


def test_packing_is_undone_by_unpacking(posed):
    theta = somewhere(posed)
    np.testing.assert_array_equal(posed.pack(*posed.unpack(theta)), theta)


def test_kkt_residual_vanishes_at_the_empty_model_from_the_largest_gradient_on(make_table, make_problem):
    data = make_table(m=4)
    problem = make_problem(data, penalty=L1(0.0))[0]
    shares = np.bincount(data[1], weights=data[2]) / data[2].sum()
    theta = problem.empty(shares)
    gradient = problem.value_and_gradient(theta)[1]
    top = np.abs(gradient).max()
    assert problem.kkt_residual(theta, gradient) == pytest.approx(top)
    for factor, expected in ((1 + 1e-12, 0.0), (0.5, 0.5 * top)):
        penalized = replace(problem, penalty=L1(factor * top))
        assert penalized.kkt_residual(theta, gradient) == pytest.approx(expected, abs=1e-14)


def test_kkt_residual_forgives_only_what_a_bound_forbids(make_table, make_problem):
    problem = make_problem(make_table(), penalty=PaperL1(0.0, 2.0))[0]
    theta = np.zeros(problem.size)
    problem.unpack(theta)[1][...] = 2.0
    pushed, at = np.zeros(problem.size), problem.unpack(np.arange(problem.size))[1].item()
    pushed[at] = -1.0
    assert problem.kkt_residual(theta, pushed) == 0.0
    assert problem.kkt_residual(theta, -pushed) == 1.0
    theta[at] = 1.9
    assert problem.kkt_residual(theta, pushed) == 1.0


def everything(problem, theta):
    point = problem.evaluate(theta)
    found = problem.derivatives(point)
    value, gradient = problem.value_and_gradient(theta)
    return [
        np.asarray(x)
        for x in (point.objective, value, problem.objective(theta), gradient, found.gradient, found.exact, found.convex)
    ]


@pytest.mark.parametrize("loss", ["sigmoid", "softmax"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_the_bits_do_not_depend_on_the_number_of_threads(monkeypatch, make_table, make_problem, loss, dtype):
    data = make_table(n=500, n_classes=3 if loss == "softmax" else 2)
    whole = make_problem(data, loss, n_terms=2, dtype=dtype)[0]
    theta = somewhere(whole)
    in_one = everything(whole, theta)
    monkeypatch.setattr(blocks, "TILE_ROWS", 64)
    tiled = [everything(make_problem(data, loss, n_terms=2, dtype=dtype, n_threads=n)[0], theta) for n in (1, 2, 4)]
    for one, two, four in zip(*tiled, strict=True):
        assert one.tobytes() == two.tobytes() == four.tobytes()
    for one, tiles in zip(in_one, tiled[0], strict=True):
        np.testing.assert_allclose(tiles, one, atol=(1e-12 if dtype is np.float64 else 1e-4) * np.abs(one).max())
