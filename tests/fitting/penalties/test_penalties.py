"""Penalties: derivatives, well-posedness, limits that give ℓ1, and stationarity by an independent computation."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from ecsel.fitting import L0, L1, MCP, PENALTIES, SCAD, ElasticNet, Group, Logistic, Softmax, fit_scores
from ecsel.fitting.fit import FitOptions, to_theta
from ecsel.fitting.objective.forms import KNEE
from ecsel.fitting.penalties.slopes import FLOOR
from ecsel.fitting.solvers.base import Stop
from ecsel.fitting.solvers.lbfgs import minimise_lbfgs
from ecsel.signomial import ScoreTerms

COLUMNS = np.array([0, 1, 1, 2])
ALL = [kind() for kind in PENALTIES.values()]
as_names = {"ids": list(PENALTIES)}


def fit(data, penalty, n_terms=1, **options):
    loss = Logistic() if data[1].max() == 1 else Softmax(3)
    return fit_scores(*data, loss, penalty, n_terms, options=FitOptions(seed=0, **options))


def marginal(kind, sizes, strength):
    """p′ of each size, from the definitions."""
    x = np.asarray(sizes)
    if isinstance(kind, ElasticNet):
        return strength * (kind.ratio + (1 - kind.ratio) * x)
    if isinstance(kind, MCP):
        return strength * ((1 - FLOOR) * np.clip(1 - x / (kind.gamma * strength), 0, None) + FLOOR)
    if isinstance(kind, SCAD):
        return strength * ((1 - FLOOR) * np.clip((kind.a - x / strength) / (kind.a - 1), 0, 1) + FLOOR)
    if isinstance(kind, Group):
        total = np.array([x[..., c == COLUMNS].sum() for c in COLUMNS])
        return np.broadcast_to(strength / (1 + total / kind.width), x.shape)
    return strength / (1 + x / kind.width)


@pytest.mark.parametrize("kind", ALL, **as_names)
@settings(max_examples=25, deadline=None)
@given(sizes=arrays(float, (2, 1, 4), elements=st.floats(0.01, 3)), strength=st.floats(1e-3, 0.2))
def test_the_derivatives_are_those_of_the_penalty(kind, sizes, strength):
    h, knees = 1e-6, {MCP: (12.0,), SCAD: (1.0, 13.0)}.get(type(kind), ())
    assume(all(np.abs(sizes - knee * strength).min() > 1e-4 for knee in knees))  # there the slope of p′ jumps
    value, first, second = kind.value(sizes, strength, COLUMNS)
    np.testing.assert_allclose(first, marginal(kind, sizes, strength), rtol=1e-12)
    for at in np.ndindex(sizes.shape):
        step = np.zeros_like(sizes)
        step[at] = h
        up, down = (kind.value(sizes + s, strength, COLUMNS) for s in (step, -step))
        assert (up[0].sum() - down[0].sum()) / (2 * h) == pytest.approx(first[at], abs=1e-6)
        if not isinstance(kind, Group):
            assert (up[1][at] - down[1][at]) / (2 * h) == pytest.approx(second[at], abs=1e-4)
    assert value.sum() > 0


@pytest.mark.parametrize("kind", ALL, **as_names)
def test_it_is_well_posed(kind):
    nothing = np.zeros((1, 1, 4))
    at_zero = [kind.value(nothing, strength, COLUMNS)[1] for strength in (1.0, 3.0)]
    assert at_zero[0].min() > 0
    np.testing.assert_allclose(at_zero[1], 3 * at_zero[0])
    sizes = np.logspace(-2, 8, 60)[:, None, None] * np.ones((1, 1, 4))
    values = np.array([kind.value(one[None], 0.1, COLUMNS)[0].sum() for one in sizes])
    slopes = np.array([kind.value(one[None], 0.1, COLUMNS)[1] for one in sizes])
    assert (slopes > 0).all()
    assert (np.diff(values) > 0).all()
    assert values[-1] > 10 * values[10]


ALMOST_L1 = [ElasticNet(1.0), MCP(1e12), SCAD(1e12), L0(1e9), Group(1e9)]


@pytest.mark.parametrize("kind", ALMOST_L1, ids=lambda kind: type(kind).__name__)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_default_is_a_limit_of_each(make_table, kind, n_classes):
    data = make_table(n_classes=n_classes)
    plain, limit = fit(data, L1(1e-2)), fit(data, L1(1e-2, kind))
    assert limit.report.objective == pytest.approx(plain.report.objective, rel=1e-7)
    np.testing.assert_array_equal(limit.terms.exponents != 0, plain.terms.exponents != 0)


def stationarity(problem, theta, kind, strength):
    """The largest violation of p's conditions, the loss's gradient by differences."""

    def loss(at):
        return problem.objective(at) - problem.penalty_value(at)

    h, gradient = 1e-6, np.zeros(problem.size)
    for p in range(problem.size):
        step = np.zeros(problem.size)
        step[p] = h
        gradient[p] = (loss(theta + step) - loss(theta - step)) / (2 * h)
    intercepts, shapes, slopes = problem.unpack(gradient)
    _, angles, s = problem.unpack(theta)
    weight = KNEE * marginal(kind, KNEE * np.abs(s), strength / KNEE)
    worst = np.where(s != 0, np.abs(slopes + weight * np.sign(s)), np.maximum(np.abs(slopes) - weight, 0))
    bending = np.abs(shapes + strength * np.sin(angles) * np.cos(angles))
    return max(worst.max(), bending.max(), np.abs(intercepts).max())


@pytest.mark.parametrize("kind", ALL, **as_names)
@pytest.mark.parametrize(("n_classes", "n_terms"), [(2, 1), (2, 2), (3, 1)])
def test_the_fit_is_stationary_for_the_true_penalty(make_table, make_problem, kind, n_classes, n_terms):
    data, strength = make_table(n_classes=n_classes, m=4, seed=1), 2e-2
    penalty = L1(strength, kind, columns=COLUMNS)
    result = fit(data, penalty, n_terms)
    assert result.report.converged
    problem, centred = make_problem(data, "sigmoid" if n_classes == 2 else "softmax", penalty, n_terms)
    theta = to_theta(problem, result.terms, centred)
    scale = result.report.kkt_scale
    assert stationarity(problem, theta, kind, strength) <= 1e-4 * scale
    assert stationarity(problem, theta, ElasticNet(0.3), strength) > 1e-3 * scale  # and for no other


@pytest.mark.parametrize("kind", ALL, **as_names)
def test_the_empty_model_is_left_at_the_strength_that_the_contract_promises(make_table, make_problem, kind):
    data = make_table(m=4, seed=2)
    problem, _ = make_problem(data, penalty=L1(1.0, kind))
    shares = np.bincount(data[1], weights=data[2]) / data[2].sum()
    slopes = problem.unpack(problem.value_and_gradient(problem.empty(shares))[1])[2]
    top = np.abs(slopes).max() / problem.penalty.slope_weights(problem.std).max()
    for factor, stationary in ((1.001, True), (0.99, False)):
        penalized = replace(problem, penalty=L1(factor * top, kind))
        empty = problem.empty(shares)
        residual = penalized.kkt_residual(empty, penalized.value_and_gradient(empty)[1])
        assert (residual < 1e-12) is stationary
    # Above, a concave penalty may still have lower minima elsewhere; far above none has.
    assert not fit(data, L1(3 * top, kind)).terms.exponents.any()
    assert fit(data, L1(0.9 * top, kind)).terms.exponents.any()


@pytest.mark.parametrize("kind", ALL, **as_names)
def test_rows_that_can_be_separated_have_a_minimiser(kind):
    u = np.linspace(-2, 2, 80)[None]
    data = (u, (u[0] > 0).astype(int), np.ones(80))
    result = fit(data, L1(1e-2, kind))
    assert result.report.converged
    assert 0 < np.abs(result.terms.exponents).max() < 50


def logistic_table(seed=0, n=2000):
    """Two strong features, six that say nothing: classes drawn from a logistic model in the logs."""
    rng = np.random.default_rng(seed)
    u = rng.normal(size=(8, n))
    p = 1 / (1 + np.exp(-(2.0 * u[0] - 1.5 * u[1])))
    return u, (rng.random(n) < p).astype(int), np.ones(n)


def log_slopes(result):
    """Slopes of the score at the centre in the logs, α·β."""
    return (result.terms.coefficients[:, None] * result.terms.exponents).sum(axis=0)


@pytest.mark.parametrize("kind", [MCP(), SCAD(), L0()], ids=["mcp", "scad", "l0"])
def test_large_slopes_are_shrunk_less_and_as_many_are_zero(kind):
    data = logistic_table()
    plain, spared = (fit(data, L1(0.4, kind)) for kind in (None, kind))
    strong = [np.abs(log_slopes(r))[:2].sum() for r in (plain, spared)]
    assert strong[0] < 0.9 * strong[1]
    assert abs(strong[1] - 3.5) < 0.5 * abs(strong[0] - 3.5)
    assert np.count_nonzero(spared.terms.exponents) <= np.count_nonzero(plain.terms.exponents)
    assert set(np.flatnonzero(spared.terms.exponents.any(axis=0))) == {0, 1}


def test_a_group_leaves_out_whole_columns():
    rng = np.random.default_rng(3)
    u = rng.normal(size=(4, 1500))
    z = np.array([np.zeros(1500), 1.2 * u[0] + 0.3 * u[1], -1.0 * u[0] + 0.9 * u[1]])
    data = (u, (z + rng.gumbel(size=z.shape)).argmax(axis=0), np.ones(1500))
    plain, whole = (fit(data, L1(0.25, kind, columns=np.array([0, 0, 1, 1]))) for kind in (None, Group()))
    used = [r.terms.exponents.any(axis=0) for r in (plain, whole)]
    assert not used[1][2:].any()
    # In the column that stays, more exponents than ℓ1 would keep: each is cheaper than the first.
    assert np.count_nonzero(whole.terms.exponents[:, :2]) >= np.count_nonzero(plain.terms.exponents[:, :2])


@pytest.mark.parametrize("ratio", [0.3, 0.8])
def test_the_log_linear_limit_is_the_elastic_net_of_logistic_regression(
    make_elastic_net, make_table, make_problem, ratio
):
    data, strength = make_table(n=300), 2e-2
    problem, centred = make_problem(data, penalty=L1(strength, ElasticNet(ratio)))
    v, codes, weights = problem.blocks.v, data[1], problem.blocks.w
    net = make_elastic_net(ratio, KNEE / strength).fit(v.T, codes, sample_weight=weights)
    gamma, intercept, alpha = net.coef_[0], float(net.intercept_[0]), 4e4
    signed = (2 * codes - 1) * (intercept + gamma @ v)
    penalty = ratio * np.abs(gamma).sum() + (1 - ratio) / 2 * (gamma**2).sum()
    objective = weights @ np.log1p(np.exp(-signed)) + strength / KNEE * penalty
    beta = gamma / alpha / centred.std
    terms = ScoreTerms.from_powers(
        np.array([intercept - alpha]), np.array([[alpha * np.exp(-beta @ centred.centre)]]), beta[None, None]
    )
    assert problem.objective(to_theta(problem, terms, centred)) == pytest.approx(objective, abs=1e-4)
    assert fit(data, L1(strength, ElasticNet(ratio))).report.objective <= objective + 1e-7


@pytest.mark.parametrize("kind", ALL, **as_names)
def test_quasi_newton_stays_where_newton_ends(make_table, make_problem, kind):
    data = make_table(m=4)
    penalty = L1(2e-2, kind)
    result = fit(data, penalty)
    problem, centred = make_problem(data, penalty=penalty)
    found = minimise_lbfgs(problem, to_theta(problem, result.terms, centred), Stop())
    assert found.objective == pytest.approx(result.report.objective, rel=1e-6)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: ElasticNet(0.0), "ElasticNet: ratio must be a finite number above 0 and at most 1, got 0.0"),
        (lambda: ElasticNet(1.5), "ElasticNet: ratio"),
        (lambda: MCP(np.inf), "MCP: gamma must be a finite number above 0, got inf"),
        (lambda: SCAD(1.0), "SCAD: a must be a finite number above 1"),
        (lambda: L0(True), "L0: width"),
        (lambda: Group("wide"), "Group: width"),
    ],
)
def test_numbers_out_of_range_are_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()
