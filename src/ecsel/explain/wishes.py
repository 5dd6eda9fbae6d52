"""From a user's wishes to a search space: which columns may move, how far, at what cost."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ecsel.explain.search_space import Category, Numbers, Space
from ecsel.tables import OrdinalColumn
from ecsel.tables.levels import level_table
from ecsel.tables.quantities import is_missing
from ecsel.tables.reading import RawTable, read_table

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from ecsel.explain.goals import Goal
    from ecsel.explain.view import LogRows, ModelView
    from ecsel.signomial.columns import FloatArray

TINY = 1e-300
REACH = 100.0
"""Without a training range a number may become this many times larger or smaller."""


@dataclass(frozen=True, eq=False)
class Wishes:
    """What a counterfactual may change."""

    immutable: Collection[Any] = ()
    ranges: Mapping[Any, Any] = field(default_factory=dict)
    directions: Mapping[Any, Any] = field(default_factory=dict)
    costs: Mapping[Any, float] = field(default_factory=dict)
    integers: Collection[Any] | None = None
    distance: Literal["mad", "log"] = "mad"
    data: Any = None

    def check(self, view: ModelView) -> None:
        """Refuse names that are no columns and options that do not exist."""
        for name in (*self.immutable, *self.ranges, *self.directions, *self.costs, *(self.integers or ())):
            view.column_position(name)
        for name, direction in self.directions.items():
            if direction not in ("increase", "decrease"):
                raise ValueError(f"the direction of {name!r} must be 'increase' or 'decrease', not {direction!r}")
        for name, cost in self.costs.items():
            if not (np.isfinite(cost) and cost >= 0):
                raise ValueError(f"the cost of {name!r} must be a finite number of at least 0, not {cost!r}")
        if self.distance not in ("mad", "log"):
            raise ValueError(f"distance must be 'mad' or 'log', not {self.distance!r}")


def build_space(view: ModelView, table: RawTable, rows: LogRows, wishes: Wishes, goal: Goal) -> Space:
    """Return the search space around one row."""
    (_, terms), *_ = view.orthants(rows)
    used = set(view.players[(view.terms.exponents != 0).any(axis=0)].tolist())
    movable = [j for j, name in enumerate(view.raw_names) if j in used and name not in wishes.immutable]
    numeric = [j for j in movable if view.levels(j) is None and _is_number(view, table, rows, j)]
    nominal = [j for j in movable if view.levels(j) is not None]
    categories = [_category(view, table, j, wishes) for j in nominal]
    return Space(
        terms,
        rows.log_x[0],
        _numbers(view, table, numeric, wishes),
        tuple(category for category in categories if category is not None),
        goal,
    )


def _is_number(view: ModelView, table: RawTable, rows: LogRows, j: int) -> bool:
    """Whether the row has a value here that can move: not a missing one and, without an encoder, not zero."""
    column = view.numeric_column(j)
    if column is None:
        return rows.signs is None or bool(rows.signs[0, j] != 0)
    return not is_missing(_value(table, j)[None], column.missing_codes)[0]


def _value(table: RawTable, j: int) -> FloatArray:
    return np.asarray(table.columns[j].numbers()[0], dtype=np.float64)


def _numbers(view: ModelView, table: RawTable, columns: list[int], wishes: Wishes) -> Numbers:
    value = np.array([float(_value(table, j)) for j in columns])
    bounds = [_bounds(view, j, v, wishes) for j, v in zip(columns, value, strict=True)]
    low, high = np.array(bounds).reshape(-1, 2).T
    features, owner, slope, offset, floor = [], [], [], [], []
    log_slope, log_offset = np.ones(len(columns)), np.zeros(len(columns))
    for position, j in enumerate(columns):
        for f in np.flatnonzero(view.players == j).tolist():
            a, c, least = _affine(view, f, value[position])
            if a == 0:
                continue
            features.append(f)
            owner.append(position)
            slope.append(a)
            offset.append(c)
            floor.append(least)
            if view.encoder is None or view.encoder.features[f].kind == "numeric":
                log_slope[position], log_offset[position] = a, c
    numbers = Numbers(
        columns=np.array(columns, dtype=np.intp),
        start=value,
        low=low,
        high=high,
        cost=_costs(view, columns, wishes),
        integer=np.array([_is_integer(view, j, v, wishes) for j, v in zip(columns, value, strict=True)], dtype=bool),
        features=np.array(features, dtype=np.intp),
        owner=np.array(owner, dtype=np.intp),
        slope=np.array(slope),
        offset=np.array(offset),
        floor=np.array(floor),
        log_slope=log_slope,
        log_offset=log_offset,
        logarithmic=False,
    )
    return _logarithmic(numbers) if wishes.distance == "log" else numbers


def _logarithmic(numbers: Numbers) -> Numbers:
    """Return the same columns on the scale of log x', which is of |x| where the columns are the features."""
    with np.errstate(divide="ignore", invalid="ignore"):
        ends = [
            np.log(np.maximum(v * numbers.log_slope + numbers.log_offset, TINY))
            for v in (numbers.start, numbers.low, numbers.high)
        ]
    start, first, second = ends
    return replace(
        numbers, start=start, low=np.minimum(first, second), high=np.maximum(first, second), logarithmic=True
    )


def _affine(view: ModelView, f: int, value: float) -> tuple[float, float, float]:
    """Return slope, offset and floor of feature f as a function of its column; slope 0 where it does not move."""
    if view.encoder is None:
        return float(np.sign(value)), 0.0, TINY
    feature = view.encoder.features[f]
    if feature.kind not in ("numeric", "mirror"):
        return 0.0, 0.0, 0.0
    return feature.scale, feature.offset, feature.floor if view.encoder.out_of_range == "clip" else TINY


def _bounds(view: ModelView, j: int, value: float, wishes: Wishes) -> tuple[float, float]:
    """Return the range of a column: the training range or the user's, always with the row's own value in it."""
    name, column = view.raw_names[j], view.numeric_column(j)
    if column is not None:
        low, high = column.low, column.high
    else:
        low, high = sorted((value / REACH, value * REACH))
    if name in wishes.ranges:
        try:
            given_low, given_high = wishes.ranges[name]
        except (TypeError, ValueError) as error:
            raise ValueError(f"the range of {name!r} must be a pair (low, high), None for an open end") from error
        low = low if given_low is None else float(given_low)
        high = high if given_high is None else float(given_high)
        if not low <= high:
            raise ValueError(f"the range of {name!r} is empty: ({low:g}, {high:g})")
        if column is None:  # without an encoder a column keeps its sign, on which the formula depends
            low, high = (max(low, TINY), high) if value > 0 else (low, min(high, -TINY))
    low, high = min(low, value), max(high, value)
    direction = wishes.directions.get(name)
    return value if direction == "increase" else low, value if direction == "decrease" else high


def _is_integer(view: ModelView, j: int, value: float, wishes: Wishes) -> bool:
    if wishes.integers is not None:
        return view.raw_names[j] in wishes.integers
    return view.is_whole(j) and value.is_integer()


def _costs(view: ModelView, columns: list[int], wishes: Wishes) -> FloatArray:
    """Return the cost of a unit: given, or 1/MAD of the data, or 4/training range; 1 on the logarithmic scale."""
    data = None if wishes.data is None or wishes.distance == "log" else read_table(wishes.data)
    result = np.ones(len(columns))
    for position, j in enumerate(columns):
        name, column = view.raw_names[j], view.numeric_column(j)
        if name in wishes.costs:
            result[position] = wishes.costs[name]
        elif wishes.distance == "log":
            continue
        elif data is not None:
            result[position] = 1.0 / _spread(np.asarray(data.columns[j].numbers(), dtype=np.float64))
        elif column is not None:
            result[position] = 4.0 / (column.high - column.low)
        else:
            raise ValueError("without a training range the distance needs data=, costs= or distance='log'")
    return result


def _spread(values: FloatArray) -> float:
    """Return the median absolute deviation; where it is zero the mean one, and 1 for a constant column."""
    values = values[np.isfinite(values)]
    deviation = np.abs(values - np.median(values))
    return float(np.median(deviation)) or float(deviation.mean()) or 1.0


def _category(view: ModelView, table: RawTable, j: int, wishes: Wishes) -> Category | None:
    """Return the levels that a column may take instead of its own; None where there are none."""
    assert view.encoder is not None  # noqa: S101  # only an encoder has levels
    name, column = view.raw_names[j], view.encoder.columns[j]
    levels = view.levels(j) or ()
    own = next(iter(table.columns[j].distinct()), None)
    allowed = wishes.ranges.get(name, levels)
    if unknown := [level for level in allowed if level not in levels]:
        raise ValueError(f"column {name!r} has no level {unknown[0]!r}: its levels are {list(levels)}")
    codes = [code for code, level in enumerate(levels) if level in allowed and level != own]
    if name in wishes.directions:
        if not isinstance(column, OrdinalColumn) or own not in levels:
            raise ValueError(f"column {name!r} has no order, so it cannot increase or decrease")
        here, up = levels.index(own), wishes.directions[name] == "increase"
        codes = [code for code in codes if (code > here) == up]
    if not codes:
        return None
    features = np.flatnonzero(view.players == j)
    logs = np.log(level_table(levels, tuple(view.encoder.features[f] for f in features))[:, codes]).T
    return Category(j, tuple(levels[code] for code in codes), float(wishes.costs.get(name, 1.0)), features, logs)
