"""Signomials as text in Python syntax, with the shortest numbers that read back exactly.

What is printed is read back by :mod:`ecsel.signomial.parse` as an equal signomial, and is also a Python expression in
``abs``, ``sign`` and ``col``. Names are data: one that is not an identifier, or that means something to Python or to
the parser, is printed as ``col('page value')`` with a Python string literal.
"""

from __future__ import annotations

import keyword
import unicodedata
from fractions import Fraction
from typing import TYPE_CHECKING

from ecsel.signomial.factor import Exponent, Factor, Parity, is_integer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ecsel.signomial.term import Term

RESERVED_NAMES = frozenset({"abs", "sign", "sqrt", "col", "__debug__"})


def print_sum(terms: Sequence[Term], spec: str = "") -> str:
    """Return the terms as one expression; ``spec`` formats coefficients and inexact exponents, as in ``format``."""
    if not terms:
        return format(0.0, spec) if spec else "0.0"
    first, *others = (print_term(term, spec) for term in terms)
    return first + "".join(f" - {term[1:]}" if term.startswith("-") else f" + {term}" for term in others)


def print_term(term: Term, spec: str = "") -> str:
    """Return one term as an expression; a coefficient of 1 is left out before features."""
    coefficient = _print_float(term.coefficient, spec)
    if term.is_constant:
        return coefficient
    product = "*".join(_print_factor(factor, spec) for factor in term.monomial)
    if coefficient in {"1", "1.0"}:
        return product
    if coefficient in {"-1", "-1.0"}:
        return f"-{product}"
    return f"{coefficient}*{product}"


def print_name(name: str) -> str:
    """Return the name as it stands in an expression.

    >>> print_name("age"), print_name("page value"), print_name("lambda")
    ('age', "col('page value')", "col('lambda')")
    """
    # Python reads identifiers in this normal form, so a name in another form would become another name
    plain = name.isidentifier() and unicodedata.normalize("NFKC", name) == name
    return name if plain and not keyword.iskeyword(name) and name not in RESERVED_NAMES else f"col({name!r})"


def _print_factor(factor: Factor, spec: str) -> str:
    name = print_name(factor.name)
    power = _print_power(factor.exponent, spec)
    if factor.parity is Parity.ABSOLUTE:
        return f"abs({name}){power}"
    if factor.is_natural:
        return f"{name}{power}"
    return f"sign({name})*abs({name}){power}" if factor.exponent != 0 else f"sign({name})"


def _print_power(exponent: Exponent, spec: str) -> str:
    if not isinstance(exponent, Fraction):
        return f"**{_print_float(exponent, spec)}"
    if not is_integer(exponent):
        return f"**({exponent})"
    return "" if exponent == 1 else f"**{exponent}"


def _print_float(value: float, spec: str) -> str:
    return format(value, spec) if spec else repr(value)


def for_people(value: float) -> str:
    """Return a number of a table in four digits, without an exponent where a person would write none.

    Examples
    --------
    >>> [for_people(value) for value in (0.123456, 22641.3, 673.5, 1e-9, 2.5e20)]
    ['0.1235', '22641', '673.5', '1e-09', '2.5e+20']
    """
    return f"{value:.0f}" if 1e4 <= abs(value) < 1e12 else f"{value:.4g}"
