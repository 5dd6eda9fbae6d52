"""A term: α·Π_j x_j^β_j, the value object of which signomials are sums.

Canonical form: factors are ordered by feature name, exponents that are zero are left out, whole numbers follow the
parity rules of :mod:`ecsel.signomial.factor` whatever their type. Terms that are the same function are equal and hash
alike.
"""

from __future__ import annotations

import functools
import math
import numbers
from fractions import Fraction
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar

from ecsel.signomial.columns import Columns, FloatArray, LogColumns
from ecsel.signomial.factor import (
    Exponent,
    Factor,
    Parity,
    as_exponent,
    canonical_factor,
    factor_magnitude,
    is_integer,
    multiply_factors,
    raise_factor,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

Monomial = tuple[Factor, ...]


@functools.total_ordering
class Term:
    """A coefficient times powers of features.

    Parameters
    ----------
    coefficient : float
        α, finite.
    exponents : mapping of str to number
        β by feature name. Integers and fractions stay exact, other numbers are floats. Zeros are dropped.
    odd : iterable of str, optional
        The names whose sign is carried, sgn(x)·|x|^β. By default the odd integer powers, as in Python. If given, it
        is the complete list: an odd integer power that is not in it enters through |x|. A zero exponent is kept for
        a name in ``odd``, where it means sgn(x).
    absolute : iterable of str, optional
        The names that enter through |x|. A power that is not an integer and is in neither list refuses x < 0.

    Notes
    -----
    Terms are ordered as a signomial lists them: descending degree, then by name, higher powers first, constant last.
    Products and powers may widen a domain, as cancelling a fraction does: x^(1/2)·x^(1/2) = x.

    Examples
    --------
    >>> from fractions import Fraction
    >>> term = Term(2.5, {"x": 2, "y": Fraction(-1, 2)})
    >>> term
    Term(2.5, {'x': 2, 'y': Fraction(-1, 2)})
    >>> term.evaluate({"x": [1.0, 2.0], "y": [4.0, 4.0]})
    array([1.25, 5.  ])
    >>> Term(1, {"x": 1}, absolute={"x"}) * Term(1, {"x": 1}) == Term(1, {"x": 2}, odd={"x"})
    True
    """

    __slots__ = ("_coefficient", "_monomial")
    # numpy scalars leave the arithmetic to this class
    __array_ufunc__: ClassVar[None] = None

    def __init__(
        self,
        coefficient: float,
        exponents: Mapping[str, Exponent | int] = MappingProxyType({}),
        *,
        odd: Iterable[str] | None = None,
        absolute: Iterable[str] | None = None,
    ) -> None:
        self._set(coefficient, _read_monomial(exponents, odd, absolute))

    @classmethod
    def from_monomial(cls, coefficient: float, monomial: Iterable[Factor]) -> Term:
        """Return a term from the key of another one, see :attr:`monomial`."""
        term = cls.__new__(cls)
        cls._set(term, coefficient, tuple(monomial))
        return term

    def _set(self, coefficient: float, monomial: Monomial) -> None:
        self._coefficient = _as_coefficient(coefficient)
        self._monomial = monomial

    @property
    def coefficient(self) -> float:
        """α."""
        return self._coefficient

    @property
    def monomial(self) -> Monomial:
        """The factors, ordered by name: a hashable key of the term without its coefficient."""
        return self._monomial

    @property
    def exponents(self) -> Mapping[str, Exponent]:
        """β by feature name, read-only and ordered by name; a Fraction is exact."""
        return MappingProxyType({factor.name: factor.exponent for factor in self._monomial})

    @property
    def odd(self) -> frozenset[str]:
        """The names whose sign is carried: sgn(x)·|x|^β."""
        return frozenset(factor.name for factor in self._monomial if factor.parity is Parity.ODD)

    @property
    def absolute(self) -> frozenset[str]:
        """The names that enter through |x|."""
        return frozenset(factor.name for factor in self._monomial if factor.parity is Parity.ABSOLUTE)

    @property
    def names(self) -> tuple[str, ...]:
        """The feature names in order."""
        return tuple(factor.name for factor in self._monomial)

    @property
    def degree(self) -> Exponent:
        """The sum of the exponents, exact if they all are."""
        degree = _exact_degree(self._monomial)
        exact = all(isinstance(factor.exponent, Fraction) for factor in self._monomial)
        return degree if exact else float(degree)

    @property
    def is_constant(self) -> bool:
        """Whether the term has no features."""
        return not self._monomial

    def evaluate(self, columns: Columns) -> FloatArray:
        """Return the term's value for every row of a mapping or data frame of columns.

        Raises ValueError, naming the column, for missing or infinite values, for 0 to a negative power, and for a
        negative number to a plain power that is not an integer.
        """
        return self._coefficient * LogColumns.read(columns, self.names).monomial(self._monomial)

    def __mul__(self, other: object) -> Term:
        if isinstance(other, Term):
            return Term.from_monomial(
                self._coefficient * other._coefficient, _multiply_monomials(self._monomial, other._monomial)
            )
        if isinstance(other, numbers.Real):
            return Term.from_monomial(self._coefficient * float(other), self._monomial)
        return NotImplemented

    __rmul__ = __mul__

    def __neg__(self) -> Term:
        return Term.from_monomial(-self._coefficient, self._monomial)

    def __abs__(self) -> Term:
        factors = (factor_magnitude(factor) for factor in self._monomial)
        return Term.from_monomial(abs(self._coefficient), (factor for factor in factors if factor is not None))

    def __truediv__(self, other: object) -> Term:
        if isinstance(other, Term):
            return Term.from_monomial(
                self._coefficient / other._coefficient,
                _multiply_monomials(self._monomial, _raise_monomial(other._monomial, Fraction(-1))),
            )
        if isinstance(other, numbers.Real):
            return Term.from_monomial(self._coefficient / float(other), self._monomial)
        return NotImplemented

    def __rtruediv__(self, other: object) -> Term:
        return Term(float(other)) / self if isinstance(other, numbers.Real) else NotImplemented

    def __pow__(self, power: object) -> Term:
        if not isinstance(power, numbers.Real):
            return NotImplemented
        exact = as_exponent(power, "the term")
        if self._coefficient < 0 and not is_integer(exact):
            raise ValueError(f"a term with the negative coefficient {self._coefficient!r} has no real power {power}")
        try:
            coefficient = self._coefficient ** float(exact)
        except OverflowError:
            coefficient = math.inf
        return Term.from_monomial(coefficient, _raise_monomial(self._monomial, exact))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Term):
            return NotImplemented
        return self._coefficient == other._coefficient and self._monomial == other._monomial

    def __lt__(self, other: object) -> bool:
        if not isinstance(other, Term):
            return NotImplemented
        return self.sort_key() < other.sort_key()

    def __hash__(self) -> int:
        return hash((self._coefficient, self._monomial))

    def sort_key(self) -> tuple[Any, ...]:
        """Return the key of the canonical order."""
        powers = tuple((factor.name, -factor.exponent, factor.parity) for factor in self._monomial)
        return (self.is_constant, -_exact_degree(self._monomial), powers, self._coefficient)

    def __repr__(self) -> str:
        exponents = {
            name: int(b) if isinstance(b, Fraction) and is_integer(b) else b for name, b in self.exponents.items()
        }
        natural = Term(1.0, exponents)
        parts = [repr(self._coefficient)]
        if exponents:
            parts.append(repr(exponents))
        if self._monomial != natural._monomial:
            parts += [
                f"{keyword}={{{', '.join(map(repr, sorted(names)))}}}"
                for keyword, names in (("odd", self.odd), ("absolute", self.absolute))
                if names
            ]
        return f"Term({', '.join(parts)})"


def _as_coefficient(value: object) -> float:
    if not isinstance(value, numbers.Real):
        raise TypeError(f"a coefficient must be a real number, not {type(value).__name__}")
    try:
        coefficient = float(value)
    except OverflowError:
        coefficient = math.inf
    if not math.isfinite(coefficient):
        raise ValueError(f"a coefficient must be finite, not {coefficient!r}")
    return coefficient + 0.0  # −0.0 becomes 0.0, so that equal terms print alike


def _read_monomial(
    exponents: Mapping[str, Exponent | int], odd: Iterable[str] | None, absolute: Iterable[str] | None
) -> Monomial:
    odd_names = frozenset(() if odd is None else odd)
    absolute_names = frozenset(() if absolute is None else absolute)
    if both := odd_names & absolute_names:
        raise ValueError(f"{_listed(both)} cannot be both in odd and in absolute")
    if unknown := (odd_names | absolute_names) - exponents.keys():
        raise ValueError(f"{_listed(unknown)} is in odd or in absolute but has no exponent")

    def read(name: str, value: object) -> Factor | None:
        if not isinstance(name, str):
            raise TypeError(f"a feature name must be a string, not {name!r}")
        exponent = as_exponent(value, name)
        if name in odd_names:
            parity = Parity.ODD
        elif name in absolute_names or (odd is not None and is_integer(exponent)):
            parity = Parity.ABSOLUTE
        else:
            parity = Parity.PLAIN
        return canonical_factor(name, exponent, parity)

    factors = (read(name, value) for name, value in exponents.items())
    return tuple(sorted(factor for factor in factors if factor is not None))


def _listed(names: Iterable[str]) -> str:
    return ", ".join(map(repr, sorted(names)))


def _multiply_monomials(left: Monomial, right: Monomial) -> Monomial:
    product: dict[str, Factor | None] = {factor.name: factor for factor in left}
    for factor in right:
        mine = product.get(factor.name)
        product[factor.name] = factor if mine is None else multiply_factors(mine, factor)
    return tuple(sorted(factor for factor in product.values() if factor is not None))


def _raise_monomial(monomial: Monomial, power: Exponent) -> Monomial:
    raised = (raise_factor(factor, power) for factor in monomial)
    return tuple(factor for factor in raised if factor is not None)


def _exact_degree(monomial: Monomial) -> Fraction:
    """Return the degree without rounding, so that the order of terms does not depend on how exponents are stored."""
    return sum((Fraction(factor.exponent) for factor in monomial), Fraction(0))
