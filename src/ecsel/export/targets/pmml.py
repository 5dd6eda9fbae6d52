"""`to_pmml`: the model as PMML 4.4, the exchange format of scoring engines in banks and insurances.

Every step of the program is a `DerivedField`, so that an engine needs nothing but the built-in functions of the
standard. The model element is a `RegressionModel`: the sigmoid is its ``logit``, the softmax its ``softmax`` of scores
from which the largest is taken off, which changes no probability and keeps every engine from overflowing. On a row that
the model refuses the scores are missing, and with them every answer.

Names of columns, levels and classes are values of attributes and content of elements, which the library of XML escapes.
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ecsel._version import __version__
from ecsel.export.program import expr
from ecsel.export.program.doubles import check_levels_are_doubles
from ecsel.export.program.lowering import lower
from ecsel.export.program.program import Assignment, reading_lines
from ecsel.export.program.writing import fold
from ecsel.export.targets.pmml_reasons import add_reasons

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence

    from ecsel.export.program.contributions import Method
    from ecsel.export.program.program import InputColumn, Program
    from ecsel.export.program.writing import Rules
    from ecsel.tables import Level

NAMESPACE = "http://www.dmg.org/PMML-4_4"
_NOT_IN_XML = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_COMPARISONS = {"<": "lessThan", "<=": "lessOrEqual", "==": "equal", ">=": "greaterOrEqual", ">": "greaterThan"}


def to_pmml(
    model: Any, *, contributions: Method | None = None, reasons: int = 0, baseline: Any = None, name: str = "ecsel"
) -> str:
    """Return the model as a PMML 4.4 document.

    Raw columns go in. The outputs are ``label``, ``probability_<class>`` for each class, with the threshold inside, and
    ``score`` (``score_<class>`` where there are several), or ``prediction`` for a regression. All of these are missing
    on a row that the model refuses.

    Parameters
    ----------
    model : ECSELClassifier, ECSELRegressor or Signomial
        The model.
    contributions : {"log_additive", "attribution", "shapley"}, optional
        Further outputs ``contribution_<column>``, with the class before the column where there are several scores, and
        the term of ``"log_additive"``: what each column contributes to the logarithm of each term (L1), to the scores
        to first order (L2), or as exact Shapley values of the scores.
    reasons : int, default=0
        Most reason codes of a row: ``reason_1`` is the name of the column that speaks most for the prediction,
        ``reason_2`` that of the next, by the Shapley values of `ecsel.explain.reasons`; missing where no further column
        does.
    baseline : None, dict of columns, row or Baseline, optional
        The reference point of contributions and reasons; by default a typical training row.
    name : str, default="ecsel"
        The name of the model in the document.

    Examples
    --------
    >>> from ecsel import Signomial
    >>> document = to_pmml(Signomial.parse("3*x**2/y"))
    >>> document.splitlines()[0]
    '<?xml version="1.0" encoding="UTF-8"?>'
    >>> "<RegressionTable" in document
    True
    """
    if not isinstance(reasons, int) or reasons < 0:
        raise ValueError(f"reasons must be a whole number from 0, not {reasons!r}")
    if reasons and contributions not in {None, "shapley"}:
        raise ValueError(f"reasons go by Shapley values: contributions must be 'shapley', not {contributions!r}")
    program = lower(model, contributions="shapley" if reasons else contributions, baseline=baseline)
    program, why = add_reasons(program, reasons) if reasons and program.inputs else (program, ())
    check_levels_are_doubles(program)
    document = _Document(program, why, tells=contributions is not None, title=name)
    document.check_text()
    root = document.element()
    ET.indent(root)
    # a bare carriage return would be read as a new line; in attributes it is escaped already
    body = ET.tostring(root, encoding="unicode").replace("\r", "&#13;")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{body}\n'


@dataclass(frozen=True, slots=True)
class _Document:
    """What a document is made of: a program, the variables of its reasons, whether contributions are given."""

    program: Program
    why: tuple[str, ...]
    tells: bool
    title: str

    def check_text(self) -> None:
        """Refuse text that no document can hold."""
        texts = [("the name", self.title)]
        for column in self.program.inputs:
            if not column.name:
                raise ValueError("a column has the empty name, which PMML does not take: rename it")
            texts.append(("the column", column.name))
            texts += [(f"column {column.name!r}: the level", x) for x in column.known if isinstance(x, str)]
        texts += [("the class", label) for label in self.program.classes if isinstance(label, str)]
        for what, text in texts:
            if _NOT_IN_XML.search(text):
                raise ValueError(f"{what} {text!r} has a character that XML cannot hold: rename it")

    @property
    def prefix(self) -> str:
        """How the names of derived fields begin: as no column does."""
        prefix = "ecsel_"
        while any(column.name.startswith(prefix) for column in self.program.inputs):
            prefix += "_"
        return prefix

    def element(self) -> ET.Element:
        """Return the whole document."""
        names = _Names([column.name for column in self.program.inputs])
        target = names.of("target" if self.program.classes else "value")
        root = _node("PMML", xmlns=NAMESPACE, version="4.4")
        described = "; ".join(["a fitted model of ecsel", *reading_lines(self.program)])
        application = _node("Application", name="ecsel", version=__version__)
        root.append(_node("Header", application, description=described))
        fields = [self._data_field(column) for column in self.program.inputs]
        root.append(_node("DataDictionary", *fields, self._target_field(target)))
        predictors, further = self._predictors()
        output = self._output(names, target)
        needed = {each.name for each in further} | set(_references(output, self.prefix))
        steps = _reachable([*self.program.assignments, *further], needed)
        root.append(_node("TransformationDictionary", *self._derived_fields(steps)))
        root.append(self._model(target, predictors, output))
        return root

    def _data_field(self, column: InputColumn) -> ET.Element:
        if column.levels is None:
            return _node("DataField", name=column.name, optype="continuous", dataType="double")
        kind = {"text": "string", "boolean": "boolean", "number": "double"}[column.kind]
        levels = [_node("Value", value=_text(level, kind)) for level in column.known]
        return _node("DataField", *levels, name=column.name, optype="categorical", dataType=kind)

    def _target_field(self, target: str) -> ET.Element:
        if not self.program.classes:
            return _node("DataField", name=target, optype="continuous", dataType="double")
        kind = self._label_kind
        values = [_node("Value", value=_text(label, kind)) for label in self.program.classes]
        return _node("DataField", *values, name=target, optype="categorical", dataType=kind)

    @property
    def _label_kind(self) -> str:
        classes = self.program.classes
        if any(isinstance(label, str) for label in classes):
            return "string"
        if all(isinstance(label, bool) for label in classes):
            return "boolean"
        return "integer" if all(isinstance(label, int) for label in classes) else "double"

    def _predictors(self) -> tuple[list[str | None], list[Assignment]]:
        """Return the field that each table of the regression reads, None for a reference class, and what they need."""
        valid = expr.Compare("==", expr.Var("valid"), expr.Const(1.0))
        if len(self.program.scores) == 1:
            answer = expr.If(valid, expr.Var(self.program.scores[0]), expr.Null())
            step = Assignment("linear", answer, "score", "score, on rows that the model accepts")
            return ([None, "linear"] if self.program.classes else ["linear"]), [step]
        steps = [
            Assignment(
                f"linear{c}",
                expr.If(valid, expr.minus(expr.Var(z), expr.Var("top")), expr.Null()),
                "score",
                "score less the largest",
            )
            for c, z in enumerate(self.program.scores)
        ]
        return [each.name for each in steps], steps

    def _derived_fields(self, steps: Sequence[Assignment]) -> Iterator[ET.Element]:
        """Yield inputs with 0 for missing values, then the steps; where they may be missing, one more that never is.

        The standard leaves to engines what a function makes of a missing argument, and some stop there. So no argument
        is ever missing, but that of ``isMissing``.
        """
        rules = _rules(self.program.inputs, self.prefix, {each.name for each in steps if _may_be_missing(each)})
        positions = {self.program.decision, *self.why}
        for i, column in enumerate(self.program.inputs):
            if column.levels is None:
                raw = _node("FieldRef", field=column.name)
                yield self._derived(_input(i), f"{column.name}, 0 where it is missing", _known(raw, 0.0))
        for each in steps:
            yield self._derived(each.name, each.title, fold(each.value, rules))
            if _may_be_missing(each):
                raw = _node("FieldRef", field=f"{self.prefix}{each.name}")
                instead = -1.0 if each.name in positions else 0.0
                title = f"{each.title}, {instead:.0f} where it is missing"
                yield self._derived(_never_missing(each.name), title, _known(raw, instead))

    def _derived(self, name: str, title: str, value: ET.Element) -> ET.Element:
        displayed = _NOT_IN_XML.sub("?", title)
        kind = {"optype": "continuous", "dataType": "double"}
        return _node("DerivedField", value, name=f"{self.prefix}{name}", displayName=displayed, **kind)

    def _model(self, target: str, predictors: Sequence[str | None], output: ET.Element) -> ET.Element:
        mining = [
            _node("MiningField", name=column.name, invalidValueTreatment="asIs") for column in self.program.inputs
        ]
        mining.append(_node("MiningField", name=target, usageType="target"))
        attributes = {"modelName": self.title, "functionName": "regression"}
        categories: list[dict[str, str]] = [{}]
        if self.program.classes:
            method = "logit" if len(self.program.scores) == 1 else "softmax"
            attributes |= {"functionName": "classification", "normalizationMethod": method}
            categories = [{"targetCategory": _text(label, self._label_kind)} for label in self.program.classes]
        tables = []
        for category, predictor in zip(categories, predictors, strict=True):
            table = _node("RegressionTable", intercept="0", **category)
            if predictor is not None:
                table.append(_node("NumericPredictor", name=f"{self.prefix}{predictor}", coefficient="1"))
            tables.append(table)
        if attributes.get("normalizationMethod") == "logit":  # the first table is the one that has the score
            tables.reverse()
        return _node("RegressionModel", _node("MiningSchema", *mining), output, *tables, **attributes)

    def _output(self, names: _Names, target: str) -> ET.Element:
        output = _node("Output")
        kind = self._label_kind if self.program.classes else "double"
        if self.program.decision is None:
            output.append(_field(names.of("prediction"), "double", "predictedValue", targetField=target))
        else:
            label = _chosen(f"{self.prefix}{_never_missing(self.program.decision)}", self.program.classes, kind)
            output.append(_field(names.of("label"), kind, "transformedValue", label))
            for each in self.program.classes:
                value = _text(each, kind)
                field = _field(names.of("probability", each), "double", "probability", value=value, targetField=target)
                output.append(field)
            for c, (score, words) in enumerate(zip(self.program.scores, self._score_words(), strict=True)):
                reads = score if len(self.program.scores) == 1 else f"z{c}"
                inner = fold(
                    expr.If(expr.Compare("==", expr.Var("valid"), expr.Const(1.0)), expr.Var(reads), expr.Null()),
                    _rules((), self.prefix),
                )
                output.append(_field(names.of("score", *words), "double", "transformedValue", inner))
        for contribution in self.program.contributions if self.tells else ():
            words = [contribution.label] if len(self.program.scores) > 1 else []
            words += [] if contribution.term is None else [contribution.term]
            for column, variable in contribution.by_column:
                inner = _node("FieldRef", field=f"{self.prefix}{variable}")
                output.append(_field(names.of(contribution.noun, *words, column), "double", "transformedValue", inner))
        columns = [column.name for column in self.program.inputs]
        for r, variable in enumerate(self.why, start=1):
            inner = _chosen(f"{self.prefix}{_never_missing(variable)}", columns, "string")
            output.append(_field(names.of("reason", r), "string", "transformedValue", inner))
        return output

    def _score_words(self) -> list[list[Level]]:
        return [[]] if len(self.program.scores) == 1 else [[label] for label in self.program.classes]


class _Names:
    """Names of the document's fields, handed out one after the other, none of them twice."""

    def __init__(self, taken: Sequence[str]) -> None:
        self._taken = set(taken)

    def of(self, *words: Level) -> str:
        whole = name = "_".join(map(str, words))
        n = 1
        while name in self._taken:
            n += 1
            name = f"{whole}_{n}"
        self._taken.add(name)
        return name


def _node(tag: str, *children: ET.Element, **attributes: str) -> ET.Element:
    element = ET.Element(tag, attributes)
    element.extend(children)
    return element


def _field(name: str, kind: str, feature: str, inner: ET.Element | None = None, **attributes: str) -> ET.Element:
    optype = "continuous" if kind == "double" else "categorical"
    children = [] if inner is None else [inner]
    return _node("OutputField", *children, name=name, optype=optype, dataType=kind, feature=feature, **attributes)


def _text(value: Level, kind: str) -> str:
    if kind == "boolean":
        return "true" if value else "false"
    return repr(float(value)) if kind == "double" else str(value)


def _constant(value: Level, kind: str) -> ET.Element:
    element = _node("Constant", dataType=kind)
    element.text = _text(value, kind)
    return element


def _apply(function: str, *operands: ET.Element) -> ET.Element:
    return _node("Apply", *operands, function=function)


def _chosen(field: str, values: Sequence[Level], kind: str) -> ET.Element:
    """Return the value at the position that a field holds."""
    chosen: ET.Element | None = None
    for position in reversed(range(len(values))):
        is_here = _apply("equal", _node("FieldRef", field=field), _constant(float(position), "double"))
        rest = [] if chosen is None else [chosen]
        chosen = _apply("if", is_here, _constant(values[position], kind), *rest)
    return _node("Constant", missing="true") if chosen is None else chosen


def _input(position: int) -> str:
    return f"v{position}"


def _never_missing(name: str) -> str:
    return f"{name}_known"


def _may_be_missing(step: Assignment) -> bool:
    return isinstance(step.value, expr.If) and isinstance(step.value.otherwise, expr.Null) and step.stage != "score"


def _known(raw: ET.Element, instead: float) -> ET.Element:
    return _apply("if", _apply("isMissing", raw), _constant(instead, "double"), raw)


def _references(element: ET.Element, prefix: str) -> Iterator[str]:
    for each in element.iter("FieldRef"):
        yield each.attrib["field"].removeprefix(prefix).removesuffix(_never_missing(""))


def _reachable(steps: Sequence[Assignment], needed: set[str]) -> list[Assignment]:
    """Return the steps that are needed, in order."""
    wanted = set(needed)
    kept = []
    for each in reversed(steps):
        if each.name in wanted:
            kept.append(each)
            wanted.update(expr.variables(each.value))
    return kept[::-1]


def _rules(inputs: Sequence[InputColumn], prefix: str, missing: Collection[str] = ()) -> Rules[ET.Element]:
    """Return how expressions are written; of the variables in `missing` it is the one beside them that never is."""

    def raw(position: int) -> ET.Element:
        return _node("FieldRef", field=inputs[position].name)

    def variable(name: str) -> ET.Element:
        return _node("FieldRef", field=f"{prefix}{_never_missing(name) if name in missing else name}")

    def chain(function: str) -> Callable[[list[ET.Element]], ET.Element]:
        """Return the rule for a function of two arguments, applied from left to right."""

        def write(parts: list[ET.Element]) -> ET.Element:
            first, *others = parts
            for part in others:
                first = _apply(function, first, part)
            return first

        return write

    def lookup(position: int, entries: Sequence[tuple[Level, float]], missing: float, otherwise: float) -> ET.Element:
        column = inputs[position]
        if column.kind == "text":
            return _table(column.name, entries, missing, otherwise)
        kind = "boolean" if column.kind == "boolean" else "double"
        value = _constant(otherwise, "double")
        for level, number in reversed(entries):
            is_level = _apply("equal", raw(position), _constant(level, kind))
            value = _apply("if", is_level, _constant(number, "double"), value)
        return _apply("if", _apply("isMissing", raw(position)), _constant(missing, "double"), value)

    def choice(condition: ET.Element, then: ET.Element, otherwise: ET.Element) -> ET.Element:
        rest = [] if otherwise.get("missing") else [otherwise]
        return _apply("if", condition, then, *rest)

    return {
        expr.Const: lambda value: _constant(value, "double"),
        expr.Null: lambda: _node("Constant", dataType="double", missing="true"),
        expr.Var: variable,
        expr.Input: lambda position: variable(_input(position)),
        expr.Lookup: lookup,
        expr.Add: chain("+"),
        expr.Mul: chain("*"),
        expr.Min: lambda parts: _apply("min", *parts),
        expr.Max: lambda parts: _apply("max", *parts),
        expr.Div: lambda numerator, denominator: _apply("/", numerator, denominator),
        expr.Neg: lambda operand: _apply("-", _constant(0.0, "double"), operand),
        expr.Abs: lambda operand: _apply("abs", operand),
        expr.Exp: lambda operand: _apply("exp", operand),
        expr.Log: lambda operand: _apply("ln", operand),
        expr.Sqrt: lambda operand: _apply("sqrt", operand),
        expr.Floor: lambda operand: _apply("floor", operand),
        expr.If: choice,
        expr.IsMissing: lambda position: _apply("isMissing", raw(position)),
        expr.Compare: lambda operator, left, right: _apply(_COMPARISONS[operator], left, right),
        expr.And: lambda parts: _apply("and", *parts),
        expr.Or: lambda parts: _apply("or", *parts),
        expr.Not: lambda operand: _apply("not", operand),
    }


def _table(column: str, entries: Sequence[tuple[Level, float]], missing: float, otherwise: float) -> ET.Element:
    """Return the numbers of texts as a table."""
    rows = []
    for level, number in entries:
        key, value = _node("level"), _node("number")
        key.text, value.text = str(level), repr(number)
        rows.append(_node("row", key, value))
    attributes = {"mapMissingTo": repr(missing), "defaultValue": repr(otherwise)}
    if not rows:  # a table has at least one row
        is_missing = _apply("isMissing", _node("FieldRef", field=column))
        return _apply("if", is_missing, _constant(missing, "double"), _constant(otherwise, "double"))
    return _node(
        "MapValues",
        _node("FieldColumnPair", field=column, column="level"),
        _node("InlineTable", *rows),
        outputColumn="number",
        dataType="double",
        **attributes,
    )
