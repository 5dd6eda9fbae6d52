"""`TableEncoder`: a fitted, immutable map from raw tables to the features of equations.

The features of the paper's model are positive, and their logs are what it needs. Those of a *raw* encoder are values
that people know: `age`, `[contract = two year]`, `[age missing]`.
"""

from __future__ import annotations

import warnings
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Literal, NoReturn

import numpy as np

from ecsel.tables.blocks import ColumnJob, encode_blocks
from ecsel.tables.columns import Column, EmptyColumn, NumericColumn
from ecsel.tables.cuts import add_cuts
from ecsel.tables.dates import DateReading
from ecsel.tables.describing import describe
from ecsel.tables.describing_raw import describe_raw
from ecsel.tables.encoding_raw import RawPlan
from ecsel.tables.levels import LevelJob, level_table
from ecsel.tables.names import refuse_equal_names, with_distinct_names
from ecsel.tables.options import ColumnKey, check_out_of_range, check_weights, column_options
from ecsel.tables.quantities import NumberJob
from ecsel.tables.reading import RawTable, read_table
from ecsel.tables.readings import PlainColumns, Reading, learn_readings
from ecsel.tables.report import TransformReport

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

    from numpy.typing import ArrayLike, DTypeLike, NDArray

    from ecsel.tables.features import CutKind, Feature, Level
    from ecsel.tables.observed import ColumnOptions, Description, MissingRule
    from ecsel.tables.raw import RawColumn
    from ecsel.tables.readings import ReadColumn
    from ecsel.tables.report import OutOfRange
    from ecsel.tables.scaling import ScalingKind

_LONG = 100_000
"""Rows from which on threads are worth their while."""


@dataclass(frozen=True, slots=True)
class TableEncoder:
    """What training taught about a table, and the map from its rows to features.

    Build one with `TableEncoder.fit`. It holds plain values only, so two encoders compare equal when they encode alike.

    Attributes
    ----------
    columns
        A description of every plain column: those of the table, with the parts of dates in the place of dates.
    features
        The features, column by column. Columns that are constant or empty in training have none.
    out_of_range
        What happens to values outside the training range.
    named
        Whether the training table had names of its own; arrays have the names x0, x1, ….
    notes
        Sentences for people: scaling, missing values, columns left out.
    is_raw
        Whether features are raw values and indicators rather than positive numbers.
    readings
        How inputs that are no plain numbers or levels become such columns: text that holds numbers, dates, spellings.
    changes
        Those of the notes that tell what was left out, or read otherwise than it is written.

    Examples
    --------
    >>> encoder = TableEncoder.fit([[1.0, 5.0], [2.0, 9.0], [4.0, 7.0]], scaling="minmax")
    >>> encoder.feature_names
    ('x0', 'x1')
    >>> encoder.model_features([[2.0, 5.0]])
    array([[4., 1.]])
    >>> TableEncoder.fit([[1.0, 5.0], [2.0, 9.0], [4.0, 7.0]], scaling="raw").feature_rows([[2.0, 5.0]])[0]
    array([2.])
    """

    columns: tuple[Column, ...]
    features: tuple[Feature, ...]
    out_of_range: OutOfRange
    named: bool
    notes: tuple[str, ...]
    is_raw: bool = False
    readings: tuple[Reading, ...] = ()
    changes: tuple[str, ...] = ()
    _plan: RawPlan | None = field(default=None, init=False, repr=False, compare=False)
    _level_tables: dict[int, NDArray[np.float64]] = field(default_factory=dict, init=False, repr=False, compare=False)

    @classmethod
    def fit(
        cls,
        X: Any,
        *,
        scaling: ScalingKind | Literal["auto"] | Mapping[ColumnKey, ScalingKind | Literal["auto"]] = "auto",
        missing: MissingRule = "factor",
        missing_codes: Mapping[ColumnKey, Sequence[Level]] | Sequence[Level] | str | None = "auto",
        out_of_range: OutOfRange = "clip",
        categorical: Collection[ColumnKey] | None = None,
        ordinal: Mapping[ColumnKey, Sequence[Level]] | None = None,
        two_sided: Collection[ColumnKey] | bool = (),
        keep: Collection[ColumnKey] | None = None,
        drop: Collection[ColumnKey] | None = None,
        sample_weight: ArrayLike | None = None,
        target: Callable[[], NDArray[np.float64] | None] | None = None,
        n_threads: int = 1,
    ) -> TableEncoder:
        """Learn the columns of a table.

        Parameters
        ----------
        X
            A data frame that narwhals reads (pandas, polars, pyarrow, …), an array or a list of rows.
        scaling
            ``"minmax"``, ``"spread"``, ``"ratio"`` or ``"auto"``, for all numeric columns or per column in a dict: the
            features are positive. ``"raw"``: they are raw values and indicators, ``[column = level]`` and ``[column
            missing]``.
        missing
            ``"factor"``: a column with missing values gets the feature ``column=?``, and its own value there is its log
            mean, that of raw numbers the median. ``"median"``: missing values become the median (for nominal columns
            the most frequent level), also when training had none. ``"error"``: they are refused.
        missing_codes
            Values that stand for missing ones: a list for all columns, or a dict per column. ``"auto"`` finds them
            (see `ecsel.tables.missing_codes`), None means that there are none.
        out_of_range
            ``"clip"``: values below the training minimum become the minimum, values above the maximum extrapolate; raw
            numbers are clipped on both sides. ``"extrapolate"``: nothing is clipped, and a positive feature that is not
            positive is an error. ``"error"``: any value outside the training range is an error.
        categorical
            Columns that are to be read as nominal, as they are written.
        ordinal
            For each ordinal column its levels, lowest first.
        two_sided
            Numeric columns that get a mirrored copy ``column~`` beside them; True for all where that name is free.
        keep, drop
            Columns that take part although they look like identifiers, and columns that take no part.
        sample_weight
            Row weights. An integer weight counts as that many rows; a row of weight zero counts for nothing.
        target
            A function that returns the target in numbers, which helps to tell identifiers from quantities.
        n_threads
            Threads that long columns are shared out to.
        """
        table = read_table(X)
        rule = check_out_of_range(out_of_range)
        options = column_options(
            table.names,
            scaling=scaling,
            missing=missing,
            missing_codes=missing_codes,
            categorical=categorical,
            ordinal=ordinal,
            two_sided=two_sided,
            keep=keep,
            drop=drop,
        )
        weights = check_weights(sample_weight, table.n_rows)
        raw_columns = table.columns
        if weights is not None and not weights.all():
            raw_columns = [raw.keep(weights > 0) for raw in raw_columns]
            counted, whole = weights > 0, target
            target = None if whole is None else lambda: _taken(whole(), counted)
            weights = weights[counted]
        read = learn_readings(raw_columns, options, weights, named=table.named, target=target)
        is_raw = scaling == "raw"
        learn = describe_raw if is_raw else describe
        plain = [(raw, each.options) for each in read if each.left_out is None for raw in each.columns]
        described = iter(_describe_all(learn, plain, weights, n_threads if table.n_rows > _LONG else 1))
        columns: list[Column] = []
        features: list[Feature] = []
        notes: list[str] = []
        changes: list[str] = []
        for each in read:
            notes += each.notes
            changes += each.notes
            if each.left_out is not None:
                columns.append(EmptyColumn(each.columns[0].name, each.left_out))
                continue
            parts = [next(described) for _ in each.columns]
            columns += [part.column for part in parts]
            notes += [note for part in parts for note in part.notes]
            changes += [note for part in parts if not part.features for note in part.notes]
            features += _of_input(each, parts)
        if is_raw:
            features = list(with_distinct_names(features, [*table.names, *(column.name for column in columns)]))
        else:
            refuse_equal_names(features)
        readings = tuple(each.reading for each in read if each.reading is not None)
        rest = (tuple(notes), is_raw, readings, tuple(changes))
        return cls(tuple(columns), tuple(features), rule, table.named, *rest)

    @property
    def inputs(self) -> tuple[str, ...]:
        """The names of the columns of the user's table; a date is one input, though it has several plain columns."""
        source = {name: reading.column for reading in self.readings for name in reading.names}
        return tuple(dict.fromkeys(source.get(column.name, column.name) for column in self.columns))

    @property
    def raw_names(self) -> tuple[str, ...]:
        """The names of the plain columns."""
        return tuple(column.name for column in self.columns)

    @property
    def feature_names(self) -> tuple[str, ...]:
        """The names of the features."""
        return tuple(feature.name for feature in self.features)

    @property
    def feature_groups(self) -> NDArray[np.intp]:
        """For each feature the position of its raw column."""
        position = {name: j for j, name in enumerate(self.raw_names)}
        return np.array([position[feature.column] for feature in self.features], dtype=np.intp)

    @property
    def baseline(self) -> NDArray[np.float64]:
        """The weighted mean of each feature's log over the training rows; of raw ones the values of a typical row."""
        return np.array([feature.baseline for feature in self.features], dtype=np.float64)

    def keep_mirrors(self, names: Collection[str]) -> TableEncoder:
        """Return the encoder without the mirrored features, except those whose names are given.

        Examples
        --------
        >>> wide = TableEncoder.fit([[1.0, 5.0], [2.0, 9.0], [4.0, 7.0]], two_sided=True)
        >>> wide.feature_names, wide.keep_mirrors({"x1~"}).feature_names
        (('x0', 'x0~', 'x1', 'x1~'), ('x0', 'x1', 'x1~'))
        """
        return replace(self, features=tuple(f for f in self.features if f.kind != "mirror" or f.name in names))

    def keep_features(self, names: Collection[str]) -> TableEncoder:
        """Return the encoder with some of its features only; a column without features is not even read.

        Examples
        --------
        >>> wide = TableEncoder.fit([[1.0, 5.0], [2.0, 9.0], [4.0, 7.0]], scaling="raw")
        >>> wide.keep_features({"x1"}).model_features([["anything", 7.0]])
        array([[7.]])
        """
        kept = set(names)
        if unknown := sorted(kept - set(self.feature_names)):
            raise ValueError(f"The encoder has no feature {unknown[0]!r}.")
        return replace(self, features=tuple(feature for feature in self.features if feature.name in kept))

    def with_cuts(self, cuts: Mapping[str, Iterable[tuple[CutKind, float]]]) -> TableEncoder:
        """Return the raw encoder with further features of numeric columns, behind those that each column has.

        Parameters
        ----------
        cuts
            For each column its cuts: ``("step", c)`` is 1 where x > c, ``("above", c)`` is max(0, x − c) and
            ``("below", c)`` is max(0, c − x), of the clipped number x. A step is 0 where x is missing; a hinge is what
            the number counts as there gives.

        Examples
        --------
        >>> encoder = TableEncoder.fit([[1.0], [2.0], [4.5]], scaling="raw")
        >>> encoder = encoder.with_cuts({"x0": [("step", 2), ("above", 2)]})
        >>> encoder.feature_names
        ('x0', '[x0 > 2]', '[x0 above 2]')
        >>> encoder.model_features([[4.0]])
        array([[4., 1., 2.]])
        """
        if not self.is_raw:
            raise TypeError("Only raw numbers can be cut: fit the encoder with scaling='raw'.")
        return replace(self, features=add_cuts(self.columns, self.features, cuts))

    def names_match(self, X: Any) -> bool:
        """Whether X is a data frame with exactly the columns of training, a quick check."""
        names = getattr(X, "columns", None)
        if isinstance(X, RawTable):
            return X.names == self.raw_names
        if not self.named and self.readings and np.ndim(X) == 2:  # the inputs are counted elsewhere
            return bool(np.shape(X)[1] == len(self.columns) > len(self.inputs))
        if not self.named or names is None:
            return False
        return _same_names(names, self.raw_names) or (bool(self.readings) and _same_names(names, self.inputs))

    def describe_reading(self, column: str) -> str:
        """Return how a plain column comes from the user's table; nothing where it is simply one of its columns."""
        reading = self.reading_of(column)
        return "" if reading is None else reading.describe(column)

    def reading_of(self, column: str) -> Reading | None:
        """Return the reading that a plain column comes from; None where it is simply a column of the user's table."""
        return next((reading for reading in self.readings if column in reading.names), None)

    def read(self, X: Any) -> RawTable:
        """Return the plain columns of a table: text that holds numbers as numbers, the parts of dates, merged levels.

        A table of plain columns is returned as it is.

        Examples
        --------
        >>> encoder = TableEncoder.fit([["1,200", "a"], ["3,400", "b"]])
        >>> encoder.read([["5,000", "b"]]).columns[0].numbers()
        array([5000.])
        """
        return self._read(X)

    def log_features(self, X: Any, dtype: DTypeLike = np.float64, *, warn: bool = True) -> NDArray[Any]:
        """Return u = log x' as a C-contiguous array (features × rows).

        Values outside the training range and unknown levels are counted and named in a `UserWarning`, unless `warn` is
        False. Raw features have no logs.
        """
        if self.is_raw:
            raise TypeError(
                "Raw features may be zero or negative and have no logs: use feature_rows or model_features."
            )
        logs, report = self._encode(X, dtype, log=True)
        if warn:
            _warn(report, stacklevel=3)
        return logs

    def model_features(self, X: Any, *, warn: bool = True) -> NDArray[np.float64]:
        """Return the features (rows × features) that equations speak of."""
        rows = self._feature_rows(X, warn=warn).T
        return np.ascontiguousarray(rows) if self.is_raw else rows

    def feature_rows(self, X: Any, *, warn: bool = True) -> NDArray[np.float64]:
        """Return the features as a C-contiguous array (features × rows), a row for each feature."""
        return self._feature_rows(X, warn=warn)

    def transform_report(self, X: Any) -> TransformReport:
        """Return the counts of values outside the training range and of unknown levels."""
        if not self.is_raw:
            return self._encode(X, np.float64, log=False)[1]
        table = self._read(X)
        return self._raw_plan().encode(table)[1] or self._raw_plan().quiet_report(table.n_rows)

    def raw_elasticity_factor(self, X: Any) -> NDArray[np.float64]:
        """Return d log x'/d log x (features × rows), which turns an elasticity in x' into one in raw units.

        For x' = scale·x + offset it is scale·x / x'. It is 0 where x' does not move with x: beyond a clip, at a missing
        value, and for levels, which have no raw elasticity at all. A raw number has 1, a hinge x / (x − cut).
        """
        table = self._read(X)
        if self.is_raw:
            return self._raw_plan().elasticities(table)
        factors = np.zeros((len(self.features), table.n_rows))
        for rows, job in self._jobs(table, log=False):
            if isinstance(job, NumberJob):
                job.elasticity(factors[rows])
        return factors

    def _feature_rows(self, X: Any, *, warn: bool) -> NDArray[np.float64]:
        if self.is_raw:
            rows, report = self._raw_plan().encode(self._read(X))
        else:
            rows, report = self._encode(X, np.float64, log=False)
        if warn and report is not None:
            _warn(report, stacklevel=4)
        return rows

    def _raw_plan(self) -> RawPlan:
        if self._plan is None:
            plan = RawPlan.prepare(self.columns, self.features, self.out_of_range)
            object.__setattr__(self, "_plan", plan)  # a function of the other fields, made when it is first needed
            return plan
        return self._plan

    def _encode(self, X: Any, dtype: DTypeLike, *, log: bool) -> tuple[NDArray[Any], TransformReport]:
        table = self._read(X)
        out = np.empty((len(self.features), table.n_rows), dtype=dtype)
        reports = encode_blocks(list(self._jobs(table, log=log)), out)
        return out, TransformReport(table.n_rows, self.out_of_range, reports)

    def _read(self, X: Any) -> RawTable:
        table = read_table(X)
        if not self.readings:
            if len(table.columns) != len(self.columns):
                self._refuse_width(len(table.columns), len(self.columns))
            return table
        inputs, names = self.inputs, self.raw_names
        by_input = {reading.column: reading for reading in self.readings}
        width = len(table.columns)
        if width == len(names) and (len(inputs) < len(names) or table.names == names):
            # plain already, but for the text of a column that is as wide as its reading
            single = {name: reading for name, reading in by_input.items() if reading.kind != "date"}
            order, sizes = names, [1] * width
            readings = {j: single[name] for j, name in enumerate(order) if name in single}
        elif width == len(inputs):
            sizes = [len(by_input[name].names) if name in by_input else 1 for name in inputs]
            readings = {j: by_input[name] for j, name in enumerate(inputs) if name in by_input}
        else:
            self._refuse_width(width, len(inputs))
        return RawTable(PlainColumns(table.columns, readings, sizes), table.n_rows, table.named, names)

    def _refuse_width(self, found: int, wanted: int) -> NoReturn:
        raise ValueError(f"X has {found} features, but {type(self).__name__} is expecting {wanted} features as input.")

    def _jobs(self, table: RawTable, *, log: bool) -> Iterator[tuple[slice, ColumnJob]]:
        """Yield a job for each column that has features; the others are not even read. Errors use training's names."""
        for j, features in groupby(
            zip(self.feature_groups.tolist(), range(len(self.features)), strict=True), itemgetter(0)
        ):
            positions = [position for _, position in features]
            rows = slice(positions[0], positions[-1] + 1)
            column = self.columns[j]
            raw = table.columns[j].renamed(column.name)
            if isinstance(column, NumericColumn):
                yield rows, NumberJob.prepare(column, self.features[rows], raw, out_of_range=self.out_of_range, log=log)
            elif not isinstance(column, EmptyColumn):
                if j not in self._level_tables:  # kept here, and not in a cache of the module: it goes with the encoder
                    self._level_tables[j] = level_table(column.levels, self.features[rows])
                yield rows, LevelJob.prepare(column, self.features[rows], self._level_tables[j], raw, log=log)


def _describe_all(
    learn: Callable[[RawColumn, ColumnOptions, NDArray[np.float64] | None], Description],
    columns: Sequence[tuple[RawColumn, ColumnOptions]],
    weights: NDArray[np.float64] | None,
    n_threads: int,
) -> list[Description]:
    if n_threads == 1:
        return [learn(raw.wrapped(), option, weights) for raw, option in columns]
    with ThreadPoolExecutor(n_threads) as threads:
        return list(threads.map(lambda each: learn(each[0].wrapped(), each[1], weights), columns))


def _of_input(read: ReadColumn, parts: Sequence[Description]) -> list[Feature]:
    """Return the features of an input; of a date one tells that it is missing, under the name of the date."""
    features = [feature for part in parts for feature in part.features]
    if not isinstance(read.reading, DateReading):
        return features
    missing = [feature for feature in features if feature.kind == "missing"]
    first, old = read.reading.column, read.reading.names[0]
    kept = [feature for feature in features if feature not in missing[1:]]
    return [replace(f, name=f.name.replace(old, first, 1)) if f in missing else f for f in kept]


def _taken(values: NDArray[np.float64] | None, rows: NDArray[np.bool_]) -> NDArray[np.float64] | None:
    return None if values is None else values[rows]


def _same_names(names: Any, own: Sequence[str]) -> bool:
    return len(names) == len(own) and all(isinstance(a, str) and a == b for a, b in zip(names, own, strict=True))


def _warn(report: TransformReport, *, stacklevel: int) -> None:
    if report:
        warnings.warn(str(report), UserWarning, stacklevel=stacklevel)
