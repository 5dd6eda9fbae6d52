"""Columns of a raw encoder, or of none: features are numbers as they are, indicators 0 or 1, steps and hinges.

A number is refused where it is infinite, and with ``out_of_range="error"`` where it is outside of the training range;
with ``"clip"`` it is held inside of that range, on both sides. Where it is missing every feature of its column has a
stated value, or the row is refused if training had no missing values. A column of levels is looked up, feature by
feature; a level that was never seen is none of the known ones, and of an ordinal column counts as the median.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ecsel.export.program.accepted import LARGEST
from ecsel.export.program.expr import (
    Compare,
    Condition,
    Const,
    Expr,
    If,
    Input,
    IsMissing,
    Lookup,
    Max,
    Not,
    Var,
    all_of,
    any_of,
    clamp,
    minus,
)
from ecsel.export.program.factors import domain, harmless_value, read_terms
from ecsel.export.program.levels import kind_of_levels, levels_of_kind, spellings_of, with_spellings
from ecsel.export.program.program import InputColumn
from ecsel.export.program.reading import FeatureValue, Reading, Sheet, is_one
from ecsel.tables import CategoricalColumn, NumericColumn, OrdinalColumn
from ecsel.tables.levels import MISSING, UNKNOWN, level_table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ecsel.explain.view import ModelView
    from ecsel.export.program.program import Stage
    from ecsel.signomial import Factor
    from ecsel.tables import Feature, TableEncoder

_TINY = 1e-100
"""Numbers that cannot be smaller than this, unless they are 0, are safe in any short product."""


def read_raw(view: ModelView, encoder: TableEncoder, sheet: Sheet) -> Reading:
    """Write down how the columns that the equations use are read."""
    used = np.any(view.terms.uses, axis=0).tolist()
    columns = sorted({int(j) for j, is_used in zip(view.feature_groups, used, strict=True) if is_used})
    inputs: list[InputColumn] = []
    conditions: list[Condition] = []
    features: dict[int, FeatureValue] = {}
    input_of: dict[int, int] = {}
    for i, j in enumerate(columns):
        own = {f: encoder.features[f] for f in np.flatnonzero(view.feature_groups == j).tolist()}
        # what the encoder refuses depends on all features of a column, whether an equation uses them or not
        refuses = any(feature.fill is None for feature in own.values())
        column = encoder.columns[j]
        if isinstance(column, NumericColumn):
            numbers = _Numbers(i, column, encoder, refuses, sheet)
            inputs.append(numbers.described)
            values = numbers.read(own)
            conditions.append(numbers.condition)
        elif isinstance(column, (CategoricalColumn, OrdinalColumn)):
            described, condition, values = _levels(i, column, own, sheet, encoder, refuses=refuses)
            inputs.append(described)
            conditions += condition
        else:  # pragma: no cover - a column without values has no features
            raise TypeError(f"column {column.name!r} has no values")
        features.update({f: value for f, value in values.items() if used[f]})
        input_of.update(dict.fromkeys(own, i))
    for f, x in features.items():
        features[f], condition = _in_domain(f, x, encoder.features[f], _factors_of(view, f), sheet)
        conditions += condition
    terms = read_terms(view.terms, features, input_of, sheet)
    return Reading(tuple(inputs), tuple(columns), tuple(conditions), terms, features)


class _Numbers:
    """The features of one numeric column."""

    def __init__(self, i: int, column: NumericColumn, encoder: TableEncoder, refuses: bool, sheet: Sheet) -> None:
        self.i, self.column, self.out_of_range, self.refuses, self.sheet = (
            i,
            column,
            encoder.out_of_range,
            refuses,
            sheet,
        )
        self.reading = encoder.reading_of(column.name)
        self.codes = tuple(float(code) for code in column.missing_codes)
        self.missing = any_of([IsMissing(i), *(Compare("==", Input(i), Const(code)) for code in self.codes)])
        self.usable = Var(f"ok{i}")
        self.absent = Var(f"na{i}")

    @property
    def described(self) -> InputColumn:
        return InputColumn(self.column.name, "number", None, self.codes, self.refuses, self.reading)

    @property
    def condition(self) -> Condition:
        return is_one(self.usable) if self.refuses else any_of([is_one(self.usable), is_one(self.absent)])

    def read(self, features: Mapping[int, Feature]) -> dict[int, FeatureValue]:
        """Write down the features, by their positions."""
        name, low, high = self.column.name, self.column.low, self.column.high
        ranged = any(feature.kind != "missing" for feature in features.values())
        smallest, largest = (low, high) if ranged and self.out_of_range == "error" else (-LARGEST, LARGEST)
        inside = [Compare(">=", Input(self.i), Const(smallest)), Compare("<=", Input(self.i), Const(largest))]
        is_usable = all_of([Not(self.missing), *inside])
        self.sheet.let(self.usable.name, _flag(is_usable), "value", f"{name} is usable")
        if not self.refuses:
            self.sheet.let(self.absent.name, _flag(self.missing), "value", f"{name} is missing")
        if not ranged:
            return {f: FeatureValue(self.absent, 0.0, 1.0) for f in features}
        fills = [feature.fill for feature in features.values() if feature.kind == "number"]
        stand_in = fills[0] if fills and fills[0] is not None else low
        x: Expr = If(is_one(self.usable), Input(self.i), Const(stand_in))
        if self.out_of_range == "clip":
            x = clamp(x, low, high)
        if self.out_of_range == "extrapolate":
            low, high = -LARGEST, LARGEST
        # see `ecsel.export.targets.sql.underflow`
        stage: Stage = "feature" if low > _TINY or high < -_TINY else "value"
        number = FeatureValue(self.sheet.let(f"x{self.i}", x, stage, name), low, high)
        return {f: self._feature(n, feature, number, stand_in) for n, (f, feature) in enumerate(features.items())}

    def _feature(self, n: int, feature: Feature, number: FeatureValue, stand_in: float) -> FeatureValue:
        if feature.kind == "number":
            return number
        if feature.kind == "missing":
            return FeatureValue(self.absent, 0.0, 1.0)
        value = _of_number(feature, number.value)
        if not self.refuses and feature.fill is not None and feature.fill != feature.of_number(stand_in):
            value = If(is_one(self.absent), Const(feature.fill), value)
        is_hinge = feature.kind in {"above", "below"}
        high = LARGEST if is_hinge and self.out_of_range == "extrapolate" else feature.high
        stage: Stage = "value" if is_hinge else "feature"
        return FeatureValue(self.sheet.let(f"h{self.i}_{n}", value, stage, feature.name), 0.0, high)


def read_plain(view: ModelView, sheet: Sheet) -> Reading:
    """Write down how the columns of a regression or of bare equations are read: every column is a feature, as it is.

    As in the model, a row is refused where a column is missing or infinite, or where a factor of it is not defined:
    zero to a negative power, a negative number to a power that refuses it, the logarithm of what is not positive.
    """
    columns = np.flatnonzero(view.terms.uses.any(axis=0)).tolist()
    inputs: list[InputColumn] = []
    conditions: list[Condition] = []
    features: dict[int, FeatureValue] = {}
    for i, j in enumerate(columns):
        name = view.feature_names[j]
        factors = [factor for placed in view.terms.factors for feature, factor in placed if feature == j]
        finite = [Compare(">=", Input(i), Const(-LARGEST)), Compare("<=", Input(i), Const(LARGEST))]
        defined = [Not(IsMissing(i)), *finite, *domain(factors, FeatureValue(Input(i), -LARGEST, LARGEST))]
        ok = sheet.let(f"ok{i}", If(all_of(defined), Const(1.0), Const(0.0)), "value", f"{name} is usable")
        x = sheet.let(f"x{i}", If(is_one(ok), Input(i), Const(harmless_value(factors))), "value", name)
        features[j] = FeatureValue(x, -LARGEST, LARGEST)
        inputs.append(InputColumn(name, "number", None, (), refuses_missing=True))
        conditions.append(is_one(ok))
    terms = read_terms(view.terms, features, {j: i for i, j in enumerate(columns)}, sheet)
    return Reading(tuple(inputs), tuple(columns), tuple(conditions), terms, features)


def _of_number(feature: Feature, x: Expr) -> Expr:
    """Return what `Feature.of_number` says."""
    if feature.kind == "level":
        return _flag(Compare("==", x, Const(float(feature.level or 0))))
    cut = Const(feature.cut or 0.0)
    if feature.kind == "step":
        return _flag(Compare(">", x, cut))
    return Max((minus(x, cut) if feature.kind == "above" else minus(cut, x), Const(0.0)))


def _levels(
    i: int,
    column: CategoricalColumn | OrdinalColumn,
    features: Mapping[int, Feature],
    sheet: Sheet,
    encoder: TableEncoder,
    *,
    refuses: bool,
) -> tuple[InputColumn, list[Condition], dict[int, FeatureValue]]:
    kind = kind_of_levels(column)
    codes = levels_of_kind(column.missing_codes, kind)
    spellings, other = spellings_of(encoder, column.name)
    table = np.nan_to_num(level_table(column.levels, tuple(features.values())))  # NaN on rows that are refused anyway
    values = {}
    for n, (f, row) in enumerate(zip(features, table.tolist(), strict=True)):
        feature = features[f]
        by_level = dict(zip(column.levels, row, strict=False)) | dict.fromkeys(codes, row[MISSING])
        by_level, unknown = with_spellings(by_level, spellings, other, row[UNKNOWN])
        entries = tuple(
            (level, by_level[level]) for level in levels_of_kind(by_level, kind) if by_level[level] != unknown
        )
        lookup = Lookup(i, entries, missing=row[MISSING], otherwise=unknown)
        name = f"x{i}" if feature.kind == "ordinal" else f"h{i}_{n}"
        values[f] = FeatureValue(sheet.let(name, lookup, "feature", feature.name), feature.low, feature.high)
    conditions = []
    if refuses:
        usable = Lookup(i, tuple((code, 0.0) for code in codes), missing=0.0, otherwise=1.0)
        conditions.append(is_one(sheet.let(f"ok{i}", usable, "value", f"{column.name} is usable")))
    known = levels_of_kind((*column.levels, *spellings), kind)
    return InputColumn(column.name, kind, known, codes, refuses, encoder.reading_of(column.name)), conditions, values


def _factors_of(view: ModelView, f: int) -> list[Factor]:
    return [factor for placed in view.terms.factors for feature, factor in placed if feature == f]


def _in_domain(
    f: int, x: FeatureValue, feature: Feature, factors: Sequence[Factor], sheet: Sheet
) -> tuple[FeatureValue, list[Condition]]:
    """Refuse values at which a factor is not defined; training has none, but rows beyond its range may."""
    if not (conditions := domain(factors, x)):
        return x, []
    defined = sheet.let(f"d{f}", _flag(all_of(conditions)), "value", f"{feature.name} is defined")
    value = If(is_one(defined), x.value, Const(harmless_value(factors)))
    return FeatureValue(sheet.let(f"q{f}", value, "value", feature.name), x.low, x.high), [is_one(defined)]


def _flag(condition: Condition) -> Expr:
    return If(condition, Const(1.0), Const(0.0))
