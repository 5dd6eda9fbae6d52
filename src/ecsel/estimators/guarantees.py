"""Monotone promises: from the option to the signs of slopes, and the proof that fitted equations keep them.

A score Σ_k α_k Π_j f_kj(x_j) never falls with x_j where in every term α_k, the sign of the other factors and the
direction of f_kj multiply to a number ≥ 0. On the positive features of the paper's model all factors are positive, so
α_k β_kj ≥ 0 is enough (for the mirror image of a column the inequality turns round). On raw columns the training range,
to which values are clipped, tells the sign and the direction of a factor; a piece whose factor changes its sign or
direction there is kept out. With a sigmoid the promise is about the second class's probability. With a softmax "p of
class c rises" is kept by c's own score not falling and every other score not rising.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ecsel.signomial import Parity

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from ecsel.signomial import Factor, Signomial
    from ecsel.tables import TableEncoder

DIRECTIONS = (-1, 1)
FALLING = frozenset({"mirror", "below"})
"""Kinds of features that fall as their column rises."""


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
                signs[:, j] = -per_score if feature.kind in FALLING else per_score
    return signs


def factor_sign(factor: Factor, low: float, high: float) -> float:
    """Return the sign of a factor over a range of its column, NaN where it changes.

    >>> from ecsel.signomial import Term
    >>> (factor,) = Term(1.0, {"x": 1}).factors
    >>> factor_sign(factor, 0.0, 5.0), factor_sign(factor, -1.0, 5.0)
    (1.0, nan)
    """
    bottom, top = (_base(factor, x) for x in (low, high))
    if bottom >= 0 or factor.parity is not Parity.ODD:
        return 1.0
    return -1.0 if top <= 0 else np.nan


def factor_direction(factor: Factor, low: float, high: float) -> float:
    """Return +1 where a factor rises over a range of its column, −1 where it falls, NaN where it turns.

    >>> from ecsel.signomial import Signomial
    >>> (factor,) = Signomial.parse("1/sqrt(x)").terms[0].factors
    >>> factor_direction(factor, 1.0, 5.0)
    -1.0
    """
    bottom, top = (_base(factor, x) for x in (low, high))
    power = float(np.sign(float(factor.exponent)))
    if bottom >= 0 or (factor.parity is Parity.ODD and power > 0):
        return power
    if top > 0:
        return np.nan
    return power if factor.parity is Parity.ODD else -power


def _base(factor: Factor, x: float) -> float:
    if factor.exp:
        return 1.0  # positive, wherever x is
    base = x + factor.shift
    if not factor.log:
        return base
    return float(np.log(base)) if base > 0 else -np.inf


def piece_signs(
    pieces: Sequence[tuple[Factor, ...]], encoder: TableEncoder, slopes: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the sign (scores, pieces) that a coefficient must have so that all promises hold.

    0 where it is free, NaN where no sign would do: the piece turns in a promised column.
    """
    place = {feature.name: j for j, feature in enumerate(encoder.features)}
    numbers = {feature.column for feature in encoder.features if feature.kind == "number"}
    result = np.zeros((len(slopes), len(pieces)))
    for k, factors in enumerate(pieces):
        for factor in factors:
            feature = encoder.features[place[factor.name]]
            wanted = slopes[:, place[factor.name]]
            if not wanted.any():
                continue
            others = [(other, encoder.features[place[other.name]]) for other in factors if other is not factor]
            rest = float(np.prod([factor_sign(other, its.floor, its.ceiling) for other, its in others]))
            slope = factor_direction(factor, feature.floor, feature.ceiling) * rest
            if feature.kind == "level" and feature.column in numbers:
                slope = np.nan  # one value among several: neither rises nor falls with the number
            needed = wanted * slope
            clash = (result[:, k] * needed < 0) | np.isnan(needed)
            result[:, k] = np.where(clash & (wanted != 0), np.nan, np.where(needed != 0, needed, result[:, k]))
    return result


def _promises(
    monotone: Mapping[Any, Any], encoder: TableEncoder, classes: Sequence[Any], n_scores: int
) -> Iterator[tuple[str, NDArray[np.float64]]]:
    """Yield each column with the direction of every score; what cannot be promised is refused by name."""
    kinds = {column.name: column.kind for column in encoder.columns}
    for column, requested in monotone.items():
        if column not in kinds:
            raise ValueError(f"monotone names the column {column!r}, which does not exist.")
        if kinds[column] == "categorical":
            raise ValueError(f"monotone names the column {column!r}, which has no order: list its levels in ordinal=.")
        yield column, _directions(column, requested, classes, n_scores)


def _directions(column: str, requested: Any, classes: Sequence[Any], n_scores: int) -> NDArray[np.float64]:
    if not isinstance(requested, dict):
        if n_scores > 1:
            raise ValueError(
                f"monotone[{column!r}] must name a class where each has a score: {{{column!r}: {{label: +1}}}}."
            )
        return np.array([_direction(column, requested)])
    if len(requested) != 1:
        raise ValueError(f"monotone[{column!r}] must name one class, not {len(requested)}.")
    ((label, direction),) = requested.items()
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
    """Whether every term of every score keeps the signs."""
    for c, equation in enumerate(equations):
        needed = piece_signs([term.factors for term in equation.terms], encoder, signs[c : c + 1])[0]
        coefficients = np.array([term.coefficient for term in equation.terms])
        if not (needed * coefficients >= 0).all():  # also where a sign is NaN
            return False
    return True


def guarantee_lines(
    monotone: Mapping[Any, Any] | None,
    equations: Sequence[Signomial],
    encoder: TableEncoder,
    classes: Sequence[Any],
) -> list[str]:
    """Return the promises in words, each followed by its proof; a model that breaks one says so."""
    lines = []
    for column, requested in (monotone or {}).items():
        signs = slope_signs({column: requested}, encoder, classes, len(equations))
        if signs is None or not proven(equations, encoder, signs):
            lines.append(f"NOT guaranteed: a term breaks the promise about {column!r}")
            continue
        label, direction = next(iter(requested.items())) if isinstance(requested, dict) else (classes[-1], requested)
        verb = "never falls" if direction > 0 else "never rises"
        lines.append(
            f"guaranteed: the probability of {label!r} {verb} as {column!r} rises, other columns fixed "
            "(every term has that direction over the training range)"
        )
    return lines
