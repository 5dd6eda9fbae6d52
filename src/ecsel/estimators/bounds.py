"""Bounds on exponents and on the number of columns: from the options to limits of a fit, and the proof in words.

`exponent_bounds` names columns or features; a column stands for all its features (levels, mirror image, missing
factor), and an entry for a feature goes before one for its column. An exponent of zero is always allowed: a bound never
forces a feature into a term. A logarithm is the limit of powers at zero and counts as the exponent 0.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ecsel.estimators.options import is_number
from ecsel.signomial.text import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from ecsel.signomial import Signomial
    from ecsel.tables import TableEncoder

    Pair = tuple[float, float]


def exponent_bounds(option: Any, encoder: TableEncoder) -> tuple[NDArray[np.float64], NDArray[np.float64]] | None:
    """Return the least and the largest exponent of each feature; None where nothing is bounded."""
    if option is None:
        return None
    if not isinstance(option, Mapping):
        low, high = _pair("exponent_bounds", option)
        return np.full(len(encoder.features), low), np.full(len(encoder.features), high)
    columns = {column.name for column in encoder.columns}
    bounds = np.full((2, len(encoder.features)), [[-np.inf], [np.inf]])
    for name, pair in sorted(option.items(), key=lambda item: item[0] not in columns):
        low, high = _pair(f"exponent_bounds[{name!r}]", pair)
        places = [j for j, feature in enumerate(encoder.features) if name in (feature.column, feature.name)]
        if not places and name not in columns:
            raise ValueError(f"exponent_bounds names the column {name!r}, which does not exist.")
        bounds[:, places] = [[low], [high]]
    return bounds[0], bounds[1]


def _pair(name: str, value: Any) -> Pair:
    """Return two numbers around zero, infinite for None."""
    pair = tuple(value) if isinstance(value, (list, tuple, np.ndarray)) else ()
    if len(pair) == 2 and all(end is None or is_number(end) for end in pair):
        low, high = (none if end is None else float(end) for end, none in zip(pair, (-np.inf, np.inf), strict=True))
        if low <= 0 <= high:
            return low, high
    raise ValueError(
        f"{name}={value!r} must be a pair (low, high) with low <= 0 <= high, None for no bound: a term may always "
        "leave a feature out."
    )


def bound_lines(option: Any, equations: Sequence[Signomial], encoder: TableEncoder) -> list[str]:
    """Return the bounds in words, each after a look at every exponent; a model that breaks one says so."""
    if option is None:
        return []
    by_column = option if isinstance(option, Mapping) else {None: option}
    lines = []
    for name, pair in by_column.items():
        low, high = _pair("exponent_bounds", pair)
        whose = "exponent" if name is None else f"exponent of {name!r}"
        if np.isinf(low) and np.isinf(high):
            continue
        line = (
            f"at most {high:g}"
            if np.isinf(low)
            else f"at least {low:g}"
            if np.isinf(high)
            else f"in [{low:g}, {high:g}]"
        )
        lines.append(f"guaranteed: every {whose} is {line} (a bound of the fit, checked in every term)")
    if isinstance(option, Mapping):  # features that no candidate uses are no longer in the encoder of a search
        known = {*encoder.raw_names, *encoder.feature_names}
        option = {name: pair for name, pair in option.items() if name in known}
    exponent_range = exponent_bounds(option, encoder)
    if exponent_range is None or not within_bounds(equations, encoder, exponent_range):
        return ["NOT guaranteed: an exponent lies outside exponent_bounds"]
    return lines


def within_bounds(
    equations: Sequence[Signomial],
    encoder: TableEncoder,
    exponent_range: tuple[NDArray[np.float64], NDArray[np.float64]],
) -> bool:
    """Whether every exponent of every term lies within its bounds."""
    place = {name: j for j, name in enumerate(encoder.feature_names)}
    low, high = exponent_range
    return all(
        low[place[factor.name]] <= float(factor.exponent) <= high[place[factor.name]]
        for equation in equations
        for term in equation.terms
        for factor in term.factors
        if not factor.log
    )


def column_lines(max_features: int | None, equations: Sequence[Signomial], encoder: TableEncoder) -> list[str]:
    """Return how many columns the equations speak of, where that was limited."""
    if max_features is None:
        return []
    used = {name for equation in equations for name in equation.names}
    columns = list(dict.fromkeys(feature.column for feature in encoder.features if feature.name in used))
    if len(columns) > max_features:
        return [f"NOT guaranteed: the equations speak of {len(columns)} columns, more than max_features={max_features}"]
    line = ", ".join(map(repr, columns)) or "none"
    how = (
        "a limit of the search, which every candidate keeps"
        if encoder.is_raw
        else "the strongest of the first along the path of one term, chosen on all rows before any folds"
    )
    return [f"guaranteed: at most {counted(max_features, 'column')}; the equations speak of {line} ({how})"]
