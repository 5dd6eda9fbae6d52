"""Standard errors against hand-written sandwiches, finite differences of the formula itself, and a simulation."""

import numpy as np
import pytest
from scipy.special import expit, softmax

from ecsel.fitting import Logistic, Softmax, fit_scores
from ecsel.fitting.inference.uncertainty import _folded, elasticity_errors, sandwich
from ecsel.fitting.penalties import L1
from ecsel.signomial import ScoreTerms


def rows(seed=0, n=400, m=2):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(m, n)) * 0.6 + 0.3, rng


def named(result, kind, score=0, term=0, feature=-1):
    """The estimate and the standard error of one number."""
    (i,) = [
        i
        for i, p in enumerate(result.parameters)
        if (p.kind, p.score, p.term, p.feature) == (kind, score, -1 if kind == "intercept" else term, feature)
    ]
    return result.estimates[i], result.standard_errors[i]


def logistic_sandwich(design, y, counts, class_weight):
    """Maximum likelihood by Newton, and H⁻¹BH⁻¹, written out."""
    beta = np.zeros(design.shape[1])
    w = counts * class_weight
    for _ in range(50):
        p = expit(design @ beta)
        hessian = (design * (w * p * (1 - p))[:, None]).T @ design
        beta -= np.linalg.solve(hessian, design.T @ (w * (p - y)))
    g = design * (class_weight * (expit(design @ beta) - y))[:, None]
    bread = np.linalg.inv(hessian)
    return beta, bread @ (g * counts[:, None]).T @ g @ bread


def straight_laws(gamma, intercepts=None):
    """Power laws so close to the log-linear limit that they are straight lines."""
    gamma = np.atleast_2d(gamma)
    big = 4e5
    base = np.zeros(len(gamma)) if intercepts is None else intercepts
    return ScoreTerms.from_powers(base - big, np.full((len(gamma), 1), big), (gamma / big)[:, None, :])


@pytest.mark.parametrize("weighted", [False, True])
def test_the_log_linear_limit_is_the_sandwich_of_logistic_regression(weighted):
    u, rng = rows()
    y = (rng.random(400) < expit(0.5 + u[0] - 2 * u[1])).astype(int)
    counts = rng.integers(1, 4, 400).astype(float) if weighted else np.ones(400)
    class_weight = np.where(y == 1, 2.5, 1.0) if weighted else np.ones(400)
    result = sandwich(u, y, counts, class_weight, Logistic(), straight_laws([0.1, -0.1]))
    assert result.converged
    # The intercept of the formula is that of rows with u = 0 less the coefficient; the coefficient is a convention.
    beta, covariance = logistic_sandwich(np.column_stack([np.ones(400), *u]), y, counts, class_weight)
    for j in range(2):
        estimate, error = named(result, "slope", feature=j)
        assert estimate == pytest.approx(beta[1 + j], rel=1e-3)
        assert error == pytest.approx(np.sqrt(covariance[1 + j, 1 + j]), rel=1e-3)
        exponent, exponent_error = named(result, "exponent", feature=j)
        assert exponent_error / abs(exponent) == pytest.approx(error / abs(estimate), rel=1e-6)
    assert np.isnan(named(result, "coefficient")[1])


def test_a_softmax_has_the_errors_of_the_multinomial_model_with_its_first_class_as_reference():
    u, rng = rows(n=600)
    true = np.array([[0.0, 0.0], [1.0, -1.0], [-1.0, 0.5]])
    y = (true @ u + rng.gumbel(size=(3, 600))).argmax(axis=0)
    result = sandwich(u, y, np.ones(600), np.ones(600), Softmax(3), straight_laws([[0.1, 0.1], [0.2, 0.1], [0.1, 0.2]]))
    design = np.vstack([np.ones(600), u])
    theta = np.zeros((2, 3))
    for _ in range(50):
        p = softmax(np.vstack([np.zeros(600), theta @ design]), axis=0)
        residual = p[1:] - (y == np.array([[1], [2]]))
        gradients = (residual[:, None, :] * design).reshape(6, 600)
        hessian = np.zeros((6, 6))
        for a in range(2):
            for b in range(2):
                w = p[1 + a] * ((a == b) - p[1 + b])
                hessian[3 * a : 3 * a + 3, 3 * b : 3 * b + 3] = (design * w) @ design.T
        theta -= np.linalg.solve(hessian, gradients.sum(axis=1)).reshape(2, 3)
    bread = np.linalg.inv(hessian)
    expected = np.sqrt((bread @ gradients @ gradients.T @ bread).diagonal()).reshape(2, 3)
    for c in (1, 2):
        for j in range(2):
            estimate, error = named(result, "slope", score=c, feature=j)
            difference = estimate - named(result, "slope", score=0, feature=j)[0]
            assert difference == pytest.approx(theta[c - 1, 1 + j], rel=1e-3)
            assert error == pytest.approx(expected[c - 1, 1 + j], rel=1e-3)
    assert all(np.isnan(result.standard_errors[i]) for i, p in enumerate(result.parameters) if p.score == 0)


def nonlinear(seed=0, n=1500, n_classes=2):
    """Rows of two terms that bend, and a fit of them."""
    u, rng = rows(seed, n)
    z = 2 * np.exp(0.8 * u[0]) + 1.5 * np.exp(-1.2 * u[1]) - 4.5
    scores = np.stack([np.zeros(n), z] + [np.exp(u[0] + u[1]) - 1] * (n_classes - 2))
    y = (scores + rng.gumbel(size=scores.shape)).argmax(axis=0)
    loss = Logistic() if n_classes == 2 else Softmax(n_classes)
    return u, y, loss


def natural(result, score=0):
    """The formula's numbers b, α, β of a score as a vector with their covariance, and the score as their function."""
    keep = [i for i, p in enumerate(result.parameters) if p.score == score and p.kind != "slope"]
    parameters = [result.parameters[i] for i in keep]
    terms = sorted({p.term for p in parameters if p.term >= 0})

    def value(vector, u):
        number = {(p.kind, p.term, p.feature): v for p, v in zip(parameters, vector, strict=True)}
        z = number.get(("intercept", -1, -1), 0.0)
        for k in terms:
            inner = sum(v * u[j] for (kind, term, j), v in number.items() if kind == "exponent" and term == k)
            z = z + number["coefficient", k, -1] * np.exp(inner)
        return z

    return result.estimates[keep], result.covariance[np.ix_(keep, keep)], value


def derivative(function, x, step=1e-5):
    """Central differences along every coordinate."""
    size = step * np.maximum(np.abs(x), 1.0)
    return np.stack([(function(x + h) - function(x - h)) / (2 * h.sum()) for h in np.diag(size)])


def test_nonlinear_terms_have_the_sandwich_of_the_formula_s_own_numbers():
    u, y, loss = nonlinear()
    fit = fit_scores(u, y, np.ones(len(y)), loss, L1(1e-3), 1)
    result = sandwich(u, y, np.ones(len(y)), np.ones(len(y)), loss, fit.terms)
    x, covariance, value = natural(result)
    assert result.converged
    assert np.isfinite(covariance).all()

    def per_row(vector):
        z = value(vector, u)
        return np.logaddexp(0, z) - y * z

    gradients = derivative(per_row, x)
    assert np.abs(gradients.sum(axis=1)).max() < 1e-3  # the refit has no penalty left
    hessian = derivative(lambda v: derivative(per_row, v).sum(axis=1), x, 1e-4)
    bread = np.linalg.inv((hessian + hessian.T) / 2)
    expected = bread @ gradients @ gradients.T @ bread
    np.testing.assert_allclose(np.sqrt(covariance.diagonal()), np.sqrt(expected.diagonal()), rtol=0.01)


def test_a_model_without_a_constant_has_errors_too():
    u, rng = rows(n=1500)
    y = (rng.random(1500) < expit(2 * np.exp(0.8 * u[0]) - 1.5 * np.exp(-1.2 * u[1]))).astype(int)
    laws = ScoreTerms.from_powers(np.zeros(1), np.array([[1.8, -1.6]]), np.array([[[0.7, 0.0], [0.0, -1.0]]]))
    result = sandwich(u, y, np.ones(1500), np.ones(1500), Logistic(), laws)
    assert result.converged
    assert {p.kind for p in result.parameters} == {"coefficient", "exponent", "slope"}
    x, covariance, value = natural(result)

    def per_row(vector):
        z = value(vector, u)
        return np.logaddexp(0, z) - y * z

    gradients = derivative(per_row, x)
    hessian = derivative(lambda v: derivative(per_row, v).sum(axis=1), x, 1e-4)
    bread = np.linalg.inv((hessian + hessian.T) / 2)
    expected = bread @ gradients @ gradients.T @ bread
    np.testing.assert_allclose(np.sqrt(covariance.diagonal()), np.sqrt(expected.diagonal()), rtol=0.02)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_errors_of_elasticities_follow_from_those_of_the_numbers(n_classes):
    u, y, loss = nonlinear(n_classes=n_classes)
    fit = fit_scores(u, y, np.ones(len(y)), loss, L1(1e-3), 1)
    result = sandwich(u, y, np.ones(len(y)), np.ones(len(y)), loss, fit.terms)
    at = u[:, :40]
    estimates, errors = elasticity_errors(result, at)
    score = n_classes - 2 if n_classes == 2 else 1
    x, covariance, value = natural(result, score)
    if not np.isfinite(covariance).all():
        pytest.fail("the rows determine every number of this score")
    for j in range(2):
        shift = np.zeros((2, 1))
        shift[j] = 1e-5

        def elasticity(vector, shift=shift):
            z = value(vector, at)
            return (value(vector, at + shift) - value(vector, at - shift)) / 2e-5 / z

        expected = elasticity(x)
        z = value(x, at)
        defined, clear = z > 0, z > 1e-2 * z.max()  # near z = 0 the elasticity runs away, and differences with it
        np.testing.assert_allclose(estimates[clear, score, j], expected[clear], rtol=1e-4, atol=1e-6)
        by_number = derivative(elasticity, x, 1e-4)
        error = np.sqrt(np.einsum("pn,pq,qn->n", by_number, covariance, by_number))
        np.testing.assert_allclose(errors[clear, score, j], error[clear], rtol=0.02)
        assert np.isnan(estimates[~defined, score, j]).all()
    if n_classes == 3:
        assert np.isnan(errors[:, 0]).all()


def test_an_integer_count_is_that_many_rows():
    u, y, loss = nonlinear(n=300)
    counts = np.random.default_rng(0).integers(1, 4, 300)
    fit = fit_scores(u, y, np.ones(300), loss, L1(1e-2), 1)
    one = sandwich(u, y, counts.astype(float), np.ones(300), loss, fit.terms)
    many = np.repeat(np.arange(300), counts)
    other = sandwich(u[:, many], y[many], np.ones(len(many)), np.ones(len(many)), loss, fit.terms)
    np.testing.assert_allclose(one.estimates, other.estimates, rtol=1e-5)
    np.testing.assert_allclose(one.standard_errors, other.standard_errors, rtol=1e-4)


def test_a_full_set_of_levels_is_relative_to_the_largest():
    rng = np.random.default_rng(0)
    level = rng.choice(3, 600, p=[0.2, 0.5, 0.3])
    x = rng.normal(size=600)
    u = np.vstack([np.log(10) * (level == np.array([[0], [1], [2]])), x])
    y = (rng.random(600) < expit(0.8 * (level == 0) - 0.5 * (level == 2) + x)).astype(int)
    laws = straight_laws([0.1, 0.2, -0.1, 0.3])
    result = sandwich(u, y, np.ones(600), np.ones(600), Logistic(), laws, level_sets=[(0, 1, 2)])
    dummies = np.column_stack([np.ones(600), u[0], u[2], x])
    beta, covariance = logistic_sandwich(dummies, y, np.ones(600), np.ones(600))
    for j, i in ((0, 1), (2, 2), (3, 3)):
        estimate, error = named(result, "slope", feature=j)
        assert estimate == pytest.approx(beta[i], rel=1e-3)
        assert error == pytest.approx(np.sqrt(covariance[i, i]), rel=1e-3)
    assert named(result, "slope", feature=1)[0] == 0
    assert np.isnan(named(result, "slope", feature=1)[1])
    relative = {p.feature: p.relative_to for p in result.parameters if p.kind == "slope"}
    assert relative == {0: 1, 1: 1, 2: 1, 3: -1}
    # Without one of the levels in the equation nothing is collinear, and nothing is relative.
    some = sandwich(
        u, y, np.ones(600), np.ones(600), Logistic(), straight_laws([0.1, 0, -0.1, 0.3]), level_sets=[(0, 1, 2)]
    )
    assert {p.relative_to for p in some.parameters} == {-1}
    assert named(some, "slope", feature=0)[0] == pytest.approx(beta[1], rel=1e-3)


def test_the_coefficient_of_a_nonlinear_term_with_levels_is_that_of_the_largest_level():
    rng = np.random.default_rng(1)
    level = rng.choice(2, 2000, p=[0.3, 0.7])
    x = rng.normal(size=2000)
    u = np.vstack([np.log(10) * (level == np.array([[0], [1]])), x])
    z = 1.5 * np.exp(0.2 * u[0] + 0.7 * x) - 2
    y = (rng.random(2000) < expit(z)).astype(int)
    whole = ScoreTerms.from_powers(np.array([-2.0]), np.array([[1.5]]), np.array([[[0.25, 0.05, 0.7]]]))
    dummy = ScoreTerms.from_powers(np.array([-2.0]), np.array([[1.5]]), np.array([[[0.2, 0.7]]]))
    ones = np.ones(2000)
    full = sandwich(u, y, ones, ones, Logistic(), whole, level_sets=[(0, 1)])
    few = sandwich(u[[0, 2]], y, ones, ones, Logistic(), dummy)
    for kind, j, i in (("coefficient", -1, -1), ("exponent", 0, 0), ("exponent", 2, 1), ("slope", 0, 0)):
        if kind == "slope":
            continue  # the typical row, where slopes are taken, is not the same
        np.testing.assert_allclose(named(full, kind, feature=j), named(few, kind, feature=i), rtol=1e-3)


def test_what_rows_cannot_tell_apart_has_no_error():
    u, rng = rows()
    y = (rng.random(400) < expit(u[0])).astype(int)
    twice = np.vstack([u, u[:1]])
    result = sandwich(twice, y, np.ones(400), np.ones(400), Logistic(), straight_laws([0.1, 0.1, 0.1]))
    assert np.isnan(named(result, "slope", feature=0)[1])
    assert np.isnan(named(result, "slope", feature=2)[1])
    assert named(result, "slope", feature=1)[1] > 0


def test_zero_exponents_stay_zero():
    u, y, loss = nonlinear()
    laws = ScoreTerms.from_powers(np.array([-3.0]), np.array([[2.0]]), np.array([[[0.8, 0.0]]]))
    result = sandwich(u, y, np.ones(len(y)), np.ones(len(y)), loss, laws)
    assert {p.feature for p in result.parameters} == {-1, 0}


@pytest.mark.parametrize("turns", [-3, -2, -1, 0, 1, 2, 3])
def test_an_angle_and_one_half_a_turn_on_with_opposite_slopes_are_one_term(make_table, make_problem, turns):
    """φ + kπ with (−1)^k s is φ with s, and has the same objective."""
    problem, *_ = make_problem(make_table(), "sigmoid", L1(1e-2), 2)
    rng = np.random.default_rng(turns + 3)
    intercepts, shapes, slopes = problem.unpack(rng.uniform(-1.4, 1.4, problem.size))
    theta = problem.pack(intercepts, shapes, slopes)
    turned = problem.pack(intercepts, shapes + turns * np.pi, (-1.0) ** turns * slopes)
    np.testing.assert_allclose(_folded(problem, turned), theta, atol=1e-12)
    assert problem.value_and_gradient(turned)[0] == pytest.approx(problem.value_and_gradient(theta)[0], rel=1e-9)


def test_rows_that_can_be_separated_have_no_refit():
    u = np.linspace(-1, 1, 40)[None]
    y = (u[0] > 0).astype(int)
    result = sandwich(u, y, np.ones(40), np.ones(40), Logistic(), straight_laws([1.0]))
    assert not result.converged


def test_intervals_cover_the_truth_as_often_as_they_say():
    # z = 3·exp(0.6u) − 3: a curved term, and 95 % intervals of its exponent, coefficient, constant and slope.
    truth = {"exponent": 0.6, "coefficient": 3.0, "intercept": -3.0}
    laws = ScoreTerms.from_powers(np.array([-3.0]), np.array([[3.0]]), np.array([[[0.6]]]))
    rng = np.random.default_rng(0)
    covered, runs = dict.fromkeys(truth, 0), 150
    for _ in range(runs):
        u = rng.uniform(-1.5, 1.5, size=(1, 3000))
        y = (rng.random(3000) < expit(3 * np.exp(0.6 * u[0]) - 3)).astype(int)
        result = sandwich(u, y, np.ones(3000), np.ones(3000), Logistic(), laws)
        for kind, value in truth.items():
            estimate, error = named(result, kind, feature=0 if kind == "exponent" else -1)
            covered[kind] += abs(estimate - value) <= 1.96 * error
    for kind, count in covered.items():
        assert count / runs == pytest.approx(0.95, abs=0.06), kind
