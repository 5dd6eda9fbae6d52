"""`to_python`: the model as Python source that needs nothing but Python itself.

The source defines `predict(row)`. Names of columns and classes occur in it as string literals only, all in ASCII.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ecsel.export.program import expr
from ecsel.export.program.lowering import lower
from ecsel.export.program.program import reading_lines
from ecsel.export.program.writing import INFIX, fold, infix
from ecsel.export.targets.python_readers import imports_of, read_prepared, readers_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ecsel.export.program.contributions import Method
    from ecsel.export.program.program import InputColumn, Program
    from ecsel.export.program.writing import Rules
    from ecsel.tables import Level

_ABOUT = '''"""A fitted model of ecsel. predict(row) takes one row, a dict of column name to value, and returns a dict.

Missing values are None or NaN. On a row that the model refuses every answer is None.
"""

'''
_HEAD = """from math import exp, floor, inf, log, sqrt


def _value(row, name):
    try:
        value = row[name]
    except KeyError:
        raise KeyError(f"the row has no column {name!r}") from None
    if value is None or type(value).__name__ in ("NAType", "NaTType") or value != value:
        return None
    return value


def _number(row, name):
    value = _value(row, name)
    if value is None:
        return None
    if isinstance(value, (str, bytes)):
        raise TypeError(f"column {name!r} must be a number, not {value!r}")
    try:
        return float(value)
    except OverflowError:
        return inf if value > 0 else -inf

"""


def to_python(model: Any, *, contributions: Method | None = None, baseline: Any = None) -> str:
    """Return the model as the source of a Python function without dependencies.

    The source defines ``predict(row)``: a dict of raw values in, text and dates as the table of training had them (they
    are read as the model reads them); out comes a dict with ``"probabilities"`` by class and
    ``"label"``, or ``"prediction"`` for a regression; all are None on a row that the model refuses. With
    `contributions` it also has ``"contributions"``: a list of dicts with the ``"class"``, the ``"term"`` (of
    ``"log_additive"``), the ``"base_value"`` and the ``"values"`` by column.

    Parameters
    ----------
    model : ECSELClassifier, ECSELRegressor or Signomial
        The model.
    contributions, baseline : {"log_additive", "attribution", "shapley"} and reference row, optional
        What each column contributes (L1 by term, L2 to the scores, or exact Shapley values), against which row; by
        default a typical training row.

    Examples
    --------
    >>> from ecsel import Signomial
    >>> namespace = {}
    >>> exec(to_python(Signomial.parse("3*x**2/y")), namespace)
    >>> round(namespace["predict"]({"x": 2.0, "y": 4.0})["prediction"], 12)
    3.0
    """
    return source_of(lower(model, contributions=contributions, baseline=baseline))


def source_of(program: Program) -> str:
    """Return a program as Python source that defines ``predict(row)``."""
    tables: list[str] = []
    rules = _rules(tables)
    body = [f"v{i} = {_read(column)}" for i, column in enumerate(program.inputs)]
    body += [f"{each.name} = {fold(each.value, rules)}" for each in program.assignments]
    body.append(f"return {{{', '.join(_answers(program))}}}")
    lines = "".join(f"    {line}\n" for line in body)
    notes = "".join(f"\n# {line}" for line in reading_lines(program, converted=True))
    head = (
        _ABOUT
        + imports_of(program.inputs)
        + _HEAD
        + readers_of(program.inputs)
        + (f"{notes}\n" if notes else "")
        + "".join(f"\n_LEVELS_{n} = {table}" for n, table in enumerate(tables))
        + ("\n" if tables else "")
    )
    return f"{head}\ndef predict(row):\n{lines}"


def _read(column: InputColumn) -> str:
    if (reading := column.prepared) is not None:
        return read_prepared(column, reading)
    return f"{'_number' if column.levels is None else '_value'}(row, {column.name!a})"


def _answers(program: Program) -> list[str]:
    if program.decision is None:
        answers = [f"'prediction': {program.outputs[0]}"]
    else:
        by_class = zip(program.classes, program.outputs, strict=True)
        labels = ", ".join(map(ascii, program.classes))
        answers = [
            f"'probabilities': {{{', '.join(f'{label!a}: {p}' for label, p in by_class)}}}",
            f"'label': None if {program.decision} is None else ({labels},)[int({program.decision})]",
        ]
    if program.contributions:
        parts = []
        for each in program.contributions:
            values = ", ".join(f"{column!a}: {variable}" for column, variable in each.by_column)
            term = "" if each.term is None else f"'term': {each.term}, "
            parts.append(
                f"{{'class': {each.label!a}, {term}'base_value': {each.base_value!r}, 'values': {{{values}}}}}"
            )
        answers.append(f"'contributions': [{', '.join(parts)}]")
    return answers


def _rules(tables: list[str]) -> Rules[str]:
    """Return how expressions are written; tables of levels are added to the list."""

    def lookup(position: int, entries: Sequence[tuple[Level, float]], missing: float, otherwise: float) -> str:
        listed = [f"{level!a}: {value!r}" for level, value in entries]
        tables.append(f"{{{', '.join([*listed, f'None: {missing!r}'])}}}")
        return f"_LEVELS_{len(tables) - 1}.get(v{position}, {otherwise!r})"

    return {
        **INFIX,
        expr.Null: lambda: "None",
        expr.Input: lambda position: f"v{position}",
        expr.Lookup: lookup,
        expr.If: lambda condition, then, otherwise: f"({then} if {condition} else {otherwise})",
        expr.IsMissing: lambda position: f"(v{position} is None)",
        expr.And: infix(" and "),
        expr.Or: infix(" or "),
        expr.Not: lambda operand: f"(not {operand})",
    }
