"""`to_javascript`: the model as JavaScript for browsers and servers, without dependencies.

Names of columns and classes occur as string literals only, in ASCII and without ``<``, ``>`` and ``&``, so that the
source may stand inside of a ``<script>`` element. They are own properties of objects, so that ``__proto__`` is a name
like any other.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from ecsel.export.program import expr
from ecsel.export.program.lowering import lower
from ecsel.export.program.program import reading_lines
from ecsel.export.program.writing import C_FAMILY, call, fold

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ecsel.export.program.contributions import Method
    from ecsel.export.program.program import InputColumn, Program
    from ecsel.export.program.writing import Rules
    from ecsel.tables import Level

_HEAD = """// A fitted model of ecsel. predict(row) takes an object of column name to value and returns an object.
// Missing values are null, undefined or NaN. On a row that the model refuses every answer is null.
const predict = (() => {
  "use strict";
  const has = Object.prototype.hasOwnProperty;
  const value = (row, name) => {
    if (!has.call(row, name)) throw new Error("the row has no column " + JSON.stringify(name));
    const v = row[name];
    return v === null || v === undefined || v !== v ? null : v;
  };
  const number = (row, name) => {
    const v = value(row, name);
    if (v === null || typeof v === "number") return v;
    if (typeof v === "boolean" || typeof v === "bigint") return Number(v);
    throw new TypeError("column " + JSON.stringify(name) + " must be a number, not " + typeof v);
  };
  const numericLevel = (row, name) => {
    const v = value(row, name);
    if (typeof v === "boolean" || (typeof v === "bigint" && Number.isSafeInteger(Number(v)))) return Number(v);
    return v;
  };
  const booleanLevel = (row, name) => {
    const v = value(row, name);
    const asNumber = typeof v === "bigint" ? Number(v) : v;
    return asNumber === 0 ? false : asNumber === 1 ? true : v;
  };
"""


def to_javascript(
    model: Any, *, module: bool = False, contributions: Method | None = None, baseline: Any = None
) -> str:
    """Return the model as JavaScript source that defines ``predict(row)``.

    An object of raw values goes in; out comes an object with ``probabilities`` by class and ``label``, or
    ``prediction`` for a regression; all are null on a row that the model refuses. With `contributions` it also has
    ``contributions``: an array of objects with the ``class``, the ``term`` (of ``"log_additive"``), the ``base_value``
    and the ``values`` by column.

    Parameters
    ----------
    model : ECSELClassifier, ECSELRegressor or Signomial
        The model.
    module : bool, default=False
        Whether the source is to be an ES module that exports ``predict``, rather than a plain script.
    contributions, baseline : {"log_additive", "attribution", "shapley"} and reference row, optional
        What each column contributes (L1 by term, L2 to the scores, or exact Shapley values), against which row; by
        default a typical training row.

    Examples
    --------
    >>> from ecsel import Signomial
    >>> source = to_javascript(Signomial.parse("3*x**2/y"), module=True)
    >>> source.splitlines()[-1]
    'export { predict };'
    """
    program = lower(model, contributions=contributions, baseline=baseline)
    tables: list[str] = []
    rules = _rules(tables)
    body = [f"const v{i} = {_read(column)};" for i, column in enumerate(program.inputs)]
    body += [f"const {each.name} = {fold(each.value, rules)};" for each in program.assignments]
    body.append(f"return {_object(_answers(program))};")
    levels = "".join(f"  const levels{n} = {table};\n" for n, table in enumerate(tables))
    lines = "".join(f"    {line}\n" for line in body)
    tail = "export { predict };\n" if module else ""
    notes = "".join(f"// {literal(line)}\n" for line in reading_lines(program))
    return f"{notes}{_HEAD}{levels}  return function predict(row) {{\n{lines}  }};\n}})();\n{tail}"


def literal(value: Level) -> str:
    r"""Return a name, a level or a class as JavaScript that may stand inside of HTML.

    Examples
    --------
    >>> print(literal("</script>"), literal(True), literal(2.5), literal(2**60))
    "\u003c/script\u003e" true 2.5 1152921504606846976n
    """
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) >= 2**53:
        return f"{value}n"  # a number would be rounded
    text = json.dumps(value)
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def _read(column: InputColumn) -> str:
    reader = {"number": "numericLevel", "boolean": "booleanLevel", "text": "value"}[column.kind]
    return f"{'number' if column.levels is None else reader}(row, {literal(column.name)})"


def _object(items: Iterable[tuple[Level, str]]) -> str:
    """Return an object with computed keys, which are always own properties, `__proto__` included."""
    return f"{{ {', '.join(f'[{literal(key)}]: {value}' for key, value in items)} }}"


def _answers(program: Program) -> list[tuple[Level, str]]:
    if program.decision is None:
        answers: list[tuple[Level, str]] = [("prediction", program.outputs[0])]
    else:
        labels = ", ".join(map(literal, program.classes))
        answers = [
            ("probabilities", _object(zip(program.classes, program.outputs, strict=True))),
            ("label", f"{program.decision} === null ? null : [{labels}][{program.decision}]"),
        ]
    if program.contributions:
        parts = []
        for each in program.contributions:
            term: list[tuple[Level, str]] = [] if each.term is None else [("term", str(each.term))]
            base: tuple[Level, str] = ("base_value", json.dumps(each.base_value))
            parts.append(_object([("class", literal(each.label)), *term, base, ("values", _object(each.by_column))]))
        answers.append(("contributions", f"[{', '.join(parts)}]"))
    return answers


def _rules(tables: list[str]) -> Rules[str]:
    """Return how expressions are written; tables of levels are added to the list."""

    def lookup(position: int, entries: Sequence[tuple[Level, float]], missing: float, otherwise: float) -> str:
        listed = ", ".join(f"[{literal(level)}, {value!r}]" for level, value in entries)
        tables.append(f"new Map([{listed}])")
        found = f"levels{len(tables) - 1}.get(v{position}) ?? {otherwise!r}"
        return f"(v{position} === null ? {missing!r} : {found})"

    return {
        **C_FAMILY,
        **{
            node: call(f"Math.{node.__name__.lower()}")
            for node in (expr.Min, expr.Max, expr.Abs, expr.Exp, expr.Log, expr.Sqrt, expr.Floor)
        },
        expr.Null: lambda: "null",
        expr.Input: lambda position: f"v{position}",
        expr.Lookup: lookup,
        expr.IsMissing: lambda position: f"(v{position} === null)",
        expr.Compare: lambda operator, left, right: f"({left} {'===' if operator == '==' else operator} {right})",
    }
