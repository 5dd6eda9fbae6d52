"""Tables of every kind become named raw columns; no values are copied that need not be.

Data frames (pandas, polars, pyarrow and whatever else narwhals reads) keep their names; arrays and lists of rows have the names
x0, x1, … as in scikit-learn. Names are data: any string will do, the empty one included, but no name may occur twice.
"""

from __future__ import annotations

import numbers
from collections import Counter
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import narwhals.stable.v2 as nw
import numpy as np
from sklearn.utils import check_array

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from ecsel.tables.columns import ColumnDtype

RawKind: TypeAlias = Literal["number", "boolean", "text"]


@dataclass(frozen=True, slots=True)
class RawColumn:
    """A column as the user handed it over: a 1-d array, or a series of a data frame."""

    name: str
    source: NDArray[Any] | nw.Series[Any]

    def __len__(self) -> int:
        return len(self.source)

    def keep(self, rows: NDArray[np.bool_]) -> RawColumn:
        """Return the column with the rows of the mask only."""
        kept = self.source[rows] if isinstance(self.source, np.ndarray) else self.source.filter(rows.tolist())
        return RawColumn(self.name, kept)

    def renamed(self, name: str) -> RawColumn:
        """Return the column under the name that it had in training, which is the name that errors should use."""
        return RawColumn(name, self.source)

    @property
    def is_array(self) -> bool:
        """Whether the column comes from an array, where text that reads as numbers is taken for numbers."""
        return isinstance(self.source, np.ndarray)

    def kind_and_dtype(self) -> tuple[RawKind, ColumnDtype]:
        """Tell numbers, booleans and text apart; anything else is refused by name."""
        if isinstance(self.source, np.ndarray):
            kind = self.source.dtype.kind
            if kind in "fiu":
                return "number", "float" if kind == "f" else "integer"
            if kind == "b":
                return "boolean", "boolean"
            if kind == "U":
                return ("number", "float") if _all_parse(self.source) else ("text", "text")
            if kind == "O":
                return self._kind_of_objects(self.source)
            raise ValueError(f"Column {self.name!r} has the type {self.source.dtype}: {_USE_NUMBERS}")
        dtype = self.source.dtype
        if dtype.is_numeric():
            return "number", "integer" if dtype.is_integer() else "float"
        if dtype == nw.Boolean:
            return "boolean", "boolean"
        if dtype in (nw.String, nw.Categorical) or isinstance(dtype, nw.Enum):
            return "text", "text"
        if dtype == nw.Object:
            return self._kind_of_objects(np.array(self.source.to_list(), dtype=object))
        native = str(getattr(self.source.to_native(), "dtype", dtype))
        if native.startswith("Sparse"):
            raise TypeError(
                f"Sparse data was passed in column {self.name!r}, but dense data is required. "
                "Use '.sparse.to_dense()' to convert the frame."
            )
        if native.startswith("complex"):
            raise ValueError(f"Complex data not supported: column {self.name!r} has the type {native}.")
        raise ValueError(f"Column {self.name!r} has the type {native}: {_USE_NUMBERS}")

    def _kind_of_objects(self, values: NDArray[Any]) -> tuple[RawKind, ColumnDtype]:
        present = values[~_missing_objects(values)]
        types = set(map(type, present))
        strange = [t for t in types if not issubclass(t, (str, bool, np.bool_, numbers.Real, Decimal))]
        if strange:
            first = next(value for value in present if type(value) in strange)
            raise TypeError(
                f"Column {self.name!r} holds {_short(first)}: argument must be a string or a number, "
                f"not {type(first).__name__!r}."
            )
        texts = [t for t in types if issubclass(t, str)]
        if texts and len(texts) < len(types):
            first = next(value for value in present if isinstance(value, str))
            if self.is_array and _all_parse(present):
                return "number", "float"
            raise ValueError(
                f"Column {self.name!r} mixes numbers with text such as {_short(first)}: make every value a number, or every "
                "value text. A code for missing values should be NaN or None."
            )
        if texts:
            return ("number", "float") if self.is_array and _all_parse(present) else ("text", "text")
        if types and types <= {bool, np.bool_}:
            return "boolean", "boolean"
        return "number", "integer" if all(issubclass(t, numbers.Integral) for t in types) else "float"

    def numbers(self) -> NDArray[Any]:
        """Return the column as a real array in which NaN is missing; text is refused with its first value."""
        if isinstance(self.source, np.ndarray):
            if self.source.dtype.kind in "fiub":
                return self.source
            values = self.source
        elif self.source.dtype.is_numeric() and self.source.dtype != nw.Decimal:
            return _plain(self.source.to_numpy())
        elif self.source.dtype == nw.Boolean and not self.source.is_null().any():
            return _plain(self.source.to_numpy())
        else:
            self.kind_and_dtype()
            values = np.array(self.source.to_list(), dtype=object)
        return self._parse(values)

    def _parse(self, values: NDArray[Any]) -> NDArray[np.float64]:
        missing = _missing_objects(values)
        parsed = np.full(values.size, np.nan)
        if not self.is_array and (text := next((v for v in values if isinstance(v, str)), None)) is not None:
            raise ValueError(self._not_a_number(text))
        try:
            parsed[~missing] = values[~missing].astype(np.float64)
        except (TypeError, ValueError):
            raise ValueError(self._not_a_number(next(v for v in values[~missing] if not _parses(v)))) from None
        return parsed

    def _not_a_number(self, value: object) -> str:
        return f"Column {self.name!r} is numeric, but holds {_short(value)}, which could not convert to a number."

    def labels(self) -> tuple[Sequence[Any], NDArray[np.bool_]]:
        """Return the values as Python objects and the mask of the missing ones."""
        if isinstance(self.source, np.ndarray):
            if self.source.dtype.kind == "f":
                return self.source.tolist(), np.isnan(self.source)
            if self.source.dtype.kind == "O":
                return self.source.tolist(), _missing_objects(self.source)
            return self.source.tolist(), np.zeros(self.source.size, dtype=bool)
        missing = _plain(self.source.is_null().to_numpy()).astype(bool)
        if self.source.dtype.is_float():
            missing |= _plain(self.source.is_nan().fill_null(value=True).to_numpy()).astype(bool)
        return self.source.to_list(), missing


_USE_NUMBERS = "turn it into numbers (for dates: days since a fixed day) or into text before fitting."


@dataclass(frozen=True, slots=True)
class RawTable:
    """The columns of a table, all of one length."""

    columns: tuple[RawColumn, ...]
    n_rows: int
    named: bool
    """Whether the names are the table's own, not x0, x1, …"""

    @property
    def names(self) -> tuple[str, ...]:
        """The column names."""
        return tuple(column.name for column in self.columns)


def read_table(X: Any) -> RawTable:
    """Read a data frame, an array or a list of rows.

    Examples
    --------
    >>> read_table([[1.0, 2.0], [3.0, 4.0]]).names
    ('x0', 'x1')
    """
    try:
        frame = nw.from_native(X, eager_only=True, pass_through=True)
    except nw.exceptions.DuplicateError:
        frame = _refuse_duplicates(X.columns)
    if not isinstance(frame, nw.DataFrame):
        if hasattr(X, "collect") and hasattr(X, "collect_schema"):
            raise TypeError("X is a lazy frame: call '.collect()' on it first.")
        return _read_array(X)
    n_rows, n_columns = frame.shape
    _require_some(n_rows, n_columns)
    names = _own_names(list(frame.columns))
    columns = map(RawColumn, names or _positional_names(n_columns), frame.iter_columns())
    return RawTable(tuple(columns), n_rows, named=names is not None)


def _read_array(X: Any) -> RawTable:
    values = check_array(X, dtype=None, ensure_all_finite=False, input_name="X")
    names = _positional_names(values.shape[1])
    return RawTable(tuple(map(RawColumn, names, values.T)), values.shape[0], named=False)


def _require_some(n_rows: int, n_columns: int) -> None:
    for count, what in ((n_rows, "sample"), (n_columns, "feature")):
        if count == 0:
            raise ValueError(
                f"Found array with 0 {what}(s) (shape=({n_rows}, {n_columns})) while a minimum of 1 is required."
            )


def _positional_names(n_columns: int) -> tuple[str, ...]:
    return tuple(f"x{j}" for j in range(n_columns))


def _own_names(names: Sequence[Any]) -> tuple[str, ...] | None:
    """Take text names as they are and no names of another type; a mixture is refused, as in scikit-learn."""
    text = [isinstance(name, str) for name in names]
    if all(text):
        _refuse_duplicates(names)
        return tuple(map(str, names))
    if any(text):
        raise TypeError(
            "Feature names are only supported if all input features have string names, but your input has "
            f"{sorted({type(name).__name__ for name in names})} as feature name / column name types. Make them all "
            "text, for example X.columns = X.columns.astype(str)."
        )
    return None


def _refuse_duplicates(names: Sequence[Any]) -> None:
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        raise ValueError(f"Column names must be unique, but {twice[0]!r} occurs {Counter(names)[twice[0]]} times in X.")


def _plain(values: Any) -> NDArray[Any]:
    return np.asarray(values)


def _missing_objects(values: NDArray[Any]) -> NDArray[np.bool_]:
    if values.dtype.kind != "O":
        return np.zeros(values.size, dtype=bool)
    return np.fromiter(map(_is_missing, values), dtype=bool, count=values.size)


def _is_missing(value: object) -> bool:
    # pandas' NA and NaT are told by name, so that pandas need not be imported; a comparison with NA has no truth value.
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, (float, np.floating, Decimal)) and value != value  # noqa: PLR0124 - NaN differs from itself


def _parses(value: object) -> bool:
    try:
        float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return False
    return True


def _all_parse(values: NDArray[Any]) -> bool:
    try:
        values.astype(np.float64)
    except (TypeError, ValueError):
        return False
    return values.size > 0


def _short(value: object, width: int = 60) -> str:
    text = repr(value)
    return text if len(text) <= width else text[: width - 1] + "…"
