"""What a user allows counterfactuals to change, and what a table of data tells about its columns."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ecsel.explain.counterfactual.columns import Grain
from ecsel.tables.cautions import is_protected
from ecsel.tables.reading import read_table

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from ecsel._typing import Floats
    from ecsel.explain.view import ModelView

MAX_DECIMALS = 6
"""Data with more decimals than this are measurements without a unit of their own."""
MIN_VALUES = 8
"""Fewer different numbers may have a common divisor by chance: eight are all even in one of 256 cases."""
MIN_OF_TWO = 20
"""In so many rows a third number would have shown up."""
MAX_EXACT = 2.0**53
"""Larger whole numbers are not exact, and have no divisors to speak of."""


@dataclass(frozen=True, eq=False)
class Options:
    """What counterfactuals may change; `immutable=None` keeps `protected_columns`."""

    immutable: Collection[Any] | None = None
    ranges: Mapping[Any, Any] = field(default_factory=dict)
    directions: Mapping[Any, Any] = field(default_factory=dict)
    costs: Mapping[Any, float] = field(default_factory=dict)
    integers: Collection[Any] | None = None
    distance: Literal["mad", "log"] = "mad"
    data: Any = None
    grains: Mapping[str, Grain] = field(default_factory=dict)
    """Of the columns of data; learned in `settled`."""

    def settled(self, view: ModelView) -> Options:
        """Return the options with costs and grains in the place of data; refuse unknown names and words."""
        self._check(view)
        if self.immutable is None:
            named = {*self.ranges, *self.directions, *self.costs}
            return replace(self, immutable=protected_columns(view, named)).settled(view)
        if self.data is None:
            return self
        table = read_table(view.plain(self.data))
        columns = dict(zip(table.names if table.named else view.raw_names, table.columns, strict=False))
        costs, grains = dict(self.costs), dict[str, Grain]()
        for name in (view.raw_names[j] for j in number_columns(view, self)):
            if name not in columns:
                if name in costs or self.distance == "log":
                    continue
                raise ValueError(f"data has no column {name!r}, of which the spread is needed")
            values = np.asarray(columns[name].numbers(), dtype=np.float64)
            values = values[np.isfinite(values)]
            if not values.size:
                raise ValueError(f"column {name!r} of data has no numbers, of which the spread is needed")
            if self.distance == "mad":
                costs.setdefault(name, 1.0 / typical_deviation(values))
            if (found := grain_of(values)) is not None:
                grains[name] = found
        return replace(self, costs=costs, data=None, grains=grains)

    def _check(self, view: ModelView) -> None:
        for name in (*(self.immutable or ()), *self.ranges, *self.directions, *self.costs, *(self.integers or ())):
            view.column_position(name)
        for name, direction in self.directions.items():
            if direction not in ("increase", "decrease"):
                raise ValueError(f"the direction of {name!r} must be 'increase' or 'decrease', not {direction!r}")
        for name, cost in self.costs.items():
            if not (np.isfinite(cost) and cost >= 0):
                raise ValueError(f"the cost of {name!r} must be a finite number of at least 0, not {cost!r}")
        if self.distance not in ("mad", "log"):
            raise ValueError(f"distance must be 'mad' or 'log', not {self.distance!r}")


def protected_columns(view: ModelView, named: Collection[Any] = ()) -> tuple[Any, ...]:
    """Return the columns that stay as they are unless somebody says otherwise: named like age, sex or race.

    Nobody can be advised to change these. Who says how a column may move lets it move: `named` are not among them.
    """
    return tuple(name for name in view.raw_names if is_protected(str(name)) and name not in named)


def movable_columns(view: ModelView, options: Options) -> list[int]:
    """Return the columns that the terms speak of and that may change.

    Columns of bare equations that are named as indicators of others stay as they are.
    """
    used = np.asarray(view.terms.uses.any(axis=0))
    if view.encoder is None:
        used[view.indicators] = False
    fixed = options.immutable or ()
    return [j for j in np.unique(view.feature_groups[used]).tolist() if view.raw_names[j] not in fixed]


def number_columns(view: ModelView, options: Options) -> list[int]:
    """Return those of them that are numbers, unless all that matters is whether they are missing."""
    encoder, used = view.encoder, view.terms.uses.any(axis=0)
    columns = [j for j in movable_columns(view, options) if view.levels(j) is None]
    if encoder is None:
        return columns
    moving = used & np.array([feature.kind != "missing" for feature in encoder.features])
    return [j for j in columns if moving[view.feature_groups == j].any()]


def typical_deviation(values: Floats) -> float:
    """Return the median absolute deviation; where it is zero the mean one, and 1 for a constant column."""
    deviation = np.abs(values - np.median(values))
    return float(np.median(deviation)) or float(deviation.mean()) or 1.0


def grain_of(values: Floats) -> Grain | None:
    """Return the multiples that all values are of; None where they have many decimals.

    Few different values may all be even by chance, so they only tell decimals. But a column of two, such as terms of 36
    and 60 months, holds these two.

    >>> grain_of(np.array([1.5, 2.25])), grain_of(np.array([np.pi]))
    (Grain(digits=2, step=1, origin=0), None)
    >>> grain_of(np.arange(20) * 0.5), grain_of(np.arange(20) * 100.0)
    (Grain(digits=1, step=5, origin=0), Grain(digits=0, step=100, origin=0))
    >>> grain_of(np.repeat([36.0, 60.0], 20))
    Grain(digits=0, step=24, origin=12)
    """
    digits = next((d for d in range(MAX_DECIMALS + 1) if (np.round(values, d) == values).all()), None)
    if digits is None:
        return None
    both = np.unique(np.round(values * 10.0**digits))
    if both.size == 2 and values.size >= MIN_OF_TWO and np.abs(both).max() < MAX_EXACT:
        low, high = both.astype(np.int64).tolist()
        return Grain(digits, high - low, low % (high - low))
    units = np.unique(np.abs(both))
    if units.size < MIN_VALUES or units[-1] >= MAX_EXACT:
        return Grain(digits)
    return Grain(digits, int(np.gcd.reduce(units.astype(np.int64))))
