"""Monotone promises: from the option to the signs of slopes, and the proof that fitted equations keep them.

A score Σ_k α_k Π_j x_j^β_kj never falls with x_j where α_k β_kj ≥ 0 in every term, whatever the values of the other
features; for the mirror image of a column the inequality turns round. With a sigmoid the promise is about the second
class's probability. With a softmax "p of class c rises" is kept by c's own score not falling and every other score not
rising.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from ecsel.signomial import Signomial
    from ecsel.tables import TableEncoder

DIRECTIONS = (-1, 1)


def slope_signs(
    monotone: Mapping[Any, Any] | None, encoder: TableEncoder, classes: Sequence[Any], n_scores: int
) -> NDArray[np.float64] | None:
    """Return the sign of each slope, (scores, features) with 0 where it is free; None where nothing is promised."""
    if not monotone:
        return None
    signs = np.zeros((n_scores, len(encoder.features)))
    for column, per_score in _promises(monotone, encoder, classes, n_scores):
        for j, feature in enumerate(encoder.features):
            if feature.column == column and feature.kind != "missing":
                signs[:, j] = -per_score if feature.kind == "mirror" else per_score
    return signs


def _promises(
    monotone: Mapping[Any, Any], encoder: TableEncoder, classes: Sequence[Any], n_scores: int
) -> Iterator[tuple[str, NDArray[np.float64]]]:
    """Yield each column with the direction of every score; what cannot be promised is refused by name."""
    kinds = {column.name: column.kind for column in encoder.columns}
    for column, wish in monotone.items():
        if column not in kinds:
            raise ValueError(f"monotone names the column {column!r}, which does not exist.")
        if kinds[column] == "categorical":
            raise ValueError(f"monotone names the column {column!r}, which has no order: list its levels in ordinal=.")
        yield column, _directions(column, wish, classes, n_scores)


def _directions(column: str, wish: Any, classes: Sequence[Any], n_scores: int) -> NDArray[np.float64]:
    if not isinstance(wish, dict):
        if n_scores > 1:
            raise ValueError(
                f"monotone[{column!r}] must name a class where each has a score: {{{column!r}: {{label: +1}}}}."
            )
        return np.array([_direction(column, wish)])
    if len(wish) != 1:
        raise ValueError(f"monotone[{column!r}] must name one class, not {len(wish)}.")
    ((label, direction),) = wish.items()
    named = [c == label for c in classes]
    if not any(named):
        named = [str(c) == label for c in classes]  # a model file keeps the names of a dict as text
    if sum(named) != 1:
        raise ValueError(f"monotone[{column!r}] names the class {label!r}, which y does not have.")
    chosen = np.where(named, 1.0, -1.0) * _direction(column, direction)
    return chosen[1:] if n_scores == 1 else chosen


def _direction(column: str, value: Any) -> float:
    if isinstance(value, bool) or value not in DIRECTIONS:
        raise ValueError(f"monotone[{column!r}] must be +1 (rising) or -1 (falling), not {value!r}.")
    return float(value)


def proven(equations: Sequence[Signomial], encoder: TableEncoder, signs: NDArray[np.float64]) -> bool:
    """Whether every term of every score keeps the signs: α·β·sign ≥ 0."""
    place = {name: j for j, name in enumerate(encoder.feature_names)}
    return all(
        term.coefficient * float(exponent) * signs[c, place[name]] >= 0
        for c, equation in enumerate(equations)
        for term in equation.terms
        for name, exponent in term.exponents.items()
    )


def guarantee_lines(
    monotone: Mapping[Any, Any] | None,
    equations: Sequence[Signomial],
    encoder: TableEncoder,
    classes: Sequence[Any],
) -> list[str]:
    """Return the promises in words, each followed by its proof; a model that breaks one says so."""
    lines = []
    for column, wish in (monotone or {}).items():
        signs = slope_signs({column: wish}, encoder, classes, len(equations))
        if signs is None or not proven(equations, encoder, signs):
            lines.append(f"NOT guaranteed: a term breaks the promise about {column!r}")
            continue
        label, direction = next(iter(wish.items())) if isinstance(wish, dict) else (classes[-1], wish)
        verb = "never falls" if direction > 0 else "never rises"
        lines.append(
            f"guaranteed: the probability of {label!r} {verb} as {column!r} rises, other columns fixed "
            "(coefficient times exponent has that sign in every term)"
        )
    return lines
