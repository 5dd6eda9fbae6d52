"""The decision map: what the model says over two columns, all others as in a typical row, and where it decides.

The outcome is drawn in bands, neighbours of one band as one rectangle; the boundary of the decision is the zero line of
the lead, found cell by cell with linear interpolation (marching squares).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ecsel.explain.frames import repeat_row, table_with
from ecsel.report.effects import MAX_DISTINCT
from ecsel.report.html import Html, element, join
from ecsel.report.svg import Frame
from ecsel.report.wording import number
from ecsel.signomial.text import format_name

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ecsel.report.evidence import Evidence

    Floats = NDArray[np.float64]

ACROSS, UP = 96, 66
BANDS = 10
"""Colours between the probabilities 0 and 1."""
MAX_DOTS = 300
"""Rows that are drawn; more would hide the map."""
MAX_TICKS = 8
"""Labels of an axis."""


@dataclass(frozen=True, slots=True)
class DecisionMap:
    """A chart and what it shows."""

    chart: Html
    across: str
    """The column of the horizontal axis."""
    up: str
    """The column of the vertical axis."""
    colour: str
    """What the colours stand for."""
    other_columns: str
    """How the other columns are set, in words."""
    label: str = ""
    """The class whose probability is drawn."""


def decision_map(evidence: Evidence, ranking: tuple[int, ...], start: int) -> DecisionMap | None:
    """Return the map over the two most important columns of numbers, around a row; None where there are not two."""
    view = evidence.view
    pair = [j for j in ranking if view.levels(j) is None and j in evidence.used][:2]
    if len(pair) < 2:
        return None
    spans = [_span(evidence, j) for j in pair]
    middles = [np.linspace(low, high, 2 * n + 1)[1::2] for (low, high), n in zip(spans, (ACROSS, UP), strict=True)]
    grid = np.meshgrid(*(_occurring(evidence, j, each) for j, each in zip(pair, middles, strict=True)))
    repeated = repeat_row(evidence.evaluated.take(np.array([start])), grid[0].size)
    table = table_with(repeated, {j: values.ravel() for j, values in zip(pair, grid, strict=True)})
    outputs = view.outputs_of(view.scores_of(view.rows(table, warn=False)))
    frame = Frame(spans[0], spans[1], width=460, height=340)
    names = [view.raw_names[j] for j in pair]
    if view.has_classes:
        label = view.classes[1] if len(view.classes) == 2 else view.classes[int(evidence.evaluated.decided[start])]
        c = view.classes.index(label)
        lead = _lead(view.threshold, outputs, c).reshape(UP, ACROSS)
        level = _level(view.threshold, outputs, c).reshape(UP, ACROSS)
        what = f"the probability of {format_name(label)}"
        border = _boundary(frame, middles[0], middles[1], lead)
    else:
        low, high = float(outputs.min()), float(outputs.max())
        level = ((outputs[:, 0] - low) / ((high - low) or 1.0)).reshape(UP, ACROSS)
        what = f"the prediction, from {number(low)} (orange) to {number(high)} (blue)"
        border = Html("")
    dots = _rows_as_dots(evidence, frame, pair)
    title = f"Decision map over {format_name(names[0])} and {format_name(names[1])}: {what}"
    axes = frame.axes(_short(names[0]), _short(names[1]), *(_ticks(evidence, j) for j in pair))
    chart = frame.figure(title, _bands(frame, level), axes, border, dots)
    other_columns = f"row {format_name(evidence.evaluated.labels[start])} of the {evidence.evaluated_name}"
    own = format_name(label) if view.has_classes else ""
    return DecisionMap(chart, format_name(names[0]), format_name(names[1]), what, other_columns, own)


def _span(evidence: Evidence, j: int) -> tuple[float, float]:
    """Return the range of a column without its far tails, in which a map would be empty."""
    values = evidence.training.numbers(j)
    few = _few(evidence, j)
    if len(few) > 1:  # every value has a stripe around it
        return float(few[0] - (few[1] - few[0]) / 2), float(few[-1] + (few[-1] - few[-2]) / 2)
    low, high = np.nanquantile(values, [0.01, 0.99]).tolist()
    return (low, high) if low < high else (float(np.nanmin(values)), float(np.nanmax(values)))


def _few(evidence: Evidence, j: int) -> Floats:
    """Return the different values of a column that has few of them, else none."""
    values = evidence.training.numbers(j)
    distinct: Floats = np.unique(values[~np.isnan(values)])
    return distinct if len(distinct) <= MAX_DISTINCT else distinct[:0]


def _ticks(evidence: Evidence, j: int) -> list[float] | None:
    """Return the values of a column that has few, for what is between them does not occur; None for round numbers."""
    few = _few(evidence, j)
    return few.tolist() if 1 < len(few) <= MAX_TICKS else None


def _occurring(evidence: Evidence, j: int, middles: Floats) -> Floats:
    """Return the nearest values that occur, of a column with few: between them a piece such as [x = 2] says nothing."""
    few = _few(evidence, j)
    return middles if len(few) < 2 else few[np.abs(middles[:, None] - few).argmin(axis=1)]


def _lead(threshold: float | None, outputs: Floats, c: int) -> Floats:
    """Return by how much the probability of a class exceeds what it needs for the decision."""
    if threshold is not None:
        return outputs[:, c] - threshold
    lead: Floats = outputs[:, c] - np.delete(outputs, c, axis=1).max(axis=1)
    return lead


def _level(threshold: float | None, outputs: Floats, c: int) -> Floats:
    """Return the probability of a class on a scale that has its middle where the decision changes."""
    lead = _lead(threshold, outputs, c)
    if threshold is None:
        return 0.5 + 0.5 * lead
    return 0.5 + 0.5 * np.where(lead < 0, lead / (threshold or 1.0), lead / ((1 - threshold) or 1.0))


def _bands(frame: Frame, level: Floats) -> Html:
    """Return one path per band of the level; neighbours in a row of cells are one rectangle."""
    band = np.clip((level * BANDS).astype(int), 0, BANDS - 1)
    x = np.linspace(float(frame.across(frame.x[0])), float(frame.across(frame.x[1])), ACROSS + 1)
    y = np.linspace(float(frame.up(frame.y[0])), float(frame.up(frame.y[1])), UP + 1)
    paths: dict[int, list[str]] = {}
    for i in range(UP):
        edges = (np.flatnonzero(np.diff(band[i])) + 1).tolist()
        for start, stop in zip([0, *edges], [*edges, ACROSS], strict=True):
            # half a unit of overlap, or hairlines would show between the rectangles
            width, height = x[stop] - x[start] + 0.5, y[i] - y[i + 1] + 0.5
            box = f"M{x[start]:.1f} {y[i + 1]:.1f}h{width:.1f}v{height:.1f}h-{width:.1f}z"
            paths.setdefault(int(band[i, start]), []).append(box)
    return join(element("path", d="".join(boxes), class_=f"band-{k}") for k, boxes in sorted(paths.items()))


def _boundary(frame: Frame, x: Floats, y: Floats, lead: Floats) -> Html:
    """Return the zero line of the lead as short straight pieces, one or two per cell."""
    pieces = []
    for i in range(len(y) - 1):
        for j in range(len(x) - 1):
            corners = [(j, i), (j + 1, i), (j + 1, i + 1), (j, i + 1)]
            crossings = []
            for (ja, ia), (jb, ib) in zip(corners, corners[1:] + corners[:1], strict=True):
                a, b = lead[ia, ja], lead[ib, jb]
                if (a >= 0) != (b >= 0):
                    share = a / (a - b)
                    crossings.append((x[ja] + share * (x[jb] - x[ja]), y[ia] + share * (y[ib] - y[ia])))
            for (x1, y1), (x2, y2) in zip(crossings[::2], crossings[1::2], strict=True):
                ends = [float(frame.across(x1)), float(frame.up(y1)), float(frame.across(x2)), float(frame.up(y2))]
                pieces.append("M{:.1f} {:.1f}L{:.1f} {:.1f}".format(*ends))
    path = "".join(pieces)
    return join([element("path", d=path, class_="boundary under"), element("path", d=path, class_="boundary")])


def _rows_as_dots(evidence: Evidence, frame: Frame, pair: list[int]) -> Html:
    rows = evidence.evaluated
    x, y = (rows.numbers(j) for j in pair)
    inside = (x >= frame.x[0]) & (x <= frame.x[1]) & (y >= frame.y[0]) & (y <= frame.y[1])
    chosen = np.flatnonzero(inside)
    if len(chosen) > MAX_DOTS:
        chosen = chosen[np.sort(np.random.default_rng(0).choice(len(chosen), MAX_DOTS, replace=False))]
    return frame.dots(x[chosen], y[chosen], "row", radius=1.4)


def _short(name: str, width: int = 48) -> str:
    text = format_name(name)
    return text if len(text) <= width else text[: width - 1] + "…"
