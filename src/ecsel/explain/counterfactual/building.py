"""From a model, rows and options to the search space: columns with their bounds, digits, costs and jumps."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ecsel.explain.counterfactual.columns import (
    TINY,
    ColumnFactors,
    Grain,
    LevelColumn,
    NumberColumn,
    number_encoder,
    shares_for,
)
from ecsel.explain.counterfactual.options import Options, movable_columns, number_columns
from ecsel.explain.counterfactual.space import Space
from ecsel.tables import CategoricalColumn, OrdinalColumn
from ecsel.tables.features import CUT_KINDS
from ecsel.tables.levels import level_codes, level_table
from ecsel.tables.quantities import is_missing

if TYPE_CHECKING:
    from collections.abc import Callable

    from ecsel._typing import Floats, Mask
    from ecsel.explain.counterfactual.goals import Goal
    from ecsel.explain.view import ModelView
    from ecsel.signomial import FeatureRows
    from ecsel.tables import NumericColumn
    from ecsel.tables.reading import RawTable

REACH = 100.0
"""Without a training range a number may become this many times larger or smaller."""
BESIDE = 1e-12
"""How near to the end of a domain a number is tried, relative to it."""
FINE, FINEST = 6, 300
"""Numbers whose decimals are not known are given to a millionth of the power of ten within their training range."""


def build_space(
    view: ModelView, table: RawTable, rows: FeatureRows, options: Options, goal: Goal, slack: float
) -> Space:
    """Return the search space around some rows; `slack` is relative to the margin that a row has."""
    columns: list[NumberColumn | LevelColumn] = []
    factors = {
        j: ColumnFactors.of(view, j) for j in np.unique(view.feature_groups[view.terms.uses.any(axis=0)]).tolist()
    }
    own = {j: each.at(rows.values[:, each.features]) for j, each in factors.items()}
    numeric = set(number_columns(view, options))
    shares = shares_for(sum(j in numeric for j in movable_columns(view, options)))
    for j in movable_columns(view, options):
        if view.levels(j) is not None:
            columns.append(_level_column(view, table, factors[j], j, options))
        elif j in numeric:
            columns.append(_number_column(view, table, factors[j], j, options, shares))
    moving = {column.position for column in columns}
    fixed = np.tile(view.terms.coefficients, (len(rows), 1))
    with np.errstate(over="ignore", invalid="ignore"):
        for j, each in own.items():
            if j not in moving:
                fixed *= each
        terms = fixed.copy()
        for j in moving:
            terms *= own[j]
    grids = tuple(column.grid(own[column.position]) for column in columns)
    member = (view.terms.classes[:, None] == np.arange(view.terms.n_classes)).astype(np.float64)
    space = Space(tuple(columns), grids, fixed, member, goal, np.zeros(len(rows)))
    return replace(space, slack=slack * (1.0 + np.abs(space.margin(terms))))


def _number_column(
    view: ModelView, table: RawTable, factors: ColumnFactors, j: int, options: Options, shares: Floats
) -> NumberColumn:
    start, moves = _values(view, table, j)
    column = view.numeric_column(j)
    low, high = (np.where(moves, bound, start) for bound in _bounds(view, j, start, options))
    grain = _grain(view, j, factors, options)
    return NumberColumn(
        position=j,
        factors=factors,
        encode=number_encoder(view, j, factors),
        start=start,
        low=low,
        high=high,
        grain=grain,
        n_values=np.inf if grain is None else 0.0 if column is None else (column.high - column.low) / grain.unit,
        is_whole=view.is_whole(j) if options.integers is None else view.raw_names[j] in options.integers,
        price=_price(view, j, options),
        scale=_log_scale(view, j) if options.distance == "log" else _same,
        jumps=_jumps(view, j, factors, grain),
        shares=shares,
    )


def _values(view: ModelView, table: RawTable, j: int) -> tuple[Floats, Mask]:
    """Return a column's values and which of them can move: not a missing one and, without an encoder, not zero."""
    value = np.asarray(table.columns[j].numbers(), dtype=np.float64)
    column = view.numeric_column(j)
    if column is None:
        return value, value != 0
    moves = ~is_missing(value, column.missing_codes)
    return np.where(moves, value, column.high), moves


def _bounds(view: ModelView, j: int, value: Floats, options: Options) -> tuple[Floats, Floats]:
    """Return the range of a column: the training range or the user's, always with the rows' own values in it."""
    name, column = view.raw_names[j], view.numeric_column(j)
    if column is not None:
        low, high = np.full_like(value, column.low), np.full_like(value, column.high)
    else:
        ends = (value / REACH, value * REACH)
        low, high = np.minimum(*ends), np.maximum(*ends)
    if name in options.ranges:
        try:
            given_low, given_high = options.ranges[name]
        except (TypeError, ValueError) as error:
            raise ValueError(f"the range of {name!r} must be a pair (low, high), None for an open end") from error
        low = low if given_low is None else np.full_like(value, given_low)
        high = high if given_high is None else np.full_like(value, given_high)
        if not (low <= high).all():
            raise ValueError(f"the range of {name!r} is empty: ({low.max():g}, {high.min():g})")
        low, high = _inside_domain(view, column, value, low, high)
    low, high = np.minimum(low, value), np.maximum(high, value)
    direction = options.directions.get(name)
    return value if direction == "increase" else low, value if direction == "decrease" else high


def _inside_domain(
    view: ModelView, column: NumericColumn | None, value: Floats, low: Floats, high: Floats
) -> tuple[Floats, Floats]:
    """Keep a range inside training's where the model refuses what is outside; columns of bare equations keep signs."""
    if column is None:
        return np.where(value > 0, np.maximum(low, TINY), low), np.where(value > 0, high, np.minimum(high, -TINY))
    if view.encoder is not None and view.encoder.out_of_range == "error":
        return np.maximum(low, column.low), np.minimum(high, column.high)
    return low, high


def _grain(view: ModelView, j: int, factors: ColumnFactors, options: Options) -> Grain | None:
    """Return the numbers that a column holds, as far as they are known."""
    name, column, encoder = view.raw_names[j], view.numeric_column(j), view.encoder
    # only whole numbers of few values have indicators
    few = encoder is not None and any(encoder.features[f].kind == "level" for f in factors.features)
    whole = view.is_whole(j) if options.integers is None else name in options.integers
    given = options.grains.get(name)
    if whole or few:
        return given if given is not None and given.digits == 0 else Grain(0)
    if given is not None:
        return given
    if column is None or not column.high > column.low:
        return None
    return Grain(min(FINE - int(np.floor(np.log10(column.high - column.low))), FINEST))


def _jumps(view: ModelView, j: int, factors: ColumnFactors, grain: Grain | None) -> Floats:
    """Return the ends of the training range, where the clip begins, and the numbers on both sides of every cut.

    Of bare equations, the numbers on both sides of where a factor ceases to be defined.
    """
    column = view.numeric_column(j)
    if view.encoder is None or column is None or grain is None:
        ends = np.array([-base.shift for base in factors.bases if base.has_edge])
        return np.concatenate([ends - BESIDE * (1 + np.abs(ends)), ends + BESIDE * (1 + np.abs(ends))])
    unit, points = grain.unit, [column.low, column.high]
    for f in factors.features:
        feature = view.encoder.features[f]
        if feature.kind in CUT_KINDS and feature.cut is not None:
            below = float(grain.downward(np.array(feature.cut)))
            points += [below, below + unit]
        elif feature.kind == "level" and isinstance(feature.level, (int, float)):
            points += [feature.level - unit, float(feature.level), feature.level + unit]
    return np.array(points)


def _price(view: ModelView, j: int, options: Options) -> float:
    """Return the cost of a unit: given, or 4/training range; 1 on the logarithmic scale."""
    name, column = view.raw_names[j], view.numeric_column(j)
    if name in options.costs:
        return float(options.costs[name])
    if options.distance == "log":
        return 1.0
    if column is None:
        raise ValueError("without a training range the distance needs data=, costs= or distance='log'")
    return 4.0 / (column.high - column.low)


def _same(values: Floats) -> Floats:
    return values


def _log_scale(view: ModelView, j: int) -> Callable[[Floats], Floats]:
    """Return log x', x' being the column's first positive feature; of a raw column x itself if it is positive.

    A raw column that is not has x' = 1 + 9·(x − low)/(high − low), as the paper scales it.
    """
    column = view.numeric_column(j)
    if view.encoder is None or column is None:
        return lambda values: np.log(np.maximum(np.abs(values), TINY))
    if not view.encoder.is_raw:
        own = [feature for f, feature in enumerate(view.encoder.features) if view.feature_groups[f] == j]
        slope, offset = own[0].scale, own[0].offset
    elif column.low > 0:
        slope, offset = 1.0, 0.0
    else:
        slope = 9.0 / (column.high - column.low)
        offset = 1.0 - slope * column.low
    return lambda values: np.log(np.maximum(values * slope + offset, TINY))


def _level_column(view: ModelView, table: RawTable, factors: ColumnFactors, j: int, options: Options) -> LevelColumn:
    """Return the levels that rows may take instead of their own."""
    assert view.encoder is not None  # noqa: S101  # only an encoder has levels
    name, column = view.raw_names[j], view.encoder.columns[j]
    assert isinstance(column, (CategoricalColumn, OrdinalColumn))  # noqa: S101
    levels = column.levels
    wanted = options.ranges.get(name, levels)
    if unknown := [level for level in wanted if level not in levels]:
        raise ValueError(f"column {name!r} has no level {unknown[0]!r}: its levels are {list(levels)}")
    own = level_codes(table.columns[j], levels, column.missing_codes).codes[:, None]
    code = np.arange(len(levels))
    allowed = np.array([level in wanted for level in levels]) & (code != own)
    if name in options.directions:
        if not isinstance(column, OrdinalColumn):
            raise ValueError(f"column {name!r} has no order, so it cannot increase or decrease")
        allowed &= (own >= 0) & ((code > own) == (options.directions[name] == "increase"))
    features = level_table(levels, tuple(view.encoder.features[f] for f in factors.features))[:, : len(levels)].T
    different, member = np.unique(features, axis=0, return_inverse=True)
    same = member.reshape(-1) == np.arange(len(different))[:, None]  # (points, levels)
    offered = allowed[:, None] & same
    choice = np.where(offered.any(axis=2), offered.argmax(axis=2), own).astype(np.float64)
    return LevelColumn(
        position=j,
        levels=levels,
        start=own[:, 0].astype(np.float64),
        choice=choice,
        table=factors.at(different),
        price=float(options.costs.get(name, 1.0)),
    )
