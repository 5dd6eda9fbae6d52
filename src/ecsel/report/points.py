"""The equation as points, where the author of a report asks for a scorecard."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ecsel.export.readable.scorecards import Scorecard
from ecsel.report.wording import MINUS, number
from ecsel.signomial.text import format_name, print_shift

if TYPE_CHECKING:
    from ecsel.export.readable.scorecard_lines import CardLine
    from ecsel.report.evidence import Evidence

SIGNS = ((" * ", " × "), ("2**(", "2^("), (" - ", f" {MINUS} "), (">=", "≥"), ("<=", "≤"))
"""Signs of a program, and those of a printed page."""


@dataclass(frozen=True, slots=True)
class PointLine:
    """A line of the card."""

    label: str
    """The class that the points are for."""
    says: str
    """When they are given."""
    points: str


@dataclass(frozen=True, slots=True)
class Points:
    """The card, and how far rounded points move the probabilities of the training rows; empty where they are exact."""

    lines: tuple[PointLine, ...]
    rules: tuple[str, ...]
    several: bool
    """Whether every class has points of its own."""
    difference: str


def points(evidence: Evidence, card: Scorecard | None) -> Points | None:
    """Return the card of a report; it must be one of the report's own model."""
    if card is None:
        return None
    if not isinstance(card, Scorecard) or card.view.estimator is not evidence.view.estimator:
        raise ValueError("points must be a scorecard of the reported model: points=ecsel.scorecard(model, decimals=0).")
    rounded = "" if card.decimals is None else number(card.max_difference(evidence.training.table), 2)
    return Points(
        tuple(map(_line, card.lines)), tuple(_rule(text, card) for text in card.rules()), card.toward is None, rounded
    )


def _rule(text: str, card: Scorecard) -> str:
    """Return a rule of the card with the signs of a printed page in the place of those of a program."""
    for label in card.view.classes:
        text = text.replace(repr(label), format_name(label))
    for sign, printed in SIGNS:
        text = text.replace(sign, printed)
    return text


def _line(line: CardLine) -> PointLine:
    """Return a line whose points say what they are multiplied with, where they are."""
    value = print_shift(line.points).replace("-", MINUS)
    if line.times:
        return PointLine(format_name(line.label), format_name(line.column), f"{value} × {line.times}".replace("`", ""))
    return PointLine(format_name(line.label), line.says.replace("`", ""), value)
