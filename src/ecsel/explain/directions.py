"""Which way a column works: whether a score never falls, or never rises, as the column grows.

With all other columns as in a row, a score is a function of one column, z_c(v) = Σ_k w_ck φ_k(v), with φ_k the part of
term k that depends on it. It is evaluated at the values that the column takes in X, for every row of X, exactly. Scores
of several classes matter only against each other, so that of a class is taken relative to the mean of all.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ecsel.explain.counterfactual.columns import ColumnFactors, number_encoder
from ecsel.explain.view import ModelView
from ecsel.tables.quantities import is_missing
from ecsel.tables.reading import read_table

if TYPE_CHECKING:
    from ecsel._typing import Floats

Direction = Literal["increasing", "decreasing", "mixed", "none"]

MAX_VALUES = 257
"""Of a column of more different values so many are tried, evenly by rank."""
ROUNDING = 1e-9
"""A change below this share of the largest one is rounding."""


def directions(model: Any, X: Any, *, label: Any = None) -> dict[str, Direction]:
    """Return for each column of numbers in use which way it moves the score of a class, over the rows of X.

    Parameters
    ----------
    model : ECSELClassifier, ECSELRegressor, Signomial or ModelView
        The model.
    X : table
        The rows that the other columns are taken from, and the values that a column takes.
    label
        The class, by default the last; a regression has none.

    Returns
    -------
    dict of column to "increasing", "decreasing", "mixed" or "none"
        "increasing": in no row does the score fall anywhere as the column grows. "none": nothing changes.

    Examples
    --------
    >>> from ecsel import Signomial
    >>> directions(Signomial.parse("x**2 - log(y)"), [[-1.0, 1.0], [2.0, 3.0], [0.5, 2.0]])
    {'x': 'mixed', 'y': 'decreasing'}
    """
    view = ModelView.of(model)
    X = view.plain(X)
    rows, table = view.rows(X, warn=False), read_table(X)
    used = np.unique(view.feature_groups[view.terms.uses.any(axis=0)]).tolist()
    factors = {j: ColumnFactors.of(view, j) for j in used}
    own = {j: each.at(rows.values[:, each.features]) for j, each in factors.items()}
    coefficients = view.terms.coefficients * _class_weights(view, label)[view.terms.classes]
    result: dict[str, Direction] = {}
    for j in used:
        if view.levels(j) is not None:
            continue
        by_name = table.named and view.encoder is None
        cells = table.columns[table.names.index(view.raw_names[j]) if by_name else j]
        values = _values(view, j, np.asarray(cells.numbers(), dtype=np.float64))
        rest = np.tile(coefficients, (len(rows), 1))
        for other, phi in own.items():
            if other != j:
                rest *= phi
        result[view.raw_names[j]] = _direction(rest @ factors[j].at(number_encoder(view, j, factors[j])(values)).T)
    return result


def _class_weights(view: ModelView, label: Any) -> Floats:
    """Return the weights of the scores, whose sum is that of the class relative to the others."""
    if not view.has_classes:
        return np.ones(1)
    _, position = view.chosen_class(label)
    if view.link.has_reference:
        return np.array([1.0 if position == 1 else -1.0])
    weights: Floats = (np.arange(len(view.classes)) == position) - 1.0 / len(view.classes)
    return weights


def _values(view: ModelView, j: int, numbers: Floats) -> Floats:
    column = view.numeric_column(j)
    known = np.isfinite(numbers) if column is None else ~is_missing(numbers, column.missing_codes)
    values = np.unique(numbers[known])
    if values.size <= MAX_VALUES:
        return values
    return values[np.linspace(0, values.size - 1, MAX_VALUES).round().astype(np.intp)]


def _direction(scores: Floats) -> Direction:
    """Return which way scores (rows, values) go along the values."""
    steps = np.diff(scores, axis=1)
    small = ROUNDING * np.abs(steps).max(initial=0.0)
    up, down = bool((steps > small).any()), bool((steps < -small).any())
    if up and down:
        return "mixed"
    return "increasing" if up else "decreasing" if down else "none"
