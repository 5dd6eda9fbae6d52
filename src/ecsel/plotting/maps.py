"""Two-feature decision map: the probability over a rectangle, the boundary, and rows as dots."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ecsel.explain import ModelView
from ecsel.explain.frames import repeat_row, table_values, table_with
from ecsel.plotting.style import COLOURS, MARKERS, drawing_on, short

if TYPE_CHECKING:
    from ecsel._typing import Floats

STEPS = 121


def plot_decision_map(
    model: Any,
    x: Any,
    features: tuple[Any, Any],
    *,
    label: Any = None,
    ranges: dict[Any, tuple[float, float]] | None = None,
    rows: Any = None,
    y: Any = None,
    ax: Any = None,
) -> Any:
    """Draw the probability of a class over two columns of numbers, all others as in one row.

    Parameters
    ----------
    model : ECSELClassifier or ModelView
        The model.
    x : table of one row
        The row that gives the other columns; it is marked.
    features : pair of columns
        The horizontal and the vertical one.
    label
        The class, by default the last.
    ranges : dict of column to (low, high), optional
        By default the training ranges, or of `rows` where the model has none.
    rows : table, optional
        Rows that are drawn as dots at their values of the two columns, whatever their other columns are.
    y : labels, optional
        Their classes, which colour the dots.
    ax : matplotlib axes, optional
        Where to draw.

    Examples
    --------
    >>> from ecsel.plotting.screening import screening_model
    >>> pair = ("tumour size", "biomarker")
    >>> ranges = dict.fromkeys(pair, (0.5, 3.0))
    >>> plot_decision_map(screening_model(), [[1.4, 1.4, 1.2]], pair, ranges=ranges).get_xlabel()
    'tumour size'
    """
    view = ModelView.of(model)
    x, rows = view.plain(x), None if rows is None else view.plain(rows)
    view.probability_link  # noqa: B018  # a regression is refused
    label, c = view.chosen_class(label)
    across, up = (view.column_position(name) for name in features)
    spans = [_range(view, j, rows, (ranges or {}).get(view.raw_names[j])) for j in (across, up)]
    horizontal, vertical = (np.linspace(low, high, STEPS) for low, high in spans)
    grid = np.meshgrid(horizontal, vertical)
    table = table_with(repeat_row(x, grid[0].size), {across: grid[0].ravel(), up: grid[1].ravel()})
    outputs = view.outputs_of(view.scores_of(view.rows(table, warn=False)))
    p = outputs[:, c].reshape(STEPS, STEPS)
    lead = _lead(view, outputs, c).reshape(STEPS, STEPS)
    with drawing_on(ax, (6.2, 4.6)) as axes:
        drawn = axes.pcolormesh(
            horizontal, vertical, p, cmap="cividis", vmin=0, vmax=1, shading="auto", rasterized=True
        )
        if lead.min() < 0 <= lead.max():
            axes.contour(horizontal, vertical, lead, levels=[0.0], colors="black", linewidths=4)
            axes.contour(horizontal, vertical, lead, levels=[0.0], colors="white", linewidths=1.8)
        _draw_rows(axes, rows, y, across, up)
        here = table_values(x)[0]
        axes.plot(float(here[across]), float(here[up]), "*", color="white", markeredgecolor="black", markersize=16)
        axes.figure.colorbar(drawn, ax=axes, label=f"probability of {label}", fraction=0.05, pad=0.02)
        axes.set_xlim(*spans[0])
        axes.set_ylim(*spans[1])
        axes.set_xlabel(short(view.raw_names[across]))
        axes.set_ylabel(short(view.raw_names[up]))
        axes.set_title(f"Decision for {label}: boundary white, this row starred")
        if rows is not None and y is not None:
            axes.legend(fontsize="small", framealpha=0.85, frameon=True)
    return axes


def _lead(view: ModelView, outputs: Floats, c: int) -> Floats:
    """Return by how much the probability of a class exceeds what it needs for the decision."""
    if view.threshold is not None:
        return outputs[:, c] - (view.threshold if c == 1 else 1 - view.threshold)
    lead: Floats = outputs[:, c] - np.delete(outputs, c, axis=1).max(axis=1)
    return lead


def _draw_rows(axes: Any, rows: Any, y: Any, across: int, up: int) -> None:
    if rows is None:
        return
    cells = table_values(rows)[:, [across, up]].astype(np.float64)
    labels = np.zeros(len(cells)) if y is None else np.asarray(y)
    for i, each in enumerate(np.unique(labels)):
        mine = labels == each
        axes.plot(
            cells[mine, 0],
            cells[mine, 1],
            MARKERS[i % len(MARKERS)],
            color=COLOURS[(i + 4) % len(COLOURS)],
            markeredgecolor="black",
            markeredgewidth=0.5,
            markersize=5,
            linestyle="none",
            label=str(each),
        )


def _range(view: ModelView, j: int, rows: Any, given: tuple[float, float] | None) -> tuple[float, float]:
    if given is not None:
        return float(given[0]), float(given[1])
    if view.levels(j) is not None:
        raise ValueError(f"column {view.raw_names[j]!r} is a category; a decision map needs two columns of numbers")
    column = view.numeric_column(j)
    if column is not None:
        return column.low, column.high
    if rows is None:
        raise ValueError(f"the model knows no range of {view.raw_names[j]!r}: give ranges= or rows=")
    values: Floats = table_values(rows)[:, j].astype(np.float64)
    return float(values.min()), float(values.max())
