"""The strongest drivers of a model, in words: mean sizes of exact Shapley values over rows, per raw column.

For two classes and for numbers they are the figures of the report, compared with a typical row. Scores of several
classes matter only against each other, so their values are taken relative to the mean over classes, against a
background of rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import spearmanr

from ecsel import explain
from ecsel.explain.baseline import median_row
from ecsel.explain.frames import MAX_EXPLAINED, some_rows
from ecsel.explain.reasons import LOWER
from ecsel.signomial.text import for_people, format_name

ROWS, BACKGROUND = 300, 100
"""Of several classes: rows that are explained, and the rows over which absent columns are averaged."""

ONE_WAY = 0.5
"""The rank correlation of a column with its own effect from which on it is said to work one way."""


@dataclass(frozen=True, slots=True)
class Driver:
    """A column, the mean size of its effect on the score, the class it speaks of, and which way.

    Examples
    --------
    >>> Driver("age", 0.8, "paid", "age: more of it speaks for paid").column
    'age'
    """

    column: str
    strength: float
    label: Any
    text: str


def strongest_drivers(model: Any, X: Any, n: int = 3, seed: int = 0) -> tuple[Driver, ...]:
    """Return the columns that move the scores most, the strongest first."""
    view = explain.ModelView.of(model)
    several = len(view.classes) > 2 if view.has_classes else False
    rows, values, labels = _of_classes(view, X, seed) if several else _against_typical(view, X)
    sizes = np.abs(values).mean(axis=0)
    strength = sizes.mean(axis=0)
    chosen = [j for j in np.argsort(-strength, kind="stable").tolist()[:n] if strength[j] > 0]
    drivers = []
    for j in chosen:
        c = int(sizes[:, j].argmax())
        label = labels[c]
        way = explain.directions(view, rows, label=label).get(view.raw_names[j])
        side = _side(rows.iloc[:, j], values[:, c, j], view.levels(j) is not None, way)
        whom = f"for {format_name(label)}" if view.has_classes else "for a higher prediction"
        unit = "the prediction" if not view.has_classes else "its score" if several else "the log-odds"
        name = view.raw_names[j]
        size = for_people(float(f"{sizes[c, j]:.3g}"))
        line = f"{format_name(name)}: {side.format(whom=whom)}; the column moves {unit} by {size} on average"
        drivers.append(Driver(name, float(strength[j]), label, line))
    return tuple(drivers)


def _against_typical(view: Any, X: Any) -> tuple[Any, np.ndarray[Any, Any], tuple[Any, ...]]:
    """Return rows, their contributions (rows, 1, columns) as the report shows them, and the class that they add to."""
    rows = X.iloc[some_rows(len(X), MAX_EXPLAINED)]
    label = view.classes[1] if view.has_classes else None
    baseline = median_row(view, X) if view.encoder is None else None
    found = explain.reasons(view, rows, toward=label, baseline=baseline)
    sign = np.array([-1.0 if each == LOWER else 1.0 for each in found.toward])
    return rows, (sign[:, None] * found.values)[:, None], (label,)


def _of_classes(view: Any, X: Any, seed: int) -> tuple[Any, np.ndarray[Any, Any], tuple[Any, ...]]:
    """Return rows, their contributions (rows, classes, columns) relative to the mean over classes, and the classes."""
    order = np.random.default_rng(seed).permutation(len(X))
    rows, behind = X.iloc[np.sort(order[:ROWS])], X.iloc[np.sort(order[:BACKGROUND])]
    found = explain.shapley(view, rows, behind)
    return rows, found.values - found.values.mean(axis=1, keepdims=True), found.classes


def _side(values: Any, effects: np.ndarray[Any, Any], has_levels: bool, way: str | None) -> str:
    """Return which values speak for the class, with a place for its name; `way` is that of a column of numbers."""
    if has_levels:
        levels = values.astype("str").fillna("?").to_numpy(dtype=object)
        best = max(set(levels), key=lambda level: (effects[levels == level].mean(), level))
        best = format_name(best).replace("{", "{{").replace("}", "}}")
        return f"{best} speaks most {{whom}}"
    if way in ("increasing", "decreasing"):  # in every row, which a correlation cannot say
        return f"{'high' if way == 'increasing' else 'low'} values speak {{whom}}"
    x = values.to_numpy(dtype=np.float64, na_value=np.nan)
    known = ~np.isnan(x)
    constant = np.unique(x[known]).size < 2 or np.unique(effects[known]).size < 2
    r = 0.0 if constant else float(spearmanr(x[known], effects[known]).statistic)
    if abs(r) < ONE_WAY:
        return "neither high nor low values simply speak {whom}"
    # a correlation is a tendency: some low value may speak for the class that high ones mostly speak for
    return f"mostly {'high' if r > 0 else 'low'} values speak {{whom}}"
