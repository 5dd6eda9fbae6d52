"""Bounds on exponents: kept to the last bit, optimal by an independent solver, with the derivatives that they claim."""

import numpy as np
import pytest
from scipy.optimize import Bounds, minimize

from ecsel.fitting import L1, Constraints, Logistic, PaperL1, Softmax, fit_scores
from ecsel.fitting.fit import FitOptions, to_theta
from ecsel.fitting.objective.forms import KNEE
from ecsel.fitting.rows.blocks import Coordinates

INF = np.inf


def bounds_of(low, high, m=4, signs=None):
    return Constraints(signs, (np.full(m, float(low)), np.full(m, float(high))))


def fit(data, penalty, n_terms=1, **options):
    loss = Logistic() if data[1].max() == 1 else Softmax(3)
    return fit_scores(*data, loss, penalty, n_terms, options=FitOptions(seed=0), **options)


@pytest.mark.parametrize("n_terms", [1, 2])
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize(("low", "high"), [(-0.3, 0.3), (-0.1, 0.1), (0, 1), (0, INF), (-0.5, 0.2), (-INF, 0.4)])
def test_bounds_hold_and_leave_no_residual(make_table, n_terms, n_classes, low, high):
    data = make_table(seed=1, n=300, m=4, n_classes=n_classes)
    result = fit(data, L1(1e-3, constraints=bounds_of(low, high)), n_terms)
    exponents = result.terms.exponents
    assert low <= exponents.min() <= exponents.max() <= high
    assert result.report.converged
    assert result.report.kkt_residual <= 1e-4 * result.report.kkt_scale
    free = fit(data, L1(1e-3), n_terms)
    assert result.report.objective >= free.report.objective - 1e-4
    broken = (free.terms.exponents < low) | (free.terms.exponents > high)
    assert broken.any()  # a bound that a free fit keeps would prove nothing


def power_law_objective(v, codes, w, strength):
    """The objective of b + α(exp⟨β⁺ − β⁻, v⟩ − 1), written in α and β; derivatives are left to the solver."""

    def value(x):
        b, alpha = x[:2]
        plus, minus = x[2 : 2 + len(v)], x[2 + len(v) :]
        z = b + alpha * np.expm1((plus - minus) @ v)
        size = 1 + (alpha / KNEE) ** 2
        return w @ np.logaddexp(0, -(2 * codes - 1) * z) + strength * (
            np.sqrt(size) * (plus + minus).sum() + 0.5 / size
        )

    return value


@pytest.mark.parametrize(("low", "high"), [(-0.3, 0.3), (-0.1, 0.5), (-INF, 0.25)])
@pytest.mark.parametrize("seed", [0, 2, 4])
def test_no_other_solver_finds_a_lower_point_nearby(make_table, make_problem, seed, low, high):
    data, strength = make_table(seed=seed, n=300, m=3), 2e-3
    result = fit(data, L1(strength, constraints=bounds_of(low, high, 3)))
    problem, centred = make_problem(data)
    v, w = problem.blocks.v, problem.blocks.w
    value = power_law_objective(v, data[1], w, strength)
    intercepts, coefficients, exponents = result.terms.to_powers()
    alpha = (coefficients * np.exp(exponents @ centred.centre))[0, 0]
    beta = exponents[0, 0] * centred.std
    start = np.concatenate([[intercepts[0] + alpha, alpha], np.maximum(beta, 0), np.maximum(-beta, 0)])
    assert value(start) == pytest.approx(result.report.objective, rel=1e-9)
    upper = np.concatenate([[INF, INF], high * centred.std, -low * centred.std])
    lower = np.concatenate([[-INF, -INF], np.zeros(6)])
    found = minimize(value, start, method="SLSQP", bounds=Bounds(lower, upper), options={"ftol": 1e-12})
    assert found.fun >= result.report.objective * (1 - 1e-6)


def test_wide_bounds_change_nothing(make_table):
    data = make_table(m=4)
    free, constrained = fit(data, L1(1e-2), 2), fit(data, L1(1e-2, constraints=bounds_of(-50, 50)), 2)
    assert constrained.report.objective == pytest.approx(free.report.objective, rel=1e-7)


@pytest.mark.parametrize(
    "penalty", [L1(1e-3, constraints=bounds_of(-0.2, 0.1)), PaperL1(1e-3, constraints=bounds_of(-0.2, 0.1))]
)
def test_in_the_power_form_they_are_a_box(make_table, make_problem, penalty):
    data = make_table(m=4)
    problem, centred = make_problem(data, penalty=penalty, intercept=False)
    assert problem.exponent_bounds is None
    np.testing.assert_allclose(problem.unpack(problem.upper)[2][0, 0], 0.1 * centred.std)
    for solver in ("newton", "lbfgs"):
        result = fit_scores(*data, Logistic(), penalty, 1, intercept=False, options=FitOptions(solver, seed=0))
        assert -0.2 <= result.terms.exponents.min() <= result.terms.exponents.max() <= 0.1
        assert result.report.kkt_residual <= 1e-4 * result.report.kkt_scale


@pytest.mark.parametrize("solver", ["newton", "lbfgs"])
def test_bounds_of_zero_keep_a_feature_out(make_table, solver):
    data = make_table(m=4)
    mask = np.array([True, False, True, False])
    out = L1(1e-3, constraints=Constraints().only(mask))
    result = fit_scores(*data, Logistic(), out, 2, options=FitOptions(solver, seed=0))
    assert not result.terms.exponents[..., ~mask].any()
    alone = fit_scores(data[0][mask], *data[1:], Logistic(), L1(1e-3), 2, options=FitOptions(solver, seed=0))
    assert result.report.objective == pytest.approx(alone.report.objective, rel=1e-3)


def test_signs_of_slopes_and_bounds_hold_together(make_table):
    data = make_table(seed=3, m=4)
    signs = np.array([[1.0, -1.0, 0.0, 0.0]])
    result = fit(data, L1(1e-3, constraints=bounds_of(-0.4, 0.8, signs=signs)), 2)
    slopes = result.terms.coefficients[..., None] * result.terms.exponents
    assert (slopes[..., 0] >= 0).all()
    assert (slopes[..., 1] <= 0).all()
    assert -0.4 <= result.terms.exponents.min() <= result.terms.exponents.max() <= 0.8
    assert result.report.kkt_residual <= 1e-4 * result.report.kkt_scale


def test_a_straight_term_without_slopes_may_turn_either_way(make_table, make_problem):
    problem, _ = make_problem(make_table(m=4), penalty=L1(1e-3, constraints=bounds_of(0, 2)))
    empty = np.zeros(problem.size)
    lower, upper = (problem.unpack(bound)[2] for bound in problem.box(problem.within(empty)))
    assert (lower < 0).all()
    assert (upper > 0).all()
    turned = empty.copy()
    problem.unpack(turned)[1][...] = -0.5
    lower, upper = (problem.unpack(bound)[2] for bound in problem.box(turned))
    np.testing.assert_array_equal(upper, 0)  # with sin φ < 0 a positive exponent needs a negative slope
    np.testing.assert_allclose(lower[0, 0], -2 * problem.std / np.sin(0.5))


def test_the_derivatives_along_the_walls_are_those_of_the_objective(make_table, make_problem):
    data = make_table(seed=2, m=4)
    problem, _ = make_problem(data, penalty=L1(1e-2, constraints=bounds_of(-1, 1)), n_terms=2)
    rng = np.random.default_rng(0)
    theta = rng.normal(0, 0.3, problem.size)
    problem.unpack(theta)[1][...] = 0.8, -0.6
    lower, upper = problem.box(theta)
    slopes = np.isfinite(upper)
    theta[slopes] = (
        np.where(rng.random(slopes.sum()) < 0.5, 0.6, 0.1) * upper[slopes] * rng.choice([-1, 1], slopes.sum())
    )
    weights = problem.weights(theta)
    point = problem.evaluate(theta)
    local = problem.exponent_bounds.transformed(theta, weights, problem.derivatives(point))
    h, basis = 1e-5, np.eye(problem.size)

    def smooth(step):
        return problem.objective(problem.exponent_bounds.back(theta, theta + step)) - weights @ np.abs(theta + step)

    first = [(smooth(h * e) - smooth(-h * e)) / (2 * h) for e in basis]
    np.testing.assert_allclose(local.gradient, first, atol=1e-6)
    h = 1e-4
    second = [
        [
            (smooth(h * (a + b)) - smooth(h * (a - b)) - smooth(h * (b - a)) + smooth(-h * (a + b))) / (4 * h * h)
            for a in basis
        ]
        for b in basis
    ]
    np.testing.assert_allclose(local.exact, second, atol=1e-4)
    assert np.linalg.eigvalsh(local.convex).min() >= -1e-9
    del lower


def test_exponents_are_penalized_on_their_raw_scale(make_table):
    data = make_table(m=4, seed=5)
    wide = (
        data[0] * np.array([[1.0], [10.0], [1.0], [1.0]]),
        *data[1:],
    )  # the logs of x¹⁰ want a tenth of the exponent
    centred = Coordinates.of(wide[0], wide[2])
    low, high = np.array([-0.5, -0.05, -0.5, -0.5]), np.array([0.5, 0.05, 0.5, 0.5])
    one = fit(data, L1(1e-3, constraints=bounds_of(-0.5, 0.5)))
    other = fit(wide, L1(1e-3, constraints=Constraints(None, (low, high))))
    assert other.report.objective == pytest.approx(one.report.objective, rel=1e-6)
    assert centred.std[1] > 2


def test_a_law_at_its_bounds_is_read_back(make_table, make_problem):
    data, penalty = make_table(seed=1, m=4), L1(1e-3, constraints=bounds_of(-0.3, 0.3))
    result = fit(data, penalty)
    problem, centred = make_problem(data, penalty=penalty)
    theta = to_theta(problem, result.terms, centred)
    np.testing.assert_allclose(problem.within(theta), theta, rtol=1e-9)
