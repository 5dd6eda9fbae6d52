"""Numbers of a form that depend on its constants: sums of multiples of products of constants to whole powers.

Exponents, shifts and rates are such sums: ``b``, ``2*b - 1``, ``-x0`` and, in ``exp(-t/tau)``, -1/tau.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from ecsel.signomial.factor import Exponent

Monomial = tuple[tuple[str, int], ...]
"""A product of constants to whole powers, ordered by name."""


@dataclass(frozen=True)
class Expression:
    """A number plus multiples of products of constants.

    Examples
    --------
    >>> b = Expression.constant("b")
    >>> twice = b.times(Expression(Fraction(2))).plus(Expression(Fraction(-1)))
    >>> twice.value({"b": 1.5}), twice.slope({"b": 1.5}, "b")
    (2.0, 2.0)
    >>> Expression.constant("tau").inverse().value({"tau": 4.0})
    0.25
    """

    number: Exponent = Fraction(0)
    parts: tuple[tuple[Monomial, float], ...] = ()

    @classmethod
    def constant(cls, name: str) -> "Expression":
        """Return a constant itself."""
        return cls(Fraction(0), ((((name, 1),), 1.0),))

    @property
    def constants(self) -> frozenset[str]:
        """The constants that it depends on."""
        return frozenset(name for monomial, _ in self.parts for name, _ in monomial)

    def value(self, at: Mapping[str, float]) -> Exponent:
        """Return the value for given constants; exact where there are none."""
        if not self.parts:
            return self.number
        return float(self.number) + float(sum(c * _product(monomial, at) for monomial, c in self.parts))

    def slope(self, at: Mapping[str, float], name: str) -> float:
        """Return the derivative by one constant."""
        total = 0.0
        for monomial, c in self.parts:
            powers = dict(monomial)
            power = powers.pop(name, 0)
            if power:
                rest = _product(tuple(powers.items()), at)
                total += c * power * whole_power(at[name], power - 1) * rest
        return total

    def plus(self, other: "Expression") -> "Expression":
        """Return the sum."""
        parts = dict(self.parts)
        for monomial, c in other.parts:
            parts[monomial] = parts.get(monomial, 0.0) + c
        return _sorted(self.number + other.number, parts)

    def times(self, other: "Expression") -> "Expression":
        """Return the product."""
        parts: dict[Monomial, float] = {}
        number: Exponent = Fraction(0)
        for left, a in (((), self.number), *self.parts):
            for right, b in (((), other.number), *other.parts):
                powers = dict(left)
                for name, power in right:
                    powers[name] = powers.get(name, 0) + power
                monomial = tuple(sorted((name, power) for name, power in powers.items() if power))
                if monomial:
                    parts[monomial] = parts.get(monomial, 0.0) + float(a) * float(b)
                else:
                    number = number + a * b
        return _sorted(number, parts)

    def inverse(self) -> "Expression":
        """Return one over it; only a number, or a multiple of one product of constants, has such an inverse."""
        if not self.parts and self.number != 0:
            return Expression(1 / self.number)
        if len(self.parts) == 1 and self.number == 0:
            ((monomial, c),) = self.parts
            return Expression(Fraction(0), ((tuple((name, -power) for name, power in monomial), 1.0 / c),))
        raise ValueError("only a number or a product of constants can be divided by")


def whole_power(base: float, power: int) -> float:
    """Return a whole power, not a number where it is not defined or beyond the range of doubles.

    >>> whole_power(2.0, -1), whole_power(0.0, -1)
    (0.5, nan)
    """
    try:
        return float(base) ** power
    except (OverflowError, ZeroDivisionError):
        return math.nan


def _product(monomial: Monomial, at: Mapping[str, float]) -> float:
    value = 1.0
    for name, power in monomial:
        value *= whole_power(at[name], power)
    return value


def _sorted(number: Exponent, parts: Mapping[Monomial, float]) -> Expression:
    return Expression(number, tuple(sorted((monomial, c) for monomial, c in parts.items() if c)))
