"""Reason codes as steps of a program: the columns that speak most for the prediction, one after the other.

As in `ecsel.explain.reasons`, the margin is M = z_c − z_r with c the predicted class and r its strongest rival (of a
sigmoid ±z, of a regression ± the prediction, up or down from the baseline). A column's reason is its Shapley value of
M, m_i = Σ_s w_s·φ_si with the weights w of the margin. Reason 1 is the first i with the largest m_i, reason 2 the same
without that one, and so on; a column whose m_i is not positive is no reason.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ecsel.export.program.expr import Compare, Const, Expr, If, Null, Var, add, largest, mul, smallest
from ecsel.export.program.reading import Sheet

if TYPE_CHECKING:
    from ecsel.export.program.program import Program

NEVER = -1e300
"""Takes the place of a reason that has been given: smaller than any other."""


def add_reasons(program: Program, n: int) -> tuple[Program, tuple[str, ...]]:
    """Return a program with Shapley values as one with reasons, and the variables of their positions among the inputs.

    Examples
    --------
    >>> from ecsel import Signomial
    >>> from ecsel.export.program.lowering import lower
    >>> program = lower(Signomial.parse("3*x**2/y"), contributions="shapley", baseline={"x": 1.0, "y": 1.0})
    >>> add_reasons(program, 2)[1]
    ('reason1', 'reason2')
    """
    sheet = Sheet(list(program.assignments))
    weights = _weights(program, sheet)
    margins: list[Expr] = []
    for i, column in enumerate(program.inputs):
        parts = [mul([w, Var(each.by_column[i][1])]) for w, each in zip(weights, program.contributions, strict=True)]
        margins.append(sheet.let(f"why1_{i}", add(parts), "contribution", f"{column.name} for the prediction"))
    names = []
    none = Const(float(len(margins)))
    for r in range(1, min(n, len(margins)) + 1):
        best = sheet.let(f"best_{r}", largest(margins), "contribution", f"weight of reason {r}")
        chosen = smallest([If(Compare(">=", m, best), Const(float(i)), none) for i, m in enumerate(margins)])
        at = sheet.let(f"at_{r}", chosen, "contribution", f"position of reason {r}")
        answer = If(Compare(">", best, Const(0.0)), at, Null())
        names.append(sheet.let(f"reason{r}", answer, "contribution", f"reason {r}").name)
        if r < min(n, len(margins)):
            margins = [
                sheet.let(
                    f"why{r + 1}_{i}",
                    If(Compare("==", at, Const(float(i))), Const(NEVER), m),
                    "contribution",
                    f"what is left after reason {r}",
                )
                for i, m in enumerate(margins)
            ]
    return replace(program, assignments=tuple(sheet.assignments)), tuple(names)


def _weights(program: Program, sheet: Sheet) -> list[Expr]:
    """Return the weight of each score in the margin."""
    if program.decision is None:
        base = Const(program.contributions[0].base_value or 0.0)
        up = If(Compare(">=", Var(program.outputs[0]), base), Const(1.0), Const(-1.0))
        return [sheet.let("side", up, "contribution", "above or below the baseline")]
    decision = Var(program.decision)
    if len(program.scores) == 1:
        side = If(Compare("==", decision, Const(1.0)), Const(1.0), Const(-1.0))
        return [sheet.let("side", side, "contribution", "which of the classes is predicted")]
    others: list[Expr] = [
        sheet.let(
            f"other{c}",
            If(Compare("==", decision, Const(float(c))), Const(-1.0), Var(p)),
            "contribution",
            "probability of another class",
        )
        for c, p in enumerate(program.outputs)
    ]
    top = sheet.let("rival_p", largest(others), "contribution", "probability of the strongest rival")
    none = Const(float(len(others)))
    first = smallest([If(Compare(">=", p, top), Const(float(c)), none) for c, p in enumerate(others)])
    rival = sheet.let("rival", first, "contribution", "position of the strongest rival")
    return [
        sheet.let(
            f"side{c}",
            If(
                Compare("==", decision, Const(float(c))),
                Const(1.0),
                If(Compare("==", rival, Const(float(c))), Const(-1.0), Const(0.0)),
            ),
            "contribution",
            "weight in the margin",
        )
        for c in range(len(others))
    ]
