"""Chunks are the same whether they are packed in C or by NumPy."""

from dataclasses import replace

import numpy as np
import pytest

from ecsel.fitting import kernel
from ecsel.fitting.rows.chunks import Layout, pack


def both(monkeypatch, layout, u, codes, w=None):
    found = pack(layout, u, codes, w)
    with monkeypatch.context() as patch:
        patch.setattr(kernel, "compiled", None)
        return found, pack(layout, u, codes, w)


@pytest.mark.needs_kernel
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("n_values", [1, 2, 3, 24, 255, 256])
def test_places_and_sums_are_those_of_numpy(monkeypatch, n_values, weighted):
    rng = np.random.default_rng(n_values)
    values = np.unique(rng.normal(size=2 * n_values).astype(np.float32))[:n_values]
    u = np.stack([rng.choice(values, 3001), rng.normal(5, 2, 3001).astype(np.float32)])
    codes, w = rng.integers(0, 3, 3001), rng.uniform(0.5, 2, 3001) if weighted else None
    (chunk, tally), (other, sums) = both(monkeypatch, Layout.learn(u, 3, weighted=weighted), u, codes, w)
    assert chunk.coded == other.coded == (True, False)
    np.testing.assert_array_equal(chunk.data, other.data)
    np.testing.assert_allclose(tally.first, sums.first, rtol=1e-5, atol=1e-2)
    np.testing.assert_allclose(tally.second, sums.second, rtol=1e-5)
    np.testing.assert_array_equal(tally.classes, sums.classes)


@pytest.mark.needs_kernel
@pytest.mark.parametrize("n_values", [2, 24])
@pytest.mark.parametrize("odd", [7.5, np.nan])
def test_a_value_that_the_sample_lacked_is_kept_as_a_number(monkeypatch, n_values, odd):
    u = np.tile(np.arange(n_values, dtype=np.float32), 50)[None]
    layout = Layout.learn(u, 2, weighted=False)
    u = u.copy()
    u[0, 13] = odd
    (chunk, _), (other, _) = both(monkeypatch, layout, u, np.zeros(u.shape[1], int))
    assert chunk.coded == other.coded == (False,)
    np.testing.assert_array_equal(chunk.data, other.data)


@pytest.mark.needs_kernel
def test_values_that_have_travelled_may_lie_anywhere():
    u = np.tile(np.arange(3, dtype=np.float32), 40)[None]
    layout = Layout.learn(u, 2, weighted=False)
    afloat = np.frombuffer(b"." + layout.values[0].tobytes(), np.uint8)[1:].view(np.float32)
    assert not afloat.flags.aligned
    chunk, _ = pack(replace(layout, values=(afloat,)), u, np.zeros(120, int), None)
    np.testing.assert_array_equal(chunk.data, pack(layout, u, np.zeros(120, int), None)[0].data)


@pytest.mark.needs_kernel
def test_deviations_are_summed_in_double_precision():
    u = np.full(1_000_003, 1.1, np.float32)
    first, second = kernel.compiled.deviations(u, 1.0)
    apart = float(np.float32(1.1)) - 1.0
    assert first == pytest.approx(len(u) * apart, rel=1e-10)
    assert second == pytest.approx(len(u) * apart**2, rel=1e-10)
