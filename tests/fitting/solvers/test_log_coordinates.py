"""Log coordinates: there and back, derivatives by differences, and valleys that are followed in few steps."""

import numpy as np
import pytest

from ecsel.fitting import L1
from ecsel.fitting.solvers.base import Stop
from ecsel.fitting.solvers.log_coordinates import LogCoordinates
from ecsel.fitting.solvers.log_newton import minimise_in_logs
from ecsel.fitting.solvers.newton import minimise


@pytest.fixture(params=["sigmoid", "softmax"])
def problem(request, make_table, make_problem):
    return make_problem(make_table(n=300, n_classes=3 if request.param == "softmax" else 2), request.param, n_terms=2)[
        0
    ]


def nonlinear_point(problem, seed=0):
    rng = np.random.default_rng(seed)
    theta = rng.normal(0, 0.3, problem.size)
    shapes = problem.unpack(theta)[1]
    shapes[...] = rng.choice([-1, 1], shapes.shape) * rng.uniform(0.3, 1.4, shapes.shape)
    return theta


def test_log_coordinates_lead_back(problem):
    theta = nonlinear_point(problem)
    logs = LogCoordinates.around(problem, theta)
    np.testing.assert_allclose(logs.to_theta(logs.to_log(theta)), theta, atol=1e-12)
    turned = theta.copy()  # φ + π with −s is the same term
    _, shapes, slopes = problem.unpack(turned)
    shapes += np.pi
    slopes *= -1
    again = LogCoordinates.around(problem, turned)
    np.testing.assert_allclose(again.to_log(turned), logs.to_log(theta), atol=1e-12)
    np.testing.assert_allclose(again.to_theta(again.to_log(turned)), turned, atol=1e-12)


def test_a_straight_term_keeps_its_angle(problem):
    theta = nonlinear_point(problem)
    problem.unpack(theta)[1][:, 0] = 0.01
    logs = LogCoordinates.around(problem, theta)
    assert not logs.nonlinear[:, 0].any()
    assert logs.nonlinear[:, 1].all()
    np.testing.assert_allclose(logs.to_theta(logs.to_log(theta)), theta, atol=1e-12)
    problem.unpack(theta)[1][...] = 0.0
    assert LogCoordinates.around(problem, theta) is None


@pytest.mark.parametrize("turned", [0.0, 1.0])
def test_the_model_has_the_derivatives_of_the_objective(problem, turned):
    theta = nonlinear_point(problem)
    problem.unpack(theta)[1][:, 1] += np.pi * turned
    logs = LogCoordinates.around(problem, theta)
    eta = logs.to_log(theta)
    model = logs.model(eta, problem.derivatives(problem.evaluate(theta)))
    signs = np.sign(eta)

    def objective(x):
        return problem.evaluate(logs.to_theta(x)).objective

    def gradient(x):
        local = problem.evaluate(logs.to_theta(x))
        m = logs.model(x, problem.derivatives(local))
        return m.gradient + m.l1 * signs

    step = 1e-6 * np.eye(len(eta))
    by_difference = np.array([(objective(eta + e) - objective(eta - e)) / 2e-6 for e in step])
    np.testing.assert_allclose(model.gradient + model.l1 * signs, by_difference, atol=1e-7)
    second = np.array([(gradient(eta + e) - gradient(eta - e)) / 2e-6 for e in step])
    np.testing.assert_allclose(model.hessian, second, atol=1e-6)


def test_log_newton_ends_at_a_minimum_of_the_same_objective(problem):
    theta = minimise(problem, nonlinear_point(problem), Stop(1e-4, np.inf, 20)).theta
    tight = Stop(1e-13, 1e-6, 400)
    by_angle, by_log = minimise(problem, theta, tight), minimise_in_logs(problem, theta, tight)
    assert by_log.objective <= by_angle.objective + 1e-6
    assert problem.kkt_residual(by_log.theta, problem.value_and_gradient(by_log.theta)[1]) < 1e-4


def test_a_nearly_separated_table_takes_far_fewer_steps(make_problem):
    rng = np.random.default_rng(0)
    u = rng.normal(0, 1, (3, 4000))
    z = np.exp(2.5 * u[0] + u[1]) - np.exp(2 * u[1] - u[2]) - 4
    codes = (rng.random(4000) < 1 / (1 + np.exp(-3 * np.clip(z, -200, 200)))).astype(int)
    problem = make_problem((u, codes, np.ones(4000)), "sigmoid", L1(1e-6), n_terms=2)[0]
    theta = minimise(problem, nonlinear_point(problem), Stop(1e-3, np.inf, 30)).theta
    by_log = minimise_in_logs(problem, theta, Stop(1e-7, np.inf, 100))
    by_angle = minimise(problem, theta, Stop(1e-7, 0.0, by_log.iterations))
    assert by_log.objective < by_angle.objective + 1e-9
