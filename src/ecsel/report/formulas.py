"""The section on the equation: typeset, in exact text, with its scales, its promises and how to read its numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ecsel.estimators.guarantees import guarantee_lines
from ecsel.estimators.summary import remarks
from ecsel.report.html import Html, element
from ecsel.report.mathml import equation, score_of, simple_number, symbol
from ecsel.report.wording import MINUS, number, shown

if TYPE_CHECKING:
    from ecsel.report.evidence import Evidence
    from ecsel.tables import Feature


@dataclass(frozen=True, slots=True)
class Formula:
    """One equation: typeset, exact, and what there is to say about it."""

    typeset: Html
    exact: str
    remarks: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ScaleLine:
    """How a name of the equations is read off a column."""

    name: str
    meaning: str


@dataclass(frozen=True, slots=True)
class Formulas:
    """The section on the equation."""

    formulas: tuple[Formula, ...]
    link: Html | None
    decision: str | None
    scales: tuple[ScaleLine, ...]
    promises: tuple[str, ...]
    size: str


def formulas(evidence: Evidence) -> Formulas:
    """Typeset the model."""
    model, view = evidence.view.estimator, evidence.view
    if not view.has_classes:
        law = model.equation_
        typeset = equation(symbol(evidence.target_symbol), law, simple_number)
        return Formulas((Formula(typeset, str(law), ()),), None, None, (), (), _size([law]))
    equations = list(model.equations_.values())
    found = tuple(
        Formula(equation(score_of(label), each), str(each), tuple(remarks(each, model.encoder_)))
        for label, each in model.equations_.items()
    )
    used = {name for each in equations for name in each.names}
    scales = tuple(
        ScaleLine(shown(feature.name), _meaning(feature)) for feature in model.encoder_.features if feature.name in used
    )
    promises = guarantee_lines(model.monotone, equations, model.encoder_, list(view.classes))
    return Formulas(
        found, _link(view.link, view.classes), _decision(evidence), scales, tuple(promises), _size(equations)
    )


def _size(equations: list[Any]) -> str:
    n_terms = sum(len(each.terms) for each in equations)
    n_numbers = sum(1 + len(term.exponents) for each in equations for term in each.terms)
    return f"{n_terms} {'term' if n_terms == 1 else 'terms'} and {n_numbers} numbers"


def _link(link: str, classes: tuple[Any, ...]) -> Html:
    """Return how scores become probabilities."""
    p, exp = element("mi", "p"), element("mi", "e")

    def power(sign: str, label: Any) -> Html:
        score = score_of(label)
        return element("msup", exp, element("mrow", element("mo", sign), score) if sign else score)

    if link == "sigmoid":
        left = element("msub", p, element("mtext", shown(classes[1])))
        below = element("mrow", element("mn", "1"), element("mo", "+"), power(MINUS, classes[1]))
        right = element("mfrac", element("mn", "1"), below)
    else:
        left = element("msub", p, element("mi", "c"))
        score = element("msub", element("mi", "z"), element("mi", "c"))
        other = element("msub", element("mi", "z"), element("mi", "r"))
        total = element("munder", element("mo", "∑"), element("mi", "r"))
        below = element("mrow", total, element("msup", exp, other))
        right = element("mfrac", element("msup", exp, score), below)
    return element("math", left, element("mo", "="), right, display="block")


def _decision(evidence: Evidence) -> str:
    view = evidence.view
    if view.threshold is not None:
        return f"It decides for {shown(view.classes[1])} where its probability is at least {number(view.threshold)}."
    return "It decides for the class with the highest probability."


def _meaning(feature: Feature) -> str:
    column = shown(feature.column)
    if feature.kind == "level":
        return f"{number(feature.ceiling)} where {column} is {shown(feature.level)}, else 1"
    if feature.kind == "missing":
        return f"{number(feature.ceiling)} where {column} is missing, else 1"
    sign = MINUS if feature.offset < 0 else "+"
    offset = f" {sign} {number(abs(feature.offset))}" if feature.offset else ""
    what = f"the position of {column} in its order, from 0" if feature.kind == "ordinal" else column
    mirror = ", the mirror image" if feature.kind == "mirror" else ""
    return f"{number(feature.scale)} · ({what}){offset}{mirror}"
