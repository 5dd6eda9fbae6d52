"""Expressions as people write them, in text and in LaTeX: parentheses stand only where they are needed.

A `Phrase` is written text with the strength that holds its parts together; a part that is held together by less than
its place asks for gets parentheses. The comparison with the largest double is written as one with ∞.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING, NamedTuple

from ecsel.export.accepted import LARGEST
from ecsel.export.expr import Add, And, Compare, Condition, Const, If, Mul, Neg, Not, Null, Or, Var, largest
from ecsel.export.program import Assignment
from ecsel.export.reading import is_one

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ecsel.export.expr import Operator
    from ecsel.export.program import Program
    from ecsel.export.writing import Rules
    from ecsel.tables import Level


class Binding(IntEnum):
    """How strongly the parts of a phrase are held together."""

    CHOICE = 0
    EITHER = 1
    BOTH = 2
    NEGATION = 3
    COMPARISON = 4
    SUM = 5
    PRODUCT = 6
    ATOM = 7


class Phrase(NamedTuple):
    """A written expression."""

    text: str
    binding: Binding = Binding.ATOM


@dataclass(frozen=True, slots=True)
class Notation:
    """The signs in which text and LaTeX differ.

    Attributes
    ----------
    number
        How a number is written.
    opening, closing
        Parentheses.
    times, conjunction, disjunction, negation, infinity
        Signs, with the space around them.
    comparisons
        Signs of comparisons.
    """

    number: Callable[[float], str]
    opening: str
    closing: str
    times: str
    conjunction: str
    disjunction: str
    negation: str
    infinity: str
    comparisons: Mapping[Operator, str]

    def within(self, part: Phrase, place: Binding) -> str:
        """Return a part for a place that asks for some strength."""
        return part.text if part.binding >= place else f"{self.opening}{part.text}{self.closing}"

    @property
    def rules(self) -> Rules[Phrase]:
        """The rules for sums, products, comparisons and conditions."""
        return {
            Const: self._constant,
            Add: self._sum,
            Mul: self._product,
            Neg: lambda operand: Phrase(f"-{self.within(operand, Binding.PRODUCT)}", Binding.PRODUCT),
            Compare: self._comparison,
            And: lambda parts: self._joined(self.conjunction, parts, Binding.BOTH),
            Or: lambda parts: self._joined(self.disjunction, parts, Binding.EITHER),
            Not: lambda operand: Phrase(f"{self.negation}{self.within(operand, Binding.ATOM)}", Binding.NEGATION),
        }

    def _constant(self, value: float) -> Phrase:
        return Phrase(self.number(value), Binding.PRODUCT if value < 0 else Binding.ATOM)

    def _sum(self, parts: list[Phrase]) -> Phrase:
        first, *others = (self.within(part, Binding.SUM) for part in parts)
        signed = (f" - {part[1:]}" if part.startswith("-") else f" + {part}" for part in others)
        return Phrase(first + "".join(signed), Binding.SUM)

    def _product(self, parts: list[Phrase]) -> Phrase:
        first, *others = parts
        factors = [self.within(first, Binding.PRODUCT), *(self.within(part, Binding.ATOM) for part in others)]
        return Phrase(self.times.join(factors), Binding.PRODUCT)

    def _comparison(self, operator: Operator, left: Phrase, right: Phrase) -> Phrase:
        limit = self.within(right, Binding.SUM)
        if operator == "<=" and limit == self.number(LARGEST):
            operator, limit = "<", self.infinity
        elif operator == ">=" and limit == self.number(-LARGEST):
            operator, limit = ">", f"-{self.infinity}"
        sides = f"{self.within(left, Binding.SUM)} {self.comparisons[operator]} {limit}"
        return Phrase(sides, Binding.COMPARISON)

    def _joined(self, word: str, parts: list[Phrase], binding: Binding) -> Phrase:
        return Phrase(word.join(self.within(part, Binding(binding + 1)) for part in parts), binding)


class LabelRule(NamedTuple):
    """The predicted class: that of the first condition that holds, on rows that the model accepts.

    Attributes
    ----------
    largest
        The largest probability, where the conditions refer to it.
    cases
        Classes and conditions; None always holds.
    """

    largest: Assignment | None
    cases: tuple[tuple[Level, Condition | None], ...]


VALID = is_one(Var("valid"))


def label_rule(program: Program, threshold: float | None) -> LabelRule:
    """Return how the label follows from the probabilities.

    Examples
    --------
    >>> from ecsel import Signomial
    >>> from ecsel.explain import ModelView
    >>> from ecsel.export.lowering import lower
    >>> view = ModelView.of_equations({"no": Signomial.parse("x"), "yes": Signomial.parse("1/x")}, ["x"], threshold=0.3)
    >>> [label for label, _ in label_rule(lower(view), view.threshold).cases]
    ['yes', 'no']
    """
    p = [Var(name) for name in program.outputs]
    if threshold is not None:
        first, second = program.classes
        return LabelRule(None, ((second, Compare(">=", p[1], Const(threshold))), (first, None)))
    top = Assignment("best", If(VALID, largest(p), Null()), "output", "largest probability")
    *earlier, last = zip(program.classes, p, strict=True)
    cases = [(label, Compare(">=", each, Var(top.name))) for label, each in earlier]
    return LabelRule(top, (*cases, (last[0], None)))
