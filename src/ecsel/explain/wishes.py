"""From a user's wishes to a search space: which columns may move, how far, at what cost."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ecsel.explain.search_space import Category, Numbers, Space, product
from ecsel.tables import CategoricalColumn, OrdinalColumn
from ecsel.tables.levels import level_codes, level_table
from ecsel.tables.quantities import is_missing
from ecsel.tables.reading import RawTable, read_table

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from ecsel.explain.goals import Goal
    from ecsel.explain.search_space import BoolArray
    from ecsel.explain.view import ModelView
    from ecsel.signomial import FeatureRows, ScoreTerms
    from ecsel.signomial.columns import FloatArray

TINY = 1e-300
REACH = 100.0
"""Without a training range a number may become this many times larger or smaller."""


@dataclass(frozen=True, eq=False)
class Wishes:
    """What counterfactuals may change."""

    immutable: Collection[Any] = ()
    ranges: Mapping[Any, Any] = field(default_factory=dict)
    directions: Mapping[Any, Any] = field(default_factory=dict)
    costs: Mapping[Any, float] = field(default_factory=dict)
    integers: Collection[Any] | None = None
    distance: Literal["mad", "log"] = "mad"
    data: Any = None

    def settled(self, view: ModelView) -> Wishes:
        """Return the wishes with costs in the place of data; refuse names that are no columns, and unknown options."""
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
        if self.data is None or self.distance == "log":
            return self
        table = read_table(self.data)
        columns = dict(zip(table.names if table.named else view.raw_names, table.columns, strict=False))
        costs = dict(self.costs)
        for name in (view.raw_names[j] for j in _numeric(view, view.terms, self) if view.raw_names[j] not in costs):
            if name not in columns:
                raise ValueError(f"data has no column {name!r}, of which the spread is needed")
            costs[name] = 1.0 / _spread(np.asarray(columns[name].numbers(), dtype=np.float64))
        return replace(self, costs=costs, data=None)


def build_space(
    view: ModelView, table: RawTable, rows: FeatureRows, terms: ScoreTerms, wishes: Wishes, goal: Goal
) -> Space:
    """Return the search space around rows that share their terms."""
    nominal = [j for j in _movable(view, terms, wishes) if view.levels(j) is not None]
    return Space(
        terms,
        _numbers(view, table, _numeric(view, terms, wishes), wishes),
        tuple(_category(view, table, rows, terms, j, wishes) for j in nominal),
        goal,
        product(rows.log_abs, terms.exponents.T),
    )


def _movable(view: ModelView, terms: ScoreTerms, wishes: Wishes) -> list[int]:
    """Return the columns that the terms speak of and that may change."""
    used = set(view.players[(terms.exponents != 0).any(axis=0)].tolist())
    return [j for j, name in enumerate(view.raw_names) if j in used and name not in wishes.immutable]


def _numeric(view: ModelView, terms: ScoreTerms, wishes: Wishes) -> list[int]:
    """Return those of them that are numbers."""
    return [j for j in _movable(view, terms, wishes) if any(_affine(view, f)[0] for f in _features(view, j))]


def _numbers(view: ModelView, table: RawTable, columns: list[int], wishes: Wishes) -> Numbers:
    shape = (len(columns), table.n_rows)
    value, low, high = np.empty(shape), np.empty(shape), np.empty(shape)
    integer = np.zeros(shape, dtype=bool)
    for i, j in enumerate(columns):
        value[i], moves = _values(view, table, j)
        bounds = _bounds(view, j, value[i], wishes)
        low[i], high[i] = (np.where(moves, bound, value[i]) for bound in bounds)
        integer[i] = _is_integer(view, j, value[i], wishes)
    sign = np.ones(shape)
    if view.encoder is None:
        sign = np.where(value < 0, -1.0, 1.0)
        value, ends = value * sign, (low * sign, high * sign)
        low, high = np.minimum(*ends), np.maximum(*ends)
    features = [(f, i, *_affine(view, f)) for i, j in enumerate(columns) for f in _features(view, j)]
    features = [each for each in features if each[2] != 0]
    feature, owner, slope, offset, floor = np.array(features, dtype=np.float64).reshape(-1, 5).T
    # a logarithmic coordinate is that of a column's first feature: the others are its mirror image
    first = np.searchsorted(owner, np.arange(len(columns)))
    logarithmic = wishes.distance == "log"
    if logarithmic:
        scale, shift = slope[first][:, None], offset[first][:, None]
        value, low, high = (np.log(np.maximum(each * scale + shift, TINY)) for each in (value, low, high))
    return Numbers(
        columns=np.array(columns, dtype=np.intp),
        sign=sign.T.copy(),
        start=value.T.copy(),
        low=low.T.copy(),
        high=high.T.copy(),
        integer=integer.T.copy(),
        cost=_costs(view, columns, wishes),
        features=feature.astype(np.intp),
        owner=owner.astype(np.intp),
        slope=slope,
        offset=offset,
        floor=floor,
        log_slope=slope[first],
        log_offset=offset[first],
        logarithmic=logarithmic,
    )


def _values(view: ModelView, table: RawTable, j: int) -> tuple[FloatArray, BoolArray]:
    """Return a column's values and which of them can move: not a missing one and, without an encoder, not zero.

    In the place of those that cannot stands a number that has a logarithm.
    """
    value = np.asarray(table.columns[j].numbers(), dtype=np.float64)
    column = view.numeric_column(j)
    if column is None:
        moves = value != 0
        return np.where(moves, value, 1.0), moves
    moves = ~is_missing(value, column.missing_codes)
    return np.where(moves, value, column.high), moves


def _features(view: ModelView, j: int) -> list[int]:
    return np.flatnonzero(view.players == j).tolist()


def _affine(view: ModelView, f: int) -> tuple[float, float, float]:
    """Return slope, offset and floor of feature f as a function of its column; slope 0 where it does not move."""
    if view.encoder is None:
        return 1.0, 0.0, TINY
    feature = view.encoder.features[f]
    if feature.kind not in ("numeric", "mirror"):
        return 0.0, 0.0, 0.0
    return feature.scale, feature.offset, feature.floor if view.encoder.out_of_range == "clip" else TINY


def _bounds(view: ModelView, j: int, value: FloatArray, wishes: Wishes) -> tuple[FloatArray, FloatArray]:
    """Return the range of a column: the training range or the user's, always with the rows' own values in it."""
    name, column = view.raw_names[j], view.numeric_column(j)
    if column is not None:
        low, high = np.full_like(value, column.low), np.full_like(value, column.high)
    else:
        ends = (value / REACH, value * REACH)
        low, high = np.minimum(*ends), np.maximum(*ends)
    if name in wishes.ranges:
        try:
            given_low, given_high = wishes.ranges[name]
        except (TypeError, ValueError) as error:
            raise ValueError(f"the range of {name!r} must be a pair (low, high), None for an open end") from error
        low = low if given_low is None else np.full_like(value, given_low)
        high = high if given_high is None else np.full_like(value, given_high)
        if not (low <= high).all():
            raise ValueError(f"the range of {name!r} is empty: ({low.max():g}, {high.min():g})")
        if column is None:  # without an encoder a column keeps its sign, on which the formula depends
            low, high = (
                np.where(value > 0, np.maximum(low, TINY), low),
                np.where(value > 0, high, np.minimum(high, -TINY)),
            )
    low, high = np.minimum(low, value), np.maximum(high, value)
    direction = wishes.directions.get(name)
    return value if direction == "increase" else low, value if direction == "decrease" else high


def _is_integer(view: ModelView, j: int, value: FloatArray, wishes: Wishes) -> BoolArray:
    if wishes.integers is not None:
        return np.full(value.shape, view.raw_names[j] in wishes.integers)
    return np.asarray(view.is_whole(j) & (value == np.round(value)))


def _costs(view: ModelView, columns: list[int], wishes: Wishes) -> FloatArray:
    """Return the cost of a unit: given, or 4/training range; 1 on the logarithmic scale."""
    result = np.ones(len(columns))
    for position, j in enumerate(columns):
        name, column = view.raw_names[j], view.numeric_column(j)
        if name in wishes.costs:
            result[position] = wishes.costs[name]
        elif wishes.distance == "log":
            continue
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


def _category(
    view: ModelView, table: RawTable, rows: FeatureRows, terms: ScoreTerms, j: int, wishes: Wishes
) -> Category:
    """Return the levels that rows may take instead of their own."""
    assert view.encoder is not None  # noqa: S101  # only an encoder has levels
    name, column = view.raw_names[j], view.encoder.columns[j]
    assert isinstance(column, (CategoricalColumn, OrdinalColumn))  # noqa: S101
    levels = column.levels
    wished = wishes.ranges.get(name, levels)
    if unknown := [level for level in wished if level not in levels]:
        raise ValueError(f"column {name!r} has no level {unknown[0]!r}: its levels are {list(levels)}")
    own = level_codes(table.columns[j], levels, column.missing_codes).codes[:, None]
    code = np.arange(len(levels))
    allowed = np.array([level in wished for level in levels]) & (code != own)
    if name in wishes.directions:
        if not isinstance(column, OrdinalColumn):
            raise ValueError(f"column {name!r} has no order, so it cannot increase or decrease")
        allowed &= (own >= 0) & ((code > own) == (wishes.directions[name] == "increase"))
    features = _features(view, j)
    exponents = terms.exponents[:, features].T
    logs = np.log(level_table(levels, tuple(view.encoder.features[f] for f in features))[:, : len(levels)]).T
    steps = (logs @ exponents)[None] - product(rows.log_abs[:, features], exponents)[:, None]
    return Category(j, levels, float(wishes.costs.get(name, 1.0)), allowed, steps)
