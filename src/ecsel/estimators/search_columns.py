"""From raw features to the columns of a search: shifts and origins, allowed functions, thresholds."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from ecsel.estimators.bounds import exponent_bounds
from ecsel.search.cuts import round_centres, round_cuts
from ecsel.search.dictionary import SINGLES, SearchColumn
from ecsel.tables.shifts import column_origin, column_shift

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from ecsel.estimators.training_rows import TrainingRows
    from ecsel.search.dictionary import Function
    from ecsel.tables import TableEncoder
    from ecsel.tables.features import CutKind, Feature

    Floats = NDArray[np.float64]

STRAIGHT = frozenset({"level", "missing", "step", "above", "below"})
"""Kinds of features that enter with the first power only."""


def search_columns(
    encoder: TableEncoder, rows: TrainingRows, bounds: Any, allowed: frozenset[Function] | None
) -> list[SearchColumn]:
    """Return the columns of a search: raw features with their shifts, origins and allowed functions.

    `bounds` is the option `exponent_bounds`.
    """
    groups = encoder.feature_groups.tolist()
    exponent_range = exponent_bounds(bounds, encoder)
    columns = []
    for j, (feature, x) in enumerate(zip(encoder.features, rows.values, strict=True)):
        straight = feature.kind in STRAIGHT or _is_binary(x)
        functions = allowed
        if exponent_range is not None:
            inside = frozenset(
                f for f in SINGLES if f.log or exponent_range[0][j] <= float(f.exponent) <= exponent_range[1][j]
            )
            functions = inside if functions is None else functions & inside
        shift, origin = (0.0, 0.0) if straight else _offsets(feature, x, rows.weights)
        columns.append(
            SearchColumn(
                feature.name,
                groups[j],
                x,
                shift,
                origin,
                straight,
                functions,
                feature.cut is not None,
                () if straight else round_centres(x, rows.weights),
            )
        )
    return columns


def allowed_functions(option: Iterable[Any] | None) -> frozenset[Function] | None:
    """Return the functions whose exponents are allowed; 0 or "log" is the logarithm, the limit of powers.

    >>> sorted(str(f.exponent) for f in allowed_functions([1, 2]))
    ['1', '2']
    """
    if option is None:
        return None
    exponents = {Fraction(0) if each == "log" else Fraction(each).limit_denominator(1000) for each in option}
    return frozenset(f for f in SINGLES if (Fraction(0) if f.log else f.exponent) in exponents)


def with_cuts(encoder: TableEncoder, rows: TrainingRows) -> tuple[TableEncoder, TrainingRows]:
    """Add thresholds of the numeric columns, at round numbers near their quantiles, as features."""
    places = {name: j for j, name in enumerate(encoder.feature_names)}
    kinds: tuple[CutKind, ...] = ("step", "above", "below")
    cuts = {
        feature.column: [
            (kind, cut) for cut in round_cuts(rows.values[places[feature.name]], rows.weights) for kind in kinds
        ]
        for feature in encoder.features
        if feature.kind == "number"
    }
    wide = encoder.with_cuts({column: found for column, found in cuts.items() if found})
    number = {feature.column: places[feature.name] for feature in encoder.features if feature.kind == "number"}
    missing = {feature.column: places[feature.name] for feature in encoder.features if feature.kind == "missing"}
    values = np.empty((len(wide.features), len(rows)))
    for j, feature in enumerate(wide.features):
        if feature.cut is None:
            values[j] = rows.values[places[feature.name]]
            continue
        values[j] = feature.of_number(rows.values[number[feature.column]])
        if feature.column in missing and feature.fill is not None:
            values[j, rows.values[missing[feature.column]] == 1] = feature.fill
    return wide, replace(rows, values=values)


def _offsets(feature: Feature, x: Floats, weights: Floats) -> tuple[float, float]:
    """Return shift and origin of a column; values beyond the sample's range count, which the model meets too."""
    if feature.low < x.min() or feature.high > x.max():
        least = float(weights.min())
        x, weights = np.append(x, [feature.low, feature.high]), np.append(weights, [least, least])
    return column_shift(x, weights), column_origin(x, weights)


def _is_binary(x: Floats) -> bool:
    low, high = x.min(), x.max()
    return bool(((x == low) | (x == high)).all())
