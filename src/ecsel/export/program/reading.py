"""What terms know of the columns: the factor of each column in each term, in one of two forms.

A term is α_k·Π_i φ_ki over the input columns i. Three ways of reading a table end in a `Reading`:

- `raw.py` for a raw encoder, and for columns as they are: features are numbers, and a term is a product
  (`ProductTerm`) wherever the ranges of its features show that nothing overflows;
- `encoded.py` for the positive features of the paper's model, of which logarithms are read. Its terms, and those
  that may overflow, are α_k·Π_i s_ki·exp(Σ_i part_ki) with s ∈ {−1, 0, 1} (`LogTerm`).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from ecsel.export.program.expr import Compare, Condition, Const, Div, Expr, Var, mul
from ecsel.export.program.program import Assignment, InputColumn, Stage

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


@dataclass(slots=True)
class Sheet:
    """The assignments of a program that is being written."""

    assignments: list[Assignment] = field(default_factory=list)

    def let(self, name: str, value: Expr, stage: Stage, title: str) -> Var:
        """Name a number and return the name."""
        self.assignments.append(Assignment(name, value, stage, title))
        return Var(name)


@dataclass(frozen=True, slots=True)
class Quotient:
    """The factor of one column in one term: what is multiplied, and what is divided by."""

    above: tuple[Expr, ...] = ()
    below: tuple[Expr, ...] = ()

    def times(self, other: Quotient) -> Quotient:
        """Return the product of both."""
        return Quotient(self.above + other.above, self.below + other.below)

    @property
    def value(self) -> Expr:
        """The quotient as one expression."""
        return Div(mul(self.above), mul(self.below)) if self.below else mul(self.above)


@dataclass(frozen=True, slots=True)
class ProductTerm:
    """A term as a product of factors, by input; no product overflows."""

    factors: Mapping[int, Quotient]

    @property
    def inputs(self) -> tuple[int, ...]:
        """The positions of the inputs that the term uses."""
        return tuple(sorted(self.factors))

    def times(self, alpha: float) -> Expr:
        """Return the term with its coefficient."""
        whole = product(self.factors[i] for i in self.inputs)
        return Quotient((Const(alpha), *whole.above), whole.below).value


@dataclass(frozen=True, slots=True)
class LogTerm:
    """A term as an exponential.

    Attributes
    ----------
    parts
        By input, log|φ|.
    signs
        By input, the sign of φ; absent where it is always 1.
    """

    parts: Mapping[int, Expr]
    signs: Mapping[int, Expr]

    @property
    def inputs(self) -> tuple[int, ...]:
        """The positions of the inputs that the term uses."""
        return tuple(sorted(self.parts))


ReadTerm: TypeAlias = ProductTerm | LogTerm


@dataclass(frozen=True, slots=True)
class FeatureValue:
    """A feature: its value, which is a number on every row, and the interval in which that lies."""

    value: Expr
    low: float
    """The lowest that any row may have."""
    high: float
    """The highest that any row may have."""


@dataclass(frozen=True, slots=True)
class Reading:
    """The columns as terms see them.

    Attributes
    ----------
    inputs, columns
        The input columns, and the position of each among the raw columns of the model.
    conditions
        What must hold for the model to accept a row.
    terms
        The terms without their coefficients.
    features
        The features in use by their positions; none where only their logarithms are read.
    """

    inputs: tuple[InputColumn, ...]
    columns: tuple[int, ...]
    conditions: tuple[Condition, ...]
    terms: tuple[ReadTerm, ...]
    features: Mapping[int, FeatureValue]


def product(factors: Iterable[Quotient]) -> Quotient:
    """Return the product of any number of factors."""
    whole = Quotient()
    for each in factors:
        whole = whole.times(each)
    return whole


def is_one(flag: Var) -> Condition:
    """Return the condition that a variable that is 0 or 1 is 1."""
    return Compare("==", flag, Const(1.0))
