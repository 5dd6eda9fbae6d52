"""The language of exported models: a dozen kinds of numbers and five kinds of conditions, as immutable values.

A program is a list of named numbers (see `program.py`), each given by one expression of this language, and a backend is
one function that writes an expression down in another language. What a backend may rely on:

- Every expression is a double, except that `Input` has no value where `IsMissing` holds, and `Null` has none anywhere.
- Both branches of an `If` may be computed whatever the condition says: on no row is there a logarithm of a number that
  is not positive, a root of a negative one, a division by zero, or an exponential beyond ±700. `And` and `Or` must
  decide from left to right, or take a comparison with a missing value as not true, as SQL and NaN do.
- `Const` is finite. The levels of a `Lookup` have the type of its input (see `InputColumn.kind`).
- No node but `Lookup` has more than `WIDEST` parts, and nesting is shallow: a sum of many parts is a sum of sums.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from ecsel.tables.features import Level

WIDEST = 50
"""Parsers and databases limit how deep `a + b + c + …` may be nested; 50 parts are within all of those limits."""

Operator: TypeAlias = Literal["<", "<=", "==", ">=", ">"]


@dataclass(frozen=True, slots=True)
class Const:
    """A finite number."""

    value: float

    def __post_init__(self) -> None:
        if not math.isfinite(self.value):
            raise ValueError(f"a constant must be finite, not {self.value!r}")
        object.__setattr__(self, "value", float(self.value))


@dataclass(frozen=True, slots=True)
class Null:
    """No answer: SQL's NULL, Python's None, NaN where there is nothing else."""


@dataclass(frozen=True, slots=True)
class Var:
    """The number that an earlier assignment has named."""

    name: str


@dataclass(frozen=True, slots=True)
class Input:
    """The value of the input column at a position, which is a column of quantities, as a double."""

    position: int


@dataclass(frozen=True, slots=True)
class Lookup:
    """A number for every level of the input column at a position: `missing` without a level, `otherwise` by default."""

    position: int
    entries: tuple[tuple[Level, float], ...]
    missing: float
    otherwise: float


@dataclass(frozen=True, slots=True)
class _Parts:
    parts: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class _Operand:
    operand: Expr


@dataclass(frozen=True, slots=True)
class _Conditions:
    parts: tuple[Condition, ...]


class Add(_Parts):
    """The sum of two or more parts."""

    __slots__ = ()


class Mul(_Parts):
    """The product of two or more parts."""

    __slots__ = ()


class Min(_Parts):
    """The smallest of two or more parts."""

    __slots__ = ()


class Max(_Parts):
    """The largest of two or more parts."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Div:
    """A quotient whose denominator is never zero."""

    numerator: Expr
    denominator: Expr


class Neg(_Operand):
    """−x."""

    __slots__ = ()


class Abs(_Operand):
    """|x|."""

    __slots__ = ()


class Exp(_Operand):
    """e^x, −700 ≤ x ≤ 700."""

    __slots__ = ()


class Log(_Operand):
    """The natural logarithm of a positive number."""

    __slots__ = ()


class Sqrt(_Operand):
    """The square root of a number that is not negative."""

    __slots__ = ()


class Floor(_Operand):
    """The largest whole number that is not above x, |x| < 2⁵³."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class If:
    """One of two numbers."""

    condition: Condition
    then: Expr
    """Where the condition holds."""
    otherwise: Expr


@dataclass(frozen=True, slots=True)
class IsMissing:
    """Whether the input column at a position, a column of quantities, has no value (NULL, None, NaN)."""

    position: int


@dataclass(frozen=True, slots=True)
class Compare:
    """The comparison of two numbers."""

    operator: Operator
    """As Python writes it."""
    left: Expr
    right: Expr


class And(_Conditions):
    """All of two or more conditions."""

    __slots__ = ()


class Or(_Conditions):
    """Any of two or more conditions."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Not:
    """The opposite of a condition, which is itself never unknown."""

    operand: Condition


Expr: TypeAlias = (
    Const | Null | Var | Input | Lookup | Add | Mul | Min | Max | Div | Neg | Abs | Exp | Log | Sqrt | Floor | If
)
Condition: TypeAlias = IsMissing | Compare | And | Or | Not
Part = TypeVar("Part", Expr, Condition)


def add(parts: Sequence[Expr]) -> Expr:
    """Return the sum of any number of parts.

    Examples
    --------
    >>> add([]), add([Var("x")])
    (Const(value=0.0), Var(name='x'))
    """
    return _tree(Add, parts) if parts else Const(0.0)


def mul(parts: Sequence[Expr]) -> Expr:
    """Return the product of any number of parts; factors that are the constant 1 are left out.

    Examples
    --------
    >>> mul([Const(1.0), Var("x")])
    Var(name='x')
    """
    factors = [part for part in parts if part != Const(1.0)]
    return _tree(Mul, factors) if factors else Const(1.0)


def largest(parts: Sequence[Expr]) -> Expr:
    """Return the largest of one or more parts."""
    return _tree(Max, parts)


def smallest(parts: Sequence[Expr]) -> Expr:
    """Return the smallest of one or more parts."""
    return _tree(Min, parts)


def clamp(operand: Expr, low: float, high: float) -> Expr:
    """Return low, the operand or high, whichever is in the middle."""
    return Max((Min((operand, Const(high))), Const(low)))


def minus(left: Expr, right: Expr) -> Expr:
    """Return left − right."""
    return Add((left, Const(-right.value) if isinstance(right, Const) else Neg(right)))


def all_of(conditions: Sequence[Condition]) -> Condition:
    """Return the condition that one or more conditions hold."""
    return _tree(And, conditions)


def any_of(conditions: Sequence[Condition]) -> Condition:
    """Return the condition that any of one or more conditions holds."""
    return _tree(Or, conditions)


def variables(node: Any) -> Iterator[str]:
    """Yield the names that an expression or condition refers to.

    Examples
    --------
    >>> sorted(variables(Add((Var("x"), Exp(Var("y"))))))
    ['x', 'y']
    """
    if isinstance(node, Var):
        yield node.name
    elif isinstance(node, tuple):
        for part in node:
            yield from variables(part)
    elif isinstance(node, (Expr, Condition)) and not isinstance(node, Lookup):
        for field in fields(node):
            yield from variables(getattr(node, field.name))


def _tree(node: Callable[[tuple[Part, ...]], Part], parts: Sequence[Part]) -> Part:
    """Return a node of the parts, or a shallow tree of nodes where there are more than `WIDEST`."""
    while len(parts) > WIDEST:
        groups = (tuple(parts[start : start + WIDEST]) for start in range(0, len(parts), WIDEST))
        parts = [node(group) if len(group) > 1 else group[0] for group in groups]
    return node(tuple(parts)) if len(parts) > 1 else parts[0]
