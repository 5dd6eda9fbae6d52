"""A term: α·Π_j g_j^β_j, the value object of which signomials are sums; g_j is x_j, x_j + s, log(x_j + s) or exp(x_j).

Canonical form: factors are ordered by feature name, factors of the same base are one, exponents that are zero are left
out, whole numbers follow the parity rules of :mod:`ecsel.signomial.factor` whatever their type. Terms that are the same
product are equal and hash alike.
"""

from __future__ import annotations

import functools
import math
import numbers
from fractions import Fraction
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar

from ecsel.signomial.columns import Columns, LogColumns, clip_limits
from ecsel.signomial.factor import (
    Base,
    Exponent,
    Factor,
    Parity,
    as_exponent,
    as_shift,
    canonical_factor,
    factor_magnitude,
    is_integer,
    multiply_factors,
    raise_factor,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from ecsel._typing import Floats


@functools.total_ordering
class Term:
    """A coefficient times powers of features, of shifted features and of logarithms, and exponentials.

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
    Products and powers may widen a domain, as cancelling a fraction does: x^(1/2)·x^(1/2) = x. Factors with a shift or
    a logarithm come from :meth:`from_factors` or from :meth:`Signomial.parse`.

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

    __slots__ = ("_coefficient", "_factors")
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
        self._set(coefficient, _read_powers(exponents, odd, absolute))

    @classmethod
    def from_factors(cls, coefficient: float, factors: Iterable[Factor]) -> Term:
        """Return the product of a coefficient and factors of any form, in any order, with repetitions.

        >>> from ecsel.signomial import Factor, Parity
        >>> Term.from_factors(2, [Factor("x", 1, Parity.ODD, log=True), Factor("y", -1, Parity.ODD, shift=3)])
        Term.from_factors(2.0, [Factor('x', 1, Parity.ODD, log=True), Factor('y', -1, Parity.ODD, shift=3.0)])
        """
        return cls._of(coefficient, _multiply(map(_read_factor, factors)))

    @classmethod
    def _of(cls, coefficient: float, factors: tuple[Factor, ...]) -> Term:
        """Return the term of factors that are canonical."""
        term = cls.__new__(cls)
        cls._set(term, coefficient, factors)
        return term

    def _set(self, coefficient: float, factors: tuple[Factor, ...]) -> None:
        self._coefficient = _as_coefficient(coefficient)
        self._factors = factors

    @property
    def coefficient(self) -> float:
        """α."""
        return self._coefficient

    @property
    def factors(self) -> tuple[Factor, ...]:
        """The factors, ordered by name: a hashable key of the term without its coefficient."""
        return self._factors

    @property
    def is_power_law(self) -> bool:
        """Whether all factors are powers of features themselves, without shifts, logarithms and exponentials."""
        return all(factor.is_power for factor in self._factors)

    @property
    def exponents(self) -> Mapping[str, Exponent]:
        """β of the plain powers by feature name, read-only and ordered by name; a Fraction is exact."""
        return MappingProxyType({factor.name: factor.exponent for factor in self._factors if factor.is_power})

    @property
    def odd(self) -> frozenset[str]:
        """The names whose sign a plain power carries: sgn(x)·|x|^β."""
        return self._powers_of(Parity.ODD)

    @property
    def absolute(self) -> frozenset[str]:
        """The names of which a plain power enters through |x|."""
        return self._powers_of(Parity.ABSOLUTE)

    def _powers_of(self, parity: Parity) -> frozenset[str]:
        return frozenset(factor.name for factor in self._factors if factor.is_power and factor.parity is parity)

    @property
    def names(self) -> tuple[str, ...]:
        """The feature names in order."""
        return tuple(dict.fromkeys(factor.name for factor in self._factors))

    @property
    def degree(self) -> Exponent:
        """The sum of the exponents, exact if they all are; logarithms and exponentials count zero."""
        degree = _exact_degree(self._factors)
        exact = all(isinstance(factor.exponent, Fraction) for factor in self._factors)
        return degree if exact else float(degree)

    @property
    def is_constant(self) -> bool:
        """Whether the term has no features."""
        return not self._factors

    def evaluate(self, columns: Columns) -> Floats:
        """Return the term's value for every row of a mapping or data frame of columns.

        Raises ValueError, naming the column, for missing or infinite values, for 0 to a negative power, and for a
        negative number to a plain power that is not an integer.
        """
        ((_, top),) = clip_limits([self._coefficient])
        return self._coefficient * LogColumns.read(columns, self.names).product(self._factors, top)

    def __mul__(self, other: object) -> Term:
        if isinstance(other, Term):
            return Term._of(self._coefficient * other._coefficient, _multiply((*self._factors, *other._factors)))
        if isinstance(other, numbers.Real):
            return Term._of(self._coefficient * float(other), self._factors)
        return NotImplemented

    __rmul__ = __mul__

    def __neg__(self) -> Term:
        return Term._of(-self._coefficient, self._factors)

    def __abs__(self) -> Term:
        return Term._of(abs(self._coefficient), _sorted(map(factor_magnitude, self._factors)))

    def __truediv__(self, other: object) -> Term:
        if isinstance(other, Term):
            inverse = _raise(other._factors, Fraction(-1))
            return Term._of(self._coefficient / other._coefficient, _multiply((*self._factors, *inverse)))
        if isinstance(other, numbers.Real):
            return Term._of(self._coefficient / float(other), self._factors)
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
        return Term._of(coefficient, _raise(self._factors, exact))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Term):
            return NotImplemented
        return self._coefficient == other._coefficient and self._factors == other._factors

    def __lt__(self, other: object) -> bool:
        if not isinstance(other, Term):
            return NotImplemented
        return self.sort_key() < other.sort_key()

    def __hash__(self) -> int:
        return hash((self._coefficient, self._factors))

    def sort_key(self) -> tuple[Any, ...]:
        """Return the key of the canonical order."""
        powers = tuple((f.name, -f.exponent, f.parity, f.log, f.shift, f.exp) for f in self._factors)
        return (self.is_constant, -_exact_degree(self._factors), powers, self._coefficient)

    def __repr__(self) -> str:
        if not self.is_power_law:
            return f"Term.from_factors({self._coefficient!r}, {list(self._factors)!r})"
        exponents = {
            name: int(b) if isinstance(b, Fraction) and is_integer(b) else b for name, b in self.exponents.items()
        }
        natural = Term(1.0, exponents)
        parts = [repr(self._coefficient)]
        if exponents:
            parts.append(repr(exponents))
        if self._factors != natural._factors:
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


def _read_powers(
    exponents: Mapping[str, Exponent | int], odd: Iterable[str] | None, absolute: Iterable[str] | None
) -> tuple[Factor, ...]:
    odd_names = frozenset(() if odd is None else odd)
    absolute_names = frozenset(() if absolute is None else absolute)
    if both := odd_names & absolute_names:
        raise ValueError(f"{_listed(both)} cannot be both in odd and in absolute")
    if unknown := (odd_names | absolute_names) - exponents.keys():
        raise ValueError(f"{_listed(unknown)} is in odd or in absolute but has no exponent")

    def read(name: str, value: object) -> Factor | None:
        exponent = as_exponent(value, _as_name(name))
        if name in odd_names:
            parity = Parity.ODD
        elif name in absolute_names or (odd is not None and is_integer(exponent)):
            parity = Parity.ABSOLUTE
        else:
            parity = Parity.PLAIN
        return canonical_factor(name, exponent, parity)

    return _sorted(read(name, value) for name, value in exponents.items())


def _listed(names: Iterable[str]) -> str:
    return ", ".join(map(repr, sorted(names)))


def _as_name(name: object) -> str:
    if not isinstance(name, str):
        raise TypeError(f"a feature name must be a string, not {name!r}")
    return name


def _read_factor(factor: Factor) -> Factor | None:
    name = _as_name(factor.name)
    exponent, shift = as_exponent(factor.exponent, name), as_shift(factor.shift, name)
    return canonical_factor(
        name, exponent, Parity(factor.parity), shift=shift, log=bool(factor.log), exp=bool(factor.exp)
    )


def _multiply(factors: Iterable[Factor | None]) -> tuple[Factor, ...]:
    """Merge the factors of each base; None is the constant 1."""
    product: dict[Base, Factor | None] = {}
    for factor in factors:
        if factor is not None:
            mine = product.get(factor.base)
            product[factor.base] = factor if mine is None else multiply_factors(mine, factor)
    return _sorted(product.values())


def _raise(factors: tuple[Factor, ...], power: Exponent) -> tuple[Factor, ...]:
    return _sorted(raise_factor(factor, power) for factor in factors)


def _sorted(factors: Iterable[Factor | None]) -> tuple[Factor, ...]:
    """Order factors of different bases; None is the constant 1."""
    return tuple(sorted((f for f in factors if f is not None), key=lambda f: (f.name, f.log, f.shift, f.exp)))


def _exact_degree(factors: tuple[Factor, ...]) -> Fraction:
    """Return the degree without rounding, so that the order of terms does not depend on how exponents are stored."""
    return sum((Fraction(factor.exponent) for factor in factors if not (factor.log or factor.exp)), Fraction(0))
