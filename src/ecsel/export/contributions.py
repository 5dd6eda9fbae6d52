"""What each column contributes to a score, as plain expressions, so that reasons are there where Python is not.

With the factor a_i = s_ki·exp(part_ki) of column i in term k, and b_i the same at the baseline:

    L1        part_ki − log|b_i|                                  what column i adds to log|z_k|
    L2        Σ_k z_k(b)·(part_ki − log|b_i|)                      what it adds to the score, to first order
    Shapley   Σ_k α_k ∫₀¹ (a_i − b_i) Π_{j≠i} (q·a_j + (1 − q)·b_j) dq

The integral is a sum over ⌈m/2⌉ Gauss–Legendre nodes, exactly, for m columns in the term. As the larger of |a_j| and
|b_j| is taken out of every factor and multiplied back at the end, nothing overflows. The values are those of
`ecsel.explain` in raw units, and null where those are undefined or refused: a column with another sign than at the
baseline (L2), a factor that is zero (L1), a coalition whose term would pass exp(700) (Shapley).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

import numpy as np

from ecsel.export.baseline import baseline_of
from ecsel.export.expr import (
    Abs,
    Compare,
    Condition,
    Const,
    Exp,
    Expr,
    If,
    Max,
    Null,
    Var,
    add,
    all_of,
    clamp,
    minus,
    mul,
)
from ecsel.export.program import Contribution
from ecsel.signomial import Parity, term_values
from ecsel.signomial.arrays import sum_by_class
from ecsel.signomial.columns import LOG_LIMIT
from ecsel.signomial.properties.product_game import unit_nodes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ecsel.explain.view import ModelView
    from ecsel.export.reading import Reading, Sheet
    from ecsel.signomial import FeatureRows
    from ecsel.tables import Level

Method: TypeAlias = Literal["log_additive", "attribution", "shapley"]


@dataclass(frozen=True, slots=True)
class Explained:
    """A model whose program is written down up to its outputs."""

    view: ModelView
    reading: Reading
    valid: Condition
    limits: Sequence[tuple[float, float]]

    def inputs_of(self, k: int) -> list[int]:
        """Return the positions of the inputs that a term uses."""
        return [i for i in range(len(self.reading.inputs)) if (k, i) in self.reading.parts]


def contributions_of(explained: Explained, method: Method, baseline: Any, sheet: Sheet) -> tuple[Contribution, ...]:
    """Write down the contributions of every column, by score or, for L1, by term."""
    if method not in get_args(Method):
        raise ValueError(f"contributions must be one of {', '.join(map(repr, get_args(Method)))}, not {method!r}")
    start = _Start.of(explained, baseline_of(explained.view, baseline))
    if method == "log_additive":
        return _log_additive(explained, start, sheet)
    write = _attribution if method == "attribution" else _shapley
    by_class = write(explained, start, sheet)
    base = sum_by_class(explained.view.terms, start.terms[None, :])[0].tolist()
    return tuple(
        _named(explained, sheet, f"c{c}", (label, None, base[c]), *by_class[c])
        for c, label in enumerate(explained.view.score_classes)
    )


_ByColumn = tuple[dict[int, Expr], list[Condition]]
"""Contributions by input, 0 where there is none, and the conditions under which they are defined."""


@dataclass(frozen=True, slots=True)
class _Start:
    """The baseline as terms see it: log|b| and sign by term and input, the values of the terms, signs of columns."""

    parts: dict[tuple[int, int], float]
    signs: dict[tuple[int, int], float]
    terms: np.ndarray[Any, np.dtype[np.float64]]
    column_signs: dict[int, float]

    @classmethod
    def of(cls, explained: Explained, point: FeatureRows) -> _Start:
        view, reading = explained.view, explained.reading
        log_b = point.log_abs[0]
        odd = [{factor.name for factor in factors if factor.parity is Parity.ODD} for factors in view.factors]
        parts, signs, column_signs = {}, {}, {}
        for i, j in enumerate(reading.columns):
            own = np.flatnonzero(view.players == j)
            sign = float(point.signs[0, own[0]])
            column_signs[i] = sign
            for k, beta in enumerate(view.terms.exponents):
                if (k, i) in reading.parts:
                    parts[k, i] = float(beta[own] @ log_b[own])
                    signs[k, i] = sign if view.feature_names[own[0]] in odd[k] else abs(sign)
        return cls(parts, signs, term_values(view.terms, point)[0], column_signs)

    def refuse_zero(self, explained: Explained) -> None:
        """Refuse a baseline with a zero, whose logarithm does not exist."""
        for i, sign in self.column_signs.items():
            if sign == 0:
                name = explained.reading.inputs[i].name
                raise ValueError(f"the baseline of {name!r} is zero, which has no logarithm: give another baseline")


def _log_additive(explained: Explained, start: _Start, sheet: Sheet) -> tuple[Contribution, ...]:
    start.refuse_zero(explained)
    reading, view = explained.reading, explained.view
    seen: dict[int, int] = {}
    result = []
    for k, c in enumerate(view.terms.classes.tolist()):
        position = seen[c] = seen.get(c, -1) + 1
        inputs = explained.inputs_of(k)
        values = {i: minus(reading.parts[k, i], Const(start.parts[k, i])) for i in inputs}
        defined: list[Condition] = [
            Compare(">", Abs(reading.signs[k, i]), Const(0.0)) for i in inputs if (k, i) in reading.signs
        ]
        heading = (view.score_classes[c], position, float(np.log(np.abs(start.terms[k]))))
        result.append(_named(explained, sheet, f"c{c}_{position}", heading, values, defined))
    return tuple(result)


def _attribution(explained: Explained, start: _Start, sheet: Sheet) -> list[_ByColumn]:  # noqa: ARG001 - as `_shapley`
    start.refuse_zero(explained)
    reading, view = explained.reading, explained.view
    # Proportional changes never change a sign, so that the baseline says nothing of columns with another sign.
    same_sign = {i: Compare("==", sign, Const(start.column_signs[i])) for i, sign in reading.column_signs.items()}
    parts: list[dict[int, list[Expr]]] = [{} for _ in range(view.terms.n_classes)]
    for k, c in enumerate(view.terms.classes.tolist()):
        for i in explained.inputs_of(k):
            change = minus(reading.parts[k, i], Const(start.parts[k, i]))
            parts[c].setdefault(i, []).append(mul([Const(start.terms[k]), change]))
    return [
        ({i: If(same_sign[i], add(each), Null()) if i in same_sign else add(each) for i, each in by_input.items()}, [])
        for by_input in parts
    ]


def _shapley(explained: Explained, start: _Start, sheet: Sheet) -> list[_ByColumn]:
    view = explained.view
    parts: list[dict[int, list[Expr]]] = [{} for _ in range(view.terms.n_classes)]
    defined: list[list[Condition]] = [[] for _ in range(view.terms.n_classes)]
    for k, c in enumerate(view.terms.classes.tolist()):
        if explained.inputs_of(k):
            values, condition = _product_game(explained, start, k, sheet)
            defined[c].append(condition)
            for i, value in values.items():
                parts[c].setdefault(i, []).append(value)
    return [({i: add(each) for i, each in parts[c].items()}, defined[c]) for c in range(len(parts))]


def _product_game(explained: Explained, start: _Start, k: int, sheet: Sheet) -> tuple[dict[int, Expr], Condition]:
    """Return the Shapley values of one term, and the condition that no coalition passes the clip."""
    reading = explained.reading
    inputs = explained.inputs_of(k)

    def let(name: str, value: Expr) -> Var:
        return sheet.let(name, value, "contribution", f"Shapley value, term {k}")

    scales: list[Expr] = []
    gains: dict[int, Expr] = {}
    nodes, weights = (each.tolist() for each in unit_nodes(len(inputs)))
    mixtures: list[dict[int, Var]] = [{} for _ in nodes]
    for i in inputs:
        part, base = reading.parts[k, i], start.parts[k, i]
        scale = let(f"m{k}_{i}", Max((part, Const(base))))
        scales.append(scale)
        sign = [reading.signs[k, i]] if (k, i) in reading.signs else []
        a = let(f"a{k}_{i}", mul([*sign, Exp(_at_least(minus(part, scale)))]))
        b = let(f"b{k}_{i}", mul([Const(start.signs[k, i]), Exp(_at_least(minus(Const(base), scale)))]))
        gains[i] = minus(a, b)
        for n, q in enumerate(nodes if len(inputs) > 1 else ()):
            mixtures[n][i] = let(f"g{k}_{i}_{n}", add([mul([Const(q), a]), mul([Const(1 - q), b])]))
    total = let(f"m{k}", add(scales))
    size = let(f"f{k}", mul([Const(explained.view.terms.coefficients[k]), Exp(clamp(total, *explained.limits[k]))]))
    values = {}
    for i in inputs:
        others = [[mixture[j] for j in inputs if j != i] for mixture in mixtures]
        integral = add([mul([Const(w), *product]) for w, product in zip(weights, others, strict=True)])
        values[i] = mul([size, gains[i], integral])
    return values, Compare("<=", total, Const(LOG_LIMIT))


def _at_least(operand: Expr) -> Expr:
    return Max((operand, Const(-LOG_LIMIT)))


def _named(
    explained: Explained,
    sheet: Sheet,
    prefix: str,
    heading: tuple[Level, int | None, float],
    values: dict[int, Expr],
    defined: Sequence[Condition],
) -> Contribution:
    """Name the contributions of all inputs, null on rows where they are not defined."""
    condition = all_of([explained.valid, *defined])
    named = tuple(
        (
            column.name,
            sheet.let(
                f"{prefix}_{i}",
                If(condition, values.get(i, Const(0.0)), Null()),
                "contribution",
                f"contribution of {column.name} to {heading[0]}",
            ).name,
        )
        for i, column in enumerate(explained.reading.inputs)
    )
    return Contribution(*heading, named)
