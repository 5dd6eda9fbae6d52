"""Laws that hold in the table alone: carried by one row, or exploding where columns are combined in another way."""

import numpy as np
import pytest

from ecsel.discovery.criterion import Criterion
from ecsel.discovery.discover import powers_of_a_product
from ecsel.discovery.front import CORNER, EXPLODES, explodes, explodes_at_corner
from ecsel.discovery.lattice import Lattice
from ecsel.discovery.law import finish
from ecsel.discovery.model import Problem, Structure
from ecsel.discovery.rows import ORDERS, Rows


@pytest.fixture
def together():
    """Return two columns that go together over three decades, and one that does not."""
    rng = np.random.default_rng(0)
    size = np.exp(rng.uniform(0, 7, 120))
    return np.column_stack([size, size * np.exp(rng.normal(0, 0.2, 120)), rng.uniform(1, 3, 120)])


def law_of(X, exponents):
    b = np.array([exponents], dtype=float)
    y = 3.0 * np.prod(X**b, axis=1)
    rows = Rows.from_table(X, y)
    lattice = Lattice.build(signed=rows.signed, has_zero=rows.has_zero)
    problem = Problem(rows, Criterion(len(rows), rows.energy), lattice)
    return problem, finish(problem, Structure(b, (np.abs(b) % 2).astype(np.int8)))


def test_recombined_rows_have_the_columns_of_the_table_and_other_rows(together):
    rows = Rows.from_table(together, together[:, 0])
    mixed = rows.recombined
    assert len(mixed) == ORDERS * len(rows)
    for part in np.split(mixed.log_abs, ORDERS):
        np.testing.assert_array_equal(np.sort(part, axis=0), np.sort(rows.log_abs, axis=0))
    assert np.corrcoef(rows.log_abs[:, 0], rows.log_abs[:, 1])[0, 1] > 0.99
    assert abs(np.corrcoef(mixed.log_abs[:, 0], mixed.log_abs[:, 1])[0, 1]) < 0.1


def test_a_quotient_of_columns_that_go_together_explodes_and_their_product_does_not(together):
    problem, quotient = law_of(together, [1, -1, 0])
    assert explodes(problem, quotient)
    largest = np.abs(quotient.predict(problem.rows.recombined)).max()
    assert largest > EXPLODES * np.abs(quotient.predict(problem.rows)).max()
    assert not explodes(*law_of(together, [1, 0.5, 0]))
    assert not explodes(*law_of(together, [0, 0, 2]))


def test_independent_columns_explode_in_no_combination():
    X = np.random.default_rng(1).uniform(1, 5, (100, 3))
    assert not explodes(*law_of(X, [2, -1, 1]))


@pytest.mark.parametrize("relative", [False, True])
def test_the_powers_of_a_product_are_found_under_either_noise(relative):
    rng = np.random.default_rng(2)
    X = rng.uniform(1, 5, (80, 3))
    y = 2 * X[:, 0] ** 1.5 / X[:, 2] * (1 + 0.02 * rng.standard_normal(80))
    np.testing.assert_allclose(powers_of_a_product(X, y, relative=relative), [1.5, 0.0, -1.0])
    assert powers_of_a_product(X, rng.standard_normal(80), relative=relative) is None
    assert powers_of_a_product(np.ones((80, 2)), y, relative=relative) is None


def test_the_corner_of_a_quotient_is_the_largest_over_the_smallest(together):
    problem, quotient = law_of(together, [1, -1, 0])
    at_corner = 3.0 * together[:, 0].max() / together[:, 1].min()
    inside = np.abs(quotient.predict(problem.rows)).max()
    assert at_corner > CORNER * inside
    assert explodes_at_corner(problem, quotient)
    largest, smallest = together.max(axis=0), together.min(axis=0)
    for exponents in ([1, 0.5, 0], [0, 0, 2], [0.2, -0.1, 1]):
        b = np.array(exponents)
        corner = 3.0 * np.prod(np.where(b > 0, largest, smallest) ** b)
        problem, law = law_of(together, exponents)
        far = corner > CORNER * np.abs(law.predict(problem.rows)).max()
        assert explodes_at_corner(problem, law) == far
