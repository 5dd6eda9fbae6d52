"""What drives the model overall: exact contributions of columns, elasticities, and the effect of ten per cent more.

importance    mean |φ_j| over rows: exact Shapley values of the margin of the decision against a typical row
ten per cent  mean change of the outcome when column j of every row is multiplied by 1.1 (property G2, exact)
G3            mean ∂z/∂log x_j, the change of the score per proportional change, in raw units
G1            median ∂log z/∂log x_j over the rows where the score is positive, and their share
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ecsel import explain
from ecsel.report.svg import bar, signed_bar
from ecsel.report.swarm import beeswarm
from ecsel.report.wording import DASH, MINUS, number, percent
from ecsel.signomial.text import format_name

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ecsel.report.evidence import Evidence
    from ecsel.report.html import Html

    Floats = NDArray[np.float64]

MORE = 1.1
"""The effect of a column is that of ten per cent more."""
MAX_CLASSES = 6
"""Tables of more classes would fill the page."""


@dataclass(frozen=True, slots=True)
class DriverLine:
    """The importance of one column."""

    name: str
    size: str
    """Its importance, in units of the score."""
    share: str
    """Its part of the importance of all columns."""
    bar: Html


@dataclass(frozen=True, slots=True)
class ElasticityLine:
    """How one column of numbers moves one score."""

    name: str
    effect: str
    bar: Html
    gradient: str
    """The mean change of the score per proportional change of the column."""
    elasticity: str
    """The median per cent by which the score changes for one per cent more, and how many rows have one."""


@dataclass(frozen=True, slots=True)
class ElasticityTable:
    """The effects of all columns of numbers on one class, or on the prediction."""

    label: str
    lines: tuple[ElasticityLine, ...]


@dataclass(frozen=True, slots=True)
class Drivers:
    """The section on importance."""

    ranking: tuple[int, ...]
    """Positions of the raw columns in use, the most important first."""
    lines: tuple[DriverLine, ...]
    tables: tuple[ElasticityTable, ...]
    """None of a readable equation, whose curves tell more."""
    categories: tuple[str, ...]
    """Columns of levels, which have no elasticity."""
    n_rows: int
    swarm: Html | None
    """Every row a dot, where there is more than one."""
    side: str
    """What the dots of the swarm add to."""


def drivers(evidence: Evidence) -> Drivers:
    """Average explanations over evaluated rows."""
    view, X = evidence.view, evidence.explained.table
    toward = view.classes[1] if len(view.classes) == 2 else None
    found = explain.reasons(view, X, toward=toward, baseline=evidence.baseline)
    # reasons for a low prediction count down; here all rows count up
    down = np.array([not view.has_classes and each == "a lower value" for each in found.toward])
    contributions = np.where(down[:, None], -found.values, found.values)
    importance = np.abs(contributions).mean(axis=0)
    ranking = sorted(evidence.used.tolist(), key=lambda j: (-importance[j], j))
    total, top = float(importance.sum()) or 1.0, float(importance.max()) or 1.0
    lines = tuple(
        DriverLine(
            format_name(view.raw_names[j]),
            number(float(importance[j]), 3),
            percent(float(importance[j]) / total),
            bar(float(importance[j]) / top),
        )
        for j in ranking
    )
    numeric = [j for j in ranking if view.levels(j) is None]
    categories = tuple(format_name(view.raw_names[j]) for j in ranking if view.levels(j) is not None)
    readable = view.encoder is not None and view.encoder.is_raw
    tables = () if readable else _tables(evidence, numeric)
    side = format_name(evidence.target)
    if view.has_classes:
        side = "the log-odds of " + ("the decision" if toward is None else format_name(toward))
    swarm = beeswarm(evidence, contributions, tuple(ranking), f"adds to {side}")
    return Drivers(tuple(ranking), lines, tables, categories, len(contributions), swarm, side)


def _tables(evidence: Evidence, columns: list[int]) -> tuple[ElasticityTable, ...]:
    view, X = evidence.view, evidence.explained.table
    if not columns:
        return ()
    gradient = explain.log_gradient(view, X, units="raw").values
    elasticity = explain.elasticity(view, X, units="raw")
    tables = []
    labels = view.score_classes[:MAX_CLASSES]
    effects = _effects(evidence, columns)
    for s, label in enumerate(labels):
        c = view.classes.index(label)
        largest = float(np.abs(effects[:, c]).max()) or 1.0
        lines = []
        for position, j in enumerate(columns):
            effect = float(effects[position, c])
            defined = elasticity.mask[:, s, j]
            # a score near zero has an elasticity without bound, so that a mean would tell of a few rows only
            middle = float(np.median(elasticity.values[defined, s, j])) if defined.any() else None
            text = DASH if middle is None else f"{number(middle, 3)} ({percent(float(defined.mean()), 0)} of rows)"
            lines.append(
                ElasticityLine(
                    format_name(view.raw_names[j]),
                    _effect_text(effect, points=view.has_classes),
                    signed_bar(effect / largest),
                    number(float(np.nanmean(gradient[:, s, j])), 3) if not np.isnan(gradient[:, s, j]).all() else DASH,
                    text,
                )
            )
        tables.append(
            ElasticityTable(format_name(label) if view.has_classes else format_name(evidence.target), tuple(lines))
        )
    return tuple(tables)


def _effects(evidence: Evidence, columns: list[int]) -> Floats:
    """Return the mean change (columns, classes) of the outcome when a column grows by ten per cent in every row."""
    view, X = evidence.view, evidence.explained.table
    found = []
    for j in columns:
        values = MORE * evidence.explained.numbers(j)
        if view.encoder is not None and view.encoder.out_of_range != "clip" and (column := view.numeric_column(j)):
            values = np.clip(values, column.low, column.high)  # beyond, the model would refuse the row
        result = explain.what_if(view, X, set={view.raw_names[j]: values})
        found.append((result.values - result.base_outputs).mean(axis=0))
    return np.array(found)


def _effect_text(effect: float, *, points: bool) -> str:
    if not points:
        return f"{'+' if effect > 0 else ''}{number(effect, 3)}"
    return f"{100 * effect:+.2f} points".replace("-", MINUS)
