"""From the positive features of the paper's model to raw units: scaling is substituted, or folded into α.

=============================  ===============================================================
x' = x/c                       x^β, and c^−β goes into α
x' = (x − low)/c + 1           ((x − low)/c + 1)^β
mirror image                   ((high − x)/c + 1)^β
level, 10 where it is present  m^[column = level] with m = 10^β
missing                        m_k^[column = ?], with x = x₀ in all other factors of the column
=============================  ===============================================================

The features of a column may each have their own value where it is missing, which no single x₀ would give: m_k makes up
for the difference. Factors are ordered by Σ_k |z_k|·|β_kj|·(spread of log x'_j), terms by |z_k|, both at the mean.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ecsel.export.readable.formula import Base, Formula, FormulaTerm, Multiplier, Order, Power
from ecsel.signomial import FeatureRows, term_values
from ecsel.tables import OrdinalColumn

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ecsel._typing import Floats
    from ecsel.explain.view import ModelView
    from ecsel.tables import Feature, TableEncoder
    from ecsel.tables.report import OutOfRange

SCALED = frozenset({"numeric", "mirror", "ordinal"})


def positive_encoder(view: ModelView) -> TableEncoder | None:
    """Return the encoder of a model whose features are positive images of its columns, None for any other model."""
    return None if view.encoder is None or view.encoder.is_raw else view.encoder


def formula_of(view: ModelView, encoder: TableEncoder, rows: FeatureRows | None = None) -> Formula:
    """Return the formula of a model; rows of its table, where there are any, say what is important."""
    centre, std = _typical(encoder, rows)
    sizes = np.abs(term_values(view.terms, FeatureRows.from_logs(centre[None, :]))[0])
    weights = (sizes[:, None] * np.abs(view.terms.exponents) * std).sum(axis=0) @ view.grouping
    used = np.unique(view.feature_groups[(view.terms.exponents != 0).any(axis=0)]).tolist()
    columns = sorted(used, key=lambda j: (-weights[j], view.raw_names[j]))
    terms = _terms(view, encoder, columns)
    by_class: list[list[tuple[float, FormulaTerm]]] = [[] for _ in view.score_classes]
    for k, c in enumerate(view.terms.classes.tolist()):
        by_class[c].append((-sizes[k] if terms[k].factors else np.inf, terms[k]))
    scores = tuple(
        (label, tuple(term for _, term in sorted(each, key=lambda pair: pair[0])))
        for label, each in zip(view.score_classes, by_class, strict=True)
    )
    return Formula(
        scores=scores,
        columns=tuple(view.raw_names[j] for j in columns),
        imputed=_imputed(encoder, columns),
        orders=_orders(encoder, columns),
    )


def _typical(encoder: TableEncoder, rows: FeatureRows | None) -> tuple[Floats, Floats]:
    """Return the mean and the spread of the logarithms of all features."""
    if rows is not None:
        return rows.log_abs.mean(axis=0), np.ptp(rows.log_abs, axis=0)
    ends = [(feature.floor, feature.ceiling) for feature in encoder.features]
    return encoder.baseline, np.array([np.log(high / low) for low, high in ends])


def _terms(view: ModelView, encoder: TableEncoder, columns: Sequence[int]) -> list[FormulaTerm]:
    features = encoder.features
    imputed = _imputed(encoder, columns)
    terms = []
    for alpha, beta in zip(view.terms.coefficients.tolist(), view.terms.exponents, strict=True):
        coefficient = alpha
        factors: list[Power | Multiplier] = []
        for j in columns:
            own = [(features[f], float(beta[f])) for f in np.flatnonzero(view.feature_groups == j) if beta[f]]
            if not own:
                continue
            scaled = [(feature, b) for feature, b in own if feature.kind in SCALED]
            bases = [_base(feature, encoder.out_of_range) for feature, _ in scaled]
            factors += [Power(base, b) for base, (_, b) in zip(bases, scaled, strict=True)]
            for base, (feature, b) in zip(bases, scaled, strict=True):
                coefficient *= feature.scale**b if base.unit is None else 1.0
            factors += [
                Multiplier(feature.name, feature.column, feature.level, float(feature.ceiling**b))
                for feature, b in own
                if feature.kind == "level"
            ]
            factors += _missing_multiplier(encoder.columns[j].name, own, imputed)
        terms.append(FormulaTerm(float(coefficient), tuple(factors)))
    return terms


def _base(feature: Feature, out_of_range: OutOfRange) -> Base:
    low = high = None
    if out_of_range == "clip" and feature.kind != "ordinal":
        low, high = (feature.low, None) if feature.scale > 0 else (None, feature.high)
    if feature.offset == 0 and feature.scale > 0:
        return Base(feature.column, at_least=low, at_most=high)
    return Base(feature.column, (1.0 - feature.offset) / feature.scale, 1.0 / feature.scale, low, high)


def _missing_multiplier(
    column: str, own: Sequence[tuple[Feature, float]], imputed: dict[str, float]
) -> list[Multiplier]:
    """Return what a missing value multiplies a term by, beside x = x₀; nothing where that is 1."""
    if any(feature.fill is None for feature, _ in own):
        return []
    total = 0.0
    for feature, b in own:
        total += b * float(np.log(feature.fill or 1.0))
        if feature.kind in SCALED:
            total -= b * float(np.log(feature.positive(imputed[column])))
    return [] if abs(total) < 1e-12 else [Multiplier(f"{column}=?", column, None, float(np.exp(total)))]


def _imputed(encoder: TableEncoder, columns: Sequence[int]) -> dict[str, float]:
    """Return the value that a missing one counts as: that of the column's own feature."""
    names = {encoder.columns[j].name for j in columns}
    return {
        feature.column: feature.raw_value(feature.fill)
        for feature in encoder.features
        if feature.column in names and feature.kind in {"numeric", "ordinal"} and feature.fill is not None
    }


def _orders(encoder: TableEncoder, columns: Sequence[int]) -> dict[str, Order]:
    by_column = {feature.column: feature for feature in encoder.features if feature.kind == "ordinal"}
    orders = {}
    for j in columns:
        column = encoder.columns[j]
        if isinstance(column, OrdinalColumn) and column.name in by_column:
            feature = by_column[column.name]
            orders[column.name] = Order(column.levels, feature.raw_value(float(np.exp(feature.baseline))))
    return orders
