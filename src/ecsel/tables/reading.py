"""Tables of every kind become named raw columns.

Data frames (pandas, polars, pyarrow and whatever else narwhals reads) keep their names; arrays and lists of rows have
the names x0, x1, … as in scikit-learn, and so have frames whose names are not text. Names are data: any string will do,
the empty one included, but no name may occur twice. The columns of a frame are read when they are asked for, since a
model often needs a few of many; pandas is asked directly, which for single rows is several times faster.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, overload

import narwhals.stable.v2 as nw
import numpy as np
from sklearn.utils import check_array

from ecsel.tables.errors import short
from ecsel.tables.raw import RawColumn

if TYPE_CHECKING:
    from numpy.typing import NDArray


class LazyColumns(Sequence[RawColumn], ABC):
    """Columns that are made when they are asked for, one or a slice of them."""

    @abstractmethod
    def column(self, j: int) -> RawColumn:
        """Return the column at a position."""

    @overload
    def __getitem__(self, j: int) -> RawColumn: ...

    @overload
    def __getitem__(self, j: slice) -> tuple[RawColumn, ...]: ...

    def __getitem__(self, j: int | slice) -> RawColumn | tuple[RawColumn, ...]:
        return tuple(map(self.column, range(*j.indices(len(self))))) if isinstance(j, slice) else self.column(j)


class FrameColumns(LazyColumns):
    """The columns of a pandas or narwhals frame, each read when it is first asked for.

    `names` are what the columns are called here; they are the frame's own where it is `named`.
    """

    def __init__(self, frame: Any, names: Sequence[str], *, named: bool) -> None:
        self.names = tuple(names)
        self._frame = frame
        self._named = named
        self._known: list[RawColumn | None] = [None] * len(self.names)

    def __len__(self) -> int:
        return len(self.names)

    def column(self, j: int) -> RawColumn:
        """Return the column at a position; it is read once."""
        if (known := self._known[j]) is None:
            known = self._known[j] = RawColumn.of_series(self.names[j], self._series(j))
        return known

    def _series(self, j: int) -> Any:
        if isinstance(self._frame, nw.DataFrame):
            return self._frame[:, j]
        return self._frame[self.names[j]] if self._named else self._frame.iloc[:, j]


@dataclass(frozen=True, slots=True)
class RawTable:
    """The columns of a table, all of one length; `named` tells whether the names are the table's own."""

    columns: Sequence[RawColumn]
    n_rows: int
    named: bool
    given_names: tuple[str, ...] | None = None
    """The names of columns that are read only when they are asked for."""

    @classmethod
    def of_cells(cls, cells: NDArray[Any]) -> RawTable:
        """Take a two-dimensional array as it is, without the checks of `read_table`."""
        columns = zip(_positional_names(cells.shape[1]), cells.T, strict=True)
        return cls(tuple(RawColumn(name, column) for name, column in columns), cells.shape[0], named=False)

    def slice(self, rows: slice) -> RawTable:
        """Return a run of rows."""
        columns = tuple(column.slice(rows) for column in self.columns)
        return RawTable(columns, len(range(self.n_rows)[rows]), self.named, self.given_names)

    @property
    def names(self) -> tuple[str, ...]:
        """The column names."""
        if self.given_names is not None:
            return self.given_names
        if isinstance(self.columns, FrameColumns):
            return self.columns.names
        return tuple(column.name for column in self.columns)


def read_table(X: Any) -> RawTable:
    """Read a data frame, an array or a list of rows; what was read before is returned as it is.

    Examples
    --------
    >>> read_table([[1.0, 2.0], [3.0, 4.0]]).names
    ('x0', 'x1')
    """
    if isinstance(X, RawTable):
        return X
    if isinstance(X, np.ndarray):
        return _read_array(X)
    X = nw.to_native(X, pass_through=True)
    if nw.dependencies.is_pandas_dataframe(X):
        return _read_pandas(X)
    try:
        frame = nw.from_native(X, pass_through=True)
    except nw.exceptions.DuplicateError:
        _refuse_duplicates(getattr(X, "column_names", X.columns))
        raise
    if isinstance(frame, nw.LazyFrame):
        raise TypeError("X is a lazy frame, which has no rows yet: collect or compute it first.")
    if not isinstance(frame, nw.DataFrame):
        return _read_array(X)
    return _frame_table(frame, frame.shape, frame.columns)


def _read_pandas(X: Any) -> RawTable:
    if not X.columns.is_unique:
        _refuse_duplicates(X.columns)
    return _frame_table(X, X.shape, X.columns.tolist())


def _frame_table(frame: Any, shape: tuple[int, int], names: Sequence[Any]) -> RawTable:
    n_rows, n_columns = shape
    _require_some(n_rows, n_columns)
    own = _own_names(names)
    columns = FrameColumns(frame, own or _positional_names(n_columns), named=own is not None)
    return RawTable(columns, n_rows, named=own is not None)


def _read_array(X: Any) -> RawTable:
    if type(X) is np.ndarray and X.ndim == 2 and X.size and X.dtype.kind in "fiub":
        return RawTable.of_cells(X)  # scikit-learn would find nothing to say
    refuse_other_arrays(X=X)
    if isinstance(X, np.ma.MaskedArray):
        X = np.where(np.ma.getmaskarray(X), np.array(None), X.data)
    return RawTable.of_cells(check_array(X, dtype=None, ensure_all_finite=False, input_name="X"))


def refuse_other_arrays(**arguments: Any) -> None:
    """Refuse arrays of the array API that are not NumPy's, by the names of the arguments that they were given as.

    >>> refuse_other_arrays(X=np.ones((2, 2)), y=[0, 1], sample_weight=None)
    """
    for name, given in arguments.items():
        if not isinstance(given, (np.ndarray, np.generic)) and hasattr(given, "__array_namespace__"):
            library = type(given).__module__.partition(".")[0]
            raise TypeError(
                f"{name} is an array of {library}, and ecsel computes with NumPy: give "
                f"numpy.asarray({name}), after bringing the array to this machine's memory where it is on a device."
            )


def _require_some(n_rows: int, n_columns: int) -> None:
    """Refuse an empty frame in the words that scikit-learn uses for an empty array."""
    for count, what in ((n_rows, "sample"), (n_columns, "feature")):
        if count == 0:
            raise ValueError(
                f"Found array with 0 {what}(s) (shape=({n_rows}, {n_columns})) while a minimum of 1 is required."
            )


def _positional_names(n_columns: int) -> tuple[str, ...]:
    return tuple(f"x{j}" for j in range(n_columns))


def _own_names(names: Sequence[Any]) -> tuple[str, ...] | None:
    """Take text names as they are and names of no other type; a mixture is refused, as in scikit-learn."""
    is_text = [isinstance(name, str) for name in names]
    if all(is_text):
        return tuple(names)
    if any(is_text):
        types = sorted({type(name).__name__ for name in names})
        raise TypeError(
            "Feature names are only supported if all input features have string names, but your input has "
            f"{types} as feature name / column name types. Make them all text, for example with "
            "X.columns = X.columns.astype(str)."
        )
    return None


def _refuse_duplicates(names: Any) -> None:
    counts = Counter(names)
    for name, count in counts.items():
        if count > 1:
            raise ValueError(f"Column names must be unique, but {short(name)} occurs {count} times; rename them.")
