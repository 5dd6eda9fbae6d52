"""The table of a scorecard: a line for what every row has, for every piece, and for every level of a column.

A piece of indicators alone is worth fixed points where they are 1 and none elsewhere; a column with such pieces gets a
line for its other values, so that a reader finds every value of it. Any other piece is points *times* its value.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ecsel.signomial.term import Term
from ecsel.signomial.text import print_name, print_shift, print_term

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ecsel.explain.view import ModelView
    from ecsel.signomial import Factor
    from ecsel.tables import Feature

REST = {"level": "any other value", "missing": "not missing"}
"""What the line for other values says, by the kind of the first indicator."""


@dataclass(frozen=True, slots=True)
class CardLine:
    """A line of the table.

    Attributes
    ----------
    label
        The class that the points are for.
    column
        The column, or those of a product with commas; empty where the points are for every row.
    attribute
        The values of the column that get the points; empty where the points are multiplied.
    points
        The points, or the points for one unit of `times`.
    times
        What the points are multiplied with, as the equation writes it; empty where they are fixed.
    """

    label: Any
    column: str
    attribute: str
    points: float
    times: str = ""

    @property
    def says(self) -> str:
        """The line in words, without its points."""
        if self.times:
            return f"times {self.times}"
        return f"{print_name(self.column)}: {self.attribute}" if self.column else "every row"


def card_lines(
    view: ModelView, labels: Sequence[Any], offsets: Sequence[float], coefficients: Sequence[float]
) -> Iterator[CardLine]:
    """Yield the lines of all classes that have points."""
    known = {} if view.encoder is None or not view.encoder.is_raw else {f.name: f for f in view.encoder.features}
    for c, label in enumerate(labels):
        yield CardLine(label, "", "", offsets[c])
        fixed: dict[str, list[tuple[Feature, float]]] = {}
        products = []
        for factors, own, points in zip(view.factors, view.terms.classes.tolist(), coefficients, strict=True):
            if own != c or not factors:
                continue
            if len(factors) == 1 and (feature := known.get(factors[0].name)) is not None and _is_switch(feature):
                fixed.setdefault(feature.column, []).append((feature, points))
            else:
                columns = dict.fromkeys(known[f.name].column if f.name in known else f.name for f in factors)
                products.append(CardLine(label, ", ".join(columns), "", points, piece_text(factors)))
        for column, pieces in fixed.items():
            yield from _of_column(label, column, pieces)
        yield from products


def piece_text(factors: Sequence[Factor]) -> str:
    """Return a piece without its coefficient, as the equation writes it.

    Examples
    --------
    >>> from ecsel import Signomial
    >>> [piece_text(term.factors) for term in Signomial.parse("2*sqrt(y) - 38/(x + 10)").terms]
    ['sqrt(y)', '1/(x + 10)']
    """
    return print_term(Term.from_factors(1.0, factors)).removeprefix("1.0*")


def _is_switch(feature: Feature) -> bool:
    return feature.kind in {"level", "missing", "step"}


def _of_column(label: Any, column: str, pieces: Sequence[tuple[Feature, float]]) -> Iterator[CardLine]:
    """Yield the lines of one column: levels exclude each other, while the points of several steps add up."""
    apart = [each for each in pieces if each[0].kind != "step"]
    for feature, points in apart:
        yield CardLine(label, column, repr(feature.level) if feature.kind == "level" else "missing", points)
    if apart:
        kinds = {feature.kind for feature, _ in apart}
        yield CardLine(label, column, REST["level" if "level" in kinds else "missing"], 0.0)
    for feature, points in pieces:
        if feature.kind == "step":
            cut = print_shift(feature.cut or 0.0)
            yield CardLine(label, column, f"more than {cut}", points)
            yield CardLine(label, column, f"at most {cut}", 0.0)
