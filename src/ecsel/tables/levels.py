"""Columns of levels: integer codes, and a small table of x' per code that is looked up row by row."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ecsel.tables.errors import refuse_new_missing
from ecsel.tables.report import ColumnReport

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from ecsel.tables.columns import CategoricalColumn, OrdinalColumn
    from ecsel.tables.features import Feature, Level
    from ecsel.tables.raw import RawColumn

MISSING, UNKNOWN = -1, -2
"""Codes of a level that is missing or was never seen; as indices they mean the last two columns of a `level_table`."""


class LevelCodes(NamedTuple):
    """The code of every row, and the values that are no known level."""

    codes: NDArray[np.int32]
    unknown: tuple[Any, ...]


def level_codes(raw: RawColumn, levels: Sequence[Level], missing_codes: Sequence[Level] = ()) -> LevelCodes:
    """Return the position of each row's level, `MISSING` or `UNKNOWN`."""
    return codes_of(raw, level_positions(levels, missing_codes))


def level_positions(levels: Sequence[Level], missing_codes: Sequence[Level] = ()) -> dict[Level, int]:
    """Return the code of each known level, and of the values that stand for a missing one."""
    position = {level: code for code, level in enumerate(levels)}
    position.update(dict.fromkeys(missing_codes, MISSING))
    return position


def codes_of(raw: RawColumn, position: Mapping[Level, int]) -> LevelCodes:
    """Return the code of each row's level under `level_positions`."""
    known = raw.known_codes(position)
    if known is not None:
        return LevelCodes(known, ())
    raw = raw.wrapped()
    raw.kind_and_dtype()
    distinct = raw.distinct()
    codes = [position.get(value, UNKNOWN) for value in distinct]
    unknown = sorted((value for value, code in zip(distinct, codes, strict=True) if code == UNKNOWN), key=str)
    return LevelCodes(raw.recoded(distinct, codes, MISSING), tuple(unknown))


def level_table(levels: tuple[Level, ...], features: tuple[Feature, ...]) -> NDArray[np.float64]:
    """Return x' (features × codes) for every level, then for `UNKNOWN`, then for `MISSING`; not to be written to.

    An unknown level contributes nothing: every indicator is 1 (0 if raw), and an ordinal feature its log mean (the
    median if raw).
    """
    position = {level: code for code, level in enumerate(levels)}
    table = np.empty((len(features), len(levels) + 2))
    for row, feature in zip(table, features, strict=True):
        row.fill(feature.floor)
        if feature.kind == "ordinal":
            row[:UNKNOWN] = feature.positive(np.arange(len(levels), dtype=np.float64))
            row[UNKNOWN] = feature.baseline if feature.is_raw else np.exp(feature.baseline)
        elif feature.level is not None:
            row[position[feature.level]] = feature.ceiling
        row[MISSING] = np.nan if feature.fill is None else feature.fill
    table.setflags(write=False)
    return table


@dataclass(frozen=True, slots=True)
class LevelJob:
    """The encoding of one nominal or ordinal column."""

    name: str
    codes: NDArray[np.int32]
    table: NDArray[np.float64]
    unknown: tuple[Level, ...]

    @classmethod
    def prepare(
        cls,
        column: CategoricalColumn | OrdinalColumn,
        features: Sequence[Feature],
        table: NDArray[np.float64],
        raw: RawColumn,
        *,
        log: bool,
    ) -> LevelJob:
        """Read the levels, whose `level_table` is given; missing ones are refused unless training met some."""
        codes, unknown = level_codes(raw, column.levels, column.missing_codes)
        n_missing = int(np.count_nonzero(codes == MISSING))
        if n_missing and any(feature.fill is None for feature in features):
            refuse_new_missing(column.name, n_missing)
        return cls(column.name, codes, np.log(table) if log else table, unknown[:3])

    def encode(self, rows: slice, out: NDArray[Any]) -> ColumnReport:
        """Write the features of a block of rows."""
        codes = self.codes[rows]
        for row, values in zip(out, self.table, strict=True):
            row[:] = values[codes]
        n_unknown = int(np.count_nonzero(codes == UNKNOWN)) if self.unknown else 0
        return ColumnReport(self.name, n_unknown=n_unknown, unknown=self.unknown)
