"""The truth's own code length, which tells a law that was not found from one that the data do not single out.

Two lengths: that of the true monomials with the numbers that code best, and that with the true numbers themselves.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from ecsel.discovery.criterion import Criterion
from ecsel.discovery.lattice import Lattice
from ecsel.discovery.law import finish
from ecsel.discovery.model import Problem, Structure
from ecsel.discovery.numbers import REAL, simple_numbers
from ecsel.discovery.rows import Rows

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from benchmarks.recovery_data import Equation


def truth_lengths(equation: Equation, X: NDArray[np.float64], y: NDArray[np.float64]) -> tuple[float, float]:
    """Return the code length of the true monomials in their shortest writing, and that with the true numbers.

    A true exponent off the lattice is coded as the real number that it is.
    """
    rows = Rows.from_table(X, y)
    lattice = Lattice.build(signed=rows.signed, has_zero=rows.has_zero)
    problem = Problem(rows, Criterion(len(rows), rows.energy), lattice)
    structure = _structure(equation, lattice)
    coefficients = np.array([float(term["coefficient"]) for term in equation.terms])
    residual = rows.target - rows.raw_columns(structure.exponents, structure.parity) @ coefficients
    near, costs = simple_numbers(coefficients)
    exact = np.where(np.abs(near - coefficients[:, None]) <= 1e-9 * np.abs(coefficients)[:, None], costs, np.inf)
    named = exact.min(axis=1)
    real = structure.n_free + int(np.isinf(named).sum())
    numbers = float(np.where(np.isinf(named), REAL, named).sum())
    planted_length = float(problem.criterion.data(float(residual @ residual), real)) + structure.cost(lattice) + numbers
    return finish(problem, structure).shortest, planted_length


def _structure(equation: Equation, lattice: Lattice) -> Structure:
    names = list(equation.columns)
    shape = (len(equation.terms), len(names))
    exponents, parity, free = np.zeros(shape), np.zeros(shape, dtype=np.int8), np.zeros(shape, dtype=bool)
    for k, term in enumerate(equation.terms):
        for name, power in term["powers"].items():
            j, value = names.index(name), Fraction(power)
            exponents[k, j] = float(value)
            free[k, j] = value not in lattice.exponents
            # Where a column keeps its sign, the parity of a power is immaterial and the natural one is named.
            natural = value.denominator == 1 and value.numerator % 2 == 1
            parity[k, j] = (name in term["odd"]) if lattice.signed[j] else natural and not free[k, j]
    return Structure(exponents, parity, free)
