"""Learning one column of a raw encoder: its description and the features that readable equations speak of.

- A column of numbers is a number and, where it has at most `MAX_NUMBER_LEVELS` different whole values, an indicator of
  each value beside it; of two values none, since the number itself tells them apart.
- A column of levels is an indicator of each level of enough rows; rare levels of text are one level, `other`, by then.
  Levels without an indicator are remembered, so that they are no unknown ones later.
- Where values were missing, an indicator says so. A missing number counts as the median, rounded to a few digits.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ecsel.tables.columns import CategoricalColumn, Column, NumericColumn, OrdinalColumn
from ecsel.tables.errors import short
from ecsel.tables.features import Feature, Level, canonical_level
from ecsel.tables.level_text import is_negative_answer, rare_below
from ecsel.tables.levels import MISSING, level_codes
from ecsel.tables.names import level_name, missing_name
from ecsel.tables.observed import (
    MAX_KNOWN_LEVELS,
    ColumnOptions,
    Description,
    Numbers,
    constant_notes,
    describe_empty,
    level_weights,
    ordered_codes,
    read_numbers,
    sorted_levels,
)
from ecsel.tables.quantiles import quantiles
from ecsel.tables.rounding import round_inside
from ecsel.tables.scaling import is_constant

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ecsel.tables.columns import ColumnDtype
    from ecsel.tables.raw import RawColumn

    Weights = NDArray[np.float64] | None

MAX_NUMBER_LEVELS = 12
"""Whole numbers of at most this many values may be codes, so that each value gets an indicator."""

MIN_LEVEL_ROWS = 5.0
"""A level of fewer rows is too rare for an indicator: it would hang on single rows."""

_PEEK = 1000
"""Rows that tell most columns of many different values."""


def describe_raw(raw: RawColumn, options: ColumnOptions, weights: Weights) -> Description:
    """Learn a column from its training rows, all of positive weight."""
    kind, dtype = raw.kind_and_dtype()
    if options.order is not None:
        return _describe_ordinal(raw, dtype, options, options.order, weights)
    if kind == "number" and not options.nominal:
        return _describe_number(raw, dtype, options, weights)
    if kind == "boolean":
        # No code stands for a missing truth value; 1 would otherwise mean True.
        return _describe_nominal(raw, dtype, replace(options, missing_codes=()), weights, (False, True))
    return _describe_nominal(raw, dtype, options, weights, sorted_levels(raw, options))


def _describe_number(raw: RawColumn, dtype: ColumnDtype, options: ColumnOptions, weights: Weights) -> Description:
    found = read_numbers(raw, options, weights)
    if found is None:
        return describe_empty(raw.name)
    constant = is_constant(found.low, found.high)
    imputed = options.missing == "median"
    column = NumericColumn(
        raw.name,
        dtype,
        found.low,
        found.high,
        None if constant else "raw",
        found.n_missing > 0,
        found.missing_codes,
        imputed,
    )
    if constant:
        notes = constant_notes(raw.name, found.low, found.high)
        return _with_missing(column, (), notes, found.n_missing, found.n_rows, imputed=imputed)
    levels = few_whole_values(found.values)
    (median,) = quantiles(found.values, (0.5,), found.weights)
    fill = None
    if found.n_missing or imputed:
        fill = median if levels else _few_digits(median, found)
    number = Feature(raw.name, raw.name, "number", 1.0, 0.0, found.low, found.high, median, fill=fill)
    indicators = tuple(
        complete_feature(
            Feature(level_name(raw.name, level), raw.name, "level", 1.0, 0.0, 0.0, 1.0, 0.0, level), number, column
        )
        for level in (levels if len(levels) > 2 else ())
    )
    notes = (f"{raw.name!r} has {len(levels)} different values; each has an indicator beside the number.",)
    counts_as = "" if fill is None else str(canonical_level(fill))
    features = (number, *indicators)
    notes = notes if indicators else ()
    return _with_missing(column, features, notes, found.n_missing, found.n_rows, imputed=imputed, counts_as=counts_as)


def complete_feature(feature: Feature, number: Feature, column: NumericColumn) -> Feature:
    """Complete a feature of a numeric column: its value in a typical row, and where the number is missing."""
    baseline = float(feature.of_number(number.baseline))
    if number.fill is None:
        return replace(feature, baseline=baseline)
    unseen = feature.kind in {"level", "step"} and not column.imputed
    return replace(feature, baseline=baseline, fill=0.0 if unseen else float(feature.of_number(number.fill)))


def few_whole_values(values: NDArray[np.float64]) -> tuple[Level, ...]:
    """Return the different values of a column of at most `MAX_NUMBER_LEVELS` whole numbers; nothing for any other.

    Examples
    --------
    >>> [few_whole_values(values) for values in (np.array([2.0, 0.0, 2.0]), np.array([2.5, 0.0]), np.arange(13.0))]
    [(0, 2), (), ()]
    """
    if values.size > _PEEK and not few_whole_values(values[:_PEEK]):
        return ()
    found: list[float] = []
    rest = values
    while rest.size:
        value = float(rest[0])
        if len(found) == MAX_NUMBER_LEVELS or not value.is_integer():
            return ()
        found.append(value)
        rest = rest[rest != value]
    return tuple(map(canonical_level, sorted(found)))


def _few_digits(median: float, found: Numbers) -> float:
    """Round the median by at most a hundredth of the range and a twentieth of itself."""
    slack = min(0.01 * (found.high / 2 - found.low / 2) * 2, 0.05 * abs(median))
    return round_inside(median, max(found.low, median - slack), min(found.high, median + slack))


def _describe_nominal(
    raw: RawColumn, dtype: ColumnDtype, options: ColumnOptions, weights: Weights, levels: tuple[Level, ...]
) -> Description:
    codes, _ = level_codes(raw, levels, options.missing_codes)
    counts, n_missing = level_weights(raw.name, codes, len(levels), weights, options)
    if n_missing == codes.size:
        return describe_empty(raw.name)
    mode = int(np.argmax(counts[:-1]))
    imputed = options.missing == "median"
    if np.count_nonzero(counts[:-1]) + (counts[MISSING] > 0 and not imputed) == 1:
        column = CategoricalColumn(raw.name, dtype, levels, n_missing > 0, options.missing_codes)
        return Description(column, (), (f"{raw.name!r} is constant ({short(levels[mode])}) and was left out.",))
    least = min_level_weight(codes.size, float(counts.sum()))
    if dtype != "text":  # rare levels of text are one level by now, see `readings`
        least = max(least, rare_below(codes.size, float(counts.sum())))
    is_boolean = dtype == "boolean"
    enough = counts[:-1] >= least * (1 - 1e-9)  # sums of weights have rounding errors
    frequent = [True] if is_boolean else [levels[code] for code in np.flatnonzero(enough)]
    frequent = [level for level in frequent if not is_negative_answer(level, levels)] or frequent
    has_other = len(levels) > MAX_KNOWN_LEVELS or not frequent
    known = tuple(frequent) if has_other else levels
    column = CategoricalColumn(raw.name, dtype, known, n_missing > 0, options.missing_codes, has_other)
    features = tuple(
        Feature(
            level_name(raw.name, level),
            raw.name,
            "level",
            1.0,
            0.0,
            0.0,
            1.0,
            baseline=float(level == levels[mode]),
            level=level,
            fill=float(imputed and level == levels[mode]) if n_missing or imputed else None,
        )
        for level in frequent
    )
    notes = _nominal_notes(raw.name, len(levels), len(levels) if len(levels) == 2 else len(frequent), least)
    counts_as = short(levels[mode]) if imputed else ""
    return _with_missing(column, features, notes, n_missing, codes.size, imputed=imputed, counts_as=counts_as)


def min_level_weight(n_rows: int, total: float) -> float:
    """Return the training weight from which on a level has an indicator.

    An integer weight counts as that many rows. Weights that sum to less than the number of rows cannot be numbers of
    rows; they are taken in proportion.

    Examples
    --------
    >>> min_level_weight(100, 100.0), min_level_weight(100, 1.0)
    (5.0, 0.05)
    """
    return MIN_LEVEL_ROWS * min(1.0, total / n_rows)


def _nominal_notes(name: str, n_levels: int, n_frequent: int, least: float) -> tuple[str, ...]:
    if n_frequent == 0:
        reason = f"none of its {n_levels} levels has {least:g} rows or more, so it looks like an identifier"
        return (f"{name!r} was left out: {reason}.",)
    if n_frequent == n_levels:
        return (f"{name!r} is nominal with {n_levels} levels.",)
    rare = f"of these {n_levels - n_frequent} with fewer than {least:g} rows without an indicator"
    return (f"{name!r} is nominal with {n_levels} levels, {rare}.",)


def _describe_ordinal(
    raw: RawColumn, dtype: ColumnDtype, options: ColumnOptions, order: tuple[Level, ...], weights: Weights
) -> Description:
    codes = ordered_codes(raw, order, options)
    counts, n_missing = level_weights(raw.name, codes, len(order), weights, options)
    if n_missing == codes.size:
        return describe_empty(raw.name)
    imputed = options.missing == "median"
    column = OrdinalColumn(raw.name, dtype, order, n_missing > 0, options.missing_codes)
    if np.count_nonzero(counts[:-1]) == 1:
        notes: tuple[str, ...] = (f"{raw.name!r} is constant ({order[int(counts[:-1].argmax())]!r}) and was left out.",)
        return _with_missing(column, (), notes, n_missing, codes.size, imputed=imputed)
    reached = counts[:-1].cumsum()
    median = float(np.searchsorted(reached / reached[-1], 0.5))
    fill = median if n_missing or imputed else None
    feature = Feature(raw.name, raw.name, "ordinal", 1.0, 0.0, 0.0, len(order) - 1.0, median, fill=fill)
    positions = f"{order[0]!r} is 0, {order[-1]!r} is {len(order) - 1}"
    notes = (f"{raw.name!r} is ordinal with {len(order)} levels: {positions}.",)
    return _with_missing(
        column, (feature,), notes, n_missing, codes.size, imputed=imputed, counts_as=repr(order[int(median)])
    )


def _with_missing(
    column: Column,
    features: tuple[Feature, ...],
    notes: tuple[str, ...],
    n_missing: int,
    n_rows: int,
    *,
    imputed: bool,
    counts_as: str = "",
) -> Description:
    """Add the indicator of missing values, unless they are imputed or there are none, and say what they count as."""
    if not n_missing:
        return Description(column, features, notes)
    said = [f"{column.name!r} is missing in {n_missing} of {n_rows} rows"]
    if counts_as and features:
        said.append(f"it counts as {counts_as} there")
    if not imputed:
        name = missing_name(column.name)
        features = (*features, Feature(name, column.name, "missing", 1.0, 0.0, 0.0, 1.0, 0.0, fill=1.0))
        said.append(f"{name!r} is 1 there")
    return Description(column, features, (*notes, "; ".join(said) + "."))
