"""Given pieces the fit is the one minimiser, compiled or not."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression, Ridge

from ecsel import _compiled
from ecsel.search import glm
from ecsel.search.losses import Logistic, Softmax, Squared

LOSSES = [Logistic(), Softmax(3), Softmax(7), Squared()]


def problem(loss, seed=0, n=200, p=6):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(p, n))
    y = rng.normal(size=n) + x[0] if loss.name == "squared" else rng.integers(0, max(2, loss.n_scores), n).astype(float)
    owners = np.arange(p) % loss.n_scores
    return x, owners, y, rng.uniform(0.5, 2, n), rng.uniform(0.1, 3, p)


def gradient(loss, x, owners, y, w, ridge, fitted, offset=0.0):
    scores = fitted.intercepts[:, None] + np.zeros((loss.n_scores, x.shape[1])) + offset
    for k, c in enumerate(owners):
        scores[c] += fitted.coefficients[k] * x[k]
    residual = w * loss.residuals(loss.means(scores), y)
    return np.array([ridge[k] * fitted.coefficients[k] - x[k] @ residual[c] for k, c in enumerate(owners)]), residual


@pytest.mark.parametrize("compiled", [True, False])
@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: f"{loss.name} {loss.n_scores}")
def test_the_gradient_vanishes(monkeypatch, loss, compiled):
    if not compiled:
        monkeypatch.setattr(_compiled, "compiled", None)
    data = problem(loss)
    fitted = glm.fit(loss, *data)
    slopes, residual = gradient(loss, *data, fitted)
    is_exact = _compiled.compiled is not None or loss.n_scores < 5
    np.testing.assert_allclose(slopes, 0, atol=1e-7 if is_exact else 5e-6)
    np.testing.assert_allclose(residual.sum(axis=1), 0, atol=1e-5)
    assert fitted.objective == pytest.approx(fitted.loss + 0.5 * data[4] @ fitted.coefficients**2, abs=1e-5)


@pytest.mark.needs_kernel
@pytest.mark.parametrize("single", [True, False])
@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: f"{loss.name} {loss.n_scores}")
def test_the_kernel_and_numpy_agree(monkeypatch, loss, single):
    x, *rest = problem(loss, seed=4)
    x = x.astype(np.float32) if single else x
    offset = np.random.default_rng(5).normal(size=(loss.n_scores, x.shape[1]))
    one = glm.fit(loss, x, *rest, offset=offset)
    monkeypatch.setattr(_compiled, "compiled", None)
    other = glm.fit(loss, x, *rest, offset=offset)
    np.testing.assert_allclose(one.coefficients, other.coefficients, atol=1e-9)
    np.testing.assert_allclose(one.scores, other.scores, atol=1e-8)
    assert one.objective == pytest.approx(other.objective, rel=1e-12)


def test_agreement_with_scikit_learn():
    x, owners, y, w, _ = problem(Logistic(), seed=6)
    fitted = glm.fit(Logistic(), x, owners, y, w, np.full(len(x), 2.0))
    theirs = LogisticRegression(C=0.5, tol=1e-10, max_iter=1000).fit(x.T, y, sample_weight=w)
    np.testing.assert_allclose(fitted.coefficients, theirs.coef_[0], atol=1e-5)
    x, owners, y, w, _ = problem(Squared(), seed=7)
    fitted = glm.fit(Squared(), x, owners, y, w, np.full(len(x), 2.0))
    ridge = Ridge(alpha=2.0).fit(x.T, y, sample_weight=w)
    np.testing.assert_allclose(fitted.coefficients, ridge.coef_, atol=1e-6)


def test_intercepts_stay_where_they_are_held():
    x, owners, y, w, ridge = problem(Logistic(), seed=8)
    fitted = glm.fit(Logistic(), x, owners, y, w, ridge, (np.array([0.7]), np.zeros(len(x))), fit_intercept=False)
    assert fitted.intercepts.tolist() == [0.7]
    slopes, _ = gradient(Logistic(), x, owners, y, w, ridge, fitted)
    np.testing.assert_allclose(slopes, 0, atol=1e-7)


@pytest.mark.needs_kernel
def test_many_scores_keep_held_intercepts_and_bear_collinear_pieces():
    """Conjugate gradients move pieces alone where intercepts are held; twins share what one of them would have."""
    loss = Softmax(7)
    x, owners, y, w, ridge = problem(loss, seed=10, p=14)
    x[7], ridge[7] = x[0], ridge[0]
    owners[7] = owners[0]
    given = np.linspace(-0.3, 0.3, 7)
    fitted = glm.fit(loss, x, owners, y, w, ridge, (given, np.zeros(14)), fit_intercept=False)
    np.testing.assert_array_equal(fitted.intercepts, given)
    slopes, _ = gradient(loss, x, owners, y, w, ridge, fitted)
    np.testing.assert_allclose(slopes, 0, atol=1e-6)
    assert fitted.coefficients[7] == pytest.approx(fitted.coefficients[0], abs=1e-6)


@pytest.mark.needs_kernel
@pytest.mark.parametrize("n", [9, 255, 256, 700])
def test_a_search_fit_of_many_scores_is_close_to_the_minimum(n):
    loss = Softmax(6)
    data = problem(loss, seed=n, n=n, p=30)
    exact = glm.fit(loss, *data)
    rough = glm.fit(loss, *data, tolerance=glm.SEARCH_TOLERANCE)
    assert exact.objective <= rough.objective + 1e-9
    assert rough.objective == pytest.approx(exact.objective, rel=glm.SEARCH_TOLERANCE)


def test_a_model_without_pieces_is_the_constant():
    rng = np.random.default_rng(9)
    y, w = (rng.random(100) < 0.3) * 1.0, np.ones(100)
    empty = glm.fit(Logistic(), np.empty((0, 100)), np.empty(0, np.intp), y, w, np.empty(0))
    np.testing.assert_allclose(empty.intercepts, Logistic().start(y, w), atol=1e-6)


@pytest.mark.needs_kernel
@pytest.mark.parametrize("loss", [Logistic(), Softmax(3), Softmax(7), Squared()], ids=lambda loss: loss.name)
def test_chosen_lines_of_a_matrix_are_fitted_as_if_they_stood_alone(loss):
    x, owners, y, w, ridge = problem(loss)
    w = np.where(np.arange(len(w)) % 50 < 10, 0.0, w)  # runs of rows that take no part
    places = np.random.default_rng(0).permutation(2 * len(x))[: len(x)]
    matrix = np.full((2 * len(x), x.shape[1]), np.nan, dtype=np.float32)
    matrix[places] = x
    for tolerance in (glm.TOLERANCE, glm.SEARCH_TOLERANCE):
        alone = glm.fit(loss, x.astype(np.float32), owners, y, w, ridge, tolerance=tolerance)
        there = glm.fit(loss, matrix, owners, y, w, ridge, places=places, tolerance=tolerance)
        np.testing.assert_array_equal(alone.coefficients, there.coefficients)
        np.testing.assert_array_equal(alone.scores, there.scores)
        wide = glm.fit(loss, x.astype(np.float32).astype(float), owners, y, w, ridge, tolerance=tolerance)
        np.testing.assert_allclose(wide.scores, there.scores, rtol=1e-6, atol=1e-6)


@pytest.mark.needs_kernel
@pytest.mark.parametrize("loss", [Logistic(), Softmax(3), Squared()], ids=lambda loss: loss.name)
def test_moments_are_those_of_the_loss(monkeypatch, loss):
    rng = np.random.default_rng(0)
    scores = rng.normal(scale=8, size=(loss.n_scores, 200))
    y, w = rng.integers(0, max(loss.n_scores, 2), 200).astype(float), rng.uniform(0, 2, 200)
    fast = glm.moments(loss, scores, y, w)
    monkeypatch.setattr(_compiled, "compiled", None)
    for mine, other in zip(fast, glm.moments(loss, scores, y, w), strict=True):
        np.testing.assert_allclose(mine, other, rtol=1e-9, atol=1e-13)


def test_separable_rows_and_equal_columns_have_a_finite_fit():
    x = np.linspace(-1, 1, 80)
    fitted = glm.fit(
        Logistic(), np.vstack([x, x]), np.zeros(2, np.intp), (x > 0) * 1.0, np.ones(80), np.array([1e-3, 1e-3])
    )
    assert np.isfinite(fitted.coefficients).all()
    np.testing.assert_allclose(*fitted.coefficients, rtol=1e-4)


@pytest.mark.parametrize("kernel", [pytest.param(True, marks=pytest.mark.needs_kernel), False])
@pytest.mark.parametrize("loss", [Logistic(), Softmax(3), Squared()], ids=lambda loss: loss.name)
def test_several_ridges_are_fitted_as_each_alone(monkeypatch, loss, kernel):
    if not kernel:
        monkeypatch.setattr(_compiled, "compiled", None)
    x, owners, y, w, ridge = problem(loss)
    w = np.where(np.arange(len(w)) % 4, w, 0.0)
    ridges = np.outer([0.1, 1.0, 30.0], ridge)
    exact = True, glm.TOLERANCE
    every = glm.fit_ridges(loss, x, owners, y, w, ridges, None, None, None, exact)
    for own, together in zip(ridges, every, strict=True):
        alone = glm.fit(loss, x, owners, y, w, own)
        np.testing.assert_allclose(together.coefficients, alone.coefficients, rtol=1e-6, atol=1e-9)
        np.testing.assert_allclose(together.scores, alone.scores, rtol=1e-6, atol=1e-8)
        assert together.objective == pytest.approx(alone.objective, rel=1e-9)
        assert together.loss == pytest.approx(alone.loss, rel=1e-9)


@pytest.mark.needs_kernel
def test_the_kernel_refuses_what_does_not_fit():
    kernel = _compiled.compiled
    x, owners, y, w, ridge = problem(Softmax(3))
    n, p = x.shape[1], len(x)

    def call(kind=1, scores=3, pieces=p, rows=n, own=owners, target=y, ridges=1):
        out = (np.zeros(3 + p), np.empty((3, n)), np.empty(2))
        arrays = (x, None, own.astype(np.int64), target, w, ridge, None, *out)
        return kernel.glm_fit((kind, scores, pieces, rows, 1, 5, pieces, ridges), (1e-6, 1e-8), *arrays)

    call()
    for wrong in (
        {"scores": 0},
        {"rows": -1},
        {"pieces": p + 1},
        {"kind": 0},
        {"own": owners + 5},
        {"target": y - 1},
        {"ridges": 0},
        {"ridges": 2},
        {"ridges": 2**62},
    ):
        with pytest.raises(ValueError, match=r"glm_fit|kernel"):
            call(**wrong)
