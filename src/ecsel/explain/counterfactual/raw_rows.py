"""Rows as a person gave them, beside the columns that a model reads of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import narwhals.stable.v2 as nw
import numpy as np
import numpy.typing as npt

from ecsel.explain.frames import frame_like, native_frame
from ecsel.tables.raw import RawColumn
from ecsel.tables.reading import RawTable

if TYPE_CHECKING:
    from ecsel.explain.view import ModelView


@dataclass(frozen=True, eq=False)
class RawRows:
    """Rows in two forms: plain values (rows, columns), and columns, those of numbers read as numbers."""

    cells: npt.NDArray[Any]
    table: RawTable

    @classmethod
    def read(cls, view: ModelView, X: Any) -> RawRows:
        """Take a table, a dict of column to value, or a list of values."""
        inputs = () if view.encoder is None or not view.encoder.readings else view.encoder.inputs
        if isinstance(X, Mapping) and inputs and all(name in X for name in inputs):
            X = frame_like(None, {name: np.array([X[name]], dtype=object) for name in inputs})
        if isinstance(X, Mapping):
            if absent := [name for name in view.raw_names if name not in X]:
                raise ValueError(f"the row has no value for column {absent[0]!r}")
            rows: list[Any] = [[X[name] for name in view.raw_names]]
        else:
            # the cells of pandas are taken at once; other libraries give rows of Python values themselves
            frame = None if nw.dependencies.is_pandas_dataframe(X) else native_frame(X)
            table = X if frame is not None or np.ndim(X) == 2 else [list(X)]
            view.check_table(table)
            if (plain := view.plain(table)) is not table:
                table, frame = plain, None if nw.dependencies.is_pandas_dataframe(plain) else native_frame(plain)
            rows = np.asarray(table, dtype=object).tolist() if frame is None else frame.rows()
        if not rows:
            raise ValueError("there is no row to find a counterfactual for")
        cells = np.empty((len(rows), len(rows[0])), dtype=object)
        for i, row in enumerate(rows):
            cells[i] = row
        return cls(cells, RawTable(tuple(_read(view, j, column) for j, column in enumerate(cells.T)), len(rows), False))

    def __len__(self) -> int:
        return len(self.cells)

    def take(self, rows: Any) -> RawRows:
        """Return some of the rows, also more than once."""
        cells = self.cells[rows]
        columns = tuple(RawColumn(each.name, np.asarray(each.source)[rows]) for each in self.table.columns)
        return RawRows(cells, RawTable(columns, len(cells), named=False))

    def with_columns(self, new: Mapping[int, npt.NDArray[Any]]) -> RawTable:
        """Return the columns with new values in the place of some."""
        columns = (RawColumn(c.name, new[j]) if j in new else c for j, c in enumerate(self.table.columns))
        return RawTable(tuple(columns), len(self), named=False)


def _read(view: ModelView, j: int, cells: npt.NDArray[Any]) -> RawColumn:
    column = RawColumn(view.raw_names[j] if j < len(view.raw_names) else f"x{j}", cells)
    if j < len(view.raw_names) and view.numeric_column(j) is not None:
        return RawColumn(column.name, column.numbers())
    return column
