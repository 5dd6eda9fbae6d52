"""The lattice: which exponents are allowed and what they cost."""

from fractions import Fraction

import numpy as np
import pytest

from ecsel.discovery.lattice import FREE, Lattice, default_exponents, parity_cost
from ecsel.search.code_length import TERM, rational_cost


def lattice(signed=(False, False), has_zero=(False, False), **options):
    return Lattice.build(signed=np.array(signed), has_zero=np.array(has_zero), **options)


def test_the_lattice_is_symmetric_and_holds_the_simple_rationals():
    points = default_exponents()
    assert set(points) == {-b for b in points}
    assert {Fraction(1, 2), Fraction(2, 3), Fraction(1, 5), Fraction(12)} <= set(points)
    assert Fraction(0) not in points


def test_a_simpler_rational_is_cheaper():
    assert rational_cost(Fraction(1)) < rational_cost(Fraction(-1)) < rational_cost(Fraction(1, 2))
    assert rational_cost(Fraction(1, 2)) < rational_cost(Fraction(3, 2)) < rational_cost(Fraction(5, 4))


def test_the_natural_reading_of_an_integer_power_is_free():
    for b in default_exponents():
        if b.denominator == 1:
            assert parity_cost(b, b.numerator % 2) == 0
            assert parity_cost(b, 1 - b.numerator % 2) > 0


def test_term_cost_adds_base_and_exponents():
    cost = lattice().term_costs(np.array([[1.0, 0.5]]), np.array([[1, 0]], dtype=np.int8))
    expected = TERM + 0.0 + rational_cost(Fraction(1)) + rational_cost(Fraction(1, 2))
    np.testing.assert_allclose(cost, expected)


def test_a_free_exponent_costs_its_flag_and_an_unlisted_one_is_refused():
    one = np.array([[0.123, 0.0]])
    parity = np.zeros((1, 2), dtype=np.int8)
    assert np.isinf(lattice().term_costs(one, parity)[0])
    free = lattice().term_costs(one, parity, np.array([[True, False]]))
    np.testing.assert_allclose(free, TERM + np.log(2) + FREE)


def test_zeros_and_bounds_forbid_exponents():
    half = lattice(has_zero=(True, False), upper=np.array([12.0, 1.0]))
    odd = np.array([[1, 0], [0, 1], [1, 0]], dtype=np.int8)
    costs = half.term_costs(np.array([[-1.0, 0.0], [0.0, -1.0], [1.0, 2.0]]), odd)
    assert np.isfinite(costs).tolist() == [False, True, False]


def test_dimensions_are_a_hard_constraint():
    physical = lattice(dimensions=np.array([[1.0, 2.0]]), target_dimension=np.array([2.0]))
    exponents = np.array([[2.0, 0.0], [0.0, 1.0], [1.0, 0.0], [4.0, -1.0]])
    assert physical.has_right_dimension(exponents).tolist() == [True, True, False, True]


@pytest.mark.parametrize("columns", [[0], [1], [0, 1]])
def test_some_columns_keep_their_costs(columns):
    whole = lattice(signed=(True, False))
    part = whole.take(np.array(columns))
    np.testing.assert_array_equal(part.costs, whole.costs[columns])
    np.testing.assert_allclose(part.base_cost(np.array([1])), whole.base_cost(np.array([1])))


def test_a_column_of_one_size_has_its_simplest_power_alone():
    one = lattice(signed=(False, True), has_zero=(True, True), one_size=np.array([True, True]))
    allowed = [
        {(float(one.values[v]), int(p)) for v, p in zip(*np.nonzero(np.isfinite(column)), strict=True)}
        for column in one.costs
    ]
    assert allowed == [{(1.0, 1)}, {(1.0, 1), (2.0, 0)}]
    assert not one.allows_real


def test_an_even_power_of_a_sign_is_a_constant():
    sign = lattice(signed=(True, False), has_zero=(False, False), one_size=np.array([True, False]))
    assert np.isinf(sign.costs[0, :, 0]).all()
    assert np.isfinite(sign.costs[0, :, 1]).sum() == 1
    assert np.isfinite(sign.free_costs[1, 0])
