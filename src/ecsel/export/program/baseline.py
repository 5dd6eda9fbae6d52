"""The one reference row of exported contributions, given as explanations take it, but without a table at hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ecsel.explain.baseline import resolve_baseline, training_baseline
from ecsel.tables import CategoricalColumn, NumericColumn, OrdinalColumn
from ecsel.tables.reading import RawTable

if TYPE_CHECKING:
    from ecsel.explain.view import ModelView
    from ecsel.signomial import FeatureRows


def baseline_of(view: ModelView, baseline: Any) -> FeatureRows:
    """Return the point that an option means.

    None is a typical training row; a dict gives columns by name, the others stay as in that row; a list gives all
    columns in order; a table has one row; a `Baseline` is one already.
    """
    if isinstance(baseline, Sequence) and not isinstance(baseline, str) and np.ndim(baseline) == 1:
        if len(baseline) != len(view.raw_names):
            raise ValueError(f"a baseline has one value per column, {len(view.raw_names)}, not {len(baseline)}")
        baseline = dict(zip(view.raw_names, baseline, strict=True))
    if view.encoder is None and baseline is None:
        raise ValueError("the model does not remember its training rows: give the baseline of the contributions")
    if isinstance(baseline, Mapping):
        return _with_values(view, baseline)
    return resolve_baseline(view, baseline, baseline).point


def _with_values(view: ModelView, given: Mapping[Any, Any]) -> FeatureRows:
    positions = {view.column_position(name): value for name, value in given.items()}
    if view.encoder is None:
        used = {factor.name for factors in view.factors for factor in factors}
        if unset := [name for name in view.raw_names if name in used and name not in given]:
            raise ValueError(f"give a baseline for every column of the equations; {unset[0]!r} has none")
    cells = np.empty((1, len(view.raw_names)), dtype=object)
    cells[0] = [positions.get(j, _some_value(view, j)) for j in range(len(view.raw_names))]
    point = view.cell_rows(RawTable.of_cells(cells))
    if view.encoder is None:
        return point
    fixed = np.isin(view.feature_groups, list(positions))
    return training_baseline(view.encoder).with_features(fixed, point)


def _some_value(view: ModelView, j: int) -> Any:
    """Return a value that the model accepts in a column that is not asked about."""
    column = None if view.encoder is None else view.encoder.columns[j]
    if isinstance(column, NumericColumn):
        return column.low
    return column.levels[0] if isinstance(column, (CategoricalColumn, OrdinalColumn)) else 1.0
