"""How a readable equation reads its columns: the range of training, and what a missing or an unusual value counts as.

These rules are part of the equation: a person needs them to get the model's own numbers by hand.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ecsel.report.wording import number
from ecsel.signomial.text import format_name
from ecsel.tables import NumericColumn

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ecsel.explain import ModelView
    from ecsel.tables import Feature
    from ecsel.tables.columns import Column

MAX_LEVELS = 6
"""Levels that are listed; a person who needs more finds them in the table."""

OUTSIDE = {
    "clip": "counts as the nearest end",
    "extrapolate": "taken as it is",
    "error": "refused",
}


@dataclass(frozen=True, slots=True)
class ColumnRule:
    """One column of the equations."""

    column: str
    span: str
    """Its range in training, or its levels."""
    missing: str
    outside: str
    """What a value outside the range, or a level that training never saw, counts as."""


def used_columns(view: ModelView) -> NDArray[np.intp]:
    """Return the positions of the raw columns that the equations use."""
    used: NDArray[np.intp] = np.unique(view.feature_groups[view.terms.uses.any(axis=0)])
    return used


def column_rules(view: ModelView) -> tuple[ColumnRule, ...]:
    """Return the rules of the columns in use; empty for a law, and for the paper's model, whose features are scaled."""
    encoder = view.encoder
    if encoder is None or not encoder.is_raw:
        return ()
    return tuple(
        _rule(encoder.columns[j], [f for f in encoder.features if f.column == view.raw_names[j]], encoder.out_of_range)
        for j in used_columns(view).tolist()
    )


def _rule(column: Column, features: list[Feature], out_of_range: str) -> ColumnRule:
    name = format_name(column.name)
    if isinstance(column, NumericColumn):
        span = f"{number(column.low, 6)} to {number(column.high, 6)}"
        return ColumnRule(name, span, _missing(features), OUTSIDE[out_of_range])
    levels = [format_name(level) for level in getattr(column, "levels", ())]
    more = f" and {len(levels) - MAX_LEVELS} more" if len(levels) > MAX_LEVELS else ""
    return ColumnRule(name, ", ".join(levels[:MAX_LEVELS]) + more, _missing(features), _unknown(features))


def _missing(features: list[Feature]) -> str:
    """Tell what the features of a column are where its value is missing."""
    if any(feature.fill is None for feature in features):
        return "refused"
    counts = [f"counts as {number(f.fill, 6)}" for f in features if f.kind in {"number", "ordinal"}]
    flags = [f"{format_name(f.name)} is 1" for f in features if f.kind in {"level", "missing"} and f.fill == 1]
    return ", and ".join(counts + flags) or _nothing(features)


def _unknown(features: list[Feature]) -> str:
    order = [f"counts as {number(f.baseline, 6)}" for f in features if f.kind == "ordinal"]
    return ", and ".join(order) or _nothing([f for f in features if f.kind == "level"])


def _nothing(features: list[Feature]) -> str:
    return f"{format_name(features[0].name)} is 0" if len(features) == 1 else "all its indicators are 0"
