"""Raw features written for all columns at once: the hot path of readable equations.

A `RawPlan` holds an encoder's features as arrays, made once. Numbers are gathered into one matrix (columns × rows), in
which missing values, clips and every kind of feature take one NumPy call each, however many columns there are; so a
single row costs about as much as a few. Levels are integer codes, and the one indicator that is 1 in a row is written
into an array of zeros, so that a column of a thousand levels costs no more than a column of two.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ecsel.tables.columns import CategoricalColumn, NumericColumn, OrdinalColumn
from ecsel.tables.errors import refuse_infinite, refuse_new_missing, refuse_out_of_range
from ecsel.tables.levels import MISSING, UNKNOWN, codes_of, level_positions, level_table
from ecsel.tables.quantities import is_missing
from ecsel.tables.report import ColumnReport, TransformReport

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from ecsel.tables.columns import Column
    from ecsel.tables.features import Feature, Level
    from ecsel.tables.reading import RawTable
    from ecsel.tables.report import OutOfRange

    Floats = NDArray[np.float64]
    Places = NDArray[np.intp]

BLOCK_CELLS = 1 << 18
"""Numbers that are encoded at a time: two megabytes, which stay in the processor's cache."""


class Group(NamedTuple):
    """Features of one kind: their rows in the output, the rows of their numbers, and their levels or cuts."""

    rows: Places
    numbers: Places
    arguments: Floats


class Block(NamedTuple):
    """A run of rows: the numbers as they were (missing ones apart), which are missing, and which lie outside."""

    numbers: Floats
    missing: NDArray[np.bool_] | None
    below: Places
    above: Places


@dataclass(frozen=True, eq=False, slots=True)
class NumberPlan:
    """All numeric columns that have features.

    `low` and `high` are (columns, 1), and infinite for columns of which only missing values matter. `fill` holds the
    value of each feature where its number is missing; `refuses` tells the columns in which that is an error.
    """

    columns: tuple[NumericColumn, ...]
    positions: tuple[int, ...]
    low: Floats
    high: Floats
    stand_in: Floats
    refuses: NDArray[np.bool_]
    groups: Mapping[str, Group]
    rows: Places
    numbers: Places
    fill: Floats
    out_of_range: OutOfRange

    @classmethod
    def prepare(
        cls,
        columns: Sequence[Column],
        own: Mapping[int, Sequence[tuple[int, Feature]]],
        out_of_range: OutOfRange,
    ) -> NumberPlan:
        """Arrange the features of numeric columns; `own` maps the position of a column to its features with theirs."""
        used = [(j, column) for j in own if isinstance(column := columns[j], NumericColumn)]
        ranged = [any(feature.kind != "missing" for _, feature in own[j]) for j, _ in used]
        features = [(i, row, feature) for i, (j, _) in enumerate(used) for row, feature in own[j]]
        by_kind: dict[str, list[tuple[int, int, float]]] = {}
        for i, row, feature in features:
            argument = feature.level if feature.kind == "level" else feature.cut
            by_kind.setdefault(feature.kind, []).append((row, i, 0.0 if argument is None else float(argument)))
        return cls(
            tuple(column for _, column in used),
            tuple(j for j, _ in used),
            _upright([column.low if r else -np.inf for (_, column), r in zip(used, ranged, strict=True)]),
            _upright([column.high if r else np.inf for (_, column), r in zip(used, ranged, strict=True)]),
            _upright([column.low for _, column in used]),
            np.array([any(feature.fill is None for _, feature in own[j]) for j, _ in used], dtype=bool),
            {kind: _group(members) for kind, members in by_kind.items()},
            np.array([row for _, row, _ in features], dtype=np.intp),
            np.array([i for i, _, _ in features], dtype=np.intp),
            _upright([np.nan if feature.fill is None else feature.fill for _, _, feature in features]),
            out_of_range,
        )

    def blocks(self, table: RawTable) -> Iterator[tuple[slice, Block]]:
        """Read the numbers of a table, a run of rows at a time."""
        sources = [
            table.columns[j].renamed(column.name).numbers()
            for j, column in zip(self.positions, self.columns, strict=True)
        ]
        step = max(1, BLOCK_CELLS // len(sources))
        for start in range(0, table.n_rows, step):
            rows = slice(start, min(start + step, table.n_rows))
            numbers = np.empty((len(sources), rows.stop - start))
            for row, source in zip(numbers, sources, strict=True):
                row[:] = source[rows]
            yield rows, self._check(numbers, sources, rows.start)

    def _check(self, numbers: Floats, sources: Sequence[NDArray[Any]], first_row: int) -> Block:
        """Find what is missing or outside the training range, and refuse what has to be refused."""
        for row, column in zip(numbers, self.columns, strict=True):
            if column.missing_codes:
                row[is_missing(row, column.missing_codes)] = np.nan
        # The extremes of a row are NaN exactly when the row holds one.
        least, greatest = numbers.min(axis=1, keepdims=True), numbers.max(axis=1, keepdims=True)
        missing = None
        if np.isnan(least).any():
            missing = np.isnan(numbers)
            for i in np.flatnonzero(missing.any(axis=1) & self.refuses).tolist():
                column = self.columns[i]
                refuse_new_missing(column.name, int(is_missing(sources[i], column.missing_codes).sum()))
            np.copyto(numbers, self.stand_in, where=missing)
            least, greatest = numbers.min(axis=1, keepdims=True), numbers.max(axis=1, keepdims=True)
        for i in np.flatnonzero(np.isinf(least) | np.isinf(greatest)).tolist():
            refuse_infinite(self.columns[i].name, sources[i])
        nothing = np.empty(0, dtype=np.intp)
        is_below, is_above = least < self.low, greatest > self.high
        if not (is_below.any() or is_above.any()):
            return Block(numbers, missing, nothing, nothing)
        if self.out_of_range == "error":
            i = int(np.argmax(is_below | is_above))
            at = int(np.argmax((numbers[i] < self.low[i]) | (numbers[i] > self.high[i])))
            refuse_out_of_range(self.columns[i], float(numbers[i, at]), first_row + at)
        n_below = np.count_nonzero(numbers < self.low, axis=1)
        return Block(numbers, missing, n_below, np.count_nonzero(numbers > self.high, axis=1))

    def clipped(self, block: Block) -> Floats:
        """Return the numbers of a block inside the training range, where that is asked for."""
        if self.out_of_range == "clip" and block.below.size:
            return np.minimum(np.maximum(block.numbers, self.low), self.high)
        return block.numbers

    def write(self, block: Block, out: Floats) -> None:
        """Write the features of a run of rows into `out` (features × run), which is zero so far."""
        x = self.clipped(block)
        for kind, (rows, numbers, argument) in self.groups.items():
            if kind == "number":
                out[rows] = x[numbers]
            elif kind == "level":
                out[rows] = x[numbers] == argument
            elif kind == "step":
                out[rows] = x[numbers] > argument
            elif kind == "above":
                out[rows] = np.maximum(0.0, x[numbers] - argument)
            elif kind == "below":
                out[rows] = np.maximum(0.0, argument - x[numbers])
        if block.missing is not None:
            out[self.rows] = np.where(block.missing[self.numbers], self.fill, out[self.rows])

    def write_elasticities(self, block: Block, out: Floats) -> None:
        """Write d log f/d log x of the features f of a run of rows into `out`, which is zero so far."""
        x = block.numbers
        moves = np.ones(x.shape, dtype=bool) if block.missing is None else ~block.missing
        if self.out_of_range == "clip" and block.below.size:
            moves &= (x >= self.low) & (x <= self.high)
        for kind, (rows, numbers, cut) in self.groups.items():
            if kind == "number":
                out[rows] = moves[numbers]
            elif kind in {"above", "below"}:  # f = ±(x − cut) where that is positive, so d log f/d log x = x/(x − cut)
                beyond = x[numbers] - cut
                active = moves[numbers] & ((beyond > 0) if kind == "above" else (beyond < 0))
                out[rows] = np.divide(x[numbers], beyond, out=np.zeros_like(beyond), where=active)


@dataclass(frozen=True, eq=False, slots=True)
class LevelPlan:
    """One column of levels: the code of each level, and of a nominal column the output row that a code sets to 1."""

    column: CategoricalColumn | OrdinalColumn
    position: int
    codes: Mapping[Level, int]
    rows: tuple[int, ...]
    row_of_code: Places
    table: Floats | None
    refuses: bool

    @classmethod
    def prepare(
        cls, column: CategoricalColumn | OrdinalColumn, position: int, own: Sequence[tuple[int, Feature]]
    ) -> LevelPlan:
        """Arrange the features of a column."""
        codes = level_positions(column.levels, column.missing_codes)
        row_of_code = np.full(len(column.levels) + 2, -1, dtype=np.intp)
        table = None
        if isinstance(column, OrdinalColumn):
            table = level_table(column.levels, tuple(feature for _, feature in own))
        else:
            for row, feature in own:
                if feature.level is not None:
                    row_of_code[codes[feature.level]] = row
                if feature.fill == 1:
                    row_of_code[MISSING] = row
        refuses = any(feature.fill is None for _, feature in own)
        return cls(column, position, codes, tuple(row for row, _ in own), row_of_code, table, refuses)

    def write(self, table: RawTable, out: Floats) -> tuple[int, tuple[Level, ...]]:
        """Write the features of all rows into `out`, which is zero so far; return the number of unknown levels."""
        codes, unknown = codes_of(table.columns[self.position].renamed(self.column.name), self.codes)
        if self.refuses and (n_missing := int(np.count_nonzero(codes == MISSING))):
            refuse_new_missing(self.column.name, n_missing)
        if self.table is not None:
            out[list(self.rows)] = self.table[:, codes]
        else:
            rows = self.row_of_code[codes]
            places = np.flatnonzero(rows >= 0)
            out[rows[places], places] = 1.0
        if not unknown or getattr(self.column, "has_other", False):
            return 0, ()
        return int(np.count_nonzero(codes == UNKNOWN)), unknown[:3]


@dataclass(frozen=True, eq=False, slots=True)
class RawPlan:
    """The features of a raw encoder, arranged for speed."""

    n_features: int
    numbers: NumberPlan | None
    levels: tuple[LevelPlan, ...]
    out_of_range: OutOfRange

    @classmethod
    def prepare(cls, columns: Sequence[Column], features: Sequence[Feature], out_of_range: OutOfRange) -> RawPlan:
        """Arrange the features of an encoder."""
        position = {column.name: j for j, column in enumerate(columns)}
        own: dict[int, list[tuple[int, Feature]]] = {}
        for row, feature in enumerate(features):
            own.setdefault(position[feature.column], []).append((row, feature))
        numbers = NumberPlan.prepare(columns, own, out_of_range)
        levels = tuple(
            LevelPlan.prepare(column, j, own[j])
            for j in own
            if isinstance(column := columns[j], (CategoricalColumn, OrdinalColumn))
        )
        return cls(len(features), numbers if numbers.columns else None, levels, out_of_range)

    def encode(self, table: RawTable) -> tuple[Floats, TransformReport | None]:
        """Return the features (features × rows), and a report where something is odd."""
        out = np.zeros((self.n_features, table.n_rows))
        outside: list[tuple[Places, Places]] = []
        if self.numbers is not None:
            for rows, block in self.numbers.blocks(table):
                self.numbers.write(block, out[:, rows])
                if block.below.size:
                    outside.append((block.below, block.above))
        unknown = [plan.write(table, out) for plan in self.levels]
        if not outside and not any(n for n, _ in unknown):
            return out, None
        return out, self._report(table.n_rows, outside, unknown)

    def quiet_report(self, n_rows: int) -> TransformReport:
        """Return the report of rows in which nothing is odd."""
        return self._report(n_rows, [], [(0, ())] * len(self.levels))

    def _report(
        self,
        n_rows: int,
        outside: Sequence[tuple[Places, Places]],
        unknown: Sequence[tuple[int, tuple[Level, ...]]],
    ) -> TransformReport:
        reports: dict[int, ColumnReport] = {}
        if self.numbers is not None:
            n_below, n_above = np.zeros((2, len(self.numbers.columns)), dtype=np.intp)
            for below, above in outside:
                n_below, n_above = n_below + below, n_above + above
            for i, (j, column) in enumerate(zip(self.numbers.positions, self.numbers.columns, strict=True)):
                reports[j] = ColumnReport(column.name, column.low, column.high, int(n_below[i]), int(n_above[i]))
        for plan, (n_unknown, examples) in zip(self.levels, unknown, strict=True):
            reports[plan.position] = ColumnReport(plan.column.name, n_unknown=n_unknown, unknown=examples)
        columns = tuple(reports[j] for j in sorted(reports))
        return TransformReport(n_rows, self.out_of_range, columns, clips_above=True)

    def elasticities(self, table: RawTable) -> Floats:
        """Return d log f/d log x of every feature (features × rows); 0 where it does not move with its column."""
        out = np.zeros((self.n_features, table.n_rows))
        if self.numbers is not None:
            for rows, block in self.numbers.blocks(table):
                self.numbers.write_elasticities(block, out[:, rows])
        return out


def _upright(values: Sequence[float]) -> Floats:
    return np.array(values, dtype=np.float64).reshape(-1, 1)


def _group(members: Sequence[tuple[int, int, float]]) -> Group:
    rows, numbers, arguments = zip(*members, strict=True)
    return Group(np.array(rows, dtype=np.intp), np.array(numbers, dtype=np.intp), _upright(arguments))
