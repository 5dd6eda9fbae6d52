"""One factor of a term: a simple function of one feature.

The base of a factor is g = x + s or g = log(x + s), with a shift s that is mostly 0; log x is the limit (x^b − 1)/b of
powers as b → 0 and closes their family. It may also be g = exp(x), whose powers are exp(b·x) with a real rate b; a
shift of x would be a coefficient there. The factor is one of three functions of g with the same exponent b:

===================  =============  ========================================================
``Parity.PLAIN``     g^b            Python's reading; refuses g < 0 when b is not an integer
``Parity.ODD``       sgn(g)·|g|^b   carries the sign
``Parity.ABSOLUTE``  |g|^b          ignores the sign
===================  =============  ========================================================

Integers make some of these equal, so a canonical form is kept: an even power is PLAIN or ODD, an odd power is ODD or
ABSOLUTE, only a power that is not an integer may be all three. Equal functions are then equal factors. The power zero
is the constant 1 and vanishes, except that an ODD one is sgn(g).

Factors of the same base are multiplied by adding exponents and multiplying signs. A factor that refuses g < 0 is only
known on g ≥ 0, where signs are one: its product stays PLAIN, and if the exponents add to an integer it takes Python's
reading of that integer (√x·√x = x).
"""

from __future__ import annotations

import enum
import math
import numbers
from fractions import Fraction
from typing import NamedTuple

Exponent = Fraction | float
Base = tuple[str, float, bool, bool]

# b·log|x| must stay a finite double for every finite x, summed over any realistic number of features.
LARGEST_EXPONENT = 1e300
LARGEST_FRACTION_BITS = 1000


class Parity(enum.IntEnum):
    """How a factor treats the sign of its base.

    Examples
    --------
    >>> from ecsel import Term
    >>> [factor.parity.name for factor in Term(1.0, {"x": 3, "y": 2}).factors]
    ['ODD', 'PLAIN']
    """

    PLAIN = 0
    ODD = 1
    ABSOLUTE = 2


class Factor(NamedTuple):
    """A canonical factor; build it with :func:`canonical_factor`.

    >>> Factor("glucose", Fraction(1), Parity.ODD, shift=50.0, log=True)
    Factor('glucose', 1, Parity.ODD, shift=50.0, log=True)
    """

    name: str
    exponent: Exponent
    parity: Parity
    shift: float = 0.0
    log: bool = False
    exp: bool = False

    @property
    def base(self) -> Base:
        """What is raised to the power: (name, shift, log, exp)."""
        return self.name, self.shift, self.log, self.exp

    @property
    def is_power(self) -> bool:
        """Whether the factor is a power of the feature itself, without shift, logarithm and exponential."""
        return not self.log and not self.exp and self.shift == 0

    @property
    def is_natural(self) -> bool:
        """Whether the factor is Python's ``g**b``."""
        return self.parity is Parity.PLAIN or (self.parity is Parity.ODD and self.exponent % 2 == 1)

    @property
    def refuses_negative(self) -> bool:
        """Whether the factor is undefined for g < 0, which an exponential never is."""
        return self.parity is Parity.PLAIN and not self.exp and not is_integer(self.exponent)

    def __repr__(self) -> str:
        exact = isinstance(self.exponent, Fraction) and is_integer(self.exponent)
        parts = [repr(self.name), repr(int(self.exponent) if exact else self.exponent), f"Parity.{self.parity.name}"]
        parts += [f"shift={self.shift!r}"] * (self.shift != 0) + ["log=True"] * self.log + ["exp=True"] * self.exp
        return f"Factor({', '.join(parts)})"


def as_exponent(value: object, name: str) -> Exponent:
    """Return ``value`` as an exact Fraction if it is rational, else as a float.

    >>> as_exponent(2, "x"), as_exponent(1.5, "x")
    (Fraction(2, 1), 1.5)
    """
    exponent: Exponent
    if isinstance(value, numbers.Rational):
        exponent = Fraction(int(value.numerator), int(value.denominator))
        if max(exponent.numerator.bit_length(), exponent.denominator.bit_length()) > LARGEST_FRACTION_BITS:
            raise ValueError(f"the exponent of {name!r} is a fraction with too many digits; give it as a float")
    elif isinstance(value, numbers.Real):
        exponent = float(value)
    else:
        raise TypeError(f"the exponent of {name!r} must be a real number, not {type(value).__name__}")
    if not abs(float(exponent)) <= LARGEST_EXPONENT:
        raise ValueError(f"the exponent of {name!r} must be finite and at most 1e300 in size, not {float(exponent)!r}")
    return exponent


def is_integer(exponent: Exponent) -> bool:
    """Whether the exponent is a whole number, whatever its type."""
    return exponent.denominator == 1 if isinstance(exponent, Fraction) else exponent.is_integer()


def as_shift(value: object, name: str) -> float:
    """Return a shift as a finite float."""
    if not isinstance(value, numbers.Real):
        raise TypeError(f"the shift of {name!r} must be a real number, not {type(value).__name__}")
    shift = float(value)
    if not math.isfinite(shift):
        raise ValueError(f"the shift of {name!r} must be finite, not {shift!r}")
    return shift + 0.0  # −0.0 becomes 0.0


def canonical_factor(
    name: str, exponent: Exponent, parity: Parity, *, shift: float = 0.0, log: bool = False, exp: bool = False
) -> Factor | None:
    """Return the canonical factor, or None for the constant 1.

    PLAIN asks for Python's reading, so a PLAIN odd power becomes ODD. The rate of an exponential is a float, and its
    parity PLAIN, since it is positive.

    >>> canonical_factor("x", Fraction(3), Parity.PLAIN).parity.name
    'ODD'
    >>> canonical_factor("x", Fraction(2), Parity.ABSOLUTE).parity.name
    'PLAIN'
    """
    if exp:
        if log or shift != 0:
            raise ValueError(
                f"an exponential of {name!r} has neither a shift nor a logarithm; a shift is a coefficient"
            )
        return None if exponent == 0 else Factor(name, float(exponent), Parity.PLAIN, exp=True)
    if exponent == 0:
        return Factor(name, Fraction(0), Parity.ODD, shift, log) if parity is Parity.ODD else None
    if is_integer(exponent):
        if exponent % 2 == 0:
            parity = Parity.ODD if parity is Parity.ODD else Parity.PLAIN
        else:
            parity = Parity.ABSOLUTE if parity is Parity.ABSOLUTE else Parity.ODD
    return Factor(name, exponent, parity, shift, log)


def multiply_factors(left: Factor, right: Factor) -> Factor | None:
    """Return the product of two factors of the same base, or None if it is 1."""
    exponent = as_exponent(left.exponent + right.exponent, left.name)
    if left.refuses_negative or right.refuses_negative:
        parity = Parity.PLAIN
    elif (left.parity is Parity.ODD) != (right.parity is Parity.ODD):
        parity = Parity.ODD
    else:
        parity = Parity.ABSOLUTE
    return canonical_factor(left.name, exponent, parity, shift=left.shift, log=left.log, exp=left.exp)


def factor_magnitude(factor: Factor) -> Factor | None:
    """Return |factor|, or None if it is 1. A factor that refuses g < 0 has no negative values to begin with."""
    parity = Parity.PLAIN if factor.refuses_negative else Parity.ABSOLUTE
    return canonical_factor(factor.name, factor.exponent, parity, shift=factor.shift, log=factor.log, exp=factor.exp)


def raise_factor(factor: Factor, power: Exponent) -> Factor | None:
    """Return ``factor**power``, or None if it is 1.

    A power that is not an integer needs a base that is not negative: a factor that carries a sign is restricted to
    g ≥ 0, one that ignores it keeps its domain, so (x²)^(1/2) = |x|.
    """
    exponent = as_exponent(factor.exponent * power, factor.name)
    if factor.refuses_negative:
        parity = Parity.PLAIN
    elif factor.parity is not Parity.ODD:
        parity = Parity.ABSOLUTE
    elif not is_integer(power):
        parity = Parity.PLAIN
    else:
        parity = Parity.ABSOLUTE if power % 2 == 0 else Parity.ODD
    return canonical_factor(factor.name, exponent, parity, shift=factor.shift, log=factor.log, exp=factor.exp)
