"""Changes of raw columns: multiply by a factor, add an amount, set a value or a level."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ecsel.explain.frames import table_with
from ecsel.tables import CategoricalColumn
from ecsel.tables.features import canonical_level
from ecsel.tables.level_text import LevelReading
from ecsel.tables.quantities import is_missing
from ecsel.tables.reading import RawTable, read_table

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ecsel.explain.view import ModelView


def changed_table(
    view: ModelView,
    X: Any,
    factors: Mapping[Any, Any] | None,
    set_to: Mapping[Any, Any] | None,
    add: Mapping[Any, Any] | None,
) -> tuple[Any, tuple[str, ...]]:
    """Return a changed copy of a table and the names of the columns that were changed, each by one rule only."""
    table = read_table(X)
    rules = (("factor", factors), ("set", set_to), ("add", add))
    changes: dict[int, npt.NDArray[Any]] = {}
    for rule, requested in rules:
        for name, value in (requested or {}).items():
            j = view.column_position(name)
            if j in changes:
                raise ValueError(f"column {name!r} is changed twice; use one of a factor, set= and add=")
            changes[j] = _changed(view, table, j, rule, value)
    if not changes:
        raise ValueError("nothing is changed: give factors such as {'income': 1.2}, set= or add=")
    return table_with(X, changes), tuple(view.raw_names[j] for j in changes)


def _changed(view: ModelView, table: RawTable, j: int, rule: str, value: Any) -> npt.NDArray[Any]:
    name, levels = view.raw_names[j], view.levels(j)
    if levels is not None:
        if rule == "add":
            raise ValueError(
                f"column {name!r} is a category, to which nothing can be added; set it to one of {list(levels)}"
            )
        column = None if view.encoder is None else view.encoder.columns[j]
        has_other = isinstance(column, CategoricalColumn) and (column.has_other or _takes_new_levels(view, name))
        return _as_levels(name, levels, value, table.n_rows, has_other=has_other)
    amount = _as_numbers(name, value, table.n_rows, missing_allowed=rule == "set")
    if rule == "set":
        return amount
    before = np.asarray(table.columns[j].numbers(), dtype=np.float64)
    if rule == "factor" and not (amount > 0).all():
        raise ValueError(f"the factor of column {name!r} must be positive; use set= or add= for other changes")
    after = before * amount if rule == "factor" else before + amount
    column = view.numeric_column(j)
    if column is not None and column.missing_codes:  # a code such as −999 is no number that could be scaled
        after = np.where(is_missing(before, column.missing_codes), before, after)
    return after


def _takes_new_levels(view: ModelView, name: str) -> bool:
    """Whether any text is a level: what training has not listed counts as its level for all others."""
    readings = () if view.encoder is None else view.encoder.readings
    return any(isinstance(each, LevelReading) and each.column == name and each.other is not None for each in readings)


def _as_numbers(name: str, value: Any, n_rows: int, *, missing_allowed: bool) -> npt.NDArray[np.float64]:
    try:
        numbers = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"column {name!r} holds numbers, so its change must be a number, not {value!r}") from error
    if numbers.ndim and numbers.shape != (n_rows,):
        raise ValueError(
            f"the change of column {name!r} must be one number or one per row ({n_rows}), not {numbers.shape}"
        )
    if np.isinf(numbers).any() or (np.isnan(numbers).any() and not missing_allowed):
        raise ValueError(f"the change of column {name!r} must be finite")
    return np.broadcast_to(numbers, (n_rows,)).copy()


def _as_levels(name: str, levels: tuple[Any, ...], value: Any, n_rows: int, *, has_other: bool) -> npt.NDArray[Any]:
    wanted = list(value) if isinstance(value, (list, tuple, np.ndarray)) else [value] * n_rows
    if len(wanted) != n_rows:
        raise ValueError(f"column {name!r} takes one level or one per row ({n_rows}), not {len(wanted)}")
    result = np.empty(n_rows, dtype=object)
    for i, each in enumerate(wanted):
        result[i] = None if each is None else canonical_level(each)
        if each is not None and result[i] not in levels and not has_other:
            raise ValueError(f"column {name!r} has no level {each!r}: its levels are {list(levels)}")
    return result
