"""Columns of a table of any kind, and results as data frames."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import narwhals.stable.v2 as nw
import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray


def to_pandas(columns: Mapping[str, Sequence[Any]], what: str) -> Any:
    """Return a pandas data frame of the columns."""
    try:
        import pandas as pd  # noqa: PLC0415 - an optional dependency
    except ImportError as error:
        raise ImportError(f"{what} needs pandas: pip install pandas.") from error
    return pd.DataFrame({name: list(values) for name, values in columns.items()})


def table_columns(X: Any, name: str) -> dict[str, NDArray[Any]]:
    """Return the columns of a data frame or array by name: numbers as floats (NaN is missing), others as objects.

    >>> table_columns(np.array([[1, 2], [3, 4]]), "expected")["x1"]
    array([2., 4.])
    """
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    if isinstance(frame, nw.DataFrame):
        return {column: _series_values(frame[column]) for column in frame.columns}
    array = np.asarray(X)
    if array.ndim != 2:
        raise ValueError(f"{name} must be a table of rows and columns, but its shape is {array.shape}.")
    numeric = array.dtype.kind in "iuf"
    return {f"x{j}": v.astype(np.float64) if numeric else v.astype(object) for j, v in enumerate(array.T)}


def _series_values(series: nw.Series[Any]) -> NDArray[Any]:
    if series.dtype.is_numeric():
        missing = series.is_null().to_numpy().astype(bool)
        return np.where(missing, np.nan, series.fill_null(0).cast(nw.Float64).to_numpy().astype(np.float64))
    out = np.empty(len(series), dtype=object)
    out[:] = series.to_list()
    return out
