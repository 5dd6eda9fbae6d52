"""Packed rows come back as they were: the same blocks, the same sums, in memory and in a file."""

import numpy as np
import pytest

from ecsel.fitting import ArrayBlocks, Logistic, Problem
from ecsel.fitting.penalties import L1
from ecsel.fitting.rows import unpacking
from ecsel.fitting.rows.blocks import Coordinates, added
from ecsel.fitting.rows.chunks import Layout, pack
from ecsel.fitting.rows.stored import StoredBlocks


@pytest.fixture
def table():
    rng = np.random.default_rng(0)
    n = 5000
    u = np.stack([rng.normal(3, 2, n), rng.choice([0.0, np.log(10)], n), np.log1p(rng.integers(0, 24, n)), np.zeros(n)])
    return u, rng.integers(0, 2, n), rng.integers(1, 4, n).astype(float)


def packed(table, dtype, *, weighted=True, cut=700, known=None, **options):
    u, codes, w = table
    u = u.astype(dtype)
    layout = Layout.learn(u[:, :known], 2, weighted=weighted)
    cuts = [slice(a, a + cut) for a in range(0, len(codes), cut)]
    chunks = [pack(layout, u[:, s], codes[s], w[s] if weighted else None) for s in cuts]
    return StoredBlocks.of(layout, chunks, n_threads=options.pop("n_threads", 1), **options)


@pytest.mark.parametrize("in_file", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_rows_come_back(monkeypatch, table, in_file, weighted):
    monkeypatch.setattr(unpacking, "TILE_ROWS", 256)
    u, codes, w = table
    w = w if weighted else np.ones_like(w)
    blocks = packed(table, np.float64, weighted=weighted, in_file=in_file, n_threads=2)
    centred = Coordinates.of(u, w)
    np.testing.assert_allclose(blocks.coordinates.centre, centred.centre, atol=1e-12)
    np.testing.assert_allclose(blocks.coordinates.std, centred.std, rtol=1e-10)
    found = blocks.map(lambda block: (block.first, block.v.copy(), block.codes.copy(), block.w.copy()))
    twin = ArrayBlocks.standardised(u, codes, w, centred)
    assert [part[0] for part in found] == np.cumsum([0, *(len(part[2]) for part in found)])[:-1].tolist()
    np.testing.assert_allclose(np.concatenate([part[1] for part in found], axis=1), twin.v, atol=1e-10)
    np.testing.assert_array_equal(np.concatenate([part[2] for part in found]), codes)
    np.testing.assert_allclose(np.concatenate([part[3] for part in found]), twin.w, rtol=1e-12)
    np.testing.assert_allclose(blocks.tally.classes, np.bincount(codes, weights=w))


def test_features_with_few_values_take_a_byte(table):
    blocks = packed(table, np.float32, weighted=False, cut=5000)
    assert [None if v is None else len(v) for v in blocks.layout.values] == [None, 2, 24, 1]
    (chunk,) = blocks._chunks
    assert chunk.coded == (False, True, True, True)
    assert chunk.size == 5000 * (4 + 3 + 1)


def test_a_value_that_the_sample_lacked_is_kept_as_a_number(table):
    u, codes, w = table
    u[2, 4500] = 0.123
    blocks = packed((u, codes, w), np.float64, known=4000)
    assert [chunk.coded[2] for chunk in blocks._chunks] == [True] * 6 + [False] + [True]
    v = np.concatenate(blocks.map(lambda block: block.v.copy()), axis=1)
    std, centre = blocks.coordinates.std[2], blocks.coordinates.centre[2]
    assert v[2, 4500] * std + centre == pytest.approx(0.123)


def test_a_problem_on_packed_rows_is_the_problem(table):
    u, codes, w = table
    blocks = packed(table, np.float64, in_file=True)
    centred = blocks.coordinates
    options = (Logistic(), L1(1e-3), 2, True, centred.std)
    there, here = Problem(blocks, *options), Problem(ArrayBlocks.standardised(u, codes, w, centred), *options)
    theta = np.random.default_rng(1).normal(0, 0.3, here.size)
    assert there.objective(theta) == pytest.approx(here.objective(theta), rel=1e-13)
    np.testing.assert_allclose(there.value_and_gradient(theta)[1], here.value_and_gradient(theta)[1], atol=1e-13)


def test_results_of_blocks_are_added_by_their_kind():
    single = np.array([1e8, 1.0], dtype=np.float32)
    total = added((single, 1.5, [1]), (single, 2.0, [2]))
    assert total[0].dtype == np.float64
    assert total[0].tolist() == [2e8, 2.0]
    assert total[1:] == (3.5, [1, 2])


def test_no_rows_are_refused():
    with pytest.raises(ValueError, match="no rows"):
        StoredBlocks.of(Layout.learn(np.zeros((1, 3)), 2, weighted=False), [], n_threads=1)
