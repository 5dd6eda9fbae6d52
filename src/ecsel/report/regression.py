"""How good a law is: errors, predictions against truth, residuals, and the front of size against error."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ecsel.discovery.noise import CONSTANT
from ecsel.report.mathml import equation, simple_number, symbol
from ecsel.report.performance import Figure
from ecsel.report.pieces import piece_text
from ecsel.report.svg import Frame, padded
from ecsel.report.wording import DASH, number
from ecsel.signomial.text import format_name

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ecsel.report.evidence import Evidence, Rows
    from ecsel.report.html import Html

    Floats = NDArray[np.float64]

MAX_DOTS = 1000


@dataclass(frozen=True, slots=True)
class FrontLine:
    """One law of the front."""

    size: int
    error: str
    left_out: str
    law: Html
    chosen: bool


@dataclass(frozen=True, slots=True)
class ParameterLine:
    """One number of the law and how well it is known."""

    what: str
    """Which coefficient, exponent or constant."""
    value: str
    error: str
    """Its standard error, and the estimate where the value is rounded from it."""


@dataclass(frozen=True, slots=True)
class ValuePerformance:
    """The quality section of a regression."""

    figures: tuple[Figure, ...]
    agreement: Html
    """Truth against prediction."""
    residuals: Html
    """Residuals against predictions."""
    histogram: Html
    """How the residuals are distributed."""
    front_chart: Html | None
    front: tuple[FrontLine, ...]
    parameters: tuple[ParameterLine, ...]
    is_weighted: bool
    """Whether the errors of the front weigh rows by their noise."""


def value_performance(evidence: Evidence) -> ValuePerformance:
    """Measure a regression."""
    rows, model = evidence.evaluated, evidence.view.estimator
    predicted, residual = rows.outputs[:, 0], rows.truth - rows.outputs[:, 0]
    front = () if evidence.view.encoder is not None else _front(evidence)
    return ValuePerformance(
        figures=_figures(rows.truth, residual),
        agreement=_agreement(rows, format_name(evidence.target)),
        residuals=_residuals(predicted, residual),
        histogram=_histogram(residual),
        front_chart=_front_chart(model) if len(front) > 1 else None,
        front=front,
        parameters=_parameters(model),
        is_weighted=bool(front) and model.law_.noise.kind != CONSTANT,
    )


def _figures(truth: Floats, residual: Floats) -> tuple[Figure, ...]:
    total = float(((truth - truth.mean()) ** 2).sum())
    r2 = 1 - float((residual**2).sum()) / total if total > 0 else None
    size = np.abs(residual)
    return (
        Figure("R²", DASH if r2 is None else f"{r2:.4f}", "share of the variance that is explained"),
        Figure("RMSE", number(float(np.sqrt((residual**2).mean()))), "root of the mean squared error"),
        Figure("Mean error", number(float(size.mean())), "mean size of the error"),
        Figure("Median error", number(float(np.median(size))), "half of the rows have less"),
        Figure("Largest error", number(float(size.max())), "in the worst row"),
        Figure("Mean residual", number(float(residual.mean())), "truth minus prediction; near 0 without bias"),
    )


def _some(n: int) -> Any:
    return slice(None) if n <= MAX_DOTS else np.sort(np.random.default_rng(0).choice(n, MAX_DOTS, replace=False))


def _agreement(rows: Rows, target: str) -> Html:
    predicted, at = rows.outputs[:, 0], _some(len(rows))
    span = padded(np.concatenate([predicted, rows.truth]))
    frame = Frame(span, span)
    return frame.figure(
        f"Truth against prediction of {target}; the diagonal is perfect",
        frame.axes("prediction", "truth"),
        frame.line(np.array(span), np.array(span), "reference"),
        frame.dots(predicted[at], rows.truth[at], "c0", radius=1.6),
    )


def _residuals(predicted: Floats, residual: Floats) -> Html:
    at = _some(len(residual))
    frame = Frame(padded(predicted), padded(residual))
    return frame.figure(
        "Residuals (truth minus prediction) against the prediction; a pattern would mean that the law misses something",
        frame.axes("prediction", "residual"),
        frame.line(np.array(frame.x), np.zeros(2), "reference"),
        frame.dots(predicted[at], residual[at], "c0", radius=1.6),
    )


def _histogram(residual: Floats) -> Html:
    low, high = padded(residual, 0.0)
    counts, edges = np.histogram(residual, bins=24, range=(low, high))
    frame = Frame((low, high), (0.0, 1.05 * float(counts.max())))
    outline_x = np.repeat(edges, 2)
    outline_y = np.concatenate([[0.0], np.repeat(counts, 2), [0.0]])
    return frame.figure(
        "Histogram of the residuals",
        frame.axes("residual", "rows"),
        frame.line(outline_x, outline_y, "area"),
    )


def _front_chart(model: Any) -> Html:
    size = np.array([law.size for law in model.path_], dtype=np.float64)
    error = np.sqrt([max(law.validation_mse, 0.0) for law in model.path_])
    floor = max(float(error.max()) * 1e-12, 1e-300)
    height = np.log10(np.maximum(error, floor))
    frame = Frame((float(size.min()) - 0.5, float(size.max()) + 0.5), padded(height, 0.08), width=560, height=260)
    chosen = np.array([law.equation == model.equation_ for law in model.path_])
    return frame.figure(
        "Front of size against the error on left-out rows; the chosen law is ringed",
        frame.axes("size (terms and free exponents)", "log10 of the left-out error"),
        frame.line(size, height, "c0"),
        frame.dots(size, height, "c0", radius=3.5),
        frame.dots(size[chosen], height[chosen], "ring", radius=7),
        frame.dots(size[chosen], height[chosen], "hole", radius=5.2),
        frame.dots(size[chosen], height[chosen], "c0", radius=3.5),
    )


def _front(evidence: Evidence) -> tuple[FrontLine, ...]:
    model = evidence.view.estimator
    return tuple(
        FrontLine(
            law.size,
            number(max(law.mse, 0.0) ** 0.5),
            number(max(law.validation_mse, 0.0) ** 0.5),
            equation(symbol(evidence.target_symbol), law.equation, simple_number),
            law.equation == model.equation_,
        )
        for law in model.path_
    )


def _parameters(model: Any) -> tuple[ParameterLine, ...]:
    law = model.law_
    found = []
    for p in law.parameters:
        names = ", ".join(format_name(name) for name in law.terms[p.term].names) or "no column"
        where = f"term {p.term + 1} ({names})"
        what = f"coefficient of {where}" if p.feature is None else f"exponent of {format_name(p.feature)} in {where}"
        if hasattr(model, "encoder_"):
            what = piece_text(law.terms[p.term]).replace("`", "") or "constant"
        error = f"± {number(p.standard_error, 2)}"
        if p.rounded:
            error = f"rounded from {number(p.estimate, 6)} {error}"
        found.append(ParameterLine(what, number(p.value, 6), error))
    found += [
        ParameterLine(f"constant {format_name(c.name)}", number(c.value, 6), f"± {number(c.standard_error, 2)}")
        for c in law.constants
    ]
    return tuple(found)
