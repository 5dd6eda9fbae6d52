"""The inner problem: its solution satisfies the optimality conditions and is that of plain coordinate descent."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ecsel.fitting.quadratic import solve_on_faces


def draw(seed, size, *, bounded):
    """A random positive definite quadratic with free, penalised and bounded coordinates, and a start within bounds."""
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(size + rng.integers(0, 4), size))
    H = A.T @ A / len(A) + 1e-2 * np.eye(size)
    l1 = np.where(rng.random(size) < 0.7, rng.uniform(0.01, 1, size), 0.0)
    bound = np.where((rng.random(size) < 0.4) & bounded, rng.uniform(0.1, 1, size), np.inf)
    x0 = np.clip(rng.normal(size=size) * (rng.random(size) < 0.6), -bound, bound)
    at_bound = np.isfinite(bound) & (rng.random(size) < 0.5)
    x0[at_bound] = np.sign(rng.normal(size=int(at_bound.sum()))) * bound[at_bound]
    return H, rng.normal(size=size) * 2, x0, l1, bound


def value(H, g, x0, l1, x):
    d = x - x0
    return g @ d + 0.5 * d @ H @ d + l1 @ np.abs(x)


def coordinate_descent(H, g, x0, l1, bound, sweeps=4000):
    """Soft thresholding and clipping, one coordinate at a time: each step is exact, so the limit is the optimum."""
    x = x0.copy()
    for _ in range(sweeps):
        before = x.copy()
        for j in range(len(x)):
            slope = g[j] + H[j] @ (x - x0)
            centre = x[j] - slope / H[j, j]
            x[j] = np.clip(np.sign(centre) * max(abs(centre) - l1[j] / H[j, j], 0), -bound[j], bound[j])
        if np.abs(x - before).max() < 1e-13:
            break
    return x


def kkt(H, g, x0, l1, bound, x):
    """Distance of zero to the subdifferential, a bound's outward pushes aside."""
    slope = g + H @ (x - x0)
    distance = np.where(x != 0, np.abs(slope + l1 * np.sign(x)), np.maximum(np.abs(slope) - l1, 0))
    distance[(np.abs(x) >= bound) & ((slope + l1 * np.sign(x)) * x < 0)] = 0
    return distance.max()


@pytest.mark.parametrize("bounded", [False, True])
@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 10**6), size=st.integers(1, 9))
def test_solution_is_optimal_and_that_of_coordinate_descent(bounded, seed, size):
    H, g, x0, l1, bound = data = draw(seed, size, bounded=bounded)
    x, fall = solve_on_faces(*data, 1e-10)
    other = coordinate_descent(*data)
    assert (np.abs(x) <= bound).all()
    assert kkt(*data, x) <= 1e-7
    assert fall == pytest.approx(value(H, g, x0, l1, x0) - value(H, g, x0, l1, x), abs=1e-9)
    assert value(H, g, x0, l1, x) <= value(H, g, x0, l1, other) + 1e-9
    np.testing.assert_allclose(x, other, atol=1e-5)


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_larger_problems_leave_no_residual(seed):
    data = draw(seed, 60, bounded=True)
    x, _ = solve_on_faces(*data, 1e-9)
    assert kkt(*data, x) <= 1e-6


def test_the_optimum_is_a_fixed_point():
    data = H, g, x0, l1, bound = draw(3, 6, bounded=True)
    x, _ = solve_on_faces(*data, 1e-12)
    again, fall = solve_on_faces(H, g + H @ (x - x0), x, l1, bound, 1e-9)
    np.testing.assert_array_equal(again, x)
    assert fall == 0


def test_a_large_penalty_empties_every_penalised_coordinate():
    H, g, x0, _, bound = draw(1, 5, bounded=False)
    x, _ = solve_on_faces(H, g, x0, np.full(5, 1e3), bound, 1e-12)
    np.testing.assert_array_equal(x, 0)


def test_a_coordinate_at_its_bound_does_not_stop_the_others():
    # The gradient of the first pulls inwards, but the joint Newton step pushes it outwards.
    H = np.array([[1.0, -0.9], [-0.9, 1.0]])
    x0, bound = np.array([1.0, 0.0]), np.array([1.0, np.inf])
    g = np.array([0.1, -2.0])
    x, fall = solve_on_faces(H, g, x0, np.zeros(2), bound, 1e-12)
    np.testing.assert_allclose(x, [1.0, 2.0], atol=1e-12)
    assert fall > 0
