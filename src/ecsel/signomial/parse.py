"""Signomials from text: a recursive-descent parser for the expressions that people write and :mod:`text` prints.

The grammar, with Python's precedence (``**`` binds tighter than a minus sign before it and to the right)::

    sum      = product { ("+" | "-") product }
    product  = signed { ("*" | "/") signed }
    signed   = ("+" | "-") signed | power
    power    = atom [ "**" signed ]
    atom     = number | feature | ("abs" | "sign" | "sqrt" | "log") "(" sum ")" | "(" sum ")"
    feature  = name | "`" text "`" | "[" text "]" | "col" "(" string ")"

Sums are expanded, but that a feature plus or minus a number is one shifted factor wherever it is multiplied, divided,
raised or an argument: ``2/(x + 1)``, ``log(x + 50)``, ``(year - 2000)**2``. Alone, ``x + 3`` is two terms. Integers and
their fractions are exact until they become coefficients, so ``x**(3/2)`` has a Fraction and ``x**1.5`` a float. Nothing
is executed; length, nesting and the size of expansions are bounded.
"""

from __future__ import annotations

import contextlib
import math
import unicodedata
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

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
from ecsel.signomial.text import RESERVED_NAMES, print_name, quoted_name
from ecsel.signomial.tokens import Kind, Token, tokenize, unreadable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ecsel.signomial.factor import Factor

MAX_LENGTH = 1_000_000
MAX_DEPTH = 50
# The number of products of two terms that all expansions of sums in a text may take together; 0.1 s at most.
MAX_PRODUCTS = 10_000
# A literal of more digits is no measurement, and long integers are slow to read.
MAX_DIGITS = 400


def parse_signomial(source: str, max_products: int = MAX_PRODUCTS) -> Signomial:
    """Return the signomial that a text describes, or raise a ValueError that says where and why not.

    Printed equations have no sums to expand: for these `max_products` may be 0, and reading is linear in their length.

    >>> parse_signomial("-x**2/4 + sqrt(`page value`)").terms
    (Term(-0.25, {'x': 2}), Term(1.0, {'page value': Fraction(1, 2)}))
    >>> parse_signomial("x^2")
    Traceback (most recent call last):
    ValueError: cannot read the equation at character 2: unexpected '^'; write a power as **
    """
    if not isinstance(source, str):
        raise TypeError(f"an equation is read from a string, not from {type(source).__name__}")
    if len(source) > MAX_LENGTH:
        raise ValueError(f"an equation may have at most {MAX_LENGTH} characters, not {len(source)}")
    return _Parser(list(tokenize(source)), max_products).parse()


class _Parser:
    """One pass over the tokens; each method reads one rule of the grammar and returns its value."""

    def __init__(self, tokens: list[Token], max_products: int) -> None:
        self._tokens = tokens
        self._max_products = max_products
        self._next = 0
        self._depth = 0
        self._n_products = 0

    def parse(self) -> Signomial:
        if self._peek().kind is Kind.END:
            raise unreadable("the text is empty", 0)
        value = self._sum()
        token = self._peek()
        if token.kind is not Kind.END:
            raise unreadable(f"expected an operator before {token.describe()}", token.position)
        with _located(0):
            return as_signomial(value)

    def _peek(self) -> Token:
        return self._tokens[self._next]

    def _take(self) -> Token:
        token = self._peek()
        self._next += token.kind is not Kind.END
        return token

    def _take_operator(self, *operators: str) -> Token | None:
        token = self._peek()
        return self._take() if token.kind is Kind.OPERATOR and token.text in operators else None

    def _sum(self) -> Value:
        number: Number = Fraction(0)
        terms: list[Term] = []
        is_number = True
        operator = None
        while True:
            position = self._peek().position
            value = self._product()
            if operator is not None and operator.text == "-":
                value = -value
            with _located(position):
                if isinstance(value, Signomial):
                    if len(value.terms) > 2:  # a sum in brackets; more than a feature and its shift
                        self._spend(len(value.terms))
                    terms.extend(value.terms)
                    is_number = False
                else:
                    number = bounded(number + value)
            operator = self._take_operator("+", "-")
            if operator is None:
                break
        if is_number:
            return number
        with _located(position):
            return Signomial([*terms, Term(float(number))])

    def _product(self) -> Value:
        value: Value | _Run = self._signed()
        while operator := self._take_operator("*", "/"):
            other = self._signed()
            with _located(operator.position):
                value = self._join(value, other, divided=operator.text == "/")
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

    def _signed(self) -> Value:
        is_negative = False
        while operator := self._take_operator("+", "-"):
            is_negative ^= operator.text == "-"
        value = self._power()
        return -value if is_negative else value

    def _power(self) -> Value:
        base = self._atom()
        operator = self._take_operator("**")
        if operator is None:
            return base
        exponent = self._nested(self._signed, operator)
        if isinstance(exponent, Signomial):
            raise unreadable("an exponent must be a number", operator.position)
        with _located(operator.position):
            return self._raise(base, exponent)

    def _atom(self) -> Value:
        token = self._take()
        if token.kind is Kind.NUMBER:
            return _read_number(token)
        if token.kind is Kind.NAME:
            return self._named(token)
        if token.kind is Kind.FEATURE:
            return Signomial.variable(token.text)
        if token.kind is Kind.OPERATOR and token.text == "(":
            return self._closed(token)
        if token.kind is Kind.STRING:
            raise unreadable(f"a feature name in quotes is written {quoted_name(token.text)}", token.position)
        raise unreadable(f"expected a number, a name or a parenthesis, not {token.describe()}", token.position)

    def _named(self, token: Token) -> Value:
        name = unicodedata.normalize("NFKC", token.text)  # as Python reads identifiers
        if name == "col":
            return self._quoted_name()
        opens = self._peek().kind is Kind.OPERATOR and self._peek().text == "("
        if name == "log" and not opens:
            return Signomial.variable(name)  # equations were printed so before there was a logarithm
        if name in FUNCTIONS:
            opening = self._open(name)
            argument = self._closed(opening)
            with _located(token.position):
                return FUNCTIONS[name](argument)
        if not token.text.isidentifier() or print_name(name) != name:
            raise unreadable(
                f"{token.text!r} is no plain identifier; a feature of that name is written {quoted_name(token.text)}",
                token.position,
            )
        if opens:
            known = ", ".join(sorted(RESERVED_NAMES - {"__debug__"}))
            raise unreadable(f"there is no function {name!r}, only {known}; write * to multiply", token.position)
        return Signomial.variable(name)

    def _quoted_name(self) -> Signomial:
        self._open("col")
        token = self._take()
        if token.kind is not Kind.STRING:
            raise unreadable("col() takes one feature name in quotes", token.position)
        self._close()
        return Signomial.variable(token.text)

    def _open(self, function: str) -> Token:
        opening = self._take_operator("(")
        if opening is None:
            raise unreadable(
                f"{function!r} is a function and needs a parenthesis; a feature of that name is written "
                f"{quoted_name(function)}",
                self._peek().position,
            )
        return opening

    def _closed(self, opening: Token) -> Value:
        value = self._nested(self._sum, opening)
        self._close()
        return value

    def _close(self) -> None:
        if self._take_operator(")") is None:
            token = self._peek()
            raise unreadable(f"expected ')' before {token.describe()}", token.position)

    def _nested(self, rule: Callable[[], Value], token: Token) -> Value:
        if self._depth >= MAX_DEPTH:
            raise unreadable(f"nested more than {MAX_DEPTH} levels deep", token.position)
        self._depth += 1
        value = rule()
        self._depth -= 1
        return value

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


def _read_number(token: Token) -> Number:
    if len(token.text) > MAX_DIGITS:
        raise unreadable(f"a number may have at most {MAX_DIGITS} characters", token.position)
    if token.text.isdecimal():
        return Fraction(int(token.text))
    value = float(token.text)
    if math.isinf(value):
        raise unreadable("a number is too large", token.position)
    return value
