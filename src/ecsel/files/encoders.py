"""Table encoders in JSON. A loaded encoder is the same value, so its features are equal to the last bit."""

from __future__ import annotations

import math
from dataclasses import asdict
from itertools import groupby
from typing import TYPE_CHECKING, Any

from ecsel.files.errors import ModelFileError
from ecsel.tables import CategoricalColumn, Column, EmptyColumn, Feature, NumericColumn, OrdinalColumn, TableEncoder
from ecsel.tables.columns import COLUMN_DTYPES
from ecsel.tables.describing import MAX_LEVELS
from ecsel.tables.features import FEATURE_KINDS
from ecsel.tables.report import OUT_OF_RANGE
from ecsel.tables.scaling import SCALING_KINDS

if TYPE_CHECKING:
    from ecsel.files.node import Node

FEATURE_KINDS_OF: dict[str, frozenset[str]] = {
    "numeric": frozenset({"numeric", "mirror", "missing"}),
    "categorical": frozenset({"level", "missing"}),
    "ordinal": frozenset({"ordinal", "missing"}),
    "empty": frozenset(),
}


def encode_encoder(encoder: TableEncoder) -> dict[str, Any]:
    """Return an encoder as JSON values."""
    return {
        "named": encoder.named,
        "out_of_range": encoder.out_of_range,
        "columns": [{"kind": column.kind, **asdict(column, dict_factory=_members)} for column in encoder.columns],
        "features": [asdict(feature) for feature in encoder.features],
        "notes": list(encoder.notes),
    }


def _members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    return {name: list(value) if isinstance(value, tuple) else value for name, value in pairs}


def decode_encoder(node: Node) -> TableEncoder:
    """Read an encoder and check that its parts fit together."""
    named, out_of_range, columns, features, notes = node.fields("named", "out_of_range", "columns", "features", "notes")
    encoder = TableEncoder(
        columns=columns.each(_decode_column),
        features=features.each(_decode_feature),
        out_of_range=out_of_range.choice(OUT_OF_RANGE),
        named=named.flag(),
        notes=notes.each(lambda note: note.text()),
    )
    columns.unique(encoder.raw_names, "names")
    features.unique(encoder.feature_names, "names")
    _check_features(encoder, features)
    return encoder


def _decode_column(node: Node) -> Column:
    kind = node.get("kind").choice(tuple(FEATURE_KINDS_OF))
    if kind == "empty":
        _, name = node.fields("kind", "name")
        return EmptyColumn(name.text())
    common = ("kind", "name", "dtype", "has_missing", "missing_codes")
    own = ("low", "high", "scaling") if kind == "numeric" else ("levels",)
    _, name, dtype, has_missing, missing_codes, *rest = node.fields(*common, *own)
    if kind == "numeric" and any(isinstance(code.value, str) for code in missing_codes.items()):
        missing_codes.refuse("numbers")
    shared: dict[str, Any] = {
        "name": name.text(),
        "dtype": dtype.choice(COLUMN_DTYPES),
        "has_missing": has_missing.flag(),
        "missing_codes": missing_codes.each(lambda code: code.label()),
    }
    if kind == "numeric":
        low, high, scaling = rest
        if high.number() < low.number():
            high.refuse(f"a number of at least {low.number()}")
        return NumericColumn(
            low=low.number(),
            high=high.number(),
            scaling=scaling.optional(lambda word: word.choice(SCALING_KINDS)),
            **shared,
        )
    (levels,) = rest
    found = tuple(level.label() for level in levels.items(at_most=MAX_LEVELS))
    levels.unique(found, "levels")
    return CategoricalColumn(levels=found, **shared) if kind == "categorical" else OrdinalColumn(levels=found, **shared)


def _decode_feature(node: Node) -> Feature:
    name, column, kind, scale, offset, low, high, baseline, level, fill = node.fields(
        "name", "column", "kind", "scale", "offset", "low", "high", "baseline", "level", "fill"
    )
    feature = Feature(
        name=name.text(),
        column=column.text(),
        kind=kind.choice(FEATURE_KINDS),
        scale=scale.number(),
        offset=offset.number(),
        low=low.number(),
        high=high.number(),
        baseline=baseline.number(),
        level=level.optional(lambda value: value.label()),
        fill=fill.optional(lambda value: value.positive()),
    )
    if feature.scale == 0 or (feature.scale < 0) != (feature.kind == "mirror"):
        scale.refuse("a negative number for a mirror feature, and a positive one for any other")
    if not 0 < feature.floor <= feature.ceiling < math.inf:
        raise ModelFileError(node.path, "its training range has no positive image")
    if (feature.level is None) == (feature.kind == "level"):
        level.refuse("a level for a level feature, and null for any other")
    return feature


def _check_features(encoder: TableEncoder, node: Node) -> None:
    """Check that features stand in the order of their columns, and are of a kind that the column can have."""
    columns = {column.name: column for column in encoder.columns}
    levels = {column.name: set(column.levels) for column in encoder.columns if isinstance(column, CategoricalColumn)}
    for feature, item in zip(encoder.features, node.items(), strict=True):
        if feature.column not in columns:
            raise ModelFileError(f"{item.path}.column", f"there is no column {feature.column!r}")
        column = columns[feature.column]
        if feature.kind not in FEATURE_KINDS_OF[column.kind]:
            raise ModelFileError(
                f"{item.path}.kind", f"a column of kind {column.kind!r} has no {feature.kind!r} feature"
            )
        if isinstance(column, NumericColumn) and feature.kind != "missing":
            if (feature.low, feature.high) != (column.low, column.high):
                raise ModelFileError(item.path, f"its range is not that of the column {column.name!r}")
        elif feature.kind == "level" and feature.level not in levels[column.name]:
            raise ModelFileError(f"{item.path}.level", f"{feature.level!r} is no level of {column.name!r}")
    order = [name for name, _ in groupby(feature.column for feature in encoder.features)]
    present = set(order)
    if order != [name for name in encoder.raw_names if name in present]:
        raise ModelFileError(node.path, "the features are not in the order of their columns")
