"""The four panels of a case study: what-if curves of a row near the threshold, scenarios, and two exact waterfalls.

The waterfalls of a readable equation are exact Shapley values of its log-odds against a typical row, and the dashed
line is the decision threshold. Those of the paper's model are of log|z_k| (property L1) of the largest term, where its
contributions add up exactly; the dashed line is where z would reach the threshold if this term alone moved.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from scipy import special

from ecsel.explain import ModelView, importance, log_additive, probability_sensitivity, reasons
from ecsel.explain.baseline import Baseline, resolve_baseline
from ecsel.explain.frames import table_values, table_with, take_rows
from ecsel.explain.what_if import what_if_curves
from ecsel.plotting.bars import plot_waterfall
from ecsel.plotting.lines import plot_curves, plot_margin
from ecsel.plotting.style import four_panels, house_style
from ecsel.signomial import term_values

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ecsel._typing import Floats

HIGH = 0.95


def plot_sessions(
    model: Any,
    X: Any,
    *,
    curve_row: int | None = None,
    curve_features: list[Any] | None = None,
    scenarios: Mapping[str, Mapping[Any, Any]] | None = None,
    waterfall_rows: tuple[int, int] | None = None,
    baseline: Any = None,
) -> Any:
    """Draw the four panels for a classifier of two classes; returns the figure.

    Parameters
    ----------
    model : ECSELClassifier
        Two classes.
    X : table
        Rows, for example of the test set.
    curve_row : int, optional
        The position of the row of panel (a), by default the one just below the decision threshold.
    curve_features : list of columns, optional
        The columns of panel (a), by default the three to which that row is most sensitive.
    scenarios : dict of name to changes, optional
        Panel (b): changes of the average row, {column: value}. By default the average itself, and the most important
        columns of numbers one by one at their 95th percentile.
    waterfall_rows : pair of int, optional
        The positions of the rows of panels (c) and (d), by default one on either side of the threshold.
    baseline : optional
        The reference point of the waterfalls, as in `ecsel.explain.log_additive`.

    Examples
    --------
    >>> from ecsel.plotting.screening import PROFILES, screening_model
    >>> figure = plot_sessions(screening_model(), np.array(list(PROFILES.values())))
    >>> figure.axes[1].get_title()
    '(b) Scenarios: margin and probability'
    """
    view = ModelView.of(model)
    X = view.plain(X)
    threshold = _threshold(view)
    rows = view.rows(X)
    p = view.outputs_of(view.scores_of(rows))[:, 1]
    start = resolve_baseline(view, X, baseline)
    strong = _strongest_numbers(view, X, 3)
    near = _just_below(p, threshold) if curve_row is None else curve_row
    above = p >= threshold
    pair = waterfall_rows or (_most(p, above), _just_below(p, threshold))
    with house_style() as plt:
        figure, (a, b, c, d) = four_panels(plt, (13.5, 9.4))
        row = take_rows(X, np.array([near]))
        curves = what_if_curves(view, row, curve_features or _strongest_here(view, row, 3))
        plot_curves(curves, title=f"(a) What if, row {near} with p = {p[near]:.3f} (G2, exact)", ax=a)
        table, names = _scenario_rows(view, X, scenarios, strong)
        plot_margin(view, table, scenarios=names, title="(b) Scenarios: margin and probability", ax=b)
        for axes, row, letter in ((c, pair[0], "c"), (d, pair[1], "d")):
            _waterfall_panel(axes, view, X, row, letter, start)
    return figure


def _threshold(view: ModelView) -> float:
    if view.threshold is None:
        raise ValueError("these panels are for a classifier of two classes")
    return view.threshold


def _just_below(p: Floats, threshold: float) -> int:
    below = np.flatnonzero(p < threshold)
    return int(below[np.argmax(p[below])]) if below.size else int(np.argmin(p))


def _most(p: Floats, above: npt.NDArray[np.bool_]) -> int:
    """Return the median of the rows above the threshold: a typical one, not the most extreme."""
    chosen = np.flatnonzero(above)
    return int(chosen[np.argsort(p[chosen], kind="stable")[chosen.size // 2]]) if chosen.size else int(np.argmax(p))


def _strongest_numbers(view: ModelView, X: Any, n: int) -> list[str]:
    sizes = importance(view, X).values.sum(axis=0) @ view.grouping
    order = [j for j in np.argsort(-sizes, kind="stable") if view.levels(j) is None and sizes[j] > 0]
    return [view.raw_names[j] for j in order[:n]]


def _strongest_here(view: ModelView, row: Any, n: int) -> list[str]:
    """Return the columns of numbers to which the probability of this row is most sensitive, in raw units."""
    sizes = np.nan_to_num(np.abs(probability_sensitivity(view, row, units="raw").values[0, 1]))
    order = np.argsort(-sizes, kind="stable")[:n]
    return [view.raw_names[j] for j in order if sizes[j] > 0]


def _scenario_rows(
    view: ModelView, X: Any, scenarios: Mapping[str, Mapping[Any, Any]] | None, strong: list[str]
) -> tuple[Any, list[str]]:
    """Return one row per scenario: the average row, changed."""
    cells = table_values(X)
    average = [_average(cells[:, j], is_level=view.levels(j) is not None) for j in range(cells.shape[1])]
    if scenarios is None:
        high = {
            name: float(np.nanquantile(cells[:, view.column_position(name)].astype(np.float64), HIGH))
            for name in strong
        }
        scenarios = {"average": {}, **{f"high {name}": {name: value} for name, value in high.items()}}
    columns: dict[int, npt.NDArray[Any]] = {}
    for j, name in enumerate(view.raw_names):
        values = [changes.get(name, average[j]) for changes in scenarios.values()]
        column = np.empty(len(values), dtype=object)
        column[:] = values
        columns[j] = column if view.levels(j) is not None else column.astype(np.float64)
    for changes in scenarios.values():
        for name in changes:
            view.column_position(name)
    return table_with(take_rows(X, np.zeros(len(scenarios), dtype=np.intp)), columns), list(scenarios)


def _average(values: npt.NDArray[Any], *, is_level: bool) -> Any:
    if not is_level:
        return float(np.nanmean(values.astype(np.float64)))
    present = [value for value in values.tolist() if value is not None and value == value]  # noqa: PLR0124  # NaN
    distinct, counts = np.unique(np.array(present, dtype=object).astype(str), return_counts=True)
    most = distinct[counts.argmax()]
    return next(value for value in present if str(value) == most)


def _waterfall_panel(axes: Any, view: ModelView, X: Any, row: int, letter: str, baseline: Baseline) -> None:
    table = take_rows(X, np.array([row]))
    if view.encoder is not None and view.encoder.is_raw:
        scores = view.scores_of(view.rows(table, warn=False))
        p = view.outputs_of(scores)[0, 1]
        plot_waterfall(
            reasons(view, table, toward=view.classes[1], baseline=baseline),
            threshold=float(special.logit(_threshold(view))),
            title=f"({letter}) Row {row}: log-odds {_margin(scores)[0]:.3g}, p = {p:.3f} (exact)",
            ax=axes,
        )
        return
    rows = view.rows(table, warn=False)
    parts = term_values(view.terms, rows)[0]
    mine = np.flatnonzero(view.terms.classes == view.terms.n_classes - 1)
    powers = [k for k in mine.tolist() if view.terms.uses[k].any()]
    largest = max(powers, key=lambda k: abs(parts[k]))
    scores = view.scores_of(rows)
    rest = float(special.logit(_threshold(view))) - _margin(scores)[0] + parts[largest]
    p = view.outputs_of(scores)[0, 1]
    number = mine.tolist().index(largest) + 1
    plot_waterfall(
        log_additive(view, table, baseline, units="raw"),
        label=view.classes[1],
        term=number,
        threshold=float(np.log(rest / np.sign(parts[largest]))) if rest * parts[largest] > 0 else None,
        title=f"({letter}) Row {row}: largest term (L1, exact)\nscore {_margin(scores)[0]:.3g}, p = {p:.3f}",
        ax=axes,
    )


def _margin(scores: Floats) -> Floats:
    margin: Floats = scores[:, 0] if scores.shape[1] == 1 else scores[:, 1] - scores[:, 0]
    return margin
