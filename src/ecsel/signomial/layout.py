"""How a product is laid out for people: what stands above the line and what below, and what is raised to which power.

Negative whole powers, and −1/2, are divisions: 17·Age⁻¹ is 17/Age. A factor that carries the sign of an even or real
power is two powers, sgn(g)·|g|^b. Text, LaTeX and MathML differ only in how they write a :class:`Power`.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Literal, NamedTuple

from ecsel.signomial.factor import Exponent, Factor, Parity, is_integer

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

HALF = Fraction(1, 2)


class Power(NamedTuple):
    """A base g, or its size or sign, and its exponent."""

    factor: Factor
    wrap: Literal["", "abs", "sign"]
    exponent: Exponent

    @property
    def is_root(self) -> bool:
        """Whether this is an exact square root."""
        return isinstance(self.exponent, Fraction) and self.exponent == HALF

    @property
    def is_sum(self) -> bool:
        """Whether the base is a sum, which needs brackets in a product."""
        return not self.wrap and not self.factor.log and self.factor.shift != 0


class Quotient(NamedTuple):
    """The powers above the line and those below, the latter with positive exponents."""

    above: tuple[Power, ...]
    below: tuple[Power, ...]


def lay_out(factors: Iterable[Factor]) -> Quotient:
    """Return the product of factors as a quotient of powers."""
    powers = [power for factor in factors for power in _powers(factor)]
    below = tuple(power._replace(exponent=-power.exponent) for power in powers if _divides(power.exponent))
    return Quotient(tuple(power for power in powers if not _divides(power.exponent)), below)


def _powers(factor: Factor) -> Iterator[Power]:
    if factor.exp:
        yield Power(factor, "", factor.exponent)
    elif factor.parity is Parity.ABSOLUTE:
        yield Power(factor, "abs", factor.exponent)
    elif factor.is_natural:
        yield Power(factor, "", factor.exponent)
    else:
        yield Power(factor, "sign", Fraction(1))
        if factor.exponent != 0:
            yield Power(factor, "abs", factor.exponent)


def _divides(exponent: Exponent) -> bool:
    return isinstance(exponent, Fraction) and exponent < 0 and (is_integer(exponent) or exponent == -HALF)
