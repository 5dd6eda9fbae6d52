"""Penalties: what an equation pays, the lasso as a limit, the empty model, and why the paper's needs a bound."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from ecsel.fitting import L1, ArrayBlocks, Logistic, PaperL1, Problem, Softmax, fit_scores
from ecsel.fitting.fit import FitOptions, to_terms, to_theta
from ecsel.fitting.objective.forms import KNEE
from ecsel.fitting.rows.blocks import Coordinates
from ecsel.signomial import ScoreTerms


def fit(data, penalty, n_terms=1, loss=None, **options):
    return fit_scores(*data, loss or Logistic(), penalty, n_terms, options=FitOptions(seed=0), **options)


def penalty_of(terms, centred, strength):
    """λ Σ (√(1 + (α/κ)²) |β·std| + ½/(1 + (α/κ)²)) of power laws, α being the term's value at a typical row."""
    _, coefficients, exponents = terms.to_powers()
    alpha = coefficients * np.exp(exponents @ centred.centre)
    slopes = np.hypot(1, alpha / KNEE)[..., None] * np.abs(exponents) * centred.std
    return strength * (slopes.sum() + (0.5 / (1 + (alpha[alpha != 0] / KNEE) ** 2)).sum())


@pytest.mark.parametrize("n_terms", [1, 2, 3])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_default_penalizes_the_returned_equation_by_its_formula(make_table, n_terms, n_classes):
    data = make_table(seed=n_terms, n_classes=n_classes)
    result = fit(data, L1(5e-3), n_terms, Logistic() if n_classes == 2 else Softmax(3))
    report = result.report
    expected = penalty_of(result.terms, Coordinates.of(data[0], data[2]), 5e-3)
    assert expected > 0
    assert report.objective - report.loss == pytest.approx(expected, rel=1e-7)


@pytest.mark.parametrize(("loss", "n_classes"), [(Logistic(), 2), (Softmax(3), 3)])
def test_a_large_strength_gives_the_empty_model(make_table, loss, n_classes):
    data = make_table(n_classes=n_classes)
    shares = np.bincount(data[1], weights=data[2]) / data[2].sum()
    result = fit(data, L1(100.0), 2, loss)
    intercepts, coefficients, exponents = result.terms.to_powers()
    np.testing.assert_array_equal(exponents, 0)
    np.testing.assert_array_equal(coefficients, 0)
    wanted = np.log(shares)
    found = np.concatenate([[0.0], intercepts]) if n_classes == 2 else intercepts
    np.testing.assert_allclose(found - found[0], wanted - wanted[0], atol=1e-5)
    assert result.report.converged


@pytest.mark.parametrize("strength", [3e-3, 2e-2])
@pytest.mark.parametrize("seed", [0, 1])
def test_the_log_linear_limit_is_l1_logistic_regression(make_elastic_net, make_table, make_problem, strength, seed):
    data = make_table(seed=seed, n=300)
    problem, centred = make_problem(data, penalty=L1(strength))
    v, codes, weights = problem.blocks.v, data[1], problem.blocks.w
    # Our penalty tends to (λ/κ)|γ| with a loss of weights that sum to one: scikit-learn's C is the inverse of λ/κ.
    lasso = make_elastic_net(1.0, KNEE / strength).fit(v.T, codes, sample_weight=weights)
    gamma, intercept = lasso.coef_[0], float(lasso.intercept_[0])
    signed = (2 * codes - 1) * (intercept + gamma @ v)
    objective = weights @ np.log1p(np.exp(-signed)) + strength / KNEE * np.abs(gamma).sum()
    # The same model as a power law close to the limit: α large, β = γ/α, the constant −α.
    alpha = 4e4
    terms = ScoreTerms.from_powers(
        np.array([intercept - alpha]),
        np.array([[alpha * np.exp(-(gamma / alpha / centred.std) @ centred.centre)]]),
        (gamma / alpha / centred.std)[None, None, :],
    )
    assert problem.objective(to_theta(problem, terms, centred)) == pytest.approx(objective, abs=1e-4)
    assert fit(data, L1(strength)).report.objective <= objective + 1e-7


def paper_objective(data, alpha, gamma, strength):
    """The paper's objective of the score b + α·exp(⟨γ, u⟩/α) with the best constant b = −α."""
    u, codes, w = data
    z = alpha * np.expm1(gamma @ u / alpha)
    return (w / w.sum()) @ np.logaddexp(0, -(2 * codes - 1) * z) + strength * np.abs(gamma / alpha).sum()


def test_the_papers_objective_has_no_minimiser():
    # Along α → ∞, β = γ/α the score tends to ⟨γ, u⟩ and the penalty to zero: the free fit is approached at no price.
    rng = np.random.default_rng(0)
    u = rng.normal(size=(1, 400))
    codes = (rng.random(400) < 1 / (1 + np.exp(-2 * u[0]))).astype(int)
    data = (u, codes, np.ones(400))
    unpenalised = LogisticRegression(C=np.inf, fit_intercept=False, tol=1e-10).fit(u.T, codes)
    gamma = unpenalised.coef_[0]
    free = np.logaddexp(0, -(2 * codes - 1) * (gamma @ u)).mean()
    bounded, values = {}, [paper_objective(data, a, gamma, 0.1) for a in 10.0 ** np.arange(1, 8)]
    assert (np.diff(values) < 0).all()
    assert values[-1] == pytest.approx(free, abs=1e-6)
    for largest in (1.0, 10.0, 100.0):
        bounded[largest] = fit(data, PaperL1(0.1, largest)).report.objective
    # Each bound has its optimum, and one along the sequence lies below it.
    assert bounded[1.0] > bounded[10.0] > bounded[100.0]
    assert bounded[10.0] > min(values)
    # The default penalizes the same sequence for γ in the limit: it stays away from the free fit.
    centred = Coordinates.of(u, np.ones(400))
    blocks = ArrayBlocks.standardised(u, codes, np.ones(400), centred)
    problem = Problem(blocks, Logistic(), L1(0.1), 1, True, centred.std)
    terms = ScoreTerms.from_powers(np.array([-1e6]), np.array([[1e6]]), gamma[None, None, :] / 1e6)
    at_limit = problem.objective(to_theta(problem, terms, centred))
    assert at_limit >= free + 0.1 / KNEE * np.abs(gamma * centred.std).sum() - 1e-3


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("largest", [0.5, 100.0])
def test_the_papers_penalty_keeps_every_coefficient_within_its_bound(make_table, intercept, largest):
    data = make_table(n_classes=3)
    result = fit(data, PaperL1(2e-2, largest), 2, Softmax(3), intercept=intercept)
    _, coefficients, exponents = result.terms.to_powers()
    typical = coefficients * np.exp(exponents @ Coordinates.of(data[0], data[2]).centre)
    assert np.abs(typical).max() <= largest * (1 + 1e-9)
    assert result.report.kkt_residual <= 1e-4 * result.report.kkt_scale
    raw = np.abs(exponents).sum()
    assert result.report.objective - result.report.loss == pytest.approx(2e-2 * raw, rel=1e-9)


def test_without_an_intercept_the_coefficient_is_penalized(make_table):
    data = make_table()
    result = fit(data, L1(1e-2), intercept=False)
    centred = Coordinates.of(data[0], data[2])
    intercepts, coefficients, exponents = result.terms.to_powers()
    alpha = coefficients * np.exp(exponents @ centred.centre)
    slopes = np.abs(exponents * centred.std).sum()
    assert result.report.objective - result.report.loss == pytest.approx(
        1e-2 * (slopes + (alpha**2).sum() / 2), rel=1e-9
    )
    np.testing.assert_array_equal(intercepts, 0)


@pytest.mark.parametrize(("penalty", "intercept"), [(L1(1e-2), True), (L1(1e-2), False), (PaperL1(1e-2), True)])
def test_power_laws_and_parameters_are_the_same_model(make_table, make_problem, penalty, intercept):
    problem, centred = make_problem(make_table(n_classes=3), "softmax", penalty, 2, intercept=intercept)
    theta = np.random.default_rng(2).normal(0, 0.5, problem.size)
    problem.unpack(theta)[2][1, 1] = 0.0  # a term without exponents is a constant
    if intercept and isinstance(penalty, L1):
        problem.unpack(theta)[1][1, 1] = 0.0  # that does not bend
    terms = to_terms(problem, theta, centred)
    again = to_theta(problem, terms, centred)
    assert problem.objective(again) == pytest.approx(problem.objective(theta), rel=1e-10)
    round_trip = to_terms(problem, again, centred)
    for one, other in zip(round_trip.to_powers(2), terms.to_powers(2), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-12)
