"""Continuous exponents: gradients against differences, optima against the truth."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from ecsel.discovery.criterion import Criterion
from ecsel.discovery.lattice import Lattice
from ecsel.discovery.model import Problem, Structure, solve
from ecsel.discovery.rows import Rows
from ecsel.discovery.snap import covariance, snap
from ecsel.discovery.varpro import fit_exponents, jacobian


def setting(seed=0, n=80, m=3):
    rng = np.random.default_rng(seed)
    X = rng.uniform(1, 5, (n, m))
    y = 1.7 * X[:, 0] ** 1.5 / X[:, 1] + 0.4 * X[:, 2] ** 2 + rng.normal(0, 0.001, n)
    rows = Rows.from_table(X, y)
    return Problem(rows, Criterion(n, rows.energy), Lattice.build(signed=rows.signed, has_zero=rows.has_zero))


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 1000))
def test_the_jacobian_gives_the_gradient_of_the_projected_residual(seed):
    rng = np.random.default_rng(seed)
    rows = setting(seed).rows
    b, p = rng.uniform(-1, 2, (2, 3)), np.zeros((2, 3), dtype=np.int8)
    _, residual, j = jacobian(rows, b, p)
    gradient = -2 * j.T @ residual
    for i in range(6):
        d = np.zeros(6)
        d[i] = 1e-5
        up, down = (solve(rows, Structure(b + s * d.reshape(2, 3), p))[1] for s in (1, -1))
        np.testing.assert_allclose(gradient[i], (up - down) / 2e-5, rtol=1e-4, atol=1e-5 * np.abs(gradient).max())


def test_batched_starts_reach_the_truth_and_never_get_worse():
    problem = setting()
    rng = np.random.default_rng(1)
    starts = np.array([[1.2, -0.5, 0.3], [0.2, 0.1, 1.5]]) + rng.normal(0, 0.1, (5, 2, 3))
    parity = np.zeros((5, 2, 3), dtype=np.int8)
    before = [solve(problem.rows, Structure(b, p))[1] for b, p in zip(starts, parity, strict=True)]
    fits = fit_exponents(problem.rows, problem.lattice, starts, parity, max_iter=60)
    assert np.all(fits.rss <= before)
    best = fits.sorted().exponents[0]
    np.testing.assert_allclose(sorted(map(tuple, best.round(2))), [(0, 0, 2), (1.5, -1, 0)], atol=0.011)


def test_fixed_exponents_stay():
    problem = setting()
    start = np.array([[[1.5, -1.0, 0.0], [0.1, 0.0, 1.0]]])
    free = np.array([[[False] * 3, [True] * 3]])
    fits = fit_exponents(problem.rows, problem.lattice, start, np.zeros((1, 2, 3), dtype=np.int8), free)
    np.testing.assert_array_equal(fits.exponents[0, 0], start[0, 0])


def test_snapping_rounds_to_the_truth():
    law = snap(
        setting(), Structure(np.array([[1.47, -0.98, 0.02], [0.03, 0.01, 1.98]]), np.zeros((2, 3), dtype=np.int8))
    )
    assert {tuple(b) for b in law.structure.exponents} == {(1.5, -1.0, 0.0), (0.0, 0.0, 2.0)}
    assert not law.structure.free.any()


def test_a_transcendental_exponent_stays_free():
    rng = np.random.default_rng(0)
    x = rng.uniform(1, 9, (200, 1))
    rows = Rows.from_table(x, x[:, 0] ** 0.7391 + rng.normal(0, 1e-4, 200))
    problem = Problem(rows, Criterion(200, rows.energy), Lattice.build(signed=rows.signed, has_zero=rows.has_zero))
    law = snap(problem, Structure(np.array([[0.7]]), np.zeros((1, 1), dtype=np.int8)))
    assert law.structure.free.all()
    np.testing.assert_allclose(law.structure.exponents, 0.7391, atol=1e-3)


def test_covariance_is_the_inverse_gram_matrix():
    design = np.random.default_rng(0).normal(size=(40, 4)) * [1, 1e3, 1e-3, 1]
    np.testing.assert_allclose(covariance(design), np.linalg.inv(design.T @ design), rtol=1e-8, atol=0)
