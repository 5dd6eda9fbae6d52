"""Table encoders in JSON. A loaded encoder is the same value, so its features are equal to the last bit.

Files of schema 1 know positive features only; what raw encoders have besides (`LATER_FIELDS`) has its default there.
"""

from __future__ import annotations

import math
from dataclasses import asdict
from itertools import groupby
from typing import Any

from ecsel.files.errors import ModelFileError
from ecsel.files.node import Node
from ecsel.files.readings import check_readings, decode_reading, encode_reading
from ecsel.tables import CategoricalColumn, Column, EmptyColumn, Feature, NumericColumn, OrdinalColumn, TableEncoder
from ecsel.tables.columns import COLUMN_DTYPES
from ecsel.tables.features import CUT_KINDS, FEATURE_KINDS
from ecsel.tables.observed import MAX_KNOWN_LEVELS
from ecsel.tables.report import OUT_OF_RANGE
from ecsel.tables.scaling import SCALING_KINDS

FEATURE_KINDS_OF: dict[str, frozenset[str]] = {
    "numeric": frozenset({"numeric", "mirror", "missing"}),
    "categorical": frozenset({"level", "missing"}),
    "ordinal": frozenset({"ordinal", "missing"}),
    "empty": frozenset(),
}
RAW_KINDS_OF: dict[str, frozenset[str]] = FEATURE_KINDS_OF | {
    "numeric": frozenset({"number", "level", "missing", *CUT_KINDS}),
}
LATER_FIELDS: dict[str, dict[str, Any]] = {
    "encoder": {"is_raw": False, "readings": [], "changes": []},
    "numeric": {"imputed": False},
    "categorical": {"has_other": False},
    "ordinal": {},
    "empty": {"reason": ""},
    "feature": {"cut": None},
}
"""Fields that files of schema 1 do not have, with what they mean there."""


def encode_encoder(encoder: TableEncoder) -> dict[str, Any]:
    """Return an encoder as JSON values."""
    return {
        "named": encoder.named,
        "out_of_range": encoder.out_of_range,
        "columns": [{"kind": column.kind, **asdict(column, dict_factory=_members)} for column in encoder.columns],
        "features": [asdict(feature) for feature in encoder.features],
        "notes": list(encoder.notes),
        "is_raw": encoder.is_raw,
        "readings": [encode_reading(reading) for reading in encoder.readings],
        "changes": list(encoder.changes),
    }


def _members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    return {name: list(value) if isinstance(value, tuple) else value for name, value in pairs}


def decode_encoder(node: Node) -> TableEncoder:
    """Read an encoder and check that its parts fit together."""
    named, out_of_range, columns, features, notes, is_raw, readings, changes = _with_defaults(node, "encoder").fields(
        "named", "out_of_range", "columns", "features", "notes", "is_raw", "readings", "changes"
    )
    encoder = TableEncoder(
        columns=columns.each(_decode_column),
        features=features.each(_decode_feature),
        out_of_range=out_of_range.choice(OUT_OF_RANGE),
        named=named.flag(),
        notes=notes.each(lambda note: note.text()),
        is_raw=is_raw.flag(),
        readings=readings.each(decode_reading),
        changes=changes.each(lambda note: note.text()),
    )
    columns.unique(encoder.raw_names, "names")
    check_readings(encoder, readings)
    features.unique(encoder.feature_names, "names")
    _check_features(encoder, features)
    return encoder


def _with_defaults(node: Node, kind: str) -> Node:
    """Add the fields that an old file does not have."""
    return Node(LATER_FIELDS[kind] | node.value, node.path) if isinstance(node.value, dict) else node


def _decode_column(node: Node) -> Column:
    kind = node.get("kind").choice(tuple(FEATURE_KINDS_OF))
    if kind == "empty":
        _, name, reason = _with_defaults(node, kind).fields("kind", "name", "reason")
        return EmptyColumn(name.text(), reason.text())
    common = ("kind", "name", "dtype", "has_missing", "missing_codes")
    own = ("low", "high", "scaling") if kind == "numeric" else ("levels",)
    later = LATER_FIELDS[kind]
    _, name, dtype, has_missing, missing_codes, *rest = _with_defaults(node, kind).fields(*common, *later, *own)
    if kind == "numeric" and any(isinstance(code.value, str) for code in missing_codes.items()):
        missing_codes.refuse("numbers")
    shared: dict[str, Any] = {
        "name": name.text(),
        "dtype": dtype.choice(COLUMN_DTYPES),
        "has_missing": has_missing.flag(),
        "missing_codes": missing_codes.each(lambda code: code.label()),
        **{field: rest.pop(0).flag() for field in later},
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
    found = tuple(level.label() for level in levels.items(at_most=MAX_KNOWN_LEVELS))
    levels.unique(found, "levels")
    return CategoricalColumn(levels=found, **shared) if kind == "categorical" else OrdinalColumn(levels=found, **shared)


def _decode_feature(node: Node) -> Feature:
    name, column, kind, scale, offset, low, high, baseline, level, fill, cut = _with_defaults(node, "feature").fields(
        "name", "column", "kind", "scale", "offset", "low", "high", "baseline", "level", "fill", "cut"
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
        fill=fill.optional(lambda value: value.number()),
        cut=cut.optional(lambda value: value.number()),
    )
    if (feature.level is None) == (feature.kind == "level"):
        level.refuse("a level for a level feature, and null for any other")
    if (feature.cut is None) == (feature.kind in CUT_KINDS):
        cut.refuse("a number for a step or a hinge, and null for any other")
    return feature


def _check_features(encoder: TableEncoder, node: Node) -> None:
    """Check that features stand in the order of their columns, and are of a kind that the column can have."""
    columns = {column.name: column for column in encoder.columns}
    levels = {column.name: set(column.levels) for column in encoder.columns if isinstance(column, CategoricalColumn)}
    kinds = RAW_KINDS_OF if encoder.is_raw else FEATURE_KINDS_OF
    for feature, item in zip(encoder.features, node.items(), strict=True):
        if feature.column not in columns:
            raise ModelFileError(f"{item.path}.column", f"there is no column {feature.column!r}")
        column = columns[feature.column]
        if feature.kind not in kinds[column.kind]:
            raise ModelFileError(
                f"{item.path}.kind", f"a column of kind {column.kind!r} has no {feature.kind!r} feature"
            )
        _check_map(feature, item, is_raw=encoder.is_raw)
        if isinstance(column, NumericColumn):
            ranged = feature.kind in {"numeric", "mirror", "number"}
            if ranged and (feature.low, feature.high) != (column.low, column.high):
                raise ModelFileError(item.path, f"its range is not that of the column {column.name!r}")
            if isinstance(feature.level, str):
                item.get("level").refuse("a number")
        elif feature.kind == "level" and feature.level not in levels[column.name]:
            raise ModelFileError(f"{item.path}.level", f"{feature.level!r} is no level of {column.name!r}")
    if len({(f.column, f.kind, f.level, f.cut) for f in encoder.features}) < len(encoder.features):
        raise ModelFileError(node.path, "two features are the same but for their names")
    order = [name for name, _ in groupby(feature.column for feature in encoder.features)]
    present = set(order)
    if order != [name for name in encoder.raw_names if name in present]:
        raise ModelFileError(node.path, "the features are not in the order of their columns")


def _check_map(feature: Feature, item: Node, *, is_raw: bool) -> None:
    """Check the affine map: none for a raw feature, and a positive image for any other."""
    if is_raw:
        if (feature.scale, feature.offset) != (1, 0):
            raise ModelFileError(item.path, "a raw feature has scale 1 and offset 0")
        return
    if feature.scale == 0 or (feature.scale < 0) != (feature.kind == "mirror"):
        item.get("scale").refuse("a negative number for a mirror feature, and a positive one for any other")
    if feature.fill is not None:
        item.get("fill").positive()
    if not 0 < feature.floor <= feature.ceiling < math.inf:
        raise ModelFileError(item.path, "its training range has no positive image")
