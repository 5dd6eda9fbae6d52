r"""`to_latex(complete=True)`: all steps from raw columns to probabilities and label, one definition a line.

First comes which symbol stands for which column, v₀ = age, v₁ = city, …; what depends on a condition is written by
``cases``, of which the first that holds is meant. Names and levels are escaped by `ecsel.signomial.latex.latex_name`;
where two levels of a column, or two classes, then look alike, they are numbered.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ecsel.export.expr import Abs, Div, Exp, Floor, If, Input, IsMissing, Log, Lookup, Max, Min, Null, Sqrt, Var
from ecsel.export.lowering import lower
from ecsel.export.phrases import Binding, Notation, Phrase, label_rule
from ecsel.export.writing import fold
from ecsel.signomial.latex import latex_name

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from ecsel.explain.view import ModelView
    from ecsel.export.program import Program
    from ecsel.export.writing import Rules
    from ecsel.tables import Level

BEGIN = r"\begin{cases} "
REFUSED, MISSING = r"\text{refused}", r"\text{missing}"


def complete_latex(view: ModelView) -> str:
    r"""Return the program of a model as an ``aligned`` environment.

    Examples
    --------
    >>> from ecsel import Signomial
    >>> from ecsel.explain import ModelView
    >>> print(complete_latex(ModelView.of(Signomial.parse("3*x**2"))).splitlines()[1])
    v_{0} &= x \\
    """
    program = lower(view)
    lines = " \\\\\n".join(f"{left} &= {right}" for left, right in _definitions(view, program))
    return f"\\begin{{aligned}}\n{lines}\n\\end{{aligned}}"


def decimal(value: float) -> str:
    r"""Return a number with all its digits.

    >>> print(decimal(0.25), decimal(-3.0), decimal(1.5e-9))
    0.25 -3 1.5 \times 10^{-9}
    """
    mantissa, _, power = repr(value).removesuffix(".0").partition("e")
    return rf"{mantissa.removesuffix('.0')} \times 10^{{{int(power)}}}" if power else mantissa


def level_names(levels: Iterable[Level]) -> dict[Level, str]:
    r"""Return how levels are written: numbers as such, text and truth values as names, all of them different.

    >>> level_names(["a b", "a\tb"])
    {'a b': '\\mathrm{a\\ b}', 'a\tb': '\\mathrm{a\\ b}_{(1)}'}
    """
    names: dict[Level, str] = {}
    for place, level in enumerate(levels):
        name = latex_name(str(level))
        if isinstance(level, (int, float)) and not isinstance(level, bool):
            name = decimal(level) if isinstance(level, float) else str(level)
        names[level] = f"{name}_{{({place})}}" if name in names.values() else name
    return names


def _definitions(view: ModelView, program: Program) -> Iterator[tuple[str, str]]:
    classes = level_names(program.classes)
    names = {each.name: _variable(each.name) for each in program.assignments}
    names |= {p: rf"P\left({classes[label]}\right)" for p, label in zip(program.outputs, program.classes, strict=False)}
    names["prediction"] = r"\hat{y}"
    rules = _rules(program, names)
    for position, column in enumerate(program.inputs):
        yield f"v_{{{position}}}", latex_name(column.name)
    for each in program.assignments:
        if each.name != program.decision:
            yield names[each.name], fold(each.value, rules).text
    if program.decision is None:
        return
    rule = label_rule(program, view.threshold)
    if rule.largest is not None:
        yield _variable(rule.largest.name), fold(rule.largest.value, rules).text
    chosen = [
        (classes[label], None if condition is None else fold(condition, rules).text) for label, condition in rule.cases
    ]
    yield _variable("label"), cases([(REFUSED, f"{names['valid']} = 0"), *chosen])


def _variable(name: str) -> str:
    r"""Return the symbol of a variable: u0_1 is u_{0,1}, ok0 is \mathrm{ok}_{0}."""
    letters, *places = re.findall(r"[a-z]+|\d+", name)
    symbol = letters if len(letters) == 1 else rf"\mathrm{{{letters}}}"
    return f"{symbol}_{{{','.join(places)}}}" if places else symbol


def cases(chosen: Sequence[tuple[str, str | None]]) -> str:
    """Return values and the conditions under which they are meant; the last one is meant otherwise."""
    if len(chosen) == 1:
        return chosen[0][0]
    rows = r" \\ ".join(
        rf"{value} & \text{{otherwise}}" if condition is None else rf"{value} & \text{{if }} {condition}"
        for value, condition in chosen
    )
    return f"{BEGIN}{rows} \\end{{cases}}"


def _rules(program: Program, names: dict[str, str]) -> Rules[Phrase]:
    levels = [level_names(column.known) for column in program.inputs]

    def lookup(position: int, entries: Sequence[tuple[Level, float]], missing: float, otherwise: float) -> Phrase:
        known = [(decimal(value), rf"v_{{{position}}} = {levels[position][level]}") for level, value in entries]
        absent = (decimal(missing), rf"v_{{{position}}} = {MISSING}")
        return Phrase(cases([*known, absent, (decimal(otherwise), None)]), Binding.CHOICE)

    def choice(condition: Phrase, then: Phrase, otherwise: Phrase) -> Phrase:
        if otherwise.binding == Binding.CHOICE:  # further cases rather than cases within a case
            further = otherwise.text.removeprefix(BEGIN)
            return Phrase(f"{BEGIN}{then.text} & \\text{{if }} {condition.text} \\\\ {further}", Binding.CHOICE)
        return Phrase(cases([(then.text, condition.text), (otherwise.text, None)]), Binding.CHOICE)

    return {
        **LATEX.rules,
        Abs: _function(r"\left|", r"\right|"),
        Exp: _function(r"\exp\left(", r"\right)"),
        Log: _function(r"\ln\left(", r"\right)"),
        Sqrt: _function(r"\sqrt{", "}"),
        Floor: _function(r"\left\lfloor ", r"\right\rfloor"),
        Max: _function(r"\max\left(", r"\right)"),
        Min: _function(r"\min\left(", r"\right)"),
        Null: lambda: Phrase(REFUSED),
        Var: lambda name: Phrase(names.get(name) or _variable(name)),
        Input: lambda position: Phrase(rf"v_{{{position}}}"),
        IsMissing: lambda position: Phrase(rf"v_{{{position}}} = {MISSING}", Binding.COMPARISON),
        Lookup: lookup,
        If: choice,
        Div: lambda numerator, denominator: Phrase(rf"\frac{{{numerator.text}}}{{{denominator.text}}}"),
    }


def _function(before: str, after: str) -> Callable[[list[Phrase] | Phrase], Phrase]:
    def rule(operands: list[Phrase] | Phrase) -> Phrase:
        parts = [operands] if isinstance(operands, Phrase) else operands
        return Phrase(f"{before}{', '.join(part.text for part in parts)}{after}")

    return rule


LATEX = Notation(
    number=decimal,
    opening=r"\left(",
    closing=r"\right)",
    times=r" \cdot ",
    conjunction=r" \land ",
    disjunction=r" \lor ",
    negation=r"\lnot ",
    infinity=r"\infty",
    comparisons={"<": "<", "<=": r"\leq", "==": "=", ">=": r"\geq", ">": ">"},
)
