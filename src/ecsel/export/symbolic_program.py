"""`to_sympy(complete=True)`: the whole program of a model as SymPy expressions, with ``Piecewise`` for its rules.

SymPy knows no missing values and no text: symbols are quantities and indicators (see `ecsel.export.symbols`). Nothing
is evaluated on the way, since SymPy would look for a simpler form of every maximum and comparison.
"""

from __future__ import annotations

from operator import eq, ge, gt, le, lt
from typing import TYPE_CHECKING, Any

from ecsel.export.accepted import LARGEST
from ecsel.export.expr import (
    Abs,
    Add,
    And,
    Compare,
    Const,
    Div,
    Exp,
    Floor,
    If,
    Input,
    IsMissing,
    Log,
    Lookup,
    Max,
    Min,
    Mul,
    Neg,
    Not,
    Null,
    Or,
    Sqrt,
    Var,
)
from ecsel.export.lowering import lower
from ecsel.export.phrases import VALID
from ecsel.export.symbols import symbols_of_program
from ecsel.export.writing import fold
from ecsel.signomial.columns import LOG_LIMIT

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ecsel.explain.view import ModelView
    from ecsel.export.program import Program
    from ecsel.export.writing import Rules
    from ecsel.tables import Level


def complete_sympy(sympy: Any, view: ModelView, output: str) -> Any:
    """Return the prediction of a regression; or probabilities or scores by class, or the position of the label.

    All are ``nan`` on a row that the model refuses.
    """
    program = lower(view)
    known: dict[str, Any] = {}
    rules = _rules(sympy, program, known)
    for each in program.assignments:
        if each.stage not in {"link", "output"}:
            known[each.name] = fold(each.value, rules)
    accepted = fold(VALID, rules)

    def answer(value: Any) -> Any:
        return sympy.Piecewise((value, accepted), (sympy.nan, True), evaluate=False)

    scores = [known[name] for name in program.scores]
    if program.decision is None:
        return answer(scores[0])
    if output == "score":
        return dict(zip(view.score_classes, map(answer, scores), strict=True))
    if view.link.has_reference:
        scores = [sympy.Integer(0), *scores]
    if output == "label":
        return answer(_position(sympy, scores, view.threshold))
    return {label: answer(_share(sympy, scores, c)) for c, label in enumerate(program.classes)}


def _share(sympy: Any, scores: Sequence[Any], c: int) -> Any:
    """Return 1/Σ_r e^(z_r − z_c): what is asked about scores is no condition, or SymPy would write out all cases."""
    differences = (_sum(sympy, score, _minus(sympy, scores[c])) for r, score in enumerate(scores) if r != c)
    weights = (sympy.exp(sympy.Min(each, LOG_LIMIT, evaluate=False), evaluate=False) for each in differences)
    return sympy.Pow(sympy.Add(1, *weights, evaluate=False), -1, evaluate=False)


def _position(sympy: Any, scores: Sequence[Any], threshold: float | None) -> Any:
    """Return whether p reaches the threshold, or how many classes come before the first with the largest probability.

    A number is short of a limit where s = max(0, sgn(limit − number)) is 1. The first class whose p_c is not short of
    max p is at s_0·(1 + s_1·(1 + s_2·(…))).
    """

    def short(value: Any, limit: Any) -> Any:
        return sympy.Max(0, sympy.sign(_sum(sympy, limit, _minus(sympy, value)), evaluate=False), evaluate=False)

    if threshold is not None:
        return _sum(sympy, 1, _minus(sympy, short(_share(sympy, scores, 1), _number(sympy, threshold))))
    shares = [_share(sympy, scores, c) for c in range(len(scores))]
    top = sympy.Max(*shares, evaluate=False)
    position = sympy.Integer(0)
    for share in reversed(shares[:-1]):
        position = sympy.Mul(short(share, top), _sum(sympy, 1, position), evaluate=False)
    return position


def _sum(sympy: Any, left: Any, right: Any) -> Any:
    return sympy.Add(left, right, evaluate=False)


def _minus(sympy: Any, operand: Any) -> Any:
    return sympy.Mul(-1, operand, evaluate=False)


def _rules(sympy: Any, program: Program, known: dict[str, Any]) -> Rules[Any]:
    columns = symbols_of_program(program)

    def symbol(name: str | None) -> Any:
        return sympy.Symbol(name, extended_real=True)

    def indicated(name: str) -> Any:
        return sympy.Eq(symbol(name), 1)

    def unevaluated(node: Any) -> Any:
        return lambda parts: node(*parts, evaluate=False)

    def choice(condition: Any, then: Any, otherwise: Any) -> Any:
        return sympy.Piecewise((then, condition), (otherwise, True), evaluate=False)

    def lookup(position: int, entries: Sequence[tuple[Level, float]], missing: float, otherwise: float) -> Any:
        names = columns[position].levels
        # codes of missing values are no levels: their indicator is that of a missing value
        cases = [(_number(sympy, value), indicated(names[level])) for level, value in entries if level in names]
        absent = (_number(sympy, missing), indicated(columns[position].missing))
        return sympy.Piecewise(absent, *cases, (_number(sympy, otherwise), True), evaluate=False)

    return {
        Const: lambda value: _number(sympy, value),
        Null: lambda: sympy.nan,
        Var: known.__getitem__,
        Input: lambda position: symbol(columns[position].quantity),
        Lookup: lookup,
        Add: unevaluated(sympy.Add),
        Mul: unevaluated(sympy.Mul),
        Min: unevaluated(sympy.Min),
        Max: unevaluated(sympy.Max),
        Div: lambda numerator, denominator: sympy.Mul(numerator, sympy.Pow(denominator, -1), evaluate=False),
        Neg: lambda operand: _minus(sympy, operand),
        Abs: sympy.Abs,
        Exp: lambda operand: sympy.exp(operand, evaluate=False),
        Log: lambda operand: sympy.log(operand, evaluate=False),
        Sqrt: lambda operand: sympy.Pow(operand, sympy.Rational(1, 2), evaluate=False),
        Floor: sympy.floor,
        If: choice,
        IsMissing: lambda position: indicated(columns[position].missing),
        Compare: lambda operator, left, right: _comparison(sympy, operator, left, right),
        And: lambda parts: sympy.And(*parts, evaluate=False),
        Or: lambda parts: sympy.Or(*parts, evaluate=False),
        Not: lambda operand: sympy.Not(operand, evaluate=False),
    }


def _number(sympy: Any, value: float) -> Any:
    if abs(value) == LARGEST:
        return sympy.oo if value > 0 else -sympy.oo
    return sympy.Integer(int(value)) if value.is_integer() and abs(value) < 1e6 else sympy.Float(repr(value))


def _comparison(sympy: Any, operator: str, left: Any, right: Any) -> Any:
    if operator == "==" and right == 1 and left.is_Piecewise and len(left.args) == 2:  # a flag is its condition
        (value, condition), (other, _) = left.args
        if (value, other) in {(1, 0), (0, 1)}:
            return condition if value == 1 else sympy.Not(condition, evaluate=False)
    if left.has(sympy.Piecewise):  # SymPy would make it an ITE, which lambdify cannot write
        return _comparison_by_case(sympy, operator, left, right)
    if left.is_number and right.is_number:
        return sympy.true if COMPARISONS[operator](float(left), float(right)) else sympy.false
    relations = {"<": sympy.Lt, "<=": sympy.Le, "==": sympy.Eq, ">=": sympy.Ge, ">": sympy.Gt}
    return relations[operator.rstrip("=") if right.is_infinite else operator](left, right, evaluate=False)


def _comparison_by_case(sympy: Any, operator: str, left: Any, right: Any) -> Any:
    """Return the comparison of a number that depends on a choice as a choice of comparisons."""
    choice = max(left.atoms(sympy.Piecewise), key=lambda each: each.count_ops())
    matches = sympy.false
    for value, condition in reversed(choice.args):
        case = _comparison(sympy, operator, left.xreplace({choice: value}), right)
        matches = sympy.Or(sympy.And(condition, case), sympy.And(sympy.Not(condition), matches))
    return matches


COMPARISONS = {"<": lt, "<=": le, "==": eq, ">=": ge, ">": gt}
