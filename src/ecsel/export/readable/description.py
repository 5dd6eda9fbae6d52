"""What raw equations leave to words: how each column is read, and what text in brackets means."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ecsel.estimators.readable_summary import range_lines
from ecsel.signomial.text import print_name, print_shift
from ecsel.tables import NumericColumn, OrdinalColumn

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ecsel.explain.view import ModelView
    from ecsel.tables import Column, Feature, TableEncoder


def describe_inputs(view: ModelView, encoder: TableEncoder) -> Iterator[str]:
    """Yield, line by line, the rules for the columns that the equations of a raw encoder use, and what brackets mean.

    Examples
    --------
    >>> from ecsel import ECSELClassifier
    >>> from ecsel.explain import ModelView
    >>> view = ModelView.of(ECSELClassifier().fit([[i / 7, i % 3] for i in range(60)], [i > 30 for i in range(60)]))
    >>> for line in describe_inputs(view, view.encoder):
    ...     print(line)
    training ranges (a value outside counts as the nearest end):
      x0: 0 to 8.429
    missing values are refused in x0: training had none
    infinite numbers are refused
    """
    used = list(used_columns(view, encoder))
    yield from range_lines(encoder.keep_features([feature.name for _, features in used for feature in features]))
    if any(isinstance(column, NumericColumn) for column, _ in used):
        yield "infinite numbers are refused"
    for column, _ in used:
        if column.kind != "categorical" and (text := encoder.describe_reading(column.name)):
            yield f"{print_name(column.name)} is {text}"
    for column, features in used:
        for feature in features:
            if feature.kind == "ordinal" and isinstance(column, OrdinalColumn):
                levels = ", ".join(f"{place} for {level!r}" for place, level in enumerate(column.levels))
                unseen = f"{print_shift(feature.baseline)} for a level that training has not seen"
                yield f"{print_name(feature.name)} is {levels}, {unseen}"
            elif feature.kind != "number":
                yield f"{print_name(feature.name)} is {_meaning(feature, column)}"


def used_columns(view: ModelView, encoder: TableEncoder) -> Iterator[tuple[Column, list[Feature]]]:
    """Yield the columns that equations use, with the features in use."""
    used = view.terms.uses.any(axis=0)
    for j, column in enumerate(encoder.columns):
        features = [encoder.features[f] for f in np.flatnonzero(used & (view.feature_groups == j))]
        if features:
            yield column, features


def fill_of(features: Sequence[Feature]) -> float | None:
    """Return the number that a missing value of a column counts as; None where no feature is a number or position."""
    return next((feature.fill for feature in features if feature.kind in {"number", "ordinal"}), None)


def _meaning(feature: Feature, column: Column) -> str:
    name = print_name(feature.column)
    if feature.kind == "missing":
        return f"1 where {name} is missing, else 0"
    absent = ""
    if isinstance(column, NumericColumn) and feature.fill is not None:
        absent = f", {print_shift(feature.fill)} where it is missing"
    if feature.kind == "level":
        return f"1 where {name} is {feature.level!r}, else 0{absent}"
    cut = feature.cut or 0.0
    if feature.kind == "step":
        return f"1 where {name} > {print_shift(cut)}, else 0{absent}"
    hinge = f"{name} {'-' if cut >= 0 else '+'} {print_shift(abs(cut))}"
    return f"max(0, {hinge if feature.kind == 'above' else f'{print_shift(cut)} - {name}'}){absent}"
