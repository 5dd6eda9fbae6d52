"""What each column contributes to a score, as plain expressions, so that reasons are there where Python is not.

With the factor a_i = φ_ki(x) of column i in term k, and b_i the same at the baseline:

    L1        log|a_i| − log|b_i|                                 what column i adds to log|z_k|
    L2        Σ_f G_f(b)·log(x_f/b_f) + Σ_g (z(b with x_g) − z(b))  what it adds to the score, to first order
    Shapley   Σ_k α_k ∫₀¹ (a_i − b_i) Π_{j≠i} (q·a_j + (1 − q)·b_j) dq

L2 sums over the features of a column: G_f = ∂z/∂log x_f of a number, and the difference that an indicator makes, which
has no proportional change. The integral is a sum over ⌈m/2⌉ Gauss–Legendre nodes, exactly, for m columns in the term;
where a term may overflow, the larger of |a_j| and |b_j| is taken out of every factor and multiplied back at the end.

The values are those of `ecsel.explain` in raw units, and null where those are undefined or refused: L1 of a term in
which some factor is zero, at the row or at the baseline (an indicator that is 0, log x at x = 1); L2 of a column whose
number is zero or has another sign than at the baseline; Shapley values where a coalition's term would pass exp(700).
"""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

import numpy as np

from ecsel.export.program.baseline import baseline_of
from ecsel.export.program.expr import (
    Abs,
    Compare,
    Condition,
    Const,
    Exp,
    Expr,
    If,
    Log,
    Max,
    Null,
    Var,
    add,
    all_of,
    clamp,
    minus,
    mul,
)
from ecsel.export.program.factors import MAX_PRODUCT, factor_value
from ecsel.export.program.program import Contribution
from ecsel.export.program.reading import LogTerm, ProductTerm, product
from ecsel.signomial import term_values
from ecsel.signomial.arrays import sum_by_class
from ecsel.signomial.columns import LOG_LIMIT, base_values
from ecsel.signomial.properties import log_gradient
from ecsel.signomial.properties.product_game import unit_nodes

if TYPE_CHECKING:
    from ecsel.explain.view import ModelView
    from ecsel.export.program.reading import Reading, ReadTerm, Sheet
    from ecsel.signomial import Factor, FeatureRows
    from ecsel.tables import Level

Method: TypeAlias = Literal["log_additive", "attribution", "shapley"]


@dataclass(frozen=True, slots=True)
class Explained:
    """A model whose program is written down up to its outputs."""

    view: ModelView
    reading: Reading
    valid: Condition


class _Cell:
    """The contribution of one column: a sum, and the conditions under which it is defined; None where it never is."""

    def __init__(self) -> None:
        self.parts: list[Expr] = []
        self.defined: list[Condition] | None = []

    def undefine(self) -> None:
        self.defined = None

    def require(self, condition: Condition | None) -> None:
        if self.defined is not None and condition is not None:
            self.defined.append(condition)


_Row = defaultdict[int, _Cell]
"""The contributions to one score or term, by input; a column that is absent contributes 0."""


def contributions_of(explained: Explained, method: Method, baseline: Any, sheet: Sheet) -> tuple[Contribution, ...]:
    """Write down the contributions of every column, by score or, for L1, by term."""
    if method not in get_args(Method):
        raise ValueError(f"contributions must be one of {', '.join(map(repr, get_args(Method)))}, not {method!r}")
    start = _Start.of(explained, baseline_of(explained.view, baseline))
    if method == "log_additive":
        return _log_additive(explained, start, sheet)
    by_class = _attribution(explained, start) if method == "attribution" else _shapley(explained, start, sheet)
    base = sum_by_class(explained.view.terms, start.terms[None, :])[0].tolist()
    return tuple(
        _named(explained, sheet, f"c{c}", (label, None, base[c]), by_class[c])
        for c, label in enumerate(explained.view.score_classes)
    )


@dataclass(frozen=True, slots=True)
class _Start:
    """The baseline: its row of features, and the values of terms.

    By term there are also the values of its factors, by feature and by input, and by input the sum of log|factor|.
    """

    point: FeatureRows
    terms: np.ndarray[Any, np.dtype[np.float64]]
    by_feature: tuple[dict[int, float], ...]
    by_input: tuple[dict[int, float], ...]
    logs: tuple[dict[int, float], ...]

    @classmethod
    def of(cls, explained: Explained, point: FeatureRows) -> _Start:
        view = explained.view
        place = {j: i for i, j in enumerate(explained.reading.columns)}
        by_feature, by_input, logs = [], [], []
        for k, placed in enumerate(view.terms.factors):
            values = {j: float(value[0]) for j, value in view.terms.feature_values(point, k).items()}
            of_columns: dict[int, float] = defaultdict(lambda: 1.0)
            log: dict[int, float] = defaultdict(float)
            for j, value in values.items():
                of_columns[place[int(view.feature_groups[j])]] *= value
            for j, factor in placed:
                log[place[int(view.feature_groups[j])]] += float(factor.exponent) * _log_base(factor, point, j)
            by_feature.append(values)
            by_input.append(dict(of_columns))
            logs.append(dict(log))
        return cls(point, term_values(view.terms, point)[0], tuple(by_feature), tuple(by_input), tuple(logs))


def _log_base(factor: Factor, point: FeatureRows, j: int) -> float:
    """Return log|g| of a factor's base, and 0 where g = 0."""
    if factor.is_power:
        return float(point.log_abs[0, j])
    if factor.exp:
        return float(point.values[0, j])
    g = abs(float(base_values(factor, point.values[:, j])[0]))
    return math.log(g) if g else 0.0


def _log_additive(explained: Explained, start: _Start, sheet: Sheet) -> tuple[Contribution, ...]:
    view = explained.view
    seen: dict[int, int] = {}
    result = []
    for k, (term, c) in enumerate(zip(explained.reading.terms, view.terms.classes.tolist(), strict=True)):
        position = seen[c] = seen.get(c, -1) + 1
        size = abs(float(start.terms[k]))
        row: _Row = defaultdict(_Cell)
        cells = [row[i] for i in range(len(explained.reading.inputs))]
        for i in term.inputs:
            log_size, is_positive = _log_size(term, i)
            row[i].parts.append(minus(log_size, Const(start.logs[k][i])))
            for cell in cells:
                cell.require(is_positive)
        for cell in () if size else cells:
            cell.undefine()
        heading = (view.score_classes[c], position, math.log(size) if size else None)
        result.append(_named(explained, sheet, f"c{c}_{position}", heading, row))
    return tuple(result)


def _log_size(term: ReadTerm, i: int) -> tuple[Expr, Condition | None]:
    """Return log|φ| of a column's factor, and the condition that it is not zero, None where it never is."""
    if isinstance(term, LogTerm):
        sign = term.signs.get(i)
        return term.parts[i], None if sign is None else Compare(">", Abs(sign), Const(0.0))
    size = Abs(term.factors[i].value)
    is_positive = Compare(">", size, Const(0.0))
    return Log(If(is_positive, size, Const(1.0))), is_positive


def _attribution(explained: Explained, start: _Start) -> list[_Row]:
    view, reading = explained.view, explained.reading
    rows: list[_Row] = [defaultdict(_Cell) for _ in range(view.terms.n_classes)]
    if not reading.features:  # positive features change in proportion, and Σ_k z_k(b)·β_kf is their gradient
        for k, (term, c) in enumerate(zip(reading.terms, view.terms.classes.tolist(), strict=True)):
            for i in term.inputs:
                change = minus(_log_size(term, i)[0], Const(start.logs[k][i]))
                rows[c][i].parts.append(mul([Const(start.terms[k]), change]))
        return rows
    place = {j: i for i, j in enumerate(reading.columns)}
    indicators = set(view.indicators.tolist())
    gradient = log_gradient(view.terms, start.point)[0]
    for f in reading.features:
        i = place[int(view.feature_groups[f])]
        if f in indicators:
            for k, c in enumerate(view.terms.classes.tolist()):
                if view.terms.uses[k, f]:
                    rows[c][i].parts.append(_difference(explained, start, k, f))
            continue
        for c in np.unique(view.terms.classes[view.terms.uses[:, f]]).tolist():
            _add_proportional(rows[c][i], explained, start, f, float(gradient[c, f]))
    return rows


def _difference(explained: Explained, start: _Start, k: int, f: int) -> Expr:
    """Return what a term gains at the baseline where one of its features is that of the row."""
    view = explained.view
    at_start = dict(start.by_feature[k])
    own = at_start.pop(f)
    weight = float(view.terms.coefficients[k]) * math.prod(at_start.values())
    x = explained.reading.features[f]
    value = product(factor_value(factor, x) for feature, factor in view.terms.factors[k] if feature == f).value
    if max(abs(x.low), abs(x.high)) > math.exp(LOG_LIMIT):  # a hinge that extrapolates
        limit = math.exp(MAX_PRODUCT) / max(1.0, abs(weight))
        value = clamp(value, -limit, limit)
    return mul([Const(weight), minus(value, Const(own))])


def _add_proportional(cell: _Cell, explained: Explained, start: _Start, f: int, gradient: float) -> None:
    """Add G_f(b)·log(x_f/b_f); proportional changes keep the sign."""
    x, b = explained.reading.features[f], float(start.point.values[0, f])
    if b == 0 or not math.isfinite(gradient):
        cell.undefine()
        return
    size: Expr = Abs(x.value) if x.low < 0 else x.value
    if x.low <= 0 or b < 0:
        same_sign = Compare(">" if b > 0 else "<", x.value, Const(0.0))
        cell.require(same_sign)
        size = If(same_sign, size, Const(1.0))
    cell.parts.append(mul([Const(gradient), minus(Log(size), Const(math.log(abs(b))))]))


def _shapley(explained: Explained, start: _Start, sheet: Sheet) -> list[_Row]:
    view, reading = explained.view, explained.reading
    rows: list[_Row] = [defaultdict(_Cell) for _ in range(view.terms.n_classes)]
    for k, (term, c) in enumerate(zip(reading.terms, view.terms.classes.tolist(), strict=True)):
        if not term.inputs:
            continue
        game = _ProductGame(explained, start, k, sheet)
        if isinstance(term, ProductTerm):
            values = game.of_product(term)
        else:
            values, bounded = game.of_logs(term)
            for i in range(len(reading.inputs)):
                rows[c][i].require(bounded)
        for i, value in values.items():
            rows[c][i].parts.append(value)
    return rows


@dataclass(frozen=True, slots=True)
class _ProductGame:
    """The Shapley values of one term against the baseline."""

    explained: Explained
    start: _Start
    k: int
    sheet: Sheet

    def of_product(self, term: ProductTerm) -> dict[int, Expr]:
        """Return the values of a term none of whose coalitions overflows."""
        alpha = Const(float(self.explained.view.terms.coefficients[self.k]))
        b = {i: Const(self.start.by_input[self.k][i]) for i in term.inputs}
        if len(b) == 1:
            ((i, own),) = b.items()
            return {i: mul([alpha, minus(term.factors[i].value, own)])}
        a = {i: self._let(f"a{self.k}_{i}", term.factors[i].value) for i in term.inputs}
        return self._integrals(alpha, dict(a), dict(b))

    def of_logs(self, term: LogTerm) -> tuple[dict[int, Expr], Condition]:
        """Return the values of a term, and the condition that no coalition passes the clip."""
        scales: list[Expr] = []
        a: dict[int, Expr] = {}
        b: dict[int, Expr] = {}
        for i in term.inputs:
            part, base = term.parts[i], self.start.logs[self.k][i]
            scale = self._let(f"m{self.k}_{i}", Max((part, Const(base))))
            scales.append(scale)
            sign = [term.signs[i]] if i in term.signs else []
            a[i] = self._let(f"a{self.k}_{i}", mul([*sign, Exp(_at_least(minus(part, scale)))]))
            own_sign = Const(float(np.sign(self.start.by_input[self.k][i])))
            b[i] = self._let(f"b{self.k}_{i}", mul([own_sign, Exp(_at_least(minus(Const(base), scale)))]))
        total = self._let(f"m{self.k}", add(scales))
        terms = self.explained.view.terms
        low, high = terms.clip_limits[self.k]
        size = self._let(f"f{self.k}", mul([Const(float(terms.coefficients[self.k])), Exp(clamp(total, low, high))]))
        return self._integrals(size, a, b), Compare("<=", total, Const(high))

    def _integrals(self, size: Expr, a: dict[int, Expr], b: dict[int, Expr]) -> dict[int, Expr]:
        nodes, weights = (each.tolist() for each in unit_nodes(len(a)))
        mixtures: list[dict[int, Expr]] = [{} for _ in nodes]
        for i in a if len(a) > 1 else ():
            for n, q in enumerate(nodes):
                mixture = add([mul([Const(q), a[i]]), mul([Const(1 - q), b[i]])])
                mixtures[n][i] = self._let(f"g{self.k}_{i}_{n}", mixture)
        values = {}
        for i, own in a.items():
            others = [[part for j, part in mixture.items() if j != i] for mixture in mixtures]
            integral = add([mul([Const(w), *each]) for w, each in zip(weights, others, strict=True)])
            values[i] = mul([size, minus(own, b[i]), integral])
        return values

    def _let(self, name: str, value: Expr) -> Var:
        return self.sheet.let(name, value, "contribution", f"Shapley value, term {self.k}")


def _at_least(operand: Expr) -> Expr:
    return Max((operand, Const(-LOG_LIMIT)))


def _named(
    explained: Explained, sheet: Sheet, prefix: str, heading: tuple[Level, int | None, float | None], row: _Row
) -> Contribution:
    """Name the contributions of all inputs, null on rows where they are not defined."""
    named = []
    for i, column in enumerate(explained.reading.inputs):
        cell = row[i]
        value: Expr = add(cell.parts) if cell.defined is not None else Null()
        condition = all_of([explained.valid, *dict.fromkeys(cell.defined or ())])
        title = f"contribution of {column.name} to {heading[0]}"
        named.append(
            (column.name, sheet.let(f"{prefix}_{i}", If(condition, value, Null()), "contribution", title).name)
        )
    return Contribution(*heading, tuple(named))
