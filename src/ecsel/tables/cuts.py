"""Steps and hinges of a raw numeric column: `[x > 4]`, `[x above 3]` = max(0, x − 3), `[x below 3]` = max(0, 3 − x)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ecsel.tables.columns import NumericColumn
from ecsel.tables.describing_raw import complete_feature
from ecsel.tables.features import CUT_KINDS, Feature
from ecsel.tables.names import cut_name, with_distinct_names

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from ecsel.tables.columns import Column
    from ecsel.tables.features import CutKind


def add_cuts(
    columns: Sequence[Column], features: Sequence[Feature], cuts: Mapping[str, Iterable[tuple[CutKind, float]]]
) -> tuple[Feature, ...]:
    """Return the features of a raw encoder with further ones, behind those that each column has."""
    names = [column.name for column in columns]
    if unknown := [name for name in cuts if name not in names]:
        raise ValueError(f"cuts names the column {unknown[0]!r}, which the encoder does not have.")
    taken = {*names, *(feature.name for feature in features)}
    together: list[Feature] = []
    for column in columns:
        own = [feature for feature in features if feature.column == column.name]
        new = with_distinct_names(_new_features(column, own, cuts.get(column.name, ())), taken)
        taken.update(feature.name for feature in new)
        together += (*own, *new)
    return tuple(together)


def _new_features(column: Column, own: Sequence[Feature], cuts: Iterable[tuple[CutKind, float]]) -> tuple[Feature, ...]:
    """Return the features of cuts that a column does not have yet."""
    number = next((feature for feature in own if feature.kind == "number"), None)
    known = {(feature.kind, feature.cut) for feature in own}
    added = []
    for kind, cut in cuts:
        if not isinstance(column, NumericColumn) or number is None:
            raise ValueError(f"Column {column.name!r} cannot be cut: the encoder has no feature of its numbers.")
        feature = _feature(number, column, kind, cut)
        if (feature.kind, feature.cut) not in known:
            known.add((feature.kind, feature.cut))
            added.append(feature)
    return tuple(added)


def _feature(number: Feature, column: NumericColumn, kind: CutKind, cut: float) -> Feature:
    if kind not in CUT_KINDS:
        raise ValueError(f"A cut of {column.name!r} must be one of {', '.join(map(repr, CUT_KINDS))}, but is {kind!r}.")
    cut = float(cut)
    low, high = column.low, column.high
    if not (low < cut <= high if kind == "below" else low <= cut < high):
        raise ValueError(
            f"The cut {cut} of {column.name!r} leaves all rows on one side: its training range is [{low}, {high}]."
        )
    name = cut_name(column.name, kind, cut)
    ends = (0.0, 1.0) if kind == "step" else (0.0, cut - low if kind == "below" else high - cut)
    feature = Feature(name, column.name, kind, 1.0, 0.0, *ends, 0.0, cut=cut)
    return complete_feature(feature, number, column)
