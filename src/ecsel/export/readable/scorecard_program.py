"""A scorecard as a program: the terms of the model, their points, the sums of these, and the odds that they mean.

Everything up to the terms is what `ecsel.export.program.lowering` writes; what follows is in points.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from ecsel.export.program.expr import Const, Div, Expr, Floor, If, Null, Var, add, minus, mul
from ecsel.export.program.lowering import lower, position_of, sigmoid_outputs, softmax_outputs
from ecsel.export.program.program import Contribution, Program
from ecsel.export.program.reading import Sheet, is_one
from ecsel.export.readable.scorecard_lines import piece_text

if TYPE_CHECKING:
    from ecsel.export.readable.scorecards import Scorecard


def card_program(card: Scorecard) -> Program:
    """Return a card as a program whose contributions are points."""
    view = card.view
    model = lower(view)
    sheet = Sheet([each for each in model.assignments if each.stage not in {"score", "link", "output"}])
    valid = is_one(Var("valid"))
    terms = list(zip(view.factors, view.terms.coefficients.tolist(), card.coefficients, strict=True))
    totals: list[Var] = []
    listed = []
    for c, (label, offset) in enumerate(zip(card.labels, card.offsets, strict=True)):
        pieces: list[tuple[str, Var]] = []
        for k in [k for k in range(len(terms)) if view.terms.classes[k] == c and terms[k][0]]:
            factors, alpha, coefficient = terms[k]
            exact = mul([Const(coefficient / alpha), Var(f"t{k}")])
            text = piece_text(factors)
            points = sheet.let(f"pt{k}", _rounded(exact, card.decimals), "score", f"points for {text}")
            pieces.append((text, points))
        total = sheet.let(f"pts{c}", add([Const(offset), *(each for _, each in pieces)]), "score", f"points of {label}")
        totals.append(total)
        listed.append((label, offset, [*pieces, ("total", total)]))
    p = _probabilities(card, totals, sheet)
    outputs = [
        sheet.let(f"p{c}", If(valid, each, Null()), "output", f"probability of {label}")
        for c, (each, label) in enumerate(zip(p, view.classes, strict=True))
    ]
    decision = sheet.let(
        "decision", If(valid, position_of(p, view.threshold), Null()), "output", "position of the predicted class"
    )
    contributions = []
    for label, offset, pieces in listed:
        named = []
        for text, points in pieces:
            answer = sheet.let(f"{points.name}_shown", If(valid, points, Null()), "contribution", f"points: {text}")
            named.append((text, answer.name))
        contributions.append(Contribution(label, None, offset, tuple(named), "points", "base_points"))
    return Program(
        inputs=model.inputs,
        assignments=tuple(sheet.assignments),
        classes=view.classes,
        scores=tuple(total.name for total in totals),
        outputs=tuple(output.name for output in outputs),
        decision=decision.name,
        contributions=tuple(contributions),
    )


def _probabilities(card: Scorecard, totals: list[Var], sheet: Sheet) -> list[Var]:
    per_point = math.log(2.0) / card.pdo
    if card.toward is None:
        scores = [_score(f"odds{c}", 1.0, 0.0, per_point, card.base, total, sheet) for c, total in enumerate(totals)]
        return softmax_outputs(scores, card.view.classes, sheet)
    log_odds = math.log(card.base_odds)
    return sigmoid_outputs(_score("odds", card.direction, log_odds, per_point, card.base, totals[0], sheet), sheet)


def _score(
    name: str, direction: float, log_odds: float, per_point: float, base: float, total: Var, sheet: Sheet
) -> Var:
    value = add([Const(direction * log_odds), mul([Const(direction * per_point), minus(total, Const(base))])])
    return sheet.let(name, value, "link", "logarithm of the odds")


def _rounded(points: Expr, decimals: int | None) -> Expr:
    if decimals is None:
        return points
    unit = 10.0**decimals
    whole = Floor(add([mul([Const(unit), points]), Const(0.5)]))
    return whole if decimals == 0 else Div(whole, Const(unit))
