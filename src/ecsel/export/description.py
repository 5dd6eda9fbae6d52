"""What raw equations leave to words: how each column is read, and what text in brackets means."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ecsel.signomial.text import print_name, print_shift
from ecsel.tables import CategoricalColumn, NumericColumn, OrdinalColumn

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ecsel.explain.view import ModelView
    from ecsel.tables import Column, Feature, TableEncoder
    from ecsel.tables.report import OutOfRange


def describe_inputs(view: ModelView) -> Iterator[str]:
    """Yield a line for each column that the equations of a raw encoder use and for each bracket, then what is refused.

    Examples
    --------
    >>> from ecsel import ECSELClassifier
    >>> from ecsel.explain import ModelView
    >>> model = ECSELClassifier(max_terms=1).fit([[float(i % 9)] for i in range(90)], [i % 9 > 4 for i in range(90)])
    >>> for line in describe_inputs(ModelView.of(model)):
    ...     print(line)
    x0 is held within 0 to 8, its training range: values beyond count as the nearer end
    a row is refused where x0 is missing or infinite
    """
    if view.encoder is None:
        return
    complete, finite = [], []
    for column, features in used_columns(view, view.encoder):
        name = print_name(column.name)
        yield from (f"{name} {line}" for line in _of_column(column, features, view.encoder.out_of_range))
        for feature in features:
            if feature.kind not in {"number", "ordinal"}:
                missing = isinstance(column, NumericColumn) and feature.kind != "missing" and feature.fill is not None
                absent = f", {print_shift(feature.fill or 0.0)} where {name} is missing" if missing else ""
                yield f"{print_name(feature.name)} is {_meaning(feature)}{absent}"
        if any(feature.fill is None for feature in features):
            complete.append(name)
        if isinstance(column, NumericColumn):
            finite.append(name)
    reasons = {"missing or infinite": complete} if complete == finite else {"missing": complete, "infinite": finite}
    if told := [f"{_either(names)} is {reason}" for reason, names in reasons.items() if names]:
        yield f"a row is refused where {' or '.join(told)}"


def used_columns(view: ModelView, encoder: TableEncoder) -> Iterator[tuple[Column, list[Feature]]]:
    """Yield the columns that equations use, with the features in use."""
    used = view.terms.uses.any(axis=0)
    for j, column in enumerate(encoder.columns):
        features = [encoder.features[f] for f in np.flatnonzero(used & (view.players == j))]
        if features:
            yield column, features


def fill_of(features: Sequence[Feature]) -> float | None:
    """Return the number that a missing value of a column counts as; None where no feature is a number or position."""
    return next((feature.fill for feature in features if feature.kind in {"number", "ordinal"}), None)


def _of_column(column: Column, features: Sequence[Feature], out_of_range: OutOfRange) -> Iterator[str]:
    if isinstance(column, NumericColumn) and any(feature.kind != "missing" for feature in features):
        low, high = print_shift(column.low), print_shift(column.high)
        yield {
            "clip": f"is held within {low} to {high}, its training range: values beyond count as the nearer end",
            "extrapolate": f"was {low} to {high} in training: values beyond are taken as they are",
            "error": f"was {low} to {high} in training: a row with a value beyond is refused",
        }[out_of_range]
    for feature in features:
        if feature.kind == "ordinal" and isinstance(column, OrdinalColumn):
            levels = ", ".join(f"{place} for {level!r}" for place, level in enumerate(column.levels))
            yield f"is {levels}, {print_shift(feature.baseline)} for any other level"
        if feature.kind in {"number", "ordinal"} and feature.fill is not None:
            yield f"counts as {print_shift(feature.fill)} where it is missing"
        elif isinstance(column, CategoricalColumn) and feature.kind == "level" and feature.fill == 1:
            yield f"counts as {feature.level!r} where it is missing"


def _meaning(feature: Feature) -> str:
    column = print_name(feature.column)
    cut = "" if feature.cut is None else print_shift(abs(feature.cut))
    minus = "-" if feature.cut is not None and feature.cut < 0 else ""
    if feature.kind == "missing":
        return f"1 where {column} is missing, else 0"
    if feature.kind == "level":
        return f"1 where {column} is {feature.level!r}, else 0"
    if feature.kind == "step":
        return f"1 where {column} > {minus}{cut}, else 0"
    hinge = f"{column} {'+' if minus else '-'} {cut}" if feature.kind == "above" else f"{minus}{cut} - {column}"
    return f"max(0, {hinge})"


def _either(names: Sequence[str]) -> str:
    *first, last = names
    return f"{', '.join(first)} or {last}" if first else last
