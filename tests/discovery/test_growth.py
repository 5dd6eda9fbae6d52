"""Sums that grow with free exponents: what is found, what is noted, and when it ends."""

import numpy as np
import pytest

from ecsel.discovery.criterion import Criterion
from ecsel.discovery.growth import LARGEST_SHARE, Growth
from ecsel.discovery.lattice import Lattice
from ecsel.discovery.model import Problem, Structure
from ecsel.discovery.pool import Pool
from ecsel.discovery.rows import Rows
from ecsel.discovery.search import Search

TRUE = np.array([[2.0, 0.0, -0.5], [0.5, 0.5, 0.0], [0.0, -2.0, 1.0], [-1.0, 1.0, 0.0], [0.0, 0.0, 3.0]])
SIZES = np.array([0.4, 2.0, -3.0, 1.5, -0.02])


def problem_of(X, y):
    rows = Rows.from_table(X, y)
    lattice = Lattice.build(signed=rows.signed, has_zero=rows.has_zero)
    return Problem(rows, Criterion(len(rows), rows.energy), lattice)


def growth_of(problem, n_atoms=2000, **options):
    search = Search(problem, np.random.default_rng(0), 10)
    pool = Pool()

    def note(candidate):
        pool.add(candidate)
        return candidate

    return Growth(problem, search.exchange("rational", n_atoms).atoms, note, **options), pool


@pytest.fixture(scope="module")
def five_terms():
    rng = np.random.default_rng(3)
    X = rng.uniform(0.5, 5.0, (150, 3))
    clean = np.exp(np.log(X) @ TRUE.T) @ SIZES
    return problem_of(X, clean + 0.005 * clean.std() * rng.standard_normal(150))


def monomials(structure):
    return {tuple(row) for row in structure.exponents}


def test_five_terms_of_positive_columns_grow_from_nothing(five_terms):
    growth, pool = growth_of(five_terms)
    growth.shrink(growth.grow(Structure.empty(3), 8))
    assert monomials(pool.best().structure) == {tuple(row) for row in TRUE}


def test_the_residual_falls_with_every_term_that_grows_and_rises_with_each_that_goes(five_terms):
    growth, _ = growth_of(five_terms)
    four, five = growth.grow(Structure.empty(3), 4), growth.grow(Structure.empty(3), 5)
    assert (len(four), len(five)) == (4, 5)
    assert five_terms.assess(five).rss < five_terms.assess(four).rss
    worth, rss = growth._worth(five), five_terms.assess(five).rss
    for i in range(5):
        without = five_terms.assess(five.keep(np.delete(np.arange(5), i))).rss
        assert without - rss == pytest.approx(worth[i], rel=1e-4)


def test_an_exact_law_has_exponents_of_the_lattice_to_the_last_digit():
    X = np.random.default_rng(4).uniform(0.5, 5.0, (60, 4))
    b = np.array([[0.5, 3.0, 0.0, 0.0], [0.0, 1.0, 0.5, 1.0], [0.0, 0.0, 1.0, -2.0]])
    problem = problem_of(X, np.exp(np.log(X) @ b.T) @ np.array([-0.2, 1.3, 0.7]))
    growth, pool = growth_of(problem)
    growth.grow(Structure.empty(4), 6)
    best = pool.best().structure
    assert best.n_free == 0
    assert monomials(best) == {tuple(row) for row in b}


def test_a_sum_has_no_more_numbers_than_its_share_of_the_rows():
    rng = np.random.default_rng(5)
    X = rng.uniform(0.5, 5.0, (20, 3))
    growth, _ = growth_of(problem_of(X, rng.standard_normal(20)))
    grown = growth.grow(Structure.empty(3), 10, patience=10)
    assert len(grown) + np.count_nonzero(grown.exponents) <= LARGEST_SHARE * 20


def test_every_size_is_announced_before_it_is_searched(five_terms):
    seen = []
    growth, _ = growth_of(five_terms, tick=seen.append)
    growth.shrink(growth.grow(Structure.empty(3), 4))
    assert seen == [0, 1, 2, 3, 4, 3]
