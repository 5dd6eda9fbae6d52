"""Dictionaries come in the order of their description length and contain what is cheap."""

import numpy as np
import pytest

from ecsel.discovery.dictionary import enumerate_monomials, evaluate, neighbours
from ecsel.discovery.lattice import Lattice
from ecsel.discovery.rows import Rows


def positive(m):
    none = np.zeros(m, dtype=bool)
    return Lattice.build(signed=none, has_zero=none)


@pytest.mark.parametrize("kind", ["polynomial", "laurent", "rational"])
@pytest.mark.parametrize("m", [1, 3, 8])
def test_monomials_are_sorted_distinct_and_of_their_kind(kind, m):
    found = enumerate_monomials(positive(m), kind, 400)
    costs = positive(m).term_costs(found.exponents, found.parity)
    assert np.all(np.diff(costs) >= -1e-9)
    assert len(found.key()) == len(found)
    if kind != "rational":
        assert np.all(found.exponents == np.round(found.exponents))
    if kind == "polynomial":
        assert np.all(found.exponents >= 0)


def test_nothing_cheaper_is_missing():
    lattice = positive(2)
    found = enumerate_monomials(lattice, "laurent", 150)
    worst = lattice.term_costs(found.exponents, found.parity).max()
    grid = np.array([[a, b] for a in range(-4, 5) for b in range(-4, 5)], dtype=float)
    costs = lattice.term_costs(grid, (np.abs(grid) % 2).astype(np.int8))
    listed = {tuple(row) for row in found.exponents}
    assert {tuple(row) for row in grid[costs < worst - 1e-9]} <= listed


@pytest.mark.parametrize("m", [10, 30, 100])
@pytest.mark.parametrize("signed", [False, True])
def test_many_columns_leave_none_out(m, signed):
    lattice = Lattice.build(signed=np.full(m, signed), has_zero=np.zeros(m, dtype=bool))
    found = enumerate_monomials(lattice, "laurent", 1500)
    worst = lattice.term_costs(found.exponents, found.parity).max()
    identity = np.eye(m)
    singles = np.concatenate([b * identity for b in (1.0, -1.0, 2.0, 3.0)])
    i, j = np.triu_indices(m, 1)
    cheap = np.concatenate([singles, identity[i] + identity[j], identity[i] - identity[j]])
    costs = lattice.term_costs(cheap, (np.abs(cheap) % 2).astype(np.int8))
    listed = {tuple(row) for row in found.exponents}
    assert {tuple(row) for row in identity} <= listed
    assert {tuple(row) for row in cheap[costs < worst - 1e-9]} <= listed


def test_atoms_have_unit_columns():
    rng = np.random.default_rng(0)
    rows = Rows.from_table(rng.uniform(1, 5, (30, 2)), rng.normal(size=30))
    atoms = evaluate(rows, positive(2), enumerate_monomials(positive(2), "rational", 100))
    np.testing.assert_allclose(np.linalg.norm(atoms.columns, axis=0), 1.0)


def test_neighbours_differ_in_at_most_two_exponents():
    start = np.array([1.0, -1.0, 2.0, 0.5])
    near = neighbours(positive(4), start, np.array([1, 1, 0, 0], dtype=np.int8))
    assert ((near.exponents != start).sum(axis=1) <= 2).all()
    assert len(near) > 300


def test_only_monomials_of_the_right_dimension_are_listed():
    none = np.zeros(2, dtype=bool)
    lattice = Lattice.build(
        signed=none, has_zero=none, dimensions=np.array([[1.0, 0.0], [0.0, 1.0]]), target_dimension=np.array([1.0, 2.0])
    )
    found = enumerate_monomials(lattice, "rational", 50)
    assert found.exponents.tolist() == [[1.0, 2.0]]
