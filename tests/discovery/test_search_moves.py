"""Exchange and pair exchange: the moves' algebra against plain least squares."""

import numpy as np
import pytest

from ecsel.discovery.criterion import Criterion
from ecsel.discovery.dictionary import enumerate_monomials, evaluate
from ecsel.discovery.exchange import Exchange
from ecsel.discovery.lattice import Lattice
from ecsel.discovery.model import Candidate, Problem, Structure
from ecsel.discovery.pairs import best_pair_exchange, pair_gains
from ecsel.discovery.pool import Pool
from ecsel.discovery.rows import Rows
from ecsel.discovery.search import Search


@pytest.fixture
def search():
    rng = np.random.default_rng(3)
    X = rng.uniform(1, 4, (60, 2))
    y = 2 * X[:, 0] ** 2 - 3 * X[:, 0] * X[:, 1] + 0.7 / X[:, 1] + rng.normal(0, 0.01, 60)
    rows = Rows.from_table(X, y)
    lattice = Lattice.build(signed=rows.signed, has_zero=rows.has_zero)
    problem = Problem(rows, Criterion(len(rows), rows.energy), lattice)
    atoms = evaluate(rows, lattice, enumerate_monomials(lattice, "laurent", 120))
    return Exchange(problem, atoms, Pool(), with_neighbours=False)


def brute_force(search, sets):
    return min(search.problem.assess(s).score for s in sets)


def test_the_best_addition_is_the_best_of_all(search):
    current = search.atoms.keep(np.array([0, 5]))
    others = [i for i in range(len(search.atoms)) if i not in (0, 5)]
    every = [search.atoms.structure.keep([0, 5, i]) for i in others]
    score, _ = search.best_move(current, adds=True, swaps=False)
    np.testing.assert_allclose(score, brute_force(search, every), atol=1e-6)


def test_the_best_swap_is_the_best_of_all(search):
    current = search.atoms.keep(np.array([0, 5]))
    every = [search.atoms.structure.keep([k, i]) for k in (0, 5) for i in range(len(search.atoms)) if i not in (0, 5)]
    score, _ = search.best_move(current, adds=False, swaps=True)
    np.testing.assert_allclose(score, brute_force(search, every), atol=1e-6)


def test_path_and_descent_find_the_law(search):
    _, longest = search.path(search.atoms.keep(np.array([], dtype=int)))
    _, found = search.descend(longest)
    assert {tuple(b) for b in found.structure.exponents} == {(2, 0), (1, 1), (0, -1)}


def test_pair_gains_equal_two_column_regressions():
    rng = np.random.default_rng(0)
    columns, r = rng.normal(size=(30, 6)), rng.normal(size=30)
    gains = pair_gains(columns.T @ columns, columns.T @ r)
    for i in range(6):
        for j in range(i):
            pair = columns[:, [i, j]]
            left = r - pair @ np.linalg.lstsq(pair, r)[0]
            np.testing.assert_allclose(gains[i, j], r @ r - left @ left, rtol=1e-9)


def test_a_pair_exchange_repairs_two_wrong_terms(search):
    wrong = search.as_atoms(
        Structure(np.array([[2.0, 0], [0, 1], [1, 0]]), np.array([[0, 0], [0, 1], [1, 0]], dtype=np.int8))
    )
    _, found = best_pair_exchange(search, wrong)
    assert {tuple(b) for b in found.structure.exponents} == {(2, 0), (1, 1), (0, -1)}


def test_the_pool_keeps_the_best_of_equal_sets():
    pool, empty = Pool(), Structure.empty(1)
    pool.add(Candidate(empty, np.zeros(0), 1.0, 5.0))
    pool.add(Candidate(empty, np.zeros(0), 1.0, 3.0))
    pool.add(Candidate(empty, np.zeros(0), 1.0, 4.0))
    assert [c.score for c in pool.ranked()] == [3.0]


def test_large_targets_are_weighed_down_where_they_are_far_beyond_the_median():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(100, 3))
    y = 1.63 * (X[:, 0] - X[:, 1]) / X[:, 2] + rng.normal(0, 0.01, 100)
    rows = Rows.from_table(X, y)
    lattice = Lattice.build(signed=rows.signed, has_zero=rows.has_zero)
    problem = Problem(rows, Criterion(len(rows), rows.energy), lattice)
    ratio = np.abs(y).max() / np.median(np.abs(y))
    search = Search(problem, np.random.default_rng(0))
    assert not search.downweighted(1.01 * ratio)
    assert not search.pool.ranked()
    assert search.downweighted(0.99 * ratio)
    b = np.array([[1.0, 0.0, -1.0], [0.0, 1.0, -1.0]])
    assert search.best.structure.key() == Structure(b, (np.abs(b) % 2).astype(np.int8)).key()
