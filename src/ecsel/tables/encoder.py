"""`TableEncoder`: a fitted, immutable map from raw tables to positive features and their logs."""

from __future__ import annotations

import warnings
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from itertools import groupby, repeat
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ecsel.tables.blocks import ColumnJob, encode_blocks
from ecsel.tables.columns import Column, EmptyColumn, NumericColumn
from ecsel.tables.describing import describe
from ecsel.tables.levels import LevelJob
from ecsel.tables.options import ColumnKey, check_out_of_range, column_options
from ecsel.tables.quantities import NumberJob
from ecsel.tables.reading import read_table
from ecsel.tables.report import TransformReport

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from numpy.typing import ArrayLike, DTypeLike, NDArray

    from ecsel.tables.describing import ColumnOptions, Description, MissingRule
    from ecsel.tables.features import Feature, Level
    from ecsel.tables.raw import RawColumn
    from ecsel.tables.report import OutOfRange
    from ecsel.tables.scaling import ScalingKind

_LONG = 100_000
"""Rows from which on threads are worth their while."""


@dataclass(frozen=True, slots=True)
class TableEncoder:
    """What training taught about a table, and the map from raw rows to positive features.

    Build one with `TableEncoder.fit`. It holds plain values only, so two encoders compare equal when they encode alike.

    Attributes
    ----------
    columns
        A description of every raw column.
    features
        The positive features, column by column. Columns that are constant or empty in training have none.
    out_of_range
        What happens to values outside the training range.
    named
        Whether the training table had names of its own; arrays have the names x0, x1, ….
    notes
        Sentences for people: scaling, missing values, columns left out.

    Examples
    --------
    >>> encoder = TableEncoder.fit([[1.0, 5.0], [2.0, 9.0], [4.0, 7.0]], scaling="minmax")
    >>> encoder.feature_names
    ('x0', 'x1')
    >>> encoder.model_features([[2.0, 5.0]])
    array([[4., 1.]])
    """

    columns: tuple[Column, ...]
    features: tuple[Feature, ...]
    out_of_range: OutOfRange
    named: bool
    notes: tuple[str, ...]

    @classmethod
    def fit(
        cls,
        X: Any,
        *,
        scaling: ScalingKind | Literal["auto"] | Mapping[ColumnKey, ScalingKind | Literal["auto"]] = "auto",
        missing: MissingRule = "factor",
        missing_codes: Mapping[ColumnKey, Sequence[Level]] | Sequence[Level] | None = None,
        out_of_range: OutOfRange = "clip",
        categorical: Collection[ColumnKey] | None = None,
        ordinal: Mapping[ColumnKey, Sequence[Level]] | None = None,
        two_sided: Collection[ColumnKey] | bool = (),
        sample_weight: ArrayLike | None = None,
        n_threads: int = 1,
    ) -> TableEncoder:
        """Learn the columns of a table.

        Parameters
        ----------
        X
            A data frame that narwhals reads (pandas, polars, pyarrow, …), an array or a list of rows.
        scaling
            ``"minmax"``, ``"spread"``, ``"ratio"`` or ``"auto"``, for all numeric columns or per column in a dict.
        missing
            ``"factor"``: a column with missing values gets the feature ``column=?``, and its own value there is its log
            mean. ``"median"``: missing values become the median (for nominal columns the most frequent level), also
            when training had none. ``"error"``: they are refused.
        missing_codes
            Values that stand for missing ones: a list for all columns, or a dict per column.
        out_of_range
            ``"clip"``: values below the training minimum become the minimum, values above the maximum extrapolate.
            ``"extrapolate"``: nothing is clipped, and a feature that is not positive is an error. ``"error"``: any
            value outside the training range is an error.
        categorical
            Columns of numbers that are to be read as nominal.
        ordinal
            For each ordinal column its levels, lowest first.
        two_sided
            Numeric columns that get a mirrored copy ``column~`` beside them; True for all where that name is free.
        sample_weight
            Row weights. An integer weight counts as that many rows; a row of weight zero counts for nothing.
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
        )
        weights = _check_weights(sample_weight, table.n_rows)
        raw_columns = table.columns
        if weights is not None and not weights.all():
            raw_columns = tuple(raw.keep(weights > 0) for raw in raw_columns)
            weights = weights[weights > 0]
        described = _describe_all(raw_columns, options, weights, n_threads if table.n_rows > _LONG else 1)
        features = tuple(feature for each in described for feature in each.features)
        _refuse_equal_names(features)
        notes = tuple(note for each in described for note in each.notes)
        return cls(tuple(each.column for each in described), features, rule, table.named, notes)

    @property
    def raw_names(self) -> tuple[str, ...]:
        """The names of the raw columns."""
        return tuple(column.name for column in self.columns)

    @property
    def feature_names(self) -> tuple[str, ...]:
        """The names of the positive features."""
        return tuple(feature.name for feature in self.features)

    @property
    def players(self) -> NDArray[np.intp]:
        """For each feature the position of its raw column."""
        position = {name: j for j, name in enumerate(self.raw_names)}
        return np.array([position[feature.column] for feature in self.features], dtype=np.intp)

    @property
    def baseline(self) -> NDArray[np.float64]:
        """The weighted mean of each feature's log over the training rows."""
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

    def names_match(self, X: Any) -> bool:
        """Whether X is a data frame with exactly the columns of training, which is quickly told."""
        names = getattr(X, "columns", None)
        if not self.named or names is None or len(names) != len(self.columns):
            return False
        return all(isinstance(name, str) and name == own for name, own in zip(names, self.raw_names, strict=True))

    def log_features(self, X: Any, dtype: DTypeLike = np.float64, *, warn: bool = True) -> NDArray[Any]:
        """Return u = log x' as a C-contiguous array (features × rows).

        Values outside the training range and unknown levels are counted and told in one `UserWarning`, unless `warn` is
        False.
        """
        logs, report = self._encode(X, dtype, log=True)
        if warn:
            _warn(report)
        return logs

    def model_features(self, X: Any, *, warn: bool = True) -> NDArray[np.float64]:
        """Return the positive features x' (rows × features) that equations speak of."""
        positive, report = self._encode(X, np.float64, log=False)
        if warn:
            _warn(report)
        return positive.T

    def transform_report(self, X: Any) -> TransformReport:
        """Return the counts of values outside the training range and of unknown levels."""
        return self._encode(X, np.float64, log=False)[1]

    def raw_elasticity_factor(self, X: Any) -> NDArray[np.float64]:
        """Return d log x'/d log x (features × rows), which turns an elasticity in x' into one in raw units.

        For x' = scale·x + offset it is scale·x / x'. It is 0 where x' does not move with x: beyond a clip, at a missing
        value, and for levels, which have no raw elasticity at all.
        """
        columns, n_rows = self._read(X)
        factors = np.zeros((len(self.features), n_rows))
        for rows, job in self._jobs(columns, log=False):
            if isinstance(job, NumberJob):
                job.elasticity(factors[rows])
        return factors

    def _encode(self, X: Any, dtype: DTypeLike, *, log: bool) -> tuple[NDArray[Any], TransformReport]:
        columns, n_rows = self._read(X)
        out = np.empty((len(self.features), n_rows), dtype=dtype)
        reports = encode_blocks(list(self._jobs(columns, log=log)), out)
        return out, TransformReport(n_rows, self.out_of_range, reports)

    def _read(self, X: Any) -> tuple[list[RawColumn], int]:
        """Read a table under the names of training, which are the ones that errors should use."""
        table = read_table(X)
        if len(table.columns) != len(self.columns):
            raise ValueError(
                f"X has {len(table.columns)} features, but {type(self).__name__} is expecting {len(self.columns)} "
                "features as input."
            )
        return [raw.renamed(name) for raw, name in zip(table.columns, self.raw_names, strict=True)], table.n_rows

    def _jobs(self, raw_columns: list[RawColumn], *, log: bool) -> Iterator[tuple[slice, ColumnJob]]:
        """Yield a job for each column that has features; the others are not even read."""
        for j, features in groupby(zip(self.players.tolist(), range(len(self.features)), strict=True), itemgetter(0)):
            positions = [position for _, position in features]
            rows = slice(positions[0], positions[-1] + 1)
            column, raw = self.columns[j], raw_columns[j]
            if isinstance(column, NumericColumn):
                yield rows, NumberJob.prepare(column, self.features[rows], raw, out_of_range=self.out_of_range, log=log)
            elif not isinstance(column, EmptyColumn):
                yield rows, LevelJob.prepare(column, self.features[rows], raw, log=log)


def _describe_all(
    columns: Sequence[RawColumn], options: Sequence[ColumnOptions], weights: NDArray[np.float64] | None, n_threads: int
) -> list[Description]:
    if n_threads == 1:
        return [describe(raw, option, weights) for raw, option in zip(columns, options, strict=True)]
    with ThreadPoolExecutor(n_threads) as threads:
        return list(threads.map(describe, columns, options, repeat(weights)))


def _warn(report: TransformReport) -> None:
    if report:
        warnings.warn(str(report), UserWarning, stacklevel=3)


def _check_weights(sample_weight: ArrayLike | None, n_rows: int) -> NDArray[np.float64] | None:
    if sample_weight is None:
        return None
    weights = np.asarray(sample_weight, dtype=np.float64)
    if weights.shape != (n_rows,):
        raise ValueError(
            f"sample_weight must have one number per row, shape ({n_rows},), but has shape {weights.shape}."
        )
    if not np.isfinite(weights).all() or (weights < 0).any():
        raise ValueError("sample_weight must be finite and not negative.")
    if not weights.any():
        raise ValueError("sample_weight is zero in every row; at least one weight must be positive.")
    return weights


def _refuse_equal_names(features: tuple[Feature, ...]) -> None:
    for name, count in Counter(feature.name for feature in features).items():
        if count > 1:
            columns = sorted({feature.column for feature in features if feature.name == name})
            raise ValueError(
                f"Two features would be named {name!r} (from {', '.join(map(repr, columns))}): rename a column or a "
                "level, or declare the level missing with missing_codes."
            )
