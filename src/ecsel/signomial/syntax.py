"""The one grammar of the library: text becomes a syntax tree, which equations and forms read each in their own way.

The grammar, with Python's precedence (``**`` binds tighter than a minus sign before it and to the right)::

    sum      = product { ("+" | "-") product }
    product  = signed { ("*" | "/") signed }
    signed   = ("+" | "-") signed | power
    power    = atom [ "**" signed ]
    atom     = number | name | ("abs" | "sign" | "sqrt" | "log" | "exp") "(" sum ")" | "(" sum ")"
    name     = identifier | "`" text "`" | "[" text "]" | "col" "(" string ")"

:mod:`ecsel.signomial.parse` makes signomials of the tree, :mod:`ecsel.discovery.form` the terms of a form. Nothing is
executed; length and nesting are bounded. The tree is not that of :mod:`ast`: there every operator is one level deeper,
so that ``ast.parse`` refuses a sum of 4000 terms (Python 3.11), and names in backticks are no Python. Here a sum or a
product is one flat node, and only brackets and exponents are levels.
"""

from __future__ import annotations

import math
import unicodedata
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

from ecsel.signomial.text import RESERVED_NAMES, print_name, quoted_name
from ecsel.signomial.tokens import Kind, Token, tokenize, unreadable

if TYPE_CHECKING:
    from collections.abc import Callable

FUNCTION_NAMES = RESERVED_NAMES - {"__debug__", "col"}
MAX_LENGTH = 1_000_000
MAX_DEPTH = 50
# A literal of more digits is no measurement, and long integers are slow to read.
MAX_DIGITS = 400


class Number(NamedTuple):
    """A literal: an integer is exact, a decimal is a float."""

    value: Fraction | float
    position: int


class Name(NamedTuple):
    """The name of a feature, or of a constant of a form."""

    name: str
    position: int


class Call(NamedTuple):
    """A function of one argument."""

    function: str
    argument: Node
    position: int


class Negative(NamedTuple):
    """A minus sign before an operand."""

    operand: Node
    position: int


class Power(NamedTuple):
    """``base**exponent``; the position is that of the operator."""

    base: Node
    exponent: Node
    position: int


class Product(NamedTuple):
    """Factors from left to right: whether it is divided by each, the factor, and where its operator stands."""

    factors: tuple[tuple[bool, Node, int], ...]
    position: int


class Sum(NamedTuple):
    """Terms from left to right: whether each is subtracted, the term, and where it begins."""

    terms: tuple[tuple[bool, Node, int], ...]
    position: int


Node = Number | Name | Call | Negative | Power | Product | Sum


def parse_expression(source: str) -> Node:
    """Return the syntax tree of a text, or raise a ValueError that says where and why it cannot be read.

    >>> parse_expression("x**2")
    Power(base=Name(name='x', position=0), exponent=Number(value=Fraction(2, 1), position=3), position=1)
    >>> parse_expression("x^2")
    Traceback (most recent call last):
    ValueError: cannot read the equation at character 2: unexpected '^'; write a power as **
    """
    if not isinstance(source, str):
        raise TypeError(f"an equation is read from a string, not from {type(source).__name__}")
    if len(source) > MAX_LENGTH:
        raise ValueError(f"an equation may have at most {MAX_LENGTH} characters, not {len(source)}")
    return _Parser(list(tokenize(source))).parse()


class _Parser:
    """One pass over the tokens; each method reads one rule of the grammar."""

    def __init__(self, tokens: list[Token]) -> None:
        self._tokens = tokens
        self._next = 0
        self._depth = 0

    def parse(self) -> Node:
        if self._peek().kind is Kind.END:
            raise unreadable("the text is empty", 0)
        tree = self._sum()
        token = self._peek()
        if token.kind is not Kind.END:
            raise unreadable(f"expected an operator before {token.describe()}", token.position)
        return tree

    def _peek(self) -> Token:
        return self._tokens[self._next]

    def _take(self) -> Token:
        token = self._peek()
        self._next += token.kind is not Kind.END
        return token

    def _take_operator(self, *operators: str) -> Token | None:
        token = self._peek()
        return self._take() if token.kind is Kind.OPERATOR and token.text in operators else None

    def _sum(self) -> Node:
        start = self._peek().position
        first = self._product()
        terms = [(False, first, start)]
        while operator := self._take_operator("+", "-"):
            begin = self._peek().position
            terms.append((operator.text == "-", self._product(), begin))
        return Sum(tuple(terms), start) if len(terms) > 1 else first

    def _product(self) -> Node:
        start = self._peek().position
        first = self._signed()
        factors = [(False, first, start)]
        while operator := self._take_operator("*", "/"):
            factors.append((operator.text == "/", self._signed(), operator.position))
        return Product(tuple(factors), start) if len(factors) > 1 else first

    def _signed(self) -> Node:
        start = self._peek().position
        is_negative = False
        while operator := self._take_operator("+", "-"):
            is_negative ^= operator.text == "-"
        operand = self._power()
        return Negative(operand, start) if is_negative else operand

    def _power(self) -> Node:
        base = self._atom()
        operator = self._take_operator("**")
        if operator is None:
            return base
        return Power(base, self._nested(self._signed, operator), operator.position)

    def _atom(self) -> Node:
        token = self._take()
        if token.kind is Kind.NUMBER:
            return _read_number(token)
        if token.kind is Kind.NAME:
            return self._named(token)
        if token.kind is Kind.FEATURE:
            return Name(token.text, token.position)
        if token.kind is Kind.OPERATOR and token.text == "(":
            return self._closed(token)
        if token.kind is Kind.STRING:
            raise unreadable(f"a feature name in quotes is written {quoted_name(token.text)}", token.position)
        raise unreadable(f"expected a number, a name or a parenthesis, not {token.describe()}", token.position)

    def _named(self, token: Token) -> Node:
        name = unicodedata.normalize("NFKC", token.text)  # as Python reads identifiers
        if name == "col":
            return self._quoted_name(token)
        opens = self._peek().kind is Kind.OPERATOR and self._peek().text == "("
        if name in {"log", "exp"} and not opens:
            return Name(name, token.position)  # equations were printed so before there were these functions
        if name in FUNCTION_NAMES:
            return Call(name, self._closed(self._open(name)), token.position)
        if not token.text.isidentifier() or print_name(name) != name:
            raise unreadable(
                f"{token.text!r} is no plain identifier; a feature of that name is written {quoted_name(token.text)}",
                token.position,
            )
        if opens:
            known = ", ".join(sorted(FUNCTION_NAMES | {"col"}))
            raise unreadable(f"there is no function {name!r}, only {known}; write * to multiply", token.position)
        return Name(name, token.position)

    def _quoted_name(self, col: Token) -> Name:
        self._open("col")
        token = self._take()
        if token.kind is not Kind.STRING:
            raise unreadable("col() takes one feature name in quotes", token.position)
        self._close()
        return Name(token.text, col.position)

    def _open(self, function: str) -> Token:
        opening = self._take_operator("(")
        if opening is None:
            raise unreadable(
                f"{function!r} is a function and needs a parenthesis; a feature of that name is written "
                f"{quoted_name(function)}",
                self._peek().position,
            )
        return opening

    def _closed(self, opening: Token) -> Node:
        tree = self._nested(self._sum, opening)
        self._close()
        return tree

    def _close(self) -> None:
        if self._take_operator(")") is None:
            token = self._peek()
            raise unreadable(f"expected ')' before {token.describe()}", token.position)

    def _nested(self, rule: Callable[[], Node], token: Token) -> Node:
        if self._depth >= MAX_DEPTH:
            raise unreadable(f"nested more than {MAX_DEPTH} levels deep", token.position)
        self._depth += 1
        tree = rule()
        self._depth -= 1
        return tree


def _read_number(token: Token) -> Number:
    if len(token.text) > MAX_DIGITS:
        raise unreadable(f"a number may have at most {MAX_DIGITS} characters", token.position)
    if token.text.isdecimal():
        return Number(Fraction(int(token.text)), token.position)
    value = float(token.text)
    if math.isinf(value):
        raise unreadable("a number is too large", token.position)
    return Number(value, token.position)
