"""The reference point b of L1, L2 and reasons.

==========================  =====================================================================================
``None``                    the geometric mean: of the training rows where the model remembers them, else of X
a dict of columns           the given values in raw units; columns left out stay at the geometric mean
a table or list of one row  that row, in raw units
`class_mean`                the geometric mean of the positive features over the rows of one class
==========================  =====================================================================================
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ecsel.explain.frames import native_frame, table_values, table_with
from ecsel.explain.view import LogRows, ModelView

if TYPE_CHECKING:
    from ecsel.signomial.columns import FloatArray


@dataclass(frozen=True, eq=False)
class Baseline:
    """A point in the features of the equations, and what it is called."""

    point: LogRows
    """One row."""
    description: str

    @property
    def log_x(self) -> FloatArray:
        """The logarithms log|b|, shape (features,)."""
        logs: FloatArray = self.point.log_x[0]
        return logs


def class_mean(model: Any, X: Any, y: Any, label: Any) -> Baseline:
    """Return the geometric mean of the rows of one class as a baseline.

    Examples
    --------
    >>> from ecsel import Signomial
    >>> class_mean(Signomial.parse("x"), [[1.0], [4.0], [9.0]], ["a", "a", "b"], "a").log_x.round(6)
    array([0.693147])
    """
    view = ModelView.of(model)
    rows = view.log_rows(X)
    labels = np.asarray(y)
    if labels.shape != (len(rows),):
        raise ValueError(f"y must have one label per row, shape ({len(rows)},), not {labels.shape}")
    mine = labels == label
    if not mine.any():
        raise ValueError(f"no row of y has the label {label!r}")
    return Baseline(_geometric_mean(view, rows.take(mine)), f"geometric mean of {label!r}")


def resolve_baseline(view: ModelView, X: Any, baseline: Any) -> Baseline:
    """Return the baseline that an option means; see the table above."""
    if isinstance(baseline, Baseline):
        if baseline.point.log_x.shape != (1, len(view.feature_names)):
            raise ValueError("this baseline was made for a model with other features")
        return baseline
    if baseline is None or isinstance(baseline, Mapping):
        default = _default(view, X, needed=baseline is None)
        return default if baseline is None else _with_values(view, X, baseline, default)
    one_row = baseline if native_frame(baseline) is not None or np.ndim(baseline) == 2 else [list(baseline)]
    point = view.log_rows(_as_table_of(X, one_row))
    if len(point) != 1:
        raise ValueError(f"a baseline is one row, not {len(point)}")
    return Baseline(point, "the given row")


def _default(view: ModelView, X: Any, *, needed: bool) -> Baseline:
    if view.encoder is not None:
        return Baseline(LogRows(view.encoder.baseline[None, :]), "geometric mean of the training rows")
    rows = view.log_rows(X)
    if not needed and rows.signs is not None:  # given values may stand in for columns that have no geometric mean
        return Baseline(rows.take([0]), "the first row")
    return Baseline(_geometric_mean(view, rows), "geometric mean of the rows")


def _geometric_mean(view: ModelView, rows: LogRows) -> LogRows:
    mean = rows.log_x.mean(axis=0, keepdims=True)
    if rows.signs is None or rows.term_signs is None:
        return LogRows(mean)
    mixed = (rows.signs != rows.signs[0]).any(axis=0) | (rows.signs == 0).any(axis=0)
    if mixed.any():
        name = view.feature_names[int(np.argmax(mixed))]
        raise ValueError(
            f"column {name!r} has no geometric mean, because its sign changes or it is zero: give baseline="
        )
    return LogRows(mean, rows.signs[:1], rows.term_signs[:1])


def _with_values(view: ModelView, X: Any, given: Mapping[Any, Any], default: Baseline) -> Baseline:
    positions = {view.column_position(name): value for name, value in given.items()}
    first = _first_row(X)
    changes = {j: np.array([value]) for j, value in positions.items()}
    point = view.log_rows(table_with(first, changes))
    fixed = np.isin(view.players, list(positions))
    log_x = np.where(fixed, point.log_x, default.point.log_x)
    if view.encoder is None and not fixed.all() and point.signs is not None:
        unset = [name for name, is_set in zip(view.feature_names, fixed, strict=True) if not is_set]
        raise ValueError(f"give a baseline for every column of a model with signs; {unset[0]!r} has none")
    return Baseline(LogRows(log_x, point.signs, point.term_signs), "the given values")


def _first_row(X: Any) -> Any:
    frame = native_frame(X)
    return table_values(X)[:1] if frame is None else frame.head(1).to_native()


def _as_table_of(X: Any, row: Any) -> Any:
    """Return one row as a table with the names of X, which the model checks."""
    if native_frame(row) is not None or native_frame(X) is None:
        return row
    values = table_values(row)
    return table_with(_first_row(X), {j: values[:, j] for j in range(values.shape[1])})
