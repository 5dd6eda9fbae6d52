"""The compiled kernel and its NumPy twin: the same sums, the same inner solutions, the same fits."""

import os
import signal
import subprocess
import sys
from importlib.util import find_spec

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ecsel.fitting import L1, ArrayBlocks, Logistic, PaperL1, Problem, Softmax, fit_scores, kernel
from ecsel.fitting.fit import FitOptions
from ecsel.fitting.kernel import CompiledSums
from ecsel.fitting.objective.sums import NumpySums
from ecsel.fitting.report import Status
from ecsel.fitting.solvers import active_set
from ecsel.fitting.solvers.base import Stop
from ecsel.fitting.solvers.newton import minimise

cases = st.fixed_dictionaries(
    {
        "seed": st.integers(0, 10**6),
        "rows": st.one_of(st.integers(1, 9), st.integers(250, 530)),
        "features": st.integers(0, 7),
        "classes": st.integers(2, 4),
        "sigmoid": st.booleans(),
        "n_terms": st.integers(1, 4),
        "intercept": st.booleans(),
        "steepness": st.sampled_from([0.0, 0.3, 3.0, 60.0]),
        "bend": st.sampled_from(["any", "log-linear", "near", "faded"]),
    }
)


def posed(case):
    """A problem on random rows (a class may be missing, weights may be zero) and a θ of the wanted kind."""
    rng = np.random.default_rng(case["seed"])
    loss = Logistic() if case["sigmoid"] else Softmax(case["classes"])
    v = rng.normal(size=(case["features"], case["rows"]))
    codes = rng.integers(0, loss.n_classes, case["rows"])
    w = rng.uniform(0, 1, case["rows"]) * (rng.random(case["rows"]) < 0.9)
    blocks = ArrayBlocks(v, codes, w / max(w.sum(), 1e-300))
    problem = Problem(blocks, loss, L1(1e-2), case["n_terms"], case["intercept"], np.ones(case["features"]))
    shapes = (loss.n_scores, case["n_terms"])
    angles = {
        "any": rng.uniform(-4, 4, shapes),
        "log-linear": np.zeros(shapes),
        "near": rng.uniform(-2e-3, 2e-3, shapes),
        "faded": np.full(shapes, np.pi / 2),
    }[case["bend"]]
    slopes = case["steepness"] * rng.normal(size=(*shapes, case["features"]))
    slopes *= rng.random(slopes.shape) < 0.8
    return problem, problem.pack(rng.normal(size=loss.n_scores), angles, slopes)


def close(found, wanted, scale, tolerance):
    np.testing.assert_allclose(found, wanted, rtol=tolerance, atol=tolerance * max(scale, 1e-300))


@pytest.mark.needs_kernel
@settings(max_examples=150, deadline=None)
@given(case=cases)
def test_sums_are_those_of_the_twin(case):
    problem, theta = posed(case)
    compiled, plain = CompiledSums(problem, kernel.compiled), NumpySums(problem)
    (block,) = problem.blocks.map(lambda each: each)
    (loss, state), (wanted, twin) = compiled.forward(theta, block), plain.forward(theta, block)
    assert loss == pytest.approx(wanted, rel=1e-12)  # near the limit scores have lost a digit, see below
    close(state.residual, twin.residual, block.w.max(), 1e-12)
    close(state.probabilities, twin.probabilities, 1.0, 1e-12)
    np.testing.assert_array_equal(state.expansion.by_t, twin.expansion.by_t)

    # Sums cancel: they may differ by rounding of their largest summands. Near the log-linear limit (e^a − 1)/sin φ has
    # lost digits in both, and each derivative by φ loses as many again.
    sine = np.abs(np.sin(problem.unpack(theta)[1]))
    lost = 1 / max(sine[sine > 0].min(initial=1.0), 1e-3) if problem.form.has_intercept else 1.0
    slope = np.abs(plain._jacobian(twin)).max(initial=1.0)
    second_order = slope * (1 + np.abs(block.v).max(initial=0.0) + np.abs(twin.expansion.t).max(initial=0.0)) ** 2
    gradient, matrix, residual_hessian = compiled.derivatives(state)
    wanted_gradient, wanted_matrix, wanted_hessian = plain.derivatives(twin)
    close(gradient, wanted_gradient, slope, 1e-13 * lost**2)
    close(matrix, wanted_matrix, slope**2, 1e-13 * lost**2)
    close(residual_hessian, wanted_hessian, second_order, 1e-13 * lost**3)
    close(compiled.gradient(state), gradient, slope, 1e-14)
    close(plain.gradient(twin), gradient, slope, 1e-13 * lost**2)
    np.testing.assert_array_equal(matrix, matrix.T)
    np.testing.assert_array_equal(residual_hessian, np.swapaxes(residual_hessian, 2, 3))


@pytest.mark.needs_kernel
def test_exponents_beyond_the_largest_are_continued_linearly():
    problem, theta = posed(
        {"seed": 1, "rows": 40, "features": 2, "classes": 2, "sigmoid": True, "n_terms": 2, "intercept": True}
        | {"steepness": 90.0, "bend": "any"}
    )
    (block,) = problem.blocks.map(lambda each: each)
    a = np.sin(problem.unpack(theta)[1])[..., None] * (problem.unpack(theta)[2] @ block.v)
    assert a.max() > 60
    found, wanted = (
        CompiledSums(problem, kernel.compiled).forward(theta, block),
        NumpySums(problem).forward(theta, block),
    )
    assert found[0] == pytest.approx(wanted[0], rel=1e-13)


@pytest.mark.needs_kernel
@pytest.mark.parametrize("seed", range(30))
def test_the_inner_solver_is_that_of_the_twin(seed):
    rng = np.random.default_rng(seed)
    size = int(rng.integers(1, 40))
    A = rng.normal(size=(size + 3, size))
    H, g = A.T @ A / len(A) + 1e-2 * np.eye(size), 2 * rng.normal(size=size)
    l1 = np.where(rng.random(size) < 0.7, rng.uniform(0.01, 1, size), 0.0)
    lower = rng.choice([-np.inf, -0.5, 0.0], size)
    upper = rng.choice([np.inf, 0.5, 0.0], size)
    x0 = np.clip(rng.normal(size=size) * (rng.random(size) < 0.6), lower, upper)
    found, fall = active_set.solve_active_set(H, g, x0, l1, lower, upper, 1e-10)
    wanted, expected = active_set._solve_with_numpy(H, g, x0, l1, lower, upper, 1e-10)
    np.testing.assert_allclose(found, wanted, atol=1e-9)
    np.testing.assert_array_equal(found == 0, wanted == 0)
    assert fall == pytest.approx(expected, rel=1e-9)


@pytest.mark.needs_kernel
def test_an_indefinite_face_promises_nothing_in_both():
    H, x = np.array([[1.0, 2.0], [2.0, 1.0]]), np.array([0.3, -0.2])
    data = H, np.array([1.0, -1.0]), x, np.zeros(2), np.full(2, -np.inf), np.full(2, np.inf), 1e-9
    for solve in (active_set.solve_active_set, active_set._solve_with_numpy):
        found, fall = solve(*data)
        np.testing.assert_array_equal(found, x)
        assert fall == 0


@pytest.mark.needs_kernel
def _symmetric(kind, n, rng):
    A = rng.normal(size=(3, n, n))
    if kind == "of low rank":
        return A[:, :, : n // 3] @ np.swapaxes(A[:, :, : n // 3], 1, 2)
    if kind == "graded":
        A *= np.exp(rng.normal(0, 8, (n, 1)))
    if kind == "diagonal":
        A *= np.eye(n)
    scale = {"tiny": 1e-200, "huge": 1e150}.get(kind, 1.0)
    return scale * (A + np.swapaxes(A, 1, 2))


@pytest.mark.parametrize("kind", ["full", "of low rank", "graded", "diagonal", "tiny", "huge", "zero"])
@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 14, 33, 90])
def test_positive_parts_are_those_of_lapack(n, kind):
    blocks = np.zeros((3, n, n)) if kind == "zero" else _symmetric(kind, n, np.random.default_rng(n))
    values, vectors = np.linalg.eigh(blocks)
    wanted = (vectors * np.maximum(values, 0)[:, None, :]) @ np.swapaxes(vectors, 1, 2)
    found = kernel.positive_parts(blocks)
    np.testing.assert_allclose(found, wanted, atol=1e-14 * max(n, 4) * np.abs(blocks).max())
    np.testing.assert_array_equal(found, np.swapaxes(found, 1, 2))


@pytest.mark.needs_kernel
def test_a_matrix_that_is_not_finite_has_no_positive_part():
    blocks = np.stack([np.full((3, 3), np.inf), np.full((3, 3), np.nan), np.eye(3)])
    np.testing.assert_array_equal(kernel.positive_parts(blocks), [np.zeros((3, 3)), np.zeros((3, 3)), np.eye(3)])


@pytest.mark.parametrize("penalty", [L1(1e-2), PaperL1(5e-3, 2.0)], ids=["l1", "paper"])
@pytest.mark.parametrize("loss", ["sigmoid", "softmax"])
def test_fits_from_one_start_end_at_one_objective(monkeypatch, make_table, make_problem, loss, penalty):
    data = make_table(n_classes=3 if loss == "softmax" else 2)
    start = np.random.default_rng(0).normal(0, 0.2, make_problem(data, loss, penalty, 2)[0].size)
    ends = []
    for module in (kernel.compiled, None):
        monkeypatch.setattr(kernel, "compiled", module)
        problem = make_problem(data, loss, penalty, 2)[0]
        assert isinstance(problem.sums, NumpySums if module is None else CompiledSums)
        ends.append(minimise(problem, start, Stop(tol=1e-10)).objective)
    assert ends[0] == pytest.approx(ends[1], rel=1e-9)


@pytest.mark.needs_kernel
@settings(max_examples=60, deadline=None)
@given(case=cases, iterations=st.integers(0, 6))
def test_the_compiled_loop_makes_the_steps_of_its_twin(case, iterations):
    # few rows or a term of size zero leave directions without curvature, in which rounding decides the step
    residual_hessian = case["bend"] if case["intercept"] and case["bend"] != "faded" else "any"
    tame = {"steepness": 0.3, "rows": 250 + case["rows"], "features": 1 + case["features"], "bend": residual_hessian}
    problem, theta = posed(case | tame)
    stop = Stop(tol=0.0, kkt=0.0, max_iter=iterations)
    found = minimise(problem, theta, stop)
    wanted = minimise(problem, theta, stop, watch=lambda *_: None)  # nobody watches the compiled loop
    before = problem.objective(np.clip(theta, problem.lower, problem.upper))
    assert found.objective <= before + 1e-12 * (1 + abs(before))
    assert found.objective == pytest.approx(problem.objective(found.theta), rel=1e-12, abs=1e-12)
    # A step on the verge of acceptance is decided by rounding; from there on the two may part.
    if found.evaluations == wanted.evaluations and found.iterations == wanted.iterations:
        assert found.objective == pytest.approx(wanted.objective, rel=1e-5)
    else:
        assert found.objective <= wanted.objective + 0.05 * abs(wanted.objective)


@pytest.mark.needs_kernel
def test_the_compiled_loop_ends_as_its_twin_does(make_table, make_problem):
    problem = make_problem(make_table(), "sigmoid", L1(1e-2), 2)[0]
    start = np.random.default_rng(1).normal(0, 0.2, problem.size)
    for stop in (Stop(), Stop(max_iter=2), Stop(kkt=1e-18)):
        found, wanted = minimise(problem, start, stop), minimise(problem, start, stop, watch=lambda *_: None)
        assert (found.status, found.iterations) == (wanted.status, wanted.iterations)
        np.testing.assert_allclose(found.theta, wanted.theta, atol=1e-6)
        gradient = problem.value_and_gradient(found.theta)[1]
        if stop.max_iter > 2:
            assert found.kkt_residual == pytest.approx(problem.kkt_residual(found.theta, gradient), abs=1e-12)


@pytest.mark.needs_kernel
@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no interval timers")
def test_a_signal_reaches_the_compiled_loop(make_table, make_problem):
    """An interrupt keeps the best point so far; any other exception of a handler is the caller's."""
    problem = make_problem(make_table(n=8000, m=10, n_classes=4), "softmax", L1(1e-4), 3)[0]
    start, endless = np.random.default_rng(0).normal(0, 0.1, problem.size), Stop(0.0, 0.0, 10**6)
    worst = problem.objective(start)

    def ring(error):
        def handler(_number, _frame):
            raise error

        before = signal.signal(signal.SIGVTALRM, handler)
        signal.setitimer(signal.ITIMER_VIRTUAL, 0.05)  # of processor time: the loop has begun, and takes far longer
        try:
            return minimise(problem, start, endless)
        finally:
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)
            signal.signal(signal.SIGVTALRM, before)

    outcome = ring(KeyboardInterrupt)
    assert outcome.status is Status.INTERRUPTED
    assert outcome.objective < worst
    with pytest.raises(LookupError, match="mine"):
        ring(LookupError("mine"))


@pytest.mark.needs_kernel
def test_whole_fits_agree_and_threads_do_not_change_a_bit(monkeypatch, make_table):
    u, codes, w = make_table(n=20_000, m=3)

    def fitted(threads):
        return fit_scores(u, codes, w, Logistic(), L1(1e-3), 2, options=FitOptions(n_threads=threads, seed=0))

    one, two = fitted(1), fitted(2)
    np.testing.assert_array_equal(one.terms.exponents, two.terms.exponents)
    assert one.report.objective == two.report.objective
    monkeypatch.setattr(kernel, "compiled", None)
    assert fitted(1).report.objective == pytest.approx(one.report.objective, rel=1e-9)


def test_rows_in_any_memory_order_are_served(make_table, make_problem):
    problem = make_problem(make_table())[0]
    turned = ArrayBlocks(np.asfortranarray(problem.blocks.v), problem.blocks.codes.astype(np.int32), problem.blocks.w)
    theta = np.full(problem.size, 0.3)
    other = Problem(turned, problem.loss, problem.penalty, problem.n_terms, problem.intercept, problem.std)
    assert other.objective(theta) == problem.objective(theta)
    np.testing.assert_allclose(other.value_and_gradient(theta)[1], problem.value_and_gradient(theta)[1], rtol=1e-14)


@pytest.mark.needs_kernel
def test_arrays_of_a_wrong_size_are_refused():
    with pytest.raises(ValueError, match="array 2 of the kernel: 2 contiguous numbers"):
        kernel.compiled.solve_active_set(2, np.eye(2), *[np.zeros(3)] * 5, 1e-9, 60)


@pytest.mark.parametrize("value", ["0", "1"])
def test_an_environment_variable_turns_the_kernel_off(value):
    probe = "from ecsel.fitting import kernel; print(kernel.compiled is None)"
    environment = os.environ | {"ECSEL_NO_KERNEL": value}
    reported = subprocess.run(
        [sys.executable, "-c", probe], env=environment, capture_output=True, text=True, check=True
    )
    assert reported.stdout.strip() == str(value == "1" or find_spec("ecsel._kernel") is None)
