"""A fitted model as a program: raw columns in, named numbers one after the other, probabilities and a label out.

The stages, of which a model has those that it needs; the first four but ``valid`` come column by column:

================  ===========================================================================================
``value``         is the value of a column usable (1 or 0), is it missing, and the value or a harmless stand-in
``feature``       what equations speak of: numbers inside of their range that are never tiny, indicators, positions
``valid``         1 where the model accepts the row, else 0
``log``           u_j = log|g_j| of bases in terms that are exponentials, and signs of those that may be negative
``part``          what a column of levels adds to the exponent of a term
``exponent``      Σ_j β_kj u_j of each term, clipped as in the model
``term``          z_k = α_k·Π_j φ_kj or α_k·exp(…)
``score``         z_c = Σ_k z_k
``link``          probabilities on the way
``output``        the probability of each class or the prediction, then the position of the predicted class
``contribution``  what each column contributes
================  ===========================================================================================

What is null: on a row that the model refuses (a missing value in a column that had none in training, an infinite
value, one outside of the training range where the rule is ``"error"``, one that has no logarithm), every output and
every contribution is null, since an export has no way to raise an error for one row of many. Only variables of the last
two stages can be null, and none of them is referred to by another.

What is not looked at: columns that occur in no equation are no inputs; the model itself refuses a missing value there.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from ecsel.export.program.expr import variables
from ecsel.tables.dates import DateReading
from ecsel.tables.number_text import NumberText

if TYPE_CHECKING:
    from ecsel.export.program.expr import Expr
    from ecsel.tables.features import Level
    from ecsel.tables.readings import Reading

Stage: TypeAlias = Literal[
    "value", "feature", "valid", "log", "part", "exponent", "term", "score", "link", "output", "contribution"
]
Kind: TypeAlias = Literal["number", "text", "boolean"]


@dataclass(frozen=True, slots=True)
class InputColumn:
    """A raw column that the program reads.

    Attributes
    ----------
    name
        The user's name for it: any text at all.
    kind
        The type of its values.
    levels
        The levels that the model knows; None for a column of quantities.
    missing_codes
        Values that stand for a missing one; the program knows them already.
    refuses_missing
        Whether a row without a value is refused.
    reading
        How the column comes from the user's table, where it is not simply one of its columns.
    """

    name: str
    kind: Kind
    levels: tuple[Level, ...] | None
    missing_codes: tuple[Level, ...]
    refuses_missing: bool
    reading: Reading | None = None

    @property
    def description(self) -> str:
        """How the column comes from the user's table, in words; nothing where it is simply one of its columns."""
        return "" if self.reading is None else self.reading.describe(self.name)

    @property
    def prepared(self) -> NumberText | DateReading | None:
        """How text or dates become this column; None where levels or numbers are read as they are."""
        return self.reading if isinstance(self.reading, (NumberText, DateReading)) else None

    @property
    def known(self) -> tuple[Level, ...]:
        """The levels and the missing codes, each once."""
        return tuple(dict.fromkeys([*(self.levels or ()), *self.missing_codes]))


@dataclass(frozen=True, slots=True)
class Assignment:
    """A named number. The name is a plain identifier; the title tells people what it is and may hold any text."""

    name: str
    value: Expr
    stage: Stage
    """The part of the calculation that it belongs to."""
    title: str


@dataclass(frozen=True, slots=True)
class Contribution:
    """What each column contributes to the score of a class, or to the logarithm of one of its terms; or points.

    Attributes
    ----------
    label
        The class; ``"prediction"`` in a regression.
    term
        The position of the term among those of the class, for contributions to log|z_k|; None for those to the score.
    base_value
        What is explained, at the baseline; None for the logarithm of a term that is zero there.
    by_column
        For each column its name and the variable of its contribution; for each piece of a scorecard its points.
    noun, base_noun
        What the numbers are called where they have names.
    """

    label: Level
    term: int | None
    base_value: float | None
    by_column: tuple[tuple[str, str], ...]
    noun: str = "contribution"
    base_noun: str = "base_value"


@dataclass(frozen=True, slots=True)
class Program:
    """A model from raw columns to outputs; build one with `ecsel.export.program.lowering.lower`.

    Attributes
    ----------
    inputs
        The raw columns that the equations use.
    assignments
        All named numbers; each refers to earlier ones only.
    classes
        The class labels; empty for a regression.
    scores
        The variable of every score: one of a sigmoid (that of the second class), one per class of a softmax.
    outputs
        The variable of each class's probability, or the one of the prediction.
    decision
        The variable of the predicted class's position among `classes`; None for a regression.
    contributions
        What was asked for as contributions.
    """

    inputs: tuple[InputColumn, ...]
    assignments: tuple[Assignment, ...]
    classes: tuple[Level, ...]
    scores: tuple[str, ...]
    outputs: tuple[str, ...]
    decision: str | None
    contributions: tuple[Contribution, ...] = ()

    def __post_init__(self) -> None:
        known: set[str] = set()
        for each in self.assignments:
            if unknown := set(variables(each.value)) - known:
                raise ValueError(f"{each.name} refers to {min(unknown)}, which no earlier assignment names")
            if each.name in known:
                raise ValueError(f"{each.name} is assigned twice")
            known.add(each.name)


def reading_lines(program: Program, *, converted: bool = False) -> list[str]:
    """Return how the columns of a program come from the user's table, a line each, in ASCII and without line breaks.

    Parameters
    ----------
    program : Program
        The program.
    converted : bool, default=False
        Whether the exported code itself turns text and dates into numbers. Otherwise its columns must be made before,
        which the first line says.

    Examples
    --------
    >>> reading = DateReading("sold", "typed", "2020-01-01", ("days", "month"), True, ("sold days", "month"))
    >>> column = InputColumn("month", "number", None, (), True, reading)
    >>> for line in reading_lines(Program((column,), (), (), (), (), None, ())):
    ...     print(line)
    Text and dates are not read here. Make these columns before:
      'month' is the month of 'sold', 1 to 12
    """
    described = {
        column: f"{column.name!a} is {ascii(column.description)[1:-1]}"
        for column in program.inputs
        if column.description
    }
    made = [line for column, line in described.items() if column.prepared is not None]
    levels = [line for column, line in described.items() if column.prepared is None]
    if not made:
        return levels
    first = (
        "Text and dates are read here:" if converted else "Text and dates are not read here. Make these columns before:"
    )
    return [first, *(f"  {line}" for line in made), *levels]
