"""What it costs to name a piece, in nats: the prior that makes a search prefer simple equations.

The description length of an exponent p/q is

    cost(p/q) = 0.6 + 1.7 ln|p| + 4.5 ln q + 0.7 [p < 0],

a logarithm costs `LOGARITHM`, and a product of d out of m columns costs

    1.5 + ln C(m, d) + the costs of its exponents.

The constants were chosen on the recovery of laws and are shared by laws and classes.
"""

from __future__ import annotations

from functools import lru_cache
from math import lgamma, log
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fractions import Fraction

TERM = 1.5
"""Nats for saying that there is one more term."""
LOGARITHM = 0.9
"""Nats for a logarithm: between a first power and an inverse, as a person would read it."""

CENTRE = log(5)
"""Nats for saying from which of a column's five typical values a distance is measured."""


@lru_cache(maxsize=1024)
def rational_cost(exponent: Fraction) -> float:
    """Return the description length of a non-zero rational exponent in nats.

    >>> from fractions import Fraction
    >>> rational_cost(Fraction(1)), round(rational_cost(Fraction(-1, 2)), 3)
    (0.6, 4.419)
    """
    return 0.6 + 1.7 * log(abs(exponent.numerator)) + 4.5 * log(exponent.denominator) + 0.7 * (exponent < 0)


def choice_cost(n_columns: int, n_chosen: int) -> float:
    """Return 1.5 + ln C(m, d): what a product of d of m columns costs before its exponents.

    >>> round(choice_cost(10, 1), 3), round(choice_cost(10, 2), 3)
    (3.803, 5.307)
    """
    chosen = min(n_chosen, n_columns)
    return TERM + lgamma(n_columns + 1) - lgamma(chosen + 1) - lgamma(n_columns - chosen + 1)
