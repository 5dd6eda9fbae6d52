"""Simple numbers and their names."""

import math
from fractions import Fraction

import numpy as np
import pytest

from ecsel.discovery.fitted import number_latex, number_text
from ecsel.discovery.numbers import name_number, simple_numbers


@pytest.mark.parametrize("value", [1.0, -0.5, 2 / 3, 4 * math.pi, 1 / (4 * math.pi), 0.13, 24.3, -1.7, 1e-3, 9.81])
def test_a_simple_number_is_among_its_own_neighbours(value):
    near, costs = simple_numbers(np.array([value * (1 + 1e-9)]))
    finite = np.isfinite(costs[0])
    np.testing.assert_allclose(near[0][finite][np.argmin(np.abs(near[0][finite] - value))], value, rtol=1e-15)


def test_nothing_is_near_zero_or_infinity():
    assert np.isinf(simple_numbers(np.array([0.0, np.inf, np.nan]))[1]).all()


def test_simpler_numbers_cost_less():
    def cost(value):
        near, costs = simple_numbers(np.array([value]))
        return costs[0][np.isclose(near[0], value, rtol=1e-14)].min()

    assert cost(1.0) < cost(0.5) < cost(1.5) < cost(0.13) < cost(4.733)


@pytest.mark.parametrize(
    ("value", "name"),
    [(2.0, (Fraction(2), 0)), (-1 / 3, (Fraction(-1, 3), 0)), (math.pi**2 / 6, (Fraction(1, 6), 2)), (0.1234, None)],
)
def test_names(value, name):
    assert name_number(value) == name


@pytest.mark.parametrize(
    ("value", "text", "latex"),
    [
        (3 / 2, "3/2", r"\frac{3}{2}"),
        (-2 / math.pi, "-2/π", r"-\frac{2}{\pi}"),
        (3 * math.pi / 4, "3π/4", r"\frac{3\pi}{4}"),
        (1 / (6 * math.pi), "1/(6π)", r"\frac{1}{6\pi}"),
        (1.2345678, "1.23457", None),
    ],
)
def test_numbers_for_people(value, text, latex):
    assert number_text(value) == text
    assert number_latex(value) == latex
