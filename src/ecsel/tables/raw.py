"""One column as the user handed it over: its kind, its numbers, its different values and their codes.

Arrays often lose their types (a list of mixed rows becomes an array of text), so there a column of text that reads as
numbers throughout is a column of numbers. What else may be written as text is the matter of `ecsel.tables.readings`.
"""

from __future__ import annotations

import numbers
from dataclasses import dataclass
from decimal import Decimal
from itertools import repeat
from typing import TYPE_CHECKING, Any, Literal, NoReturn, TypeAlias

import narwhals.stable.v2 as nw
import numpy as np

from ecsel.tables.errors import short

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from ecsel.tables.columns import ColumnDtype

SHORT_TEXT = 4096
"""Columns of text up to this length are looked up value by value: what a data frame library does once per call takes
longer."""

RawKind: TypeAlias = Literal["number", "boolean", "text"]

_ARRAY_KINDS: dict[str, tuple[RawKind, ColumnDtype]] = {
    "f": ("number", "float"),
    "i": ("number", "integer"),
    "u": ("number", "integer"),
    "b": ("boolean", "boolean"),
}


@dataclass(frozen=True, slots=True)
class RawColumn:
    """A name and a 1-d array, a series of narwhals, or one of pandas, which is wrapped only where that is needed."""

    name: str
    source: Any

    def __len__(self) -> int:
        return len(self.source)

    def keep(self, rows: NDArray[np.bool_]) -> RawColumn:
        """Return the column with the rows of the mask only."""
        source = self.wrapped().source
        return RawColumn(self.name, source[rows] if isinstance(source, np.ndarray) else source.filter(rows.tolist()))

    def slice(self, rows: slice) -> RawColumn:
        """Return a run of rows, or every so many-th of them."""
        source = self.wrapped().source
        if rows.step in (None, 1) or isinstance(source, np.ndarray):
            return RawColumn(self.name, source[rows])
        return RawColumn(self.name, source[list(range(len(source))[rows])])  # not every library takes a step

    @classmethod
    def of_series(cls, name: str, series: Any) -> RawColumn:
        """Take a series of a frame library: of pandas' numbers the array, since each reading of a series costs."""
        native = series.to_native() if isinstance(series, nw.Series) else series
        dtype = getattr(native, "dtype", None)
        if isinstance(dtype, np.dtype) and dtype.kind in "fiu" and isinstance(values := native.values, np.ndarray):
            return cls(name, values)
        return cls(name, series)

    def wrapped(self) -> RawColumn:
        """Return the column as an array or a series of narwhals: wrapping takes longer than reading a few rows does."""
        if isinstance(self.source, (np.ndarray, nw.Series)):
            return self
        return RawColumn(self.name, nw.from_native(self.source, series_only=True))

    def renamed(self, name: str) -> RawColumn:
        """Return the same column under another name."""
        return RawColumn(name, self.source)

    def kind_and_dtype(self) -> tuple[RawKind, ColumnDtype]:
        """Tell numbers, booleans and text apart; anything else is refused by name."""
        source = self.wrapped().source
        return self._kind_of_array(source) if isinstance(source, np.ndarray) else self._kind_of_series(source)

    def _kind_of_series(self, series: nw.Series[Any]) -> tuple[RawKind, ColumnDtype]:
        dtype = series.dtype
        if dtype.is_numeric():
            return "number", "integer" if dtype.is_integer() else "float"
        if dtype == nw.Boolean:
            return "boolean", "boolean"
        if isinstance(dtype, (nw.String, nw.Categorical, nw.Enum)):
            return "text", "text"
        if dtype == nw.Object:
            return self._kind_of_objects(_objects(series.to_list()), numeric_text=False)
        if series.is_null().all():
            return "number", "float"  # a column that never had a value has a type of its own in polars and pyarrow
        return self._refuse_type(str(getattr(series.to_native(), "dtype", dtype)))

    def _kind_of_array(self, values: NDArray[Any]) -> tuple[RawKind, ColumnDtype]:
        kind = values.dtype.kind
        if kind in _ARRAY_KINDS:
            return _ARRAY_KINDS[kind]
        if kind == "U":
            return ("number", "float") if _reads_as_numbers(values) else ("text", "text")
        if kind == "O":
            return self._kind_of_objects(values, numeric_text=True)
        return self._refuse_type(str(values.dtype))

    def _kind_of_objects(self, values: NDArray[Any], *, numeric_text: bool) -> tuple[RawKind, ColumnDtype]:
        present = values[~_missing_objects(values)]
        types = set(map(type, present))
        if strange := [t for t in types if not issubclass(t, (str, np.bool_, numbers.Real, Decimal))]:
            first = next(value for value in present if type(value) in strange)
            raise TypeError(
                f"Column {self.name!r} holds {short(first)}: argument must be a string or a number, "
                f"not {type(first).__name__!r}."
            )
        text = {t for t in types if issubclass(t, str)}
        if text and numeric_text and _reads_as_numbers(present):
            return "number", "float"
        if text and text != types:
            first = next(value for value in present if isinstance(value, str))
            raise ValueError(
                f"Column {self.name!r} mixes numbers with text such as {short(first)}: make every value a number, or "
                "every value text; a missing value should be NaN or None."
            )
        if text:
            return "text", "text"
        if types and types <= {bool, np.bool_}:
            return "boolean", "boolean"
        return "number", "integer" if types and all(issubclass(t, numbers.Integral) for t in types) else "float"

    def holds_numbers(self) -> bool:
        """Whether the column has a numeric type."""
        source = self.wrapped().source
        if isinstance(source, np.ndarray):
            return source.dtype.kind in "fiu"
        return bool(source.dtype.is_numeric())

    def holds_text(self) -> bool:
        """Whether the column has the type of text, or is made of objects with text among them; categories have not."""
        source = self.wrapped().source
        if isinstance(source, np.ndarray):
            if source.dtype.kind == "U":
                return not _reads_as_numbers(source)
            values = source if source.dtype.kind == "O" else None
        elif isinstance(source.dtype, nw.String):
            return True
        else:
            values = _objects(source.to_list()) if source.dtype == nw.Object else None
        if values is None or not any(isinstance(value, str) for value in values.tolist()):
            return False
        is_array = isinstance(source, np.ndarray)
        return not (is_array and _reads_as_numbers(values[~_missing_objects(values)]))

    def objects(self) -> NDArray[Any]:
        """Return the values as Python objects, None where they are missing."""
        source = self.wrapped().source
        if isinstance(source, np.ndarray) and source.dtype.kind != "O":
            return _objects(source.tolist())
        if not isinstance(source, np.ndarray) and isinstance(source.dtype, nw.String):
            values = _objects(source.to_list())
            missing = np.asarray(source.is_null().to_numpy(), dtype=bool)
        else:
            values = source if isinstance(source, np.ndarray) else _objects(source.to_list())
            missing = _missing_objects(values)
        if missing.any():
            values = values.copy()
            values[missing] = None
        return values

    def numbers(self) -> NDArray[Any]:
        """Return a real array in which NaN is missing; text is refused with its first value."""
        if isinstance(self.source, np.ndarray):
            if self.source.dtype.kind in _ARRAY_KINDS:
                return self.source
            return self._parse(self.source)
        series = self.wrapped().source
        dtype = series.dtype
        if dtype.is_numeric() and not dtype.is_decimal():
            return np.asarray(series.to_numpy())
        kind, _ = self._kind_of_series(series)
        values = _objects(series.to_list())
        first = next((value for value in values if not _is_missing(value)), None)
        if kind == "text" and first is not None:
            self._refuse_text(first)
        return self._parse(values)

    def _parse(self, values: NDArray[Any]) -> NDArray[np.float64]:
        try:
            return values.astype(np.float64)
        except (TypeError, ValueError):  # a missing value that is no number, or text
            return self._parse_present(values)

    def _parse_present(self, values: NDArray[Any]) -> NDArray[np.float64]:
        present = ~_missing_objects(values)
        parsed = np.full(values.size, np.nan)
        try:
            parsed[present] = values[present].astype(np.float64)
        except (TypeError, ValueError):
            present_values = values[present].tolist()
            self._refuse_text(next(value for value in present_values if not _reads_as_numbers(_objects([value]))))
        return parsed

    def distinct(self) -> list[Any]:
        """Return the different values that occur, missing ones aside, as Python objects."""
        values = self._values()
        if isinstance(values, nw.Series):
            return values.drop_nulls().unique().to_list()
        if values.dtype.kind == "O":
            return list(dict.fromkeys(values[~_missing_objects(values)].tolist()))
        different = np.unique(values)
        return list((different[~np.isnan(different)] if values.dtype.kind == "f" else different).tolist())

    def recoded(self, distinct: Sequence[Any], codes: Sequence[int], missing: int) -> NDArray[np.int32]:
        """Return the code of each row's value, given the codes of the `distinct` ones and of a missing one."""
        values = self._values()
        if not distinct:
            return np.full(len(self), missing, dtype=np.int32)
        if isinstance(values, nw.Series):
            found = np.asarray(
                values.replace_strict(distinct, codes, return_dtype=nw.Int32).to_numpy(), dtype=np.float64
            )
            return np.nan_to_num(found, nan=missing).astype(np.int32)
        if values.dtype.kind == "O":
            position = dict(zip(distinct, codes, strict=True))
            return np.fromiter(map(position.get, values, repeat(missing)), dtype=np.int32, count=values.size)
        # `distinct` is sorted here, so every value is found where it would be inserted; NaN is beyond the end.
        at = np.searchsorted(np.array(distinct, dtype=values.dtype), values)
        return np.append(np.asarray(codes, dtype=np.int32), np.int32(missing))[at]

    def known_codes(self, position: Mapping[Any, int]) -> NDArray[np.int32] | None:
        """Return the code of each row's value at once, None unless the column is short and every value has one."""
        if len(self) > SHORT_TEXT:
            return None
        source = self.source
        if not isinstance(source, np.ndarray):
            source = source.to_list()  # narwhals and pandas have it
        try:
            return np.fromiter(map(position.__getitem__, source), dtype=np.int32, count=len(self))
        except (KeyError, TypeError):
            return None

    def _values(self) -> NDArray[Any] | nw.Series[Any]:
        """Return the form in which equal values are found fastest: a real array, a series of text, or objects."""
        source: NDArray[Any] | nw.Series[Any] = self.wrapped().source
        if isinstance(source, np.ndarray):
            return source
        dtype = source.dtype
        if dtype.is_numeric() and not dtype.is_decimal():
            return np.asarray(source.to_numpy())
        if dtype == nw.Boolean and not source.is_null().any():
            return np.asarray(source.to_numpy(), dtype=bool)
        if isinstance(dtype, (nw.String, nw.Categorical, nw.Enum)) and len(source) > SHORT_TEXT:
            return source
        return _objects(source.to_list())

    def _refuse_text(self, value: object) -> NoReturn:
        raise ValueError(
            f"Column {self.name!r} is a column of numbers, but holds {short(value)}: could not convert it to a number."
        )

    def _refuse_type(self, dtype: str) -> NoReturn:
        if dtype.startswith("Sparse"):
            raise TypeError(
                f"Sparse data was passed in column {self.name!r}, but dense data is required. Use '.sparse.to_dense()' "
                "to convert the frame."
            )
        if dtype.startswith("complex"):
            raise ValueError(f"Complex data not supported: column {self.name!r} has the type {dtype}.")
        raise ValueError(f"Column {self.name!r} has the type {dtype}: turn it into numbers, dates or text first.")


def _objects(values: Sequence[Any]) -> NDArray[Any]:
    """Return a 1-d array of objects, also when the objects are lists."""
    return np.fromiter(values, dtype=object, count=len(values))


def _missing_objects(values: NDArray[Any]) -> NDArray[np.bool_]:
    """Return which objects are missing; the different ones are looked at once, since text repeats itself."""
    cells = values.tolist()
    try:
        missing = {value for value in set(cells) if _is_missing(value)}
    except TypeError:  # lists and the like have no hash
        return np.fromiter(map(_is_missing, cells), dtype=bool, count=values.size)
    if not missing:
        return np.zeros(values.size, dtype=bool)
    # no two NaN need be equal, so that a set does not find them
    is_missing = missing.__contains__ if missing == {None} else _is_missing
    return np.fromiter(map(is_missing, cells), dtype=bool, count=values.size)


def _is_missing(value: object) -> bool:
    # pandas' NA and NaT are known by name: pandas need not be imported; a comparison with NA has no truth value.
    if value is None or type(value).__name__ in {"NAType", "NaTType"}:
        return True
    return isinstance(value, (float, np.floating, Decimal)) and bool(np.isnan(float(value)))


def _reads_as_numbers(values: NDArray[Any]) -> bool:
    try:
        values.astype(np.float64)
    except (TypeError, ValueError):
        return False
    return True
