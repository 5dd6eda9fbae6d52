"""Row blocks: standardised coordinates, tiles in a fixed order, samples with weights that sum to one."""

import os
import subprocess
import sys

import numpy as np
import pytest

from ecsel.fitting import ArrayBlocks
from ecsel.fitting.rows import blocks
from ecsel.fitting.rows.blocks import Coordinates, added


def test_coordinates_standardise_by_weight(make_table):
    u, codes, w = make_table()
    repeated = np.repeat(u, w.astype(int), axis=1)
    found = Coordinates.of(u, w)
    np.testing.assert_allclose(found.centre, repeated.mean(axis=1))
    np.testing.assert_allclose(found.std, repeated.std(axis=1))
    v = ArrayBlocks.standardised(u, codes, w, found)
    np.testing.assert_allclose(v.v @ v.w, 0, atol=1e-14)
    np.testing.assert_allclose(v.v**2 @ v.w, 1)


def test_a_feature_that_does_not_vary_keeps_its_unit():
    u = np.vstack([np.full(5, 3.0), np.full(5, 1e6) + 1e-9, np.zeros(5)])
    np.testing.assert_array_equal(Coordinates.of(u, np.ones(5)).std, 1)


@pytest.mark.parametrize("n_threads", [1, 3])
def test_tiles_cover_every_row_once_and_in_order(monkeypatch, make_table, n_threads):
    monkeypatch.setattr(blocks, "TILE_ROWS", 32)
    u, codes, w = make_table(n=101)
    rows = ArrayBlocks(u, codes, w, n_threads=n_threads)
    parts = rows.map(lambda b: b)
    assert max(len(b.w) for b in parts) <= 32
    np.testing.assert_array_equal(np.concatenate([b.v for b in parts], axis=1), u)
    np.testing.assert_array_equal(np.concatenate([b.codes for b in parts]), codes)
    np.testing.assert_array_equal(np.concatenate([b.w for b in parts]), w)


def test_taken_rows_weigh_one_together(make_table):
    u, codes, w = make_table()
    taken = ArrayBlocks(u, codes, w / w.sum()).take(np.array([3, 1, 7]), np.array([1.0, 2.0, 5.0]))
    np.testing.assert_array_equal(taken.v, u[:, [3, 1, 7]])
    np.testing.assert_array_equal(taken.codes, codes[[3, 1, 7]])
    np.testing.assert_allclose(taken.w, [0.125, 0.25, 0.625])


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_forked_process_has_threads_of_its_own():
    code = """
import os
import os
import subprocess
import sys

import numpy as np
from ecsel.fitting import ArrayBlocks
rows = ArrayBlocks(np.ones((1, 4)), np.zeros(4, dtype=int), np.ones(4), n_threads=2)
assert rows.each(abs, [-1, -2]) == [1, 2]
child = os.fork()
if child == 0:
    os._exit(rows.each(abs, [-3, -4]) != [3, 4])
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
"""
    subprocess.run([sys.executable, "-W", "ignore", "-c", code], check=True, timeout=60)


def test_results_of_two_blocks_are_added_as_what_they_are():
    many = np.full(2, 2.0**24, dtype=np.float32)
    value, numbers, counts, rows = added(
        (1.5, many, np.array([3]), ["a"]), (2.25, np.ones(2, dtype=np.float32), np.array([4]), ["b", "c"])
    )
    assert value == 3.75
    assert numbers.tolist() == [2.0**24 + 1] * 2  # single precision would lose the one
    assert counts.tolist() == [7]
    assert counts.dtype.kind == "i"
    assert rows == ["a", "b", "c"]
