"""Columns of the paper's encoder: u = log x' of numeric features, and a table of numbers per level for all others.

A quantity x that the model accepts (see `accepted.py`) has u = log(scale·x + offset). ``"clip"`` holds the image at
that of the training range: since the map is monotone, also after rounding, x is held instead, at `low` where the scale
is positive and at `high` for a mirror image. On other rows an in-range number takes the place of x.

A column of levels adds Σ_f β_kf·log x'_f to the exponent of a term, and has finitely many values: one per level, one
for a level that was never seen, one for a missing level. They are computed here, once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ecsel.export.program.accepted import accepted_interval
from ecsel.export.program.expr import (
    Compare,
    Condition,
    Const,
    Expr,
    If,
    Input,
    IsMissing,
    Log,
    Lookup,
    Max,
    Min,
    Not,
    Var,
    add,
    all_of,
    any_of,
    mul,
)
from ecsel.export.program.levels import kind_of_levels, levels_of_kind, spellings_of, with_spellings
from ecsel.export.program.program import InputColumn
from ecsel.export.program.reading import LogTerm, Reading, Sheet, is_one
from ecsel.tables import CategoricalColumn, NumericColumn, OrdinalColumn
from ecsel.tables.levels import MISSING, UNKNOWN, level_table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ecsel._typing import Floats
    from ecsel.explain.view import ModelView
    from ecsel.tables import Feature, TableEncoder


def read_encoded(view: ModelView, encoder: TableEncoder, sheet: Sheet) -> Reading:
    """Write down how the columns that the equations use are read."""
    if not view.terms.is_power_law.all():
        raise TypeError("positive features of an encoder have plain powers alone: fit a model with raw features")
    groups = encoder.feature_groups
    columns = np.unique(groups[(view.terms.exponents != 0).any(axis=0)]).tolist()
    inputs: list[InputColumn] = []
    conditions: list[Condition] = []
    parts: list[dict[int, Expr]] = [{} for _ in range(view.terms.n_terms)]
    for i, j in enumerate(columns):
        own = np.flatnonzero(groups == j)
        features = [encoder.features[f] for f in own]
        exponents = view.terms.exponents[:, own]
        column = encoder.columns[j]
        if isinstance(column, NumericColumn):
            described, condition, by_term = _quantity(i, column, features, exponents, encoder, sheet)
        elif isinstance(column, (CategoricalColumn, OrdinalColumn)):
            described, condition, by_term = _levels(i, column, features, exponents, sheet, encoder)
        else:  # pragma: no cover - a column without values has no features
            raise TypeError(f"column {column.name!r} has no values")
        inputs.append(described)
        conditions += condition
        for k, part in by_term.items():
            parts[k][i] = part
    terms = tuple(LogTerm(each, {}) for each in parts)
    return Reading(tuple(inputs), tuple(columns), tuple(conditions), terms, {})


_Read = tuple[InputColumn, list[Condition], dict[int, Expr]]


def _quantity(
    i: int,
    column: NumericColumn,
    features: Sequence[Feature],
    exponents: Floats,
    encoder: TableEncoder,
    sheet: Sheet,
) -> _Read:
    refuses = any(feature.fill is None for feature in features)
    codes = tuple(float(code) for code in column.missing_codes)
    missing = any_of([IsMissing(i), *(Compare("==", Input(i), Const(code)) for code in codes)])
    smallest, largest = accepted_interval(column, features, encoder.out_of_range)
    inside = [Compare(">=", Input(i), Const(smallest)), Compare("<=", Input(i), Const(largest))]
    usable = sheet.let(
        f"ok{i}", If(all_of([Not(missing), *inside]), Const(1.0), Const(0.0)), "value", f"{column.name} is usable"
    )
    x = sheet.let(f"x{i}", If(is_one(usable), Input(i), Const(column.low)), "value", column.name)
    condition = is_one(usable)
    absent = None
    if not refuses:
        absent = sheet.let(f"na{i}", If(missing, Const(1.0), Const(0.0)), "value", f"{column.name} is missing")
        condition = any_of([is_one(usable), is_one(absent)])
    logs = {
        f: sheet.let(
            f"u{i}_{f}",
            _log_feature(feature, x, absent, clip=encoder.out_of_range == "clip"),
            "log",
            f"log {feature.name}",
        )
        for f, feature in enumerate(features)
        if exponents[:, f].any()
    }
    parts = {
        k: add([mul([Const(beta[f]), u]) for f, u in logs.items() if beta[f]])
        for k, beta in enumerate(exponents)
        if beta.any()
    }
    return InputColumn(column.name, "number", None, codes, refuses, encoder.reading_of(column.name)), [condition], parts


def _log_feature(feature: Feature, x: Var, absent: Var | None, *, clip: bool) -> Expr:
    if feature.kind == "missing":
        observed: Expr = Const(np.log(feature.floor))
    else:
        clipped: Expr = x
        if clip:
            clipped = Max((x, Const(feature.low))) if feature.scale > 0 else Min((x, Const(feature.high)))
        scaled = mul([Const(feature.scale), clipped])
        observed = Log(add([scaled, Const(feature.offset)]) if feature.offset else scaled)
    if absent is None or feature.fill is None:
        return observed
    return If(is_one(absent), Const(np.log(feature.fill)), observed)


def _levels(
    i: int,
    column: CategoricalColumn | OrdinalColumn,
    features: Sequence[Feature],
    exponents: Floats,
    sheet: Sheet,
    encoder: TableEncoder,
) -> _Read:
    kind = kind_of_levels(column)
    refuses = any(feature.fill is None for feature in features)
    codes = levels_of_kind(column.missing_codes, kind)
    spellings, other = spellings_of(encoder, column.name)
    table = np.log(level_table(column.levels, tuple(features)))
    if refuses:  # what is computed for a row that is refused does not matter
        table[:, MISSING] = 0.0
    parts: dict[int, Expr] = {}
    for k, beta in enumerate(exponents):
        if not beta.any():
            continue
        values = (beta @ table).tolist()
        by_level = dict(zip(column.levels, values, strict=False)) | dict.fromkeys(codes, values[MISSING])
        by_level, unknown = with_spellings(by_level, spellings, other, values[UNKNOWN])
        entries = tuple(
            (level, by_level[level]) for level in levels_of_kind(by_level, kind) if by_level[level] != unknown
        )
        lookup = Lookup(i, entries, missing=values[MISSING], otherwise=unknown)
        parts[k] = sheet.let(f"l{k}_{i}", lookup, "part", f"{column.name} in term {k}")
    conditions = []
    if refuses:
        usable = Lookup(i, tuple((code, 0.0) for code in codes), missing=0.0, otherwise=1.0)
        conditions.append(is_one(sheet.let(f"ok{i}", usable, "value", f"{column.name} is usable")))
    known = levels_of_kind((*column.levels, *spellings), kind)
    return InputColumn(column.name, kind, known, codes, refuses, encoder.reading_of(column.name)), conditions, parts
