"""The strongest drivers of a model, in words: mean sizes of exact Shapley values over rows, per raw column.

Scores of several classes matter only against each other, so their values are taken relative to the mean over classes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import spearmanr

from ecsel import explain
from ecsel.signomial.text import format_name

ROWS, BACKGROUND = 300, 100
"""Rows that are explained, and the rows over which absent columns are averaged."""

ONE_WAY = 0.5
"""The rank correlation of a column with its own effect from which on it is said to work one way."""


@dataclass(frozen=True, slots=True)
class Driver:
    """A column, the mean size of its effect on the score, the class it speaks of, and which way."""

    column: str
    strength: float
    label: Any
    text: str


def strongest_drivers(model: Any, X: Any, n: int = 3, seed: int = 0) -> tuple[Driver, ...]:
    """Return the columns that move the scores most, the strongest first."""
    view = explain.ModelView.of(model)
    order = np.random.default_rng(seed).permutation(len(X))
    rows, behind = X.iloc[np.sort(order[:ROWS])], X.iloc[np.sort(order[:BACKGROUND])]
    found = explain.shapley(view, rows, behind)
    values = found.values if len(found.classes) == 1 else found.values - found.values.mean(axis=1, keepdims=True)
    sizes = np.abs(values).mean(axis=0)
    strength = sizes.mean(axis=0)
    chosen = [j for j in np.argsort(-strength, kind="stable").tolist()[:n] if strength[j] > 0]
    drivers = []
    for j in chosen:
        c = int(sizes[:, j].argmax())
        label = found.classes[c] if view.has_classes else None
        way = explain.directions(view, rows, label=label).get(view.raw_names[j])
        side = _side(rows.iloc[:, j], values[:, c, j], view.levels(j) is not None, way)
        whom = f"for {format_name(found.classes[c])}" if view.has_classes else "for a higher prediction"
        unit = "the log-odds" if view.has_classes else "the prediction"
        name = found.feature_names[j]
        line = f"{format_name(name)}: {side.format(whom=whom)}; it moves {unit} by {sizes[c, j]:.3g} on average"
        drivers.append(Driver(name, float(strength[j]), found.classes[c], line))
    return tuple(drivers)


def _side(values: Any, effects: np.ndarray[Any, Any], has_levels: bool, way: str | None) -> str:
    """Return which values speak for the class, with a place for its name; `way` is that of a column of numbers."""
    if has_levels:
        levels = values.astype("str").fillna("?").to_numpy(dtype=object)
        best = max(set(levels), key=lambda level: (effects[levels == level].mean(), level))
        best = format_name(best).replace("{", "{{").replace("}", "}}")
        return f"{best} speaks most {{whom}}"
    if way in ("increasing", "decreasing"):  # in every row, whatever the correlation says
        return f"{'high' if way == 'increasing' else 'low'} values speak {{whom}}"
    x = values.to_numpy(dtype=np.float64, na_value=np.nan)
    known = ~np.isnan(x)
    constant = np.unique(x[known]).size < 2 or np.unique(effects[known]).size < 2
    r = 0.0 if constant else float(spearmanr(x[known], effects[known]).statistic)
    if abs(r) < ONE_WAY:
        return "neither high nor low values simply speak {whom}"
    # a correlation is a tendency: some low value may speak for the class that high ones mostly speak for
    return f"mostly {'high' if r > 0 else 'low'} values speak {{whom}}"
