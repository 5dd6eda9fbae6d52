"""From the features of equations to the user's columns.

With x' = a·x + c the chain rule gives ∂/∂log x = Σ_f (a_f x / x'_f) ∂/∂log x'_f over the features f of a column: its
value, its mirror image and its missing factor, or its hinges where features are raw. Beyond a clip x' does not move and
the factor is 0. A category has no proportional change, and neither has a missing value: these cells are not defined.

Contributions to a sum (L1, L2) are unit-free: those of the features of one column are added.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ecsel.explain.explanation import ROW_CLASS_FEATURE, Explanation, Undefined, Units
from ecsel.tables.quantities import is_missing
from ecsel.tables.reading import read_table

if TYPE_CHECKING:
    from ecsel._typing import Floats
    from ecsel.explain.view import ModelView

CATEGORY = "a category has no raw elasticity"
MISSING = "the value is missing"


def check_units(units: str) -> None:
    """Refuse units that do not exist."""
    if units not in ("model", "raw"):
        raise ValueError(f"units must be 'model' or 'raw', not {units!r}")


def unit_names(view: ModelView, units: Units) -> tuple[str, ...]:
    """Return the names of the feature axis."""
    return view.feature_names if units == "model" else view.raw_names


def raw_derivatives(view: ModelView, X: Any, values: Floats) -> tuple[Floats, tuple[Undefined, ...]]:
    """Turn derivatives by log x' (rows, …, features) into derivatives by log x of the raw columns.

    Cells that are not defined are NaN.
    """
    if view.encoder is None:
        return values, ()
    factors = view.encoder.raw_elasticity_factor(X).T
    between = (1,) * (values.ndim - 2)
    result = (values * factors.reshape(len(factors), *between, -1)) @ view.grouping
    undefined = _cells_without_number(view, X)
    for each in undefined:
        each_cells = np.broadcast_to(each.cells.reshape(len(each.cells), *between, -1), result.shape)
        result[each_cells] = np.nan
    return result, tuple(Undefined(e.cells.reshape(len(e.cells), *between, -1), e.reason) for e in undefined)


def sensitivity(
    view: ModelView,
    X: Any,
    values: Floats,
    *,
    name: str,
    classes: tuple[Any, ...],
    units: Units,
    axes: tuple[str, ...] = ROW_CLASS_FEATURE,
    undefined: Undefined | None = None,
) -> Explanation:
    """Return derivatives by log x' as an explanation in the units asked for."""
    cells: tuple[Undefined, ...] = ()
    if units == "raw":
        values, cells = raw_derivatives(view, X, values)
    if undefined is not None and undefined.cells.any():
        cells += (undefined,)
    return Explanation(
        name=name,
        values=values,
        axes=axes,
        feature_names=unit_names(view, units),
        classes=classes,
        units=units,
        undefined=cells,
        view=view,
        table=X,
    )


def sum_by_column(view: ModelView, values: Floats) -> Floats:
    """Add the contributions (…, features) of the features of each raw column; NaN where one of them has none."""
    if view.encoder is None:
        return values
    missing = np.isnan(values)
    if not missing.any():
        return values @ view.grouping
    total: Floats = np.where(missing, 0.0, values) @ view.grouping
    total[(missing @ view.grouping) > 0] = np.nan
    return total


def _cells_without_number(view: ModelView, X: Any) -> tuple[Undefined, ...]:
    """Return the cells (rows, columns) of categories and of missing numbers."""
    levels = np.array([view.levels(j) is not None for j in range(len(view.raw_names))])
    table = read_table(X)
    missing = np.zeros((table.n_rows, len(table.columns)), dtype=bool)
    for j, raw in enumerate(table.columns):
        column = view.numeric_column(j)
        if column is not None:
            missing[:, j] = is_missing(np.asarray(raw.numbers(), dtype=np.float64), column.missing_codes)
    cells = ((np.broadcast_to(levels, missing.shape), CATEGORY), (missing, MISSING))
    return tuple(Undefined(each, reason) for each, reason in cells if each.any())
