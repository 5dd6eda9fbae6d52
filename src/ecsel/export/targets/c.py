r"""`to_c`: the model as one C99 source file that needs the standard library alone.

Names of columns, levels and classes occur as string literals only, also in comments, and every byte of them that is not
a letter, a digit, a space or one of ``_.-`` is written as an octal escape: no quote, no trigraph and no ``*/`` is left.
Text is UTF-8; a NUL inside of it is the two bytes C0 80, since a C string ends at the first zero byte.
"""

from __future__ import annotations

import re
from functools import reduce
from typing import TYPE_CHECKING, Any

from ecsel.export.program import expr
from ecsel.export.program.doubles import check_levels_are_doubles
from ecsel.export.program.lowering import lower
from ecsel.export.program.program import reading_lines
from ecsel.export.program.writing import C_FAMILY, call, fold

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ecsel.export.program.contributions import Method
    from ecsel.export.program.program import InputColumn, Program
    from ecsel.export.program.writing import Rules
    from ecsel.tables import Level

_HEAD = """/* A fitted model of ecsel: fill a {prefix}_row and call {prefix}_predict.
   A missing number is NAN, a missing text is NULL; text is UTF-8. On a row that the model refuses every number of the
   result is NAN and the label is -1. */
#include <math.h>
#include <string.h>

"""
_HELPERS = {
    "by_text": """static double by_text(const char *value, const char *const *levels, const double *values, int n,
                      double missing, double otherwise) {
    if (value == NULL) return missing;
    for (int i = 0; i < n; ++i)
        if (strcmp(value, levels[i]) == 0) return values[i];
    return otherwise;
}

""",
    "by_number": """static double by_number(double value, const double *levels, const double *values, int n,
                        double missing, double otherwise) {
    if (isnan(value)) return missing;
    for (int i = 0; i < n; ++i)
        if (value == levels[i]) return values[i];
    return otherwise;
}

""",
}


def to_c(model: Any, *, prefix: str = "ecsel", contributions: Method | None = None, baseline: Any = None) -> str:
    """Return the model as C99 source.

    The source defines, for the prefix ``ecsel``:

    - the struct ``ecsel_row`` with one member per raw column, ``x0_age``, ``x1_city``, …: ``double`` for numbers (NAN
      is missing), ``const char *`` for levels that are text (NULL is missing), ``double`` 0 or 1 for truth values;
    - ``ecsel_columns`` and ``ecsel_classes``, the names in order;
    - the struct ``ecsel_result``: ``probability`` by class and ``label``, a position among the classes, −1 on a row
      that the model refuses; or ``prediction`` for a regression. With `contributions` also ``contribution``, an array
      of one row per score (of ``"log_additive"``: per term) and one column per raw column, and ``base_value``;
    - the function ``ecsel_result ecsel_predict(const ecsel_row *row)``.

    Parameters
    ----------
    model : ECSELClassifier, ECSELRegressor or Signomial
        The model.
    prefix : str, default="ecsel"
        The beginning of every public name, so that several models can be linked together.
    contributions, baseline : {"log_additive", "attribution", "shapley"} and reference row, optional
        What each column contributes (L1 by term, L2 to the scores, or exact Shapley values), against which row; by
        default a typical training row.

    Examples
    --------
    >>> from ecsel import Signomial
    >>> source = to_c(Signomial.parse("3*x**2/y"))
    >>> print(source[source.index("typedef"):source.index("const char")])
    typedef struct {
        double x0_x; /* "x" */
        double x1_y; /* "y" */
    } ecsel_row;
    """
    if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", prefix):
        raise ValueError(f"prefix must be letters, digits and underscores, beginning with a letter, not {prefix!r}")
    program = lower(model, contributions=contributions, baseline=baseline)
    check_levels_are_doubles(program)
    tables: list[str] = []
    rules = _rules(program, tables)
    body = [f"const double {each.name} = {fold(each.value, rules)};" for each in program.assignments]
    body = [f"{prefix}_result result;", *([] if program.inputs else ["(void)row;"]), *body, *_answers(program)]
    lines = "".join(f"    {line}\n" for line in [*tables, *body, "return result;"])
    helpers = "".join(text for name, text in _HELPERS.items() if f"= {name}(" in lines)
    function = f"{prefix}_result {prefix}_predict(const {prefix}_row *row) {{\n{lines}}}\n"
    notes = "".join(f"/* {_comment(line)} */\n" for line in reading_lines(program))
    return _HEAD.format(prefix=prefix) + notes + _declarations(program, prefix) + helpers + function


def literal(text: str) -> str:
    r"""Return text as a C string literal that may also stand inside of a comment.

    Examples
    --------
    >>> print(literal("pay */"), literal("é"))
    "pay \052\057" "\303\251"
    """
    encoded = text.encode("utf-8", "surrogatepass").replace(b"\0", b"\xc0\x80")
    plain = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.- ")
    return '"' + "".join(chr(byte) if byte in plain else f"\\{byte:03o}" for byte in encoded) + '"'


def _comment(line: str) -> str:
    """Return a line of ASCII that may stand inside of a comment: it ends none, begins none and has no trigraph."""
    return line.replace("*", " * ").replace("??", "? ?")


def member(position: int, column: InputColumn) -> str:
    """Return the member of the struct that holds a column: its position, then what is readable of its name."""
    readable = re.sub(r"[^A-Za-z0-9]+", "_", column.name)[:40].strip("_")
    return f"x{position}_{readable}" if readable else f"x{position}"


def _declarations(program: Program, prefix: str) -> str:
    members = [
        f"{'const char *' if column.kind == 'text' else 'double '}{member(i, column)}; /* {literal(column.name)} */"
        for i, column in enumerate(program.inputs)
    ]
    results = ["double prediction;"]
    if program.decision is not None:
        results = [f"double probability[{len(program.classes)}];", "int label;"]
    if program.contributions and program.inputs:
        n_contributions = len(program.contributions)
        results += [
            f"double contribution[{n_contributions}][{len(program.inputs)}];",
            f"double base_value[{n_contributions}];",
        ]
    return (
        _struct(f"{prefix}_row", members or ["char unused; /* the model uses no column */"])
        + _names(f"{prefix}_columns", [column.name for column in program.inputs])
        + _names(f"{prefix}_classes", program.classes)
        + _struct(f"{prefix}_result", results)
    )


def _struct(name: str, members: Sequence[str]) -> str:
    listed = "".join(f"    {each}\n" for each in members)
    return f"typedef struct {{\n{listed}}} {name};\n\n"


def _names(name: str, labels: Sequence[Level]) -> str:
    if not labels:
        return ""
    return f"const char *const {name}[{len(labels)}] = {{{', '.join(literal(str(label)) for label in labels)}}};\n\n"


def _answers(program: Program) -> list[str]:
    if program.decision is None:
        lines = [f"result.prediction = {program.outputs[0]};"]
    else:
        lines = [f"result.probability[{c}] = {p};" for c, p in enumerate(program.outputs)]
        lines.append(f"result.label = isnan({program.decision}) ? -1 : (int){program.decision};")
    for n, each in enumerate(program.contributions if program.inputs else ()):
        lines.append(f"result.base_value[{n}] = {'NAN' if each.base_value is None else repr(each.base_value)};")
        lines += [f"result.contribution[{n}][{i}] = {value};" for i, (_, value) in enumerate(each.by_column)]
    return lines


def _rules(program: Program, tables: list[str]) -> Rules[str]:
    """Return how expressions are written; tables of levels are added to the list."""
    values = [f"row->{member(i, column)}" for i, column in enumerate(program.inputs)]

    def lookup(position: int, entries: Sequence[tuple[Level, float]], missing: float, otherwise: float) -> str:
        x, is_text = values[position], program.inputs[position].kind == "text"
        if not entries:  # C has no empty arrays
            is_missing = f"{x} == NULL" if is_text else f"isnan({x})"
            return f"({is_missing} ? {missing!r} : {otherwise!r})"
        n = len(tables)
        kind = "char *const" if is_text else "double"
        levels = ", ".join(literal(str(level)) if is_text else repr(float(level)) for level, _ in entries)
        numbers = ", ".join(repr(number) for _, number in entries)
        tables.append(f"static const {kind} levels{n}[] = {{{levels}}};")
        tables.append(f"static const double numbers{n}[] = {{{numbers}}};")
        helper = "by_text" if is_text else "by_number"
        return f"{helper}({x}, levels{n}, numbers{n}, {len(entries)}, {missing!r}, {otherwise!r})"

    return {
        **C_FAMILY,
        expr.Min: _nested("fmin"),
        expr.Max: _nested("fmax"),
        expr.Abs: call("fabs"),
        expr.Null: lambda: "NAN",
        expr.Input: values.__getitem__,
        expr.Lookup: lookup,
        expr.IsMissing: lambda position: f"isnan({values[position]})",
    }


def _nested(function: str) -> Callable[[list[str]], str]:
    """Return the rule that writes many parts with a function of two."""
    return lambda parts: reduce(lambda left, right: f"{function}({left}, {right})", parts)
