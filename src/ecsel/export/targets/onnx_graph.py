"""A program as nodes of an ONNX graph: every number is a tensor of one column, (rows, 1).

A null is NaN. Text has no NaN, so that one chosen text stands for a missing level. A column of levels is turned once
into positions: 0 for a level that was never seen, 1, 2, … for the known ones, and one more for a missing level; a
`Lookup` is a table that is read there.

Arithmetic is in double precision always: a score is often a small difference of large terms, and single precision would
leave three digits of it. Only what goes in and out may be in single precision, `border`; levels and missing codes are
then compared as numbers of single precision, as which they come in.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import reduce
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from ecsel.export.program import expr
from ecsel.export.program.writing import fold

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ecsel.export.program.program import Program
    from ecsel.export.program.writing import Rules
    from ecsel.tables import Level

OPERATORS = {"<": "Less", "<=": "LessOrEqual", "==": "Equal", ">=": "GreaterOrEqual", ">": "Greater"}
FLOAT, INT64, DOUBLE = 1, 7, 11
"""Types of tensors, numbered as in ``onnx.TensorProto``."""


class Graph(Protocol):
    """Somewhere to put nodes."""

    def node(self, operator: str, inputs: Sequence[str], *, domain: str = "", **attributes: Any) -> str:
        """Add a node and return the name of its output."""

    def constant(self, value: np.ndarray[Any, Any]) -> str:
        """Add a constant and return its name."""


@dataclass(slots=True)
class GraphWriter:
    """Writes a program into a graph.

    Attributes
    ----------
    program, graph
        What is written, and where to.
    tensors
        The name of each input's tensor.
    border
        The type of the numbers that go in and out.
    missing_text
        The text that stands for a missing level.
    """

    program: Program
    graph: Graph
    tensors: Sequence[str]
    border: type[np.floating[Any]]
    missing_text: str = ""
    variables: dict[str, str] = field(default_factory=dict)
    _numbers: dict[int, str] = field(default_factory=dict)
    _positions: dict[int, str] = field(default_factory=dict)

    def write(self) -> None:
        """Write all assignments; `variables` then has the tensor of each."""
        check_levels(self.program, self.border, self.missing_text)
        rules = self._rules()
        for each in self.program.assignments:
            self.variables[each.name] = fold(each.value, rules)

    def outputs(self) -> str:
        """Return the tensor of all probabilities (rows, classes), or of the prediction (rows, 1)."""
        return self._going_out([self.variables[name] for name in self.program.outputs])

    def labels(self, labels: np.ndarray[Any, Any]) -> str:
        """Return the tensor (rows,) of the predicted labels; the last of the given ones is for rows that are refused.

        Labels are (classes + 1,) in a type that ONNX has.
        """
        decision = self.variables[self.program.decision or ""]
        none = self._number(len(labels) - 1)
        known = self.graph.node("Where", [self.graph.node("IsNaN", [decision]), none, decision])
        whole = self.graph.node("Cast", [known], to=INT64)
        position = self.graph.node("Reshape", [whole, self.graph.constant(np.array([-1]))])
        return self.graph.node("Gather", [self.graph.constant(labels), position], axis=0)

    def contributions(self) -> str:
        """Return the tensor of all contributions (rows, scores or terms, columns)."""
        contributions = self.program.contributions
        flat = [self.variables[variable] for each in contributions for _, variable in each.by_column]
        shape = self.graph.constant(np.array([-1, len(contributions), len(self.program.inputs)]))
        return self.graph.node("Reshape", [self._going_out(flat), shape])

    def _going_out(self, columns: Sequence[str]) -> str:
        joined = self.graph.node("Concat", columns, axis=1)
        return joined if self.border is np.float64 else self.graph.node("Cast", [joined], to=FLOAT)

    def _number(self, value: float) -> str:
        return self.graph.constant(np.array([[value]], dtype=np.float64))

    def _input(self, i: int) -> str:
        """Return the tensor of a column of quantities in double precision, NaN where there is a missing code."""
        if self.border is np.float64:
            return self.tensors[i]
        if i not in self._numbers:
            x = self.graph.node("Cast", [self.tensors[i]], to=DOUBLE)
            for code in self.program.inputs[i].missing_codes:
                is_code = self.graph.node("Equal", [self.tensors[i], self._at_border([[code]])])
                x = self.graph.node("Where", [is_code, self._number(np.nan), x])
            self._numbers[i] = x
        return self._numbers[i]

    def _at_border(self, values: Any) -> str:
        return self.graph.constant(np.array(values, dtype=np.float64).astype(self.border))

    def _lookup(self, position: int, entries: Sequence[tuple[Level, float]], missing: float, otherwise: float) -> str:
        by_level = dict(entries)
        values = [by_level.get(level, otherwise) for level in self.program.inputs[position].known]
        table = np.array([otherwise, *values, missing])
        return self.graph.node("Gather", [self.graph.constant(table), self._position(position)], axis=0)

    def _position(self, i: int) -> str:
        """Return the tensor of the positions of a column's levels."""
        if i not in self._positions:
            levels = self.program.inputs[i].known
            is_text = self.program.inputs[i].kind == "text"
            self._positions[i] = self._text_position(i, levels) if is_text else self._number_position(i, levels)
        return self._positions[i]

    def _text_position(self, i: int, levels: Sequence[Level]) -> str:
        position = {level: place for place, level in enumerate(levels, start=1)}
        position.setdefault(self.missing_text, len(levels) + 1)
        return self.graph.node(
            "LabelEncoder",
            [self.tensors[i]],
            domain="ai.onnx.ml",
            keys_strings=[str(level).encode("utf-8", "surrogatepass") for level in position],
            values_int64s=list(position.values()),
            default_int64=0,
        )

    def _number_position(self, i: int, levels: Sequence[Level]) -> str:
        """Return the position of the largest of 1 at the own level, 0 at others, and ½ at that of an unknown one."""
        equal = self.graph.node("Equal", [self.tensors[i], self._at_border([[np.nan, *levels]])])
        rest = self.graph.constant(np.array([[0.5] + [0.0] * len(levels)]))
        weights = self.graph.node("Where", [equal, self._number(1.0), rest])
        position = self.graph.node("ArgMax", [weights], axis=1, keepdims=1)
        missing = self.graph.constant(np.array([[len(levels) + 1]]))
        return self.graph.node("Where", [self.graph.node("IsNaN", [self.tensors[i]]), missing, position])

    def _rules(self) -> Rules[str]:
        node = self.graph.node

        def chain(operator: str) -> Any:
            return lambda parts: reduce(lambda left, right: node(operator, [left, right]), parts)

        def function(operator: str) -> Any:
            return lambda operands: node(operator, [operands] if isinstance(operands, str) else operands)

        return {
            expr.Const: self._number,
            expr.Null: lambda: self._number(np.nan),
            expr.Var: self.variables.__getitem__,
            expr.Input: self._input,
            expr.Lookup: self._lookup,
            expr.Add: chain("Add"),
            expr.Mul: chain("Mul"),
            expr.Min: function("Min"),
            expr.Max: function("Max"),
            expr.Div: lambda numerator, denominator: node("Div", [numerator, denominator]),
            expr.Neg: function("Neg"),
            expr.Abs: function("Abs"),
            expr.Exp: function("Exp"),
            expr.Log: function("Log"),
            expr.Sqrt: function("Sqrt"),
            expr.Floor: function("Floor"),
            expr.If: lambda condition, then, otherwise: node("Where", [condition, then, otherwise]),
            expr.IsMissing: lambda position: node("IsNaN", [self._input(position)]),
            expr.Compare: lambda operator, left, right: node(OPERATORS[operator], [left, right]),
            expr.And: chain("And"),
            expr.Or: chain("Or"),
            expr.Not: function("Not"),
        }


def check_levels(program: Program, border: type[np.floating[Any]], missing_text: str) -> None:
    """Refuse levels that could not be distinguished."""
    for column in program.inputs:
        levels = column.known
        if column.kind == "text":
            if missing_text in (column.levels or ()):
                raise ValueError(
                    f"column {column.name!r} has the level {missing_text!r}, which is to stand for a missing one: give "
                    "another missing_text"
                )
        elif column.levels is not None and len(set(np.array(levels, dtype=np.float64).astype(border))) < len(levels):
            advice = "use float64=True" if border is np.float32 else "fit the model with them as text"
            raise ValueError(f"column {column.name!r} has levels that {border.__name__} cannot tell apart: {advice}")


def label_array(classes: Sequence[Level]) -> np.ndarray[Any, Any]:
    """Return the labels in a type that ONNX has, and after them what stands for no label.

    Text has "", integers and truth values (as 0 and 1) have the smallest integer, other numbers have NaN.

    Examples
    --------
    >>> label_array([False, True])
    array([                   0,                    1, -9223372036854775808])
    >>> label_array(["no", "yes"])
    array(['no', 'yes', ''], dtype=object)
    """
    if all(isinstance(label, str) for label in classes):
        return np.array([*classes, ""], dtype=object)
    if any(isinstance(label, str) for label in classes):
        raise TypeError(f"the classes {list(classes)} are text and numbers, but a tensor holds one type: rename them")
    if any(isinstance(label, float) for label in classes):
        return np.array([*classes, np.nan], dtype=np.float64)
    try:
        return np.array([*map(int, classes), np.iinfo(np.int64).min], dtype=np.int64)
    except OverflowError as error:
        raise TypeError("the classes are integers that do not fit into 64 bits: rename them") from error
