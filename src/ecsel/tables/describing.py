"""Learning one column: from its training values to its description and its positive features."""

from __future__ import annotations

import math
import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

import numpy as np

from ecsel import _compiled
from ecsel.tables.columns import CategoricalColumn, NumericColumn, OrdinalColumn
from ecsel.tables.errors import short
from ecsel.tables.features import Feature
from ecsel.tables.level_text import is_negative_answer, rare_below
from ecsel.tables.levels import MISSING, level_codes
from ecsel.tables.observed import (
    MAX_KNOWN_LEVELS,
    ColumnOptions,
    Description,
    constant_notes,
    describe_empty,
    level_weights,
    ordered_codes,
    read_numbers,
    sorted_levels,
)
from ecsel.tables.scaling import FEATURE_RANGE, Summary, affine_map, choose_scaling, summarise

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ecsel.tables.columns import Column, ColumnDtype
    from ecsel.tables.features import Level
    from ecsel.tables.raw import RawColumn
    from ecsel.tables.scaling import ScalingKind

ABSENT, PRESENT = FEATURE_RANGE
_BLOCK_ROWS, _FACTORS = 65_536, 8
_LEAST, _LARGEST = 1e-35, 1e35
"""Products of eight numbers in this range neither overflow nor lose digits."""


def describe(raw: RawColumn, options: ColumnOptions, weights: NDArray[np.float64] | None) -> Description:
    """Learn a column from its training rows, all of positive weight."""
    kind, dtype = raw.kind_and_dtype()
    if kind == "number" and not options.nominal and options.order is None:
        return _describe_numeric(raw, dtype, options, weights)
    for option in options.asked_of_numbers:
        raise ValueError(f"{option} names the column {raw.name!r}, which is not numeric.")
    if options.order is not None:
        return _describe_ordinal(raw, dtype, options, options.order, weights)
    if kind == "boolean":
        # No code stands for a missing truth value; 1 would otherwise mean True.
        return _describe_nominal(raw, dtype, replace(options, missing_codes=()), weights, (False, True))
    return _describe_nominal(raw, dtype, options, weights, sorted_levels(raw, options))


def _describe_numeric(
    raw: RawColumn, dtype: ColumnDtype, options: ColumnOptions, weights: NDArray[np.float64] | None
) -> Description:
    found = read_numbers(raw, options, weights)
    if found is None:
        return describe_empty(raw.name)
    summary = summarise(found.values, found.weights, (found.low, found.high))
    scaling = None if summary.is_constant else _scaling_kind(raw.name, summary, options)
    column = NumericColumn(
        raw.name, dtype, summary.low, summary.high, scaling, found.n_missing > 0, found.missing_codes
    )
    features = _numeric_features(raw.name, scaling, summary, options, found.values, found.weights)
    filled = tuple(_with_fill(feature, summary.median, found.share_missing, options) for feature in features)
    notes = constant_notes(raw.name, summary.low, summary.high) or _scaling_notes(column, options, features)
    return _with_missing_factor(column, filled, notes, found.n_missing, found.n_rows, found.share_missing, options)


def _numeric_features(
    name: str,
    scaling: ScalingKind | None,
    summary: Summary,
    options: ColumnOptions,
    values: NDArray[np.float64],
    weights: NDArray[np.float64] | None,
) -> list[Feature]:
    if scaling is None:
        return []
    affine = affine_map(scaling, summary)
    low, high = summary.low, summary.high
    features = [Feature(name, name, "numeric", affine.scale, affine.offset, low, high, 0.0)]
    if options.two_sided:
        mirror = affine_map(scaling, summary, mirror=True)
        features.append(Feature(f"{name}~", name, "mirror", mirror.scale, mirror.offset, low, high, 0.0))
    return [replace(feature, baseline=log_mean(feature, values, weights)) for feature in features]


def _with_fill(feature: Feature, median: float, share_missing: float, options: ColumnOptions) -> Feature:
    """Decide what x' is where the value is missing; the baseline so far is that of the observed rows."""
    if options.missing == "median":
        fill = feature.positive(median)
        baseline = (1 - share_missing) * feature.baseline + share_missing * math.log(fill)
        return replace(feature, fill=fill, baseline=baseline)
    return replace(feature, fill=math.exp(feature.baseline)) if share_missing else feature


def _scaling_kind(name: str, summary: Summary, options: ColumnOptions) -> ScalingKind:
    kind = choose_scaling(summary) if options.scaling == "auto" else options.scaling
    if kind == "ratio" and summary.low < sys.float_info.min:
        raise ValueError(
            f"Column {name!r} cannot have scaling='ratio': its minimum is {summary.low}, and a ratio scale needs "
            "values above 0; use 'minmax' or 'spread' for it."
        )
    return kind


def _scaling_notes(column: NumericColumn, options: ColumnOptions, features: list[Feature]) -> tuple[str, ...]:
    reason = "as asked"
    if options.scaling == "auto":
        reason = (
            "it is positive and its extremes are close"
            if column.scaling == "ratio"
            else "it reaches zero, or its values lie far apart"
        )
    scale, offset = features[0].scale, features[0].offset
    return (f"{column.name!r} has {column.scaling} scaling, {scale:.6g}·x + {offset:.6g}: {reason}.",)


def _describe_nominal(
    raw: RawColumn,
    dtype: ColumnDtype,
    options: ColumnOptions,
    weights: NDArray[np.float64] | None,
    levels: tuple[Level, ...],
) -> Description:
    codes, _ = level_codes(raw, levels, options.missing_codes)
    shares, n_missing = _level_shares(raw.name, codes, len(levels), weights, options)
    if n_missing == codes.size:
        return describe_empty(raw.name)
    mode = int(np.argmax(shares[:-1]))
    if options.missing == "median":
        shares[mode] += shares[MISSING]
        shares[MISSING] = 0.0
    # Rare levels of text are one level by now (`readings`); of numbers that are categories they have no indicator.
    total = float(codes.size) if weights is None else float(weights.sum())
    least = 0.0 if dtype in {"text", "boolean"} else rare_below(codes.size, total) / total * (1 - 1e-9)
    has_other = len(levels) > MAX_KNOWN_LEVELS
    known = tuple(level for level, share in zip(levels, shares, strict=False) if share >= least or not has_other)
    column = CategoricalColumn(raw.name, dtype, known, n_missing > 0, options.missing_codes, has_other)
    features = []
    for code, level in enumerate(levels):
        # One indicator tells all about a truth value; two or more levels of text are all kept, so that each is visible.
        is_no = (level is False and dtype == "boolean") or is_negative_answer(level, levels)
        if is_no or shares[code] == 0 or shares[code] < least or np.count_nonzero(shares) == 1:
            continue
        fill = None
        if options.missing == "median":
            fill = PRESENT if code == mode else ABSENT
        elif n_missing:
            fill = ABSENT
        name = f"{raw.name}={level}"
        features.append(_indicator(name, raw.name, "level", float(shares[code]), level=level, fill=fill))
    notes: tuple[str, ...] = (f"{raw.name!r} is nominal with {len(levels)} levels.",)
    if not features:
        notes = (f"{raw.name!r} is constant ({short(levels[mode])}) and was left out.",)
    return _with_missing_factor(column, tuple(features), notes, n_missing, codes.size, float(shares[MISSING]), options)


def _describe_ordinal(
    raw: RawColumn,
    dtype: ColumnDtype,
    options: ColumnOptions,
    order: tuple[Level, ...],
    weights: NDArray[np.float64] | None,
) -> Description:
    codes = ordered_codes(raw, order, options)
    shares, n_missing = _level_shares(raw.name, codes, len(order), weights, options)
    if n_missing == codes.size:
        return describe_empty(raw.name)
    column = OrdinalColumn(raw.name, dtype, order, n_missing > 0, options.missing_codes)
    share_missing = float(shares[MISSING])
    if np.count_nonzero(shares[:-1]) == 1:
        notes: tuple[str, ...] = (
            f"{raw.name!r} is constant ({order[int(np.argmax(shares[:-1]))]!r}) and was left out.",
        )
        return _with_missing_factor(column, (), notes, n_missing, codes.size, share_missing, options)
    last = float(len(order) - 1)
    feature = Feature(raw.name, raw.name, "ordinal", (PRESENT - ABSENT) / last, ABSENT, 0.0, last, 0.0)
    observed = shares[:-1] / shares[:-1].sum()
    logs = np.log(feature.positive(np.arange(len(order), dtype=np.float64)))
    feature = replace(feature, baseline=float(observed @ logs))
    median = float(np.searchsorted(np.cumsum(observed), 0.5))
    filled = _with_fill(feature, median, share_missing, options)
    notes = (f"{raw.name!r} is ordinal with {len(order)} levels, {order[0]!r} to {order[-1]!r}.",)
    return _with_missing_factor(column, (filled,), notes, n_missing, codes.size, share_missing, options)


def _level_shares(
    name: str, codes: NDArray[np.int32], n_levels: int, weights: NDArray[np.float64] | None, options: ColumnOptions
) -> tuple[NDArray[np.float64], int]:
    """Return the weighted share of every level, the missing one last, and the number of missing rows."""
    counts, n_missing = level_weights(name, codes, n_levels, weights, options)
    return counts / counts.sum(), n_missing


def _with_missing_factor(
    column: Column,
    features: tuple[Feature, ...],
    notes: tuple[str, ...],
    n_missing: int,
    n_rows: int,
    share: float,
    options: ColumnOptions,
) -> Description:
    if not n_missing:
        return Description(column, features, notes)
    line = f"{column.name!r} is missing in {n_missing} of {n_rows} rows"
    if options.missing == "median":
        return Description(column, features, (*notes, f"{line}; filled with the median or the most frequent level."))
    name = f"{column.name}=?"
    factor = _indicator(name, column.name, "missing", share, fill=PRESENT)
    return Description(column, (*features, factor), (*notes, f"{line}; {name!r} is a factor of its own."))


def _indicator(
    name: str,
    column: str,
    kind: Literal["level", "missing"],
    share: float,
    *,
    level: Level | None = None,
    fill: float | None,
) -> Feature:
    """Return 9·t + 1 for t in {0, 1}: the level multiplies a term by 10^β where it is present and by 1 elsewhere."""
    baseline = share * math.log(PRESENT)
    return Feature(name, column, kind, PRESENT - ABSENT, ABSENT, 0.0, 1.0, baseline, level, fill)


def log_mean(feature: Feature, values: NDArray[np.float64], weights: NDArray[np.float64] | None) -> float:
    """Return the weighted mean of log(scale·x + offset), of which explanations start.

    Of many rows the logs are taken in single precision by the compiled kernel and added up in double; without it the
    logs of products are taken, Σ log x = log Π x, which needs an eighth of the logs.
    """
    if weights is None and len(values) > _BLOCK_ROWS and _LEAST < feature.floor <= feature.ceiling < _LARGEST:
        blocks = (values[i : i + _BLOCK_ROWS] for i in range(0, len(values), _BLOCK_ROWS))
        return sum(_sum_of_logs(feature, block) for block in blocks) / len(values)
    return float(np.average(np.log(feature.positive(values)), weights=weights))


def _sum_of_logs(feature: Feature, values: NDArray[np.float64]) -> float:
    if (compiled := _compiled.compiled) is not None:
        logs = np.empty(len(values), np.float32)
        values = np.require(values, requirements=["C", "A"])
        compiled.log_image(values, feature.scale, feature.offset, logs)
        total: float = compiled.deviations(logs, 0.0)[0]
        return total
    positive = feature.positive(values)
    whole = len(positive) // _FACTORS * _FACTORS
    products = np.multiply.reduce(positive[:whole].reshape(_FACTORS, -1), axis=0)
    return float(np.log(products).sum()) + float(np.log(positive[whole:]).sum())
