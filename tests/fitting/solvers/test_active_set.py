"""The inner problem: its solution satisfies the optimality conditions and is that of plain coordinate descent."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import Bounds, minimize

from ecsel.fitting.solvers import active_set
from ecsel.fitting.solvers.active_set import solve_active_set


def draw(seed, size, *, bounded):
    """A random positive definite quadratic with free, penalised and bounded coordinates, and a start within bounds.

    Bounds lie on both sides of zero, on one, at zero itself (a sign constraint), or on top of each other.
    """
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(size + rng.integers(0, 4), size))
    H = A.T @ A / len(A) + 1e-2 * np.eye(size)
    l1 = np.where(rng.random(size) < 0.7, rng.uniform(0.01, 1, size), 0.0)
    lower = np.where((rng.random(size) < 0.4) & bounded, rng.choice([-1.0, 0.0, 0.3], size), -np.inf)
    room = rng.choice([0.0, 0.2, 1.5], size, p=[0.1, 0.45, 0.45])
    upper = np.where(
        (rng.random(size) < 0.4) & bounded, np.maximum(np.where(np.isinf(lower), -0.5, lower), 0) + room, np.inf
    )
    x0 = np.clip(rng.normal(size=size) * (rng.random(size) < 0.6), lower, upper)
    x0 = np.where(np.isfinite(lower) & (rng.random(size) < 0.3), lower, x0)
    x0 = np.where(np.isfinite(upper) & (rng.random(size) < 0.3), upper, x0)
    return H, rng.normal(size=size) * 2, x0, l1, lower, upper


def value(H, g, x0, l1, x):
    d = x - x0
    return g @ d + 0.5 * d @ H @ d + l1 @ np.abs(x)


def coordinate_descent(H, g, x0, l1, lower, upper, sweeps=4000):
    """Soft thresholding and clipping, one coordinate at a time: each step is exact, so the limit is the optimum."""
    x = x0.copy()
    for _ in range(sweeps):
        before = x.copy()
        for j in range(len(x)):
            slope = g[j] + H[j] @ (x - x0)
            centre = x[j] - slope / H[j, j]
            x[j] = np.clip(np.sign(centre) * max(abs(centre) - l1[j] / H[j, j], 0), lower[j], upper[j])
        if np.abs(x - before).max() < 1e-13:
            break
    return x


def split_reference(H, g, x0, l1, lower, upper):
    """x = x⁺ − x⁻ makes the problem smooth in a box, which SciPy's L-BFGS-B solves."""

    def smooth(parts):
        d = parts[: len(x0)] - parts[len(x0) :] - x0
        slope = g + H @ d
        return g @ d + 0.5 * d @ H @ d + l1 @ (parts[: len(x0)] + parts[len(x0) :]), np.concatenate(
            [slope + l1, l1 - slope]
        )

    box = Bounds(
        np.concatenate([np.maximum(lower, 0), np.maximum(-upper, 0)]),
        np.concatenate([np.maximum(upper, 0), np.maximum(-lower, 0)]),
    )
    start = np.concatenate([np.maximum(x0, 0), np.maximum(-x0, 0)])
    found = minimize(smooth, start, jac=True, method="L-BFGS-B", bounds=box, options={"ftol": 0, "gtol": 1e-9})
    return found.x[: len(x0)] - found.x[len(x0) :]


def kkt(H, g, x0, l1, lower, upper, x):
    """Distance of zero to the subdifferential: the ℓ1 norm's [−l1, l1] at zero, a bound's outward pushes."""
    slope = g + H @ (x - x0)
    low, high = slope + np.where(x > 0, l1, -l1), slope + np.where(x < 0, -l1, l1)
    low, high = np.where(x <= lower, -np.inf, low), np.where(x >= upper, np.inf, high)
    return np.maximum(np.maximum(low, -high), 0).max()


@pytest.mark.parametrize("solve", [solve_active_set, active_set._solve_with_numpy], ids=["chosen", "numpy"])
@pytest.mark.parametrize("bounded", [False, True])
@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 10**6), size=st.integers(1, 9))
def test_solution_is_optimal_and_that_of_coordinate_descent(solve, bounded, seed, size):
    H, g, x0, l1, lower, upper = data = draw(seed, size, bounded=bounded)
    x, fall = solve(*data, 1e-10)
    other = coordinate_descent(*data)
    assert ((lower <= x) & (x <= upper)).all()
    assert kkt(*data, x) <= 1e-7
    assert fall == pytest.approx(value(H, g, x0, l1, x0) - value(H, g, x0, l1, x), abs=1e-9)
    assert value(H, g, x0, l1, x) <= value(H, g, x0, l1, other) + 1e-9
    np.testing.assert_allclose(x, other, atol=1e-5)


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10**6), size=st.integers(2, 15))
def test_no_lower_point_is_found_by_lbfgsb(seed, size):
    H, g, x0, l1, *_ = data = draw(seed, size, bounded=True)
    x, _ = solve_active_set(*data, 1e-10)
    assert value(H, g, x0, l1, x) <= value(H, g, x0, l1, split_reference(*data)) + 1e-9


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_larger_problems_leave_no_residual(seed):
    data = draw(seed, 60, bounded=True)
    x, _ = solve_active_set(*data, 1e-9)
    assert kkt(*data, x) <= 1e-6


def test_the_optimum_is_a_fixed_point():
    data = H, g, x0, l1, lower, upper = draw(3, 6, bounded=True)
    x, _ = solve_active_set(*data, 1e-12)
    again, fall = solve_active_set(H, g + H @ (x - x0), x, l1, lower, upper, 1e-9)
    np.testing.assert_array_equal(again, x)
    assert fall == 0


def test_a_large_penalty_empties_every_penalised_coordinate():
    H, g, x0, _, lower, upper = draw(1, 5, bounded=False)
    x, _ = solve_active_set(H, g, x0, np.full(5, 1e3), lower, upper, 1e-12)
    np.testing.assert_array_equal(x, 0)


def test_a_coordinate_at_its_bound_does_not_stop_the_others():
    # The gradient of the first pulls inwards, but the joint Newton step pushes it outwards.
    H = np.array([[1.0, -0.9], [-0.9, 1.0]])
    x0, upper = np.array([1.0, 0.0]), np.array([1.0, np.inf])
    g = np.array([0.1, -2.0])
    x, fall = solve_active_set(H, g, x0, np.zeros(2), -upper, upper, 1e-12)
    np.testing.assert_allclose(x, [1.0, 2.0], atol=1e-12)
    assert fall > 0


def test_a_sign_constraint_keeps_a_coordinate_at_zero_and_lets_it_leave_the_other_way():
    H, x0, l1 = np.eye(2), np.zeros(2), np.full(2, 0.5)
    lower, upper = np.zeros(2), np.full(2, np.inf)
    x, _ = solve_active_set(H, np.array([2.0, -2.0]), x0, l1, lower, upper, 1e-12)
    np.testing.assert_allclose(x, [0.0, 1.5])
