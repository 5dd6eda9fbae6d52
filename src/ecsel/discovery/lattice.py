"""Exponents that a law may have, and what it costs to name them.

An exponent is zero, a simple rational from a finite lattice, or a free real number. A rational costs what
`ecsel.search.code_length` says, a free exponent ``FREE`` nats plus its share of the criterion's parameter price. A
column that changes sign has two readings of every power, |x|^b (parity 0) and sgn(x)|x|^b (parity 1); the *natural*
one, x^b for integer b, is free of charge and the others pay. The description length of a monomial with d of m variables
is

    1.5 + ln C(m, d) + sum of the costs of its exponents.
"""

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, lru_cache

import numpy as np
import numpy.typing as npt
from scipy.special import gammaln

from ecsel._typing import Floats, Mask
from ecsel.search.code_length import TERM, rational_cost

Parities = npt.NDArray[np.int8]

FREE = 3.5
"""Nats for saying that an exponent is a real number."""
RESOLUTION = 1e-9
"""Two exponents closer than this are the same lattice point."""
LARGEST_EXPONENT = 12.0


@lru_cache(maxsize=1)
def default_exponents() -> tuple[Fraction, ...]:
    """Return the rationals p/q with q ≤ 5: whole numbers to 12, halves and thirds to 3, quarters and fifths to 5/4.

    >>> len(default_exponents()), max(default_exponents())
    (58, Fraction(12, 1))
    """
    largest = {1: Fraction(12), 2: Fraction(3), 3: Fraction(3), 4: Fraction(5, 4), 5: Fraction(5, 4)}
    positive = {Fraction(p, q) for q, top in largest.items() for p in range(1, int(top * q) + 1)}
    return tuple(sorted(positive | {-b for b in positive}))


def parity_cost(exponent: Fraction | None, parity: int) -> float:
    """Return the surcharge for a reading of |x|^b on a column that changes sign (``None`` is a free exponent).

    >>> parity_cost(Fraction(3), 1), parity_cost(Fraction(3), 0), parity_cost(Fraction(1, 2), 0)
    (0.0, 6.0, 1.5)
    """
    if exponent is None:
        return 4.0 if parity else 1.5
    if exponent.denominator == 1:
        return 0.0 if exponent.numerator % 2 == parity else 6.0
    if exponent.denominator % 2 == 0:
        return 4.0 if parity else 1.5
    return 1.5 if exponent.numerator % 2 == parity else 2.0


@lru_cache(maxsize=32)
def _point_costs(points: tuple[Fraction, ...]) -> tuple[Floats, npt.NDArray[np.intp], Floats]:
    """Return the costs of the points, their natural parities, and the surcharges (points, 2) of both parities."""
    base = np.array([rational_cost(b) for b in points], dtype=float)
    natural = np.array([b.numerator % 2 if b.denominator == 1 else 0 for b in points], dtype=np.intp)
    extra = np.array([[parity_cost(b, 0), parity_cost(b, 1)] for b in points], dtype=float).reshape(len(points), 2)
    return base, natural, extra


def _simplest(costs: Floats, signed: Mask, has_zero: Mask) -> Mask:
    """Return the cheapest exponent of each column, of those that change sign one for each parity.

    Without zeros an even power of one size is a constant.
    """
    alone = costs == costs.min(axis=(1, 2), keepdims=True)
    varies = np.column_stack([has_zero, np.ones(len(signed), dtype=bool)])
    each = (costs == costs.min(axis=1, keepdims=True)) & varies[:, None]
    return np.asarray(np.where(signed[:, None, None], each, alone))


@dataclass(frozen=True)
class Lattice:
    """The exponents that each column may take, with their costs.

    Parameters
    ----------
    exponents
        The rationals of the lattice, sorted, without zero.
    costs
        (columns, exponents, 2): nats for exponent v with parity p in column j; infinite where it is not allowed.
    free_costs
        (columns, 2): nats for a free exponent with parity p; infinite where it is not allowed.
    lower, upper
        (columns,): bounds of the exponents.
    signed
        (columns,): columns that hold both signs, where the parity of an exponent matters.
    n_choices
        The number m of variables that a monomial is drawn from.
    dimensions, target_dimension
        Physical dimensions, (base units, columns) and (base units,): a term is allowed only when its exponents satisfy
        ``dimensions @ b == target_dimension``. ``None`` where units are not known.
    """

    exponents: tuple[Fraction, ...]
    costs: Floats
    free_costs: Floats
    lower: Floats
    upper: Floats
    signed: Mask
    n_choices: int
    dimensions: Floats | None = None
    target_dimension: Floats | None = None

    @classmethod
    def build(
        cls,
        *,
        signed: Mask,
        has_zero: Mask,
        one_size: Mask | None = None,
        exponents: tuple[Fraction, ...] | None = None,
        real: bool = True,
        lower: Floats | None = None,
        upper: Floats | None = None,
        dimensions: Floats | None = None,
        target_dimension: Floats | None = None,
    ) -> "Lattice":
        """Build the lattice of columns that change sign (``signed``) or contain zeros (no negative exponents there).

        Columns of ``one_size`` hold zeros and one size alone, such as indicators: all their powers are multiples of
        the simplest one, which is the only one allowed.
        """
        m = len(signed)
        points = default_exponents() if exponents is None else tuple(sorted({b for b in exponents if b != 0}))
        low = np.full(m, -LARGEST_EXPONENT) if lower is None else np.array(lower, dtype=float)
        high = np.full(m, LARGEST_EXPONENT) if upper is None else np.array(upper, dtype=float)
        low = np.where(has_zero, np.maximum(low, 0.0), low)
        base, natural, extra = _point_costs(points)
        plain = np.where(natural[:, None] == np.arange(2), base[:, None], np.inf)
        costs = np.where(np.asarray(signed)[:, None, None], base[:, None] + extra, plain)
        values = np.array([float(b) for b in points])
        inside = (values >= low[:, None] - RESOLUTION) & (values <= high[:, None] + RESOLUTION)
        costs = np.where(inside[:, :, None], costs, np.inf)
        if one_size is not None and len(points):
            costs = np.where(one_size[:, None, None] & ~_simplest(costs, signed, has_zero), np.inf, costs)
        both = FREE + np.array([parity_cost(None, 0), parity_cost(None, 1)])
        free = (
            np.where(np.asarray(signed)[:, None], both, np.array([FREE, np.inf])) if real else np.full((m, 2), np.inf)
        )
        if one_size is not None:
            free = np.where(one_size[:, None], np.inf, free)
        return cls(points, costs, free, low, high, np.asarray(signed), m, dimensions, target_dimension)

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return len(self.lower)

    @property
    def allows_real(self) -> bool:
        """Whether an exponent may stay a free real number."""
        return bool(np.isfinite(self.free_costs).any())

    @cached_property
    def values(self) -> Floats:
        """The lattice points as floats, sorted."""
        return np.array([float(b) for b in self.exponents])

    @cached_property
    def _log_choose(self) -> Floats:
        m = self.n_choices
        d = np.arange(m + 1)
        return np.asarray(gammaln(m + 1) - gammaln(d + 1) - gammaln(m - d + 1))

    def base_cost(self, n_active: npt.NDArray[np.intp]) -> Floats:
        """Return 1.5 + ln C(m, d): what a term with d active variables costs before its exponents."""
        return np.asarray(TERM + self._log_choose[n_active])

    def exponent_costs(self, exponents: Floats, parity: Parities, free: Mask | None = None) -> Floats:
        """Return the cost of every exponent of (..., columns) arrays; infinite for points off the lattice."""
        active = (np.abs(exponents) > RESOLUTION) if free is None else (np.abs(exponents) > RESOLUTION) | free
        found = np.zeros(exponents.shape)
        # Of many columns a monomial has few: only these are looked up.
        value, sign, column = exponents[active], parity[active], np.nonzero(active)[-1]
        if len(self.values):
            index = np.clip(np.searchsorted(self.values, value - RESOLUTION), 0, len(self.values) - 1)
            on = np.abs(self.values[index] - value) <= 2 * RESOLUTION
            cost = np.where(on, self.costs[column, index, sign], np.inf)
        else:
            cost = np.full(value.shape, np.inf)
        if free is not None:
            cost = np.where(free[active], self.free_costs[column, sign], cost)
        found[active] = cost
        return found

    def term_costs(self, exponents: Floats, parity: Parities, free: Mask | None = None) -> Floats:
        """Return the description length of every term of (..., columns) arrays."""
        active = np.abs(exponents) > RESOLUTION
        if free is not None:
            active = active | free
        cost = self.base_cost(active.sum(axis=-1)) + self.exponent_costs(exponents, parity, free).sum(axis=-1)
        return np.where(self.has_right_dimension(exponents), cost, np.inf)

    def has_right_dimension(self, exponents: Floats) -> Mask:
        """Return whether each term of (..., columns) has the dimension of the target."""
        if self.dimensions is None or self.target_dimension is None:
            return np.ones(exponents.shape[:-1], dtype=bool)
        return np.asarray(
            np.abs(exponents @ self.dimensions.T - self.target_dimension).max(axis=-1, initial=0.0) < 1e-6
        )

    def take(self, columns: npt.NDArray[np.intp]) -> "Lattice":
        """Return the lattice of some of the columns; a monomial still counts as drawn from all of them."""
        return replace(
            self,
            costs=self.costs[columns],
            free_costs=self.free_costs[columns],
            lower=self.lower[columns],
            upper=self.upper[columns],
            signed=self.signed[columns],
            dimensions=None if self.dimensions is None else self.dimensions[:, columns],
        )
