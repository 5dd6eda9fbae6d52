"""The compiled pass over packed rows equals NumPy's sums of the same rows."""

import numpy as np
import pytest

from ecsel.fitting import L1, Logistic, PaperL1, Problem, Softmax, kernel
from ecsel.fitting.objective.sums import NumpySums
from ecsel.fitting.rows.chunks import Layout, pack
from ecsel.fitting.rows.importance_sampling import draw_sample, mean_root
from ecsel.fitting.rows.stored import StoredBlocks
from ecsel.fitting.rows.sweeps import SweptSums


def packed(n_classes, *, weighted, n=1700):
    rng = np.random.default_rng(3)
    u = np.stack([rng.normal(3, 2, n), rng.choice([0.0, np.log(10)], n), np.log1p(rng.integers(0, 24, n)), np.zeros(n)])
    u, codes = u.astype(np.float32), rng.integers(0, n_classes, n)
    w = rng.uniform(0.5, 3, n) if weighted else None
    layout = Layout.learn(u[:, :1000], n_classes, weighted=weighted)
    cuts = [slice(0, 900), slice(900, n)]
    chunks = [pack(layout, u[:, s], codes[s], None if w is None else w[s]) for s in cuts]
    return StoredBlocks.of(layout, chunks, n_threads=1)


def total(parts):
    return sum(part[0] for part in parts), np.sum([part[1].astype(np.float64) for part in parts], axis=0)


@pytest.mark.needs_kernel
@pytest.mark.parametrize("shape", [None, 1e-3, 0.0, np.pi / 2])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("loss", [Logistic(), Softmax(2), Softmax(4)])
@pytest.mark.parametrize(("penalty", "intercept"), [(L1(1e-3), True), (L1(1e-3), False), (PaperL1(1e-3), True)])
def test_a_sweep_is_the_numpy_pass(loss, weighted, shape, penalty, intercept):
    blocks = packed(loss.n_classes, weighted=weighted)
    problem = Problem(blocks, loss, penalty, 2, intercept, blocks.coordinates.std)
    assert isinstance(problem.sums, SweptSums)
    theta = np.random.default_rng(5).normal(0, 0.5, problem.size)
    if shape is not None:
        problem.unpack(theta)[1][...] = shape
    twin = NumpySums(problem)
    swept, plain = (total(blocks.map(lambda b, s=s: s.loss_and_gradient(theta, b))) for s in (problem.sums, twin))
    assert swept[0] == pytest.approx(plain[0], rel=3e-6)
    np.testing.assert_allclose(swept[1], plain[1], atol=1e-5 * max(1.0, np.abs(plain[1]).max()))
    errors, expected = (
        np.concatenate(blocks.map(lambda b, s=s: s.loss_and_errors(theta, b)[1])) for s in (problem.sums, twin)
    )
    np.testing.assert_allclose(errors, expected, atol=3e-5)


@pytest.mark.needs_kernel
def test_far_points_stay_finite():
    blocks = packed(2, weighted=False)
    problem = Problem(blocks, Logistic(), L1(1e-3), 2, True, blocks.coordinates.std)
    theta = np.full(problem.size, 50.0)
    loss, gradient = problem.value_and_gradient(theta)
    assert np.isfinite(loss)
    assert np.isfinite(gradient).all()


@pytest.mark.needs_kernel
def test_a_part_of_a_chunk_is_swept_alone(monkeypatch):
    """Where the rows of a chunk are cut into blocks, the blocks add up."""
    blocks = packed(2, weighted=True)
    problem = Problem(blocks, Logistic(), L1(1e-3), 2, True, blocks.coordinates.std)
    theta = np.random.default_rng(5).normal(0, 0.5, problem.size)
    whole = problem.value_and_gradient(theta)
    monkeypatch.setattr("ecsel.fitting.rows.unpacking.CHUNK_ROWS", 137)
    assert len(blocks.map(lambda block: block.first)) > 2
    cut = problem.value_and_gradient(theta)
    assert cut[0] == pytest.approx(whole[0], rel=1e-6)
    np.testing.assert_allclose(cut[1], whole[1], atol=1e-6)


@pytest.mark.needs_kernel
@pytest.mark.parametrize("weighted", [False, True])
def test_a_compiled_draw_is_that_of_numpy(monkeypatch, weighted):
    blocks = packed(2, weighted=weighted)
    problem = Problem(blocks, Logistic(), L1(1e-3), 2, True, blocks.coordinates.std)
    theta = np.random.default_rng(5).normal(0, 0.5, problem.size)
    expected = mean_root(problem, theta)
    swept = draw_sample(problem, theta, 300, 7, expected)
    monkeypatch.setattr(kernel, "compiled", None)
    plain = draw_sample(Problem(blocks, Logistic(), L1(1e-3), 2, True, blocks.coordinates.std), theta, 300, 7, expected)
    assert swept.drawn.n_rows == pytest.approx(plain.drawn.n_rows, abs=1)  # a chance at the very number
    assert swept.mean_root == pytest.approx(plain.mean_root, rel=1e-5)
    assert swept.objective == pytest.approx(plain.objective, rel=1e-5)
    both = {tuple(row) for row in swept.drawn.v.T} & {tuple(row) for row in plain.drawn.v.T}
    assert len(both) >= len({tuple(row) for row in plain.drawn.v.T}) - 1


@pytest.mark.needs_kernel
def test_the_kernel_refuses_what_does_not_fit():
    blocks = packed(2, weighted=False)
    problem = Problem(blocks, Logistic(), L1(1e-3), 1, True, blocks.coordinates.std)
    block = blocks.map(lambda block: block)[0]
    unpacker, theta = block.unpacker, np.zeros(problem.size)
    kinds = np.array([0, 2, 1, 1], np.uint8)
    rest = (kinds, unpacker.tables, unpacker.centre, unpacker.scale, False, None, None)
    shape = kernel.shape_of(problem, 900)
    assert kernel.compiled.sweep(shape, theta, block.data, 900, 0, *rest) > 0
    with pytest.raises(ValueError, match="fewer rows"):
        kernel.compiled.sweep(shape, theta, block.data, 900, 1, *rest)
    with pytest.raises(ValueError, match="contiguous numbers"):
        kernel.compiled.sweep(shape, theta, block.data[1:], 900, 0, *rest)
    with pytest.raises(ValueError, match="contiguous numbers"):
        kernel.compiled.sweep(shape, theta[1:], block.data, 900, 0, *rest)
