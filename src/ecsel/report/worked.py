"""One row by hand: every piece of the equation with its value, its coefficient and their product, then the sum.

    z = b + Σ_p c_p · piece_p(x),        p = 1/(1 + e^(−z))  or  p_c = e^(z_c) / Σ_r e^(z_r)

Numbers are printed with as many digits as the product needs, so that a pocket calculator reaches the printed result.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ecsel.explain import ModelView
from ecsel.explain.frames import table_values
from ecsel.report.pieces import piece_text
from ecsel.report.rules import used_columns
from ecsel.signomial.term import Term
from ecsel.signomial.text import format_name, print_shift

if TYPE_CHECKING:
    from ecsel.tables import Feature

NEARLY = 0.001
"""Nearer to 0 or 1 than this a probability gets more digits: 0.0000 is not one that a model gives."""
SCORE_DECIMALS = 4
"""Decimals of products and sums of classes: a ten-thousandth of a log-odds is less than a ten-thousandth of chance."""
LONGEST_EXACT = 9
"""A value whose exact text is not longer is not rounded."""
LARGEST_POWER = 200.0
"""A pocket calculator has no exp(230); beyond, the largest score is taken from all of them."""


@dataclass(frozen=True, slots=True)
class WorkedPiece:
    """One piece: coefficient · value = product. The constant has no text and the value 1."""

    term: Term
    value: float
    """The term at the row, divided by its coefficient."""
    product: float
    value_text: str
    product_text: str

    @property
    def text(self) -> str:
        """The piece as the equation writes it, without its coefficient; empty for the constant."""
        return piece_text(self.term)

    @property
    def coefficient_text(self) -> str:
        """The coefficient, exactly."""
        return print_shift(self.term.coefficient)


@dataclass(frozen=True, slots=True)
class WorkedScore:
    """The pieces of one score and their sum."""

    label: Any
    pieces: tuple[WorkedPiece, ...]
    total: float
    total_text: str
    """The sum with the digits that the page prints."""


@dataclass(frozen=True, slots=True)
class WorkedInput:
    """A column of the row: its own value, and what the equation reads instead where that differs, in words."""

    column: str
    value: Any
    remark: str
    """Empty where the equation reads the value itself."""


@dataclass(frozen=True, slots=True)
class WorkedExample:
    """A row, its scores, and what follows from them: a line for each class, or for the prediction."""

    inputs: tuple[WorkedInput, ...]
    scores: tuple[WorkedScore, ...]
    outcomes: tuple[tuple[Any, float], ...]
    """The probability of each class, or the prediction under its name."""
    decided: Any
    """The predicted class; None for a law."""


def worked_example(model: Any, X: Any) -> WorkedExample:
    """Return the calculation of the first row of a table.

    Examples
    --------
    >>> from ecsel import Signomial
    >>> found = worked_example(Signomial.parse("0.5*x*log(y) - 3"), [[2.0, 1.0]])
    >>> [(piece.coefficient_text, piece.text, piece.value_text) for piece in found.scores[0].pieces]
    [('0.5', 'x*log(y)', '0'), ('-3', '', '1')]
    """
    view = ModelView.of(model)
    X = view.plain(X)
    rows = view.rows(X, warn=False)
    row = {name: rows.values[:1, j] for j, name in enumerate(view.feature_names)}
    scores = tuple(
        _score(label, equation, row, classes=view.has_classes)
        for label, equation in zip(view.score_classes, _equations(view), strict=True)
    )
    outputs = view.outputs_of(np.array([[score.total for score in scores]]))
    outcomes = tuple(zip(view.classes, outputs[0].tolist(), strict=True))
    decided = view.classes[int(view.decisions(outputs)[0])] if view.has_classes else None
    return WorkedExample(_inputs(view, X, row), scores, outcomes, decided)


def probability_text(p: float) -> str:
    """Return a probability to four decimals, near 0 and 1 to as many as say something.

    >>> [probability_text(p) for p in (0.68779, 1.5503e-06, 0.99999845)]
    ['0.6878', '1.55e-06', '0.999998']
    """
    if p < NEARLY:
        return f"{p:.3g}"
    return f"{p:.6f}" if p > 1 - NEARLY else f"{p:.4f}"


def outcome_steps(model: Any, example: WorkedExample) -> list[str]:
    """Return the last steps in words: from the sums to the probabilities and the decision; none for a law."""
    view = ModelView.of(model)
    if not view.has_classes:
        return []
    probability = dict(example.outcomes)
    if view.link.has_reference:
        label, total = view.classes[1], example.scores[0].total_text
        minus = total.removeprefix("-") if total.startswith("-") else f"-{total}"
        steps = [
            f"probability of {format_name(label)} = 1 / (1 + exp({minus})) = {probability_text(probability[label])}"
        ]
    else:
        totals = [score.total for score in example.scores]
        largest = max(totals) if max(map(abs, totals)) > LARGEST_POWER else 0.0
        less = f" - {largest:.{SCORE_DECIMALS}f}".replace("- -", "+ ") if largest else ""
        powers = [(score, math.exp(score.total - largest)) for score in example.scores]
        steps = [
            f"exp({score.total_text}{less}) = {power:.6g} for {format_name(score.label)}" for score, power in powers
        ]
        whole = sum(power for _, power in powers)
        for score, power in powers:
            share = f"{power:.6g} / {whole:.6g} = {probability_text(probability[score.label])}"
            steps.append(f"probability of {format_name(score.label)} = {share}")
    return [*steps, f"predicted: {format_name(example.decided)}"]


def _equations(view: ModelView) -> list[Any]:
    """Return the equations in the order of the scores."""
    model = view.estimator
    if model is not None:
        return list(model.equations_.values()) if view.has_classes else [model.equation_]
    return list(view.terms.to_signomials(view.feature_names))


def _score(label: Any, equation: Any, row: dict[str, Any], *, classes: bool) -> WorkedScore:
    values = [float(Term.from_factors(1.0, term.factors).evaluate(row)[0]) for term in equation.terms]
    products = [term.coefficient * value + 0.0 for term, value in zip(equation.terms, values, strict=True)]
    total = float(sum(products))
    decimals = SCORE_DECIMALS if classes else _decimals([*products, total])
    pieces = tuple(
        WorkedPiece(term, value, product, _value_text(value, product, decimals), f"{product:.{decimals}f}")
        for term, value, product in zip(equation.terms, values, products, strict=True)
    )
    return WorkedScore(label, pieces, total, f"{total:.{decimals}f}")


def _decimals(products: list[float]) -> int:
    """Return the decimals that give the largest of some numbers six digits."""
    largest = max((abs(product) for product in products), default=0.0)
    return 0 if largest == 0 else max(0, min(12, 5 - math.floor(math.log10(largest))))


def _value_text(value: float, product: float, decimals: int) -> str:
    """Return a value with the digits that its product needs."""
    exact = print_shift(value)
    if len(exact) <= LONGEST_EXACT:
        return exact
    size = abs(product)
    digits = 4 if size == 0 else max(4, math.floor(math.log10(size)) + decimals + 2)
    return f"{value:.{min(digits, 17)}g}"


def _inputs(view: ModelView, X: Any, row: dict[str, Any]) -> tuple[WorkedInput, ...]:
    cells, used = table_values(X)[0], np.flatnonzero(view.terms.uses.any(axis=0)).tolist()
    found = []
    for j in used_columns(view).tolist():
        features = (
            [] if view.encoder is None else [view.encoder.features[k] for k in used if view.feature_groups[k] == j]
        )
        remark = "; ".join(filter(None, (_remark(view, feature, cells[j], row) for feature in features)))
        found.append(WorkedInput(view.raw_names[j], _plain(cells[j]), remark))
    return tuple(found)


def _remark(view: ModelView, feature: Feature, cell: Any, row: dict[str, Any]) -> str:
    """Tell what a feature is where that is not plain from the cell."""
    value = float(row[feature.name][0])
    text = f"{value:.6g}"
    if view.encoder is None or not view.encoder.is_raw:
        return f"{feature.name} = {text}"
    if feature.kind not in {"number", "ordinal"}:
        return ""
    if _plain(cell) is None:
        return f"counts as {text}"
    if feature.kind == "ordinal":
        return f"is {text} in its order"
    if float(cell) != value:
        end = "smallest" if float(cell) < value else "largest"
        return f"counts as {text}, the {end} value in training"
    return ""


def _plain(cell: Any) -> Any:
    """Return a cell as a plain value, None where it is missing."""
    value = cell.item() if hasattr(cell, "item") else cell
    missing = value is None or value != value or type(value).__name__ == "NAType"  # noqa: PLR0124  # NaN is not itself
    return None if missing else value
