"""Signomials from text: the syntax tree of :mod:`syntax` is computed into terms.

Sums are expanded, but that a feature plus or minus a number is one shifted factor wherever it is multiplied, divided,
raised or an argument: ``2/(x + 1)``, ``log(x + 50)``, ``(year - 2000)**2``. Alone, ``x + 3`` is two terms. Integers and
their fractions are exact until they become coefficients, so ``x**(3/2)`` has a Fraction and ``x**1.5`` a float. How
far sums are expanded is bounded.
"""

from __future__ import annotations

import contextlib
import math
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

from ecsel.signomial import syntax
from ecsel.signomial.expressions import (
    FUNCTIONS,
    Number,
    Value,
    as_factor,
    as_signomial,
    bounded,
    divide,
    raise_number,
)
from ecsel.signomial.factor import is_integer
from ecsel.signomial.signomial import Signomial
from ecsel.signomial.term import Term
from ecsel.signomial.tokens import unreadable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ecsel.signomial.factor import Factor

# The number of products of two terms that all expansions of sums in a text may take together; 0.1 s at most.
MAX_PRODUCTS = 10_000


def parse_signomial(source: str, max_products: int = MAX_PRODUCTS) -> Signomial:
    """Return the signomial that a text describes, or raise a ValueError that says where and why not.

    Printed equations have no sums to expand: for these `max_products` may be 0, and reading is linear in their length.

    >>> parse_signomial("-x**2/4 + sqrt(`page value`)").terms
    (Term(-0.25, {'x': 2}), Term(1.0, {'page value': Fraction(1, 2)}))
    >>> parse_signomial("x**y")
    Traceback (most recent call last):
    ValueError: cannot read the equation at character 2: an exponent must be a number
    """
    value = _Expansion(max_products).value(syntax.parse_expression(source))
    with _located(0):
        return as_signomial(value)


class _Expansion:
    """The values of a tree, with a budget for the products that they take."""

    def __init__(self, max_products: int) -> None:
        self._max_products = max_products
        self._n_products = 0

    def value(self, node: syntax.Node) -> Value:
        match node:
            case syntax.Number(number):
                return number
            case syntax.Name(name):
                return Signomial.variable(name)
            case syntax.Negative(operand):
                return -self.value(operand)
            case syntax.Product():
                return self._product(node)
            case syntax.Sum():
                return self._sum(node)
        return self._applied(node)

    def _applied(self, node: syntax.Call | syntax.Power) -> Value:
        if isinstance(node, syntax.Call):
            argument = self.value(node.argument)
            with _located(node.position):
                return FUNCTIONS[node.function](argument)
        base, exponent = self.value(node.base), self.value(node.exponent)
        if isinstance(exponent, Signomial):
            raise unreadable("an exponent must be a number", node.position)
        with _located(node.position):
            return self._raise(base, exponent)

    def _sum(self, node: syntax.Sum) -> Value:
        number: Number = Fraction(0)
        terms: list[Term] = []
        is_number = True
        for is_subtracted, part, position in node.terms:
            value = self.value(part)
            if is_subtracted:
                value = -value
            with _located(position):
                if isinstance(value, Signomial):
                    if len(value.terms) > 2:  # a sum in brackets; more than a feature and its shift
                        self._spend(len(value.terms))
                    terms.extend(value.terms)
                    is_number = False
                else:
                    number = bounded(number + value)
        if is_number:
            return number
        with _located(position):
            return Signomial([*terms, Term(float(number))])

    def _product(self, node: syntax.Product) -> Value:
        (_, first, _), *others = node.factors
        value: Value | _Run = self.value(first)
        for is_divided, factor, position in others:
            other = self.value(factor)
            with _located(position):
                value = self._join(value, other, divided=is_divided)
        return value.signomial() if isinstance(value, _Run) else value

    def _join(self, left: Value | _Run, right: Value, *, divided: bool) -> Value | _Run:
        """Multiply or divide; of single terms the factors are only gathered, and merged at the end of the product."""
        if not isinstance(left, (Signomial, _Run)) and not isinstance(right, Signomial):
            return divide(left, right) if divided else bounded(left * right)
        run, other = _as_run(left), as_factor(right)
        if run is not None and len(other.terms) == 1:
            return run.join(other.terms[0], divided=divided)
        whole = left.signomial() if isinstance(left, _Run) else as_factor(left)
        self._spend(len(whole.terms) * max(1, len(other.terms)))
        return whole / other if divided else whole * other

    def _raise(self, base: Value, exponent: Number) -> Value:
        if not isinstance(base, Signomial):
            return raise_number(base, exponent)
        base = as_factor(base)
        n_terms = len(base.terms)
        if n_terms > 1 and is_integer(exponent) and exponent > 0:
            half = -(-int(exponent) // 2)
            # the last squaring dominates: two powers of comb(n + h - 1, h) terms are multiplied
            self._spend(math.comb(n_terms + half - 1, half) ** 2 if half <= MAX_PRODUCTS else MAX_PRODUCTS + 1)
        return base**exponent

    def _spend(self, n_products: int) -> None:
        self._n_products += n_products
        if self._n_products > self._max_products:
            raise ValueError("expanding these sums gives too many terms")


class _Run(NamedTuple):
    """A product of single terms that is still growing: to merge factors one by one would take quadratic time."""

    coefficient: float
    factors: list[Factor]

    def join(self, term: Term, *, divided: bool) -> _Run:
        """Return the run with one more term; the list of factors goes over to it."""
        if divided:
            coefficient, term = self.coefficient / term.coefficient, Term(1.0) / Term.from_factors(1.0, term.factors)
        else:
            coefficient = self.coefficient * term.coefficient
        self.factors.extend(term.factors)
        return _Run(Term(coefficient).coefficient, self.factors)

    def signomial(self) -> Signomial:
        """Return the product."""
        return Signomial([Term.from_factors(self.coefficient, self.factors)])


def _as_run(value: Value | _Run) -> _Run | None:
    if isinstance(value, _Run):
        return value
    terms = as_factor(value).terms
    return _Run(terms[0].coefficient, list(terms[0].factors)) if len(terms) == 1 else None


@contextlib.contextmanager
def _located(position: int) -> Iterator[None]:
    """Say where in the text an arithmetic error arose."""
    try:
        yield
    except ZeroDivisionError as error:
        raise unreadable("division by zero", position) from error
    except OverflowError as error:
        raise unreadable("a number is too large", position) from error
    except ValueError as error:
        raise unreadable(str(error), position) from error
