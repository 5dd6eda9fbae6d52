"""Tables in, tidy frames out: results come back in the library of the table that was explained."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import narwhals.stable.v2 as nw
import numpy as np
import numpy.typing as npt

from ecsel.explain.optional import import_optional
from ecsel.tables.raw import RawColumn
from ecsel.tables.reading import RawTable, read_table

if TYPE_CHECKING:
    from collections.abc import Mapping


def native_frame(X: Any) -> nw.DataFrame[Any] | None:
    """Return the narwhals frame of a data frame, None for arrays and lists of rows."""
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    return frame if isinstance(frame, nw.DataFrame) else None


def frame_like(X: Any, columns: Mapping[str, npt.NDArray[Any]]) -> Any:
    """Return a frame of the given columns in the library of X; pandas where X is an array."""
    frame = native_frame(X)
    if frame is not None:
        backend: Any = frame.implementation
    else:
        backend = import_optional("pandas", "to_frame() of an array")
    nan_is_null = frame is not None and not frame.implementation.is_pandas_like()
    plain = {name: _plain(column, nan_is_null=nan_is_null) for name, column in columns.items()}
    return nw.from_dict(plain, backend=backend).to_native()


def _plain(column: npt.NDArray[Any], *, nan_is_null: bool) -> Any:
    """Return what a frame is built of; NaN is null in the libraries that tell the two apart."""
    if column.dtype.kind == "f" and nan_is_null and np.isnan(column).any():
        return [None if np.isnan(value) else value for value in column.tolist()]
    return column.tolist() if column.dtype == object else np.ascontiguousarray(column)


def row_labels(X: Any, n_rows: int) -> npt.NDArray[Any]:
    """Return pandas' own index where X has one, else positions."""
    frame = native_frame(X)
    index = None if frame is None else nw.maybe_get_index(frame)
    return np.arange(n_rows) if index is None else np.asarray(index)


def table_values(X: Any) -> npt.NDArray[Any]:
    """Return the cells of a table (rows, columns): an array of numbers if it has no others, else of objects."""
    columns = read_table(X).columns
    plain = [c.source if isinstance(c.source, np.ndarray) else np.asarray(c.source.to_numpy()) for c in columns]
    if all(values.dtype.kind in "biuf" for values in plain):
        return np.column_stack(plain).astype(np.float64)
    result = np.empty((len(plain[0]), len(plain)), dtype=object)
    for j, values in enumerate(plain):
        result[:, j] = values
    return result


def plain_table(X: Any, table: RawTable) -> Any:
    """Return the plain columns of X as a table of its kind: a frame in its library, or an array."""
    columns = dict(zip(table.names, (_cells(column.wrapped().source) for column in table.columns), strict=True))
    frame = native_frame(X)
    if frame is None:
        return table_values(
            RawTable(tuple(RawColumn(name, cells) for name, cells in columns.items()), table.n_rows, False)
        )
    result = frame_like(X, columns)
    index = nw.maybe_get_index(frame)
    if index is not None:
        result.index = index
    return result


def _cells(source: Any) -> npt.NDArray[Any]:
    """Return the cells of a column as an array of numbers, or of objects."""
    values = source if isinstance(source, np.ndarray) else np.asarray(source.to_numpy())
    return values if values.dtype.kind in "biufO" else values.astype(object)


def table_with(X: Any, changes: Mapping[int, npt.NDArray[Any]]) -> Any:
    """Return a copy of a table in which the columns at the given positions have new values."""
    frame = native_frame(X)
    if frame is not None:
        return frame.with_columns(*(_series_like(frame, j, values) for j, values in changes.items())).to_native()
    values = table_values(X)
    if values.dtype != object and any(new.dtype.kind not in "biuf" for new in changes.values()):
        values = values.astype(object)
    for j, new in changes.items():
        values[:, j] = new
    return values


def _series_like(frame: nw.DataFrame[Any], j: int, values: npt.NDArray[Any]) -> nw.Series[Any]:
    """Return a series that takes the place of column j, also in pandas, which matches by index."""
    series = nw.new_series(frame.columns[j], values.tolist(), backend=frame.implementation)
    index = nw.maybe_get_index(frame)
    if index is None:
        return series
    native = series.to_native()
    native.index = index
    return nw.from_native(native, series_only=True)


def take_rows(X: Any, rows: npt.NDArray[np.intp]) -> Any:
    """Return a table of the chosen rows, which may repeat."""
    frame = native_frame(X)
    return table_values(X)[rows] if frame is None else frame[rows.tolist()].to_native()


def repeat_row(x: Any, times: int) -> Any:
    """Return a table of one row as a table of equal rows."""
    if (n_rows := read_table(x).n_rows) != 1:
        raise ValueError(f"one row is needed, not {n_rows}")
    return take_rows(x, np.zeros(times, dtype=np.intp))


MAX_EXPLAINED = 1000
"""Averages over more rows than this change too little to be waited for."""


def some_rows(n: int, most: int) -> npt.NDArray[np.intp]:
    """Return at most so many positions of n rows in order, the same ones in every run.

    >>> some_rows(3, 5)
    array([0, 1, 2])
    """
    if n <= most:
        return np.arange(n)
    return np.sort(np.random.default_rng(0).choice(n, most, replace=False))
