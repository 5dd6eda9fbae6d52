"""The reference point b of L1, L2 and reasons.

==========================  =====================================================================================
``None``                    a typical row: that of the training rows where the model remembers them, else of X
a dict of columns           the given values in raw units; columns left out stay at that row
a table or list of one row  that row, in raw units
`class_mean`                the typical row of one class
==========================  =====================================================================================

A typical row has the median of every column of numbers, and of the others the most frequent level. Positive features
of the paper's model have the mean of their logarithms in its place, and columns that an equation uses as they are a
geometric mean. `Baseline.word` is what a sentence may call a value of the reference point.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ecsel.explain.frames import native_frame, table_values, table_with
from ecsel.explain.view import ModelView
from ecsel.signomial import FeatureRows
from ecsel.tables.reading import read_table

if TYPE_CHECKING:
    from ecsel._typing import Mask
    from ecsel.tables import TableEncoder

TYPICAL, GEOMETRIC_MEAN, REFERENCE = "typical", "geometric mean", "reference"
"""What a value of a reference point may be called: a median or most frequent level, a mean, or what the caller gave."""
TYPICAL_ROW, CENTRE = "a typical row", "the centre of the training rows"


@dataclass(frozen=True, eq=False)
class Baseline:
    """A point in the features of the equations, and what it is called."""

    point: FeatureRows
    """One row."""
    description: str
    """The row in words, to stand after "against" or "compared with"."""
    word: str
    """One value of it in words: ``x = 3 (word: 2)``."""


def class_mean(model: Any, X: Any, y: Any, label: Any) -> Baseline:
    """Return the typical row of one class as a baseline: its geometric mean, or its medians where features are raw.

    Examples
    --------
    >>> from ecsel import Signomial
    >>> class_mean(Signomial.parse("x"), [[1.0], [4.0], [9.0]], ["a", "a", "b"], "a").point.values.round(6)
    array([[2.]])
    """
    view = ModelView.of(model)
    X = view.plain(X)
    rows = view.rows(X)
    labels = np.asarray(y)
    if labels.shape != (len(rows),):
        raise ValueError(f"y must have one label per row, shape ({len(rows)},), not {labels.shape}")
    mine = labels == label
    if not mine.any():
        raise ValueError(f"no row of y has the label {label!r}")
    if view.encoder is not None and view.encoder.is_raw:
        return Baseline(_medians(view, rows.take(mine)), f"a typical row of {label!r}", f"typical of {label!r}")
    return Baseline(_geometric_mean(view, rows.take(mine)), f"the geometric mean of {label!r}", f"mean of {label!r}")


def resolve_baseline(view: ModelView, X: Any, baseline: Any) -> Baseline:
    """Return the baseline that an option means; see the table above."""
    if isinstance(baseline, Baseline):
        if baseline.point.given.shape != (1, len(view.feature_names)):
            raise ValueError("this baseline was made for a model with other features")
        return baseline
    if baseline is None:
        return _default(view, X)
    if isinstance(baseline, Mapping):
        return _with_values(view, X, baseline)
    one_row = baseline if native_frame(baseline) is not None or np.ndim(baseline) == 2 else [list(baseline)]
    point = view.rows(_as_table_of(X, one_row), warn=False)
    if len(point) != 1:
        raise ValueError(f"a baseline is one row, not {len(point)}")
    return Baseline(point, "the given row", REFERENCE)


def training_baseline(encoder: TableEncoder) -> FeatureRows:
    """Return the typical training row that an encoder remembers."""
    make = FeatureRows.from_values if encoder.is_raw else FeatureRows.from_logs
    return make(encoder.baseline[None, :])


def _default(view: ModelView, X: Any) -> Baseline:
    if view.encoder is None:
        return Baseline(
            _geometric_mean(view, view.rows(X, warn=False)), "the geometric mean of the rows", GEOMETRIC_MEAN
        )
    point = training_baseline(view.encoder)
    if view.encoder.is_raw:
        return Baseline(point, TYPICAL_ROW, TYPICAL)
    return Baseline(point, CENTRE, REFERENCE)  # a mean on the scaled axis, which no column of the table has


def _geometric_mean(view: ModelView, rows: FeatureRows, fixed: Mask | None = None) -> FeatureRows:
    """Return sgn(x)·exp(mean log|x|); what is given elsewhere needs no mean."""
    if rows.is_log:
        return FeatureRows.from_logs(rows.given.mean(axis=0, keepdims=True))
    mixed = (rows.signs != rows.signs[0]).any(axis=0) | (rows.signs == 0).any(axis=0)
    if fixed is not None:
        mixed &= ~fixed
    if mixed.any():
        name = view.feature_names[int(np.argmax(mixed))]
        raise ValueError(
            f"column {name!r} has no geometric mean, because its sign changes or it is zero: give baseline="
        )
    return FeatureRows.from_values(rows.signs[:1] * np.exp(rows.log_abs.mean(axis=0, keepdims=True)))


def median_row(view: ModelView, X: Any) -> Baseline:
    """Return the typical row of a table: the median of every column, a value that occurs, so that no power refuses it.

    For equations that use the columns as they are and remember no training rows.
    """
    table = read_table(view.plain(X))
    medians = {}
    for j, name in enumerate(view.raw_names):
        values = np.asarray(table.columns[table.names.index(name) if table.named else j].numbers(), dtype=np.float64)
        medians[name] = float(np.quantile(values, 0.5, method="lower"))
    return replace(_with_values(view, X, medians), description=TYPICAL_ROW, word=TYPICAL)


def _medians(view: ModelView, rows: FeatureRows) -> FeatureRows:
    """Return a row whose every column has its median number, or its most frequent level.

    All features of a column come from one and the same row, so that they belong together.
    """
    middle = rows.given[:1].copy()
    for j in np.unique(view.feature_groups):
        own = np.flatnonzero(view.feature_groups == j)
        numbers = np.setdiff1d(own, view.indicators)
        if numbers.size:
            at = np.argsort(rows.given[:, numbers[0]], kind="stable")[(len(rows) - 1) // 2]
        else:
            _, first, count = np.unique(rows.given[:, own], axis=0, return_index=True, return_counts=True)
            at = first[count.argmax()]
        middle[0, own] = rows.given[at, own]
    return FeatureRows.from_values(middle)


def _with_values(view: ModelView, X: Any, given: Mapping[Any, Any]) -> Baseline:
    positions = {view.column_position(name): value for name, value in given.items()}
    point = view.rows(table_with(_first_row(X), {j: np.array([value]) for j, value in positions.items()}), warn=False)
    fixed = np.isin(view.feature_groups, list(positions))
    encoder = view.encoder
    default = _geometric_mean(view, view.rows(X, warn=False), fixed) if encoder is None else training_baseline(encoder)
    return Baseline(default.with_features(fixed, point), "the given values", REFERENCE)


def _first_row(X: Any) -> Any:
    frame = native_frame(X)
    return table_values(X)[:1] if frame is None else frame.head(1).to_native()


def _as_table_of(X: Any, row: Any) -> Any:
    """Return one row as a table with the names of X, which the model checks."""
    if native_frame(row) is not None or native_frame(X) is None:
        return row
    values = table_values(row)
    return table_with(_first_row(X), {j: values[:, j] for j in range(values.shape[1])})
