"""The symbols of formulas, read from a table: features of the equations, or the raw quantities and indicators."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ecsel.explain.view import ModelView
from ecsel.export.readable.raw_units import formula_of, positive_encoder
from ecsel.tables import NumericColumn
from ecsel.tables.levels import MISSING, UNKNOWN, level_codes
from ecsel.tables.quantities import is_missing
from ecsel.tables.reading import read_table

if TYPE_CHECKING:
    from ecsel._typing import Floats
    from ecsel.export.readable.formula import Formula
    from ecsel.tables import Column, TableEncoder
    from ecsel.tables.raw import RawColumn


def formula_inputs(model: Any, X: Any) -> dict[str, Floats]:
    """Return, for the rows of a table, the values of all symbols of a model's formula.

    The symbols are those of `to_sympy`, `to_latex` and `to_text`: the features of the equations by name, numbers held
    inside of their training range and missing ones replaced by what they count as, ordinal columns as positions, and
    ``[column = level]`` as 0 or 1. The paper's model is written in raw units instead: quantities, and an indicator for
    each ``column=level`` and ``column=?`` that its formula has.

    Parameters
    ----------
    model : ECSELClassifier, ECSELRegressor or Signomial
        The model.
    X : data frame or array
        Rows with the columns of training. What the model refuses is refused here too.

    Examples
    --------
    >>> import pandas as pd
    >>> from ecsel import Signomial
    >>> formula_inputs(Signomial.parse("3*x**2/y"), pd.DataFrame({"x": [1.0, 2.0], "y": [4.0, 5.0]}))
    {'x': array([1., 2.]), 'y': array([4., 5.])}
    """
    view = ModelView.of(model)
    X = view.plain(X)
    rows = view.rows(X, warn=False)
    encoder = positive_encoder(view)
    if encoder is not None:
        return symbols_of(view, encoder, formula_of(view, encoder), X)
    used = np.flatnonzero(view.terms.uses.any(axis=0))
    return {view.feature_names[j]: rows.values[:, j] for j in used}


def symbols_of(view: ModelView, encoder: TableEncoder, formula: Formula, X: Any) -> dict[str, Floats]:
    """Return the values of the symbols of a formula in raw units for rows that the model accepts."""
    table = read_table(X)
    by_name = {column.name: column for column in table.columns} if table.named else {}
    symbols: dict[str, Floats] = {}
    for name in formula.columns:
        j = view.column_position(name)
        raw = by_name.get(name, table.columns[min(j, len(table.columns) - 1)])
        column = encoder.columns[j]
        if isinstance(column, NumericColumn):
            values = np.asarray(raw.numbers(), dtype=np.float64)
            missing = is_missing(values, column.missing_codes)
            symbols[name] = np.where(missing, formula.imputed.get(name, np.nan), values)
            symbols[f"{name}=?"] = missing.astype(np.float64)
        else:
            symbols.update(_level_symbols(column, formula, raw))
    wanted = {*formula.columns, *formula.indicators}
    return {name: values for name, values in symbols.items() if name in wanted}


def _level_symbols(column: Column, formula: Formula, raw: RawColumn) -> dict[str, Floats]:
    name, levels = column.name, getattr(column, "levels", ())
    codes, _ = level_codes(raw, levels, getattr(column, "missing_codes", ()))
    symbols = {f"{name}=?": (codes == MISSING).astype(np.float64)}
    for each in formula.indicators.values():
        if each.column == name and each.level is not None:
            symbols[each.symbol] = (codes == levels.index(each.level)).astype(np.float64)
    if name in formula.orders:
        positions = np.arange(len(levels) + 2, dtype=np.float64)
        positions[UNKNOWN] = formula.orders[name].unknown
        positions[MISSING] = formula.imputed.get(name, np.nan)
        symbols[name] = positions[codes]
    return symbols
