"""`to_text(complete=True)`: all steps from raw columns to probabilities and label, one definition a line.

Lines are Python, but that P('yes') is defined like a variable. A column is called by its own name, or col('its name')
where that is no identifier or a variable has it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ecsel.export.expr import Abs, Div, Exp, Floor, If, Input, IsMissing, Log, Lookup, Max, Min, Null, Sqrt, Var
from ecsel.export.lowering import lower
from ecsel.export.phrases import Binding, Notation, Phrase, label_rule
from ecsel.export.writing import call, fold
from ecsel.signomial.text import print_name, print_shift

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence

    from ecsel.explain.view import ModelView
    from ecsel.export.program import Assignment, Program
    from ecsel.export.writing import Rules
    from ecsel.tables import Level

HEAD = """\
# All steps from the columns of a row to its answer, one after the other.
# missing: no value, NULL or NaN.  refused: the model has no answer.
"""
WORDS = frozenset({"P", "best", "exp", "inf", "label", "log", "max", "min", "missing", "pi", "refused"})
"""What means something in a text beside the names that `ecsel.signomial.text` keeps clear of."""


def column_text(name: str, taken: Collection[str] = ()) -> str:
    """Return a column's name as it stands in a text, where it must not be taken for anything else.

    >>> column_text("age"), column_text("page value"), column_text("exp")
    ('age', "col('page value')", "col('exp')")
    """
    is_plain = print_name(name) == name and name.isidentifier()
    return name if is_plain and name not in WORDS and name not in taken else f"col({name!r})"


def complete_text(view: ModelView) -> str:
    """Return the program of a model as text.

    Examples
    --------
    >>> from ecsel import Signomial
    >>> from ecsel.explain import ModelView
    >>> print(complete_text(ModelView.of(Signomial.parse("3*x**2"))).splitlines()[-1])
    prediction = z0 if valid == 1 else refused  # prediction
    """
    program = lower(view)
    names = {each.name: each.name for each in program.assignments}
    names |= {p: f"P({label!r})" for p, label in zip(program.outputs, program.classes, strict=False)}
    rules = _rules(program, names)
    return HEAD + "\n".join(_lines(view, program, names, rules))


def _lines(view: ModelView, program: Program, names: dict[str, str], rules: Rules[Phrase]) -> Iterator[str]:
    def line(each: Assignment) -> str:
        return f"{names.get(each.name, each.name)} = {fold(each.value, rules).text}  # {_in_one_line(each.title)}"

    yield from (line(each) for each in program.assignments if each.name != program.decision)
    if program.decision is None:
        return
    rule = label_rule(program, view.threshold)
    if rule.largest is not None:
        yield line(rule.largest)
    choices = (
        repr(label) if condition is None else f"{label!r} if {fold(condition, rules).text} else "
        for label, condition in rule.cases
    )
    yield f"label = refused if valid == 0 else {''.join(choices)}"


def _in_one_line(title: str) -> str:
    """Return a title, which may hold names, as the rest of a line."""
    return title if title.isprintable() else ascii(title)[1:-1]


def _rules(program: Program, names: dict[str, str]) -> Rules[Phrase]:
    def column(position: int) -> str:
        return column_text(program.inputs[position].name, names)

    def lookup(position: int, entries: Sequence[tuple[Level, float]], missing: float, otherwise: float) -> Phrase:
        listed = [f"{level!r}: {print_shift(value)}" for level, value in entries]
        levels = ", ".join([*listed, f"missing: {print_shift(missing)}"])
        return Phrase(f"{{{levels}}}.get({column(position)}, {print_shift(otherwise)})")

    def choice(condition: Phrase, then: Phrase, otherwise: Phrase) -> Phrase:
        chosen = PYTHON.within(then, Binding.EITHER)
        return Phrase(f"{chosen} if {condition.text} else {otherwise.text}", Binding.CHOICE)

    def quotient(numerator: Phrase, denominator: Phrase) -> Phrase:
        above, below = PYTHON.within(numerator, Binding.PRODUCT), PYTHON.within(denominator, Binding.ATOM)
        return Phrase(f"{above}/{below}", Binding.PRODUCT)

    return {
        **PYTHON.rules,
        **{node: _function(name) for node, name in FUNCTIONS.items()},
        Null: lambda: Phrase("refused"),
        Var: lambda name: Phrase(names[name] if name in names else str(name)),
        Input: lambda position: Phrase(column(position)),
        IsMissing: lambda position: Phrase(f"{column(position)} is missing", Binding.COMPARISON),
        Lookup: lookup,
        If: choice,
        Div: quotient,
    }


def _function(name: str) -> Callable[[list[Phrase] | Phrase], Phrase]:
    written = call(name)

    def rule(operands: list[Phrase] | Phrase) -> Phrase:
        parts = [operands] if isinstance(operands, Phrase) else operands
        return Phrase(written([part.text for part in parts]))

    return rule


FUNCTIONS = {Abs: "abs", Exp: "exp", Floor: "floor", Log: "log", Max: "max", Min: "min", Sqrt: "sqrt"}

PYTHON = Notation(
    number=print_shift,
    opening="(",
    closing=")",
    times="*",
    conjunction=" and ",
    disjunction=" or ",
    negation="not ",
    infinity="inf",
    comparisons={operator: operator for operator in ("<", "<=", "==", ">=", ">")},
)
