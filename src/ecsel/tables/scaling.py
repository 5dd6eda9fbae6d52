"""Affine maps that make a numeric column positive: x' = scale·x + offset.

An affine map keeps the way back to raw units exact and the chain rule short, d log x'/d log x = scale·x / x'.
Three kinds are offered, all functions of a column's `Summary`:

- ``"minmax"``: [low, high] → [1, 10], the paper's choice, in the arithmetic of scikit-learn's `MinMaxScaler((1, 10))`;
- ``"spread"``: x' = (x − low)/c + 1 with c a quarter of the upper quartile's distance from the minimum, so that the
  logs of a heavy-tailed column stay spread out instead of crowding at 0;
- ``"ratio"``: x' = x / c for a strictly positive column; exponents are then elasticities in the user's own units, and c
  folds into the coefficients.

``"auto"`` lets `choose_scaling` pick one of them per column. ``"raw"``, for all columns of a table at once, leaves them
as they are: the features of readable equations, which need not be positive.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

ScalingKind: TypeAlias = Literal["minmax", "spread", "ratio", "raw"]
SCALING_KINDS: tuple[str, ...] = get_args(ScalingKind)

FEATURE_RANGE = (1.0, 10.0)
"""The interval of min-max scaling and of indicators: a level that is present multiplies a term by 10^β."""

QUANTILE_ROWS = 200_000
"""Beyond this many rows quantiles come from an evenly strided sample of about this size; the extremes never do."""

TAME_RATIO = 30.0
"""Largest ratio of a column's extremes for which ``"auto"`` keeps the ratio scale."""

RELATIVE_RESOLUTION = 1e-11
"""A column whose range is a smaller share of its magnitude varies in its last digits only; its image would be noise."""


@dataclass(frozen=True, slots=True)
class Summary:
    """Weighted five-number summary of a column's observed values.

    The upper quartile is taken over the rows above the minimum where three quarters of all rows sit at the minimum
    (columns that are mostly zero), and the lower quartile over the rows below the maximum likewise: a quartile that
    equals the extreme says nothing about the spread.

    Examples
    --------
    >>> Summary(1.0, 1.0, 1.0, 1.0, 1.0).is_constant
    True
    """

    low: float
    lower_quartile: float
    median: float
    upper_quartile: float
    high: float

    @property
    def is_constant(self) -> bool:
        """Whether the column has too little variation for an exponent to be identified."""
        return is_constant(self.low, self.high)


@dataclass(frozen=True, slots=True)
class Affine:
    """The map x ↦ scale·x + offset.

    Examples
    --------
    >>> affine_map("minmax", Summary(0.0, 1.0, 2.0, 3.0, 4.0))
    Affine(scale=2.25, offset=1.0)
    """

    scale: float
    offset: float


def is_constant(low: float, high: float) -> bool:
    """Whether the range of a column is empty or lost in the last digits of its values.

    Examples
    --------
    >>> is_constant(5.0, 5.0), is_constant(1e16, 1e16 + 2), is_constant(0.0, 1.0)
    (True, True, False)
    """
    if low == high:
        return True
    relative = high / 2 - low / 2 <= RELATIVE_RESOLUTION / 2 * max(abs(low), abs(high))
    return relative or math.isinf(_minmax_scale(low, high))


def summarise(
    values: NDArray[np.float64],
    weights: NDArray[np.float64] | None = None,
    extremes: tuple[float, float] | None = None,
) -> Summary:
    """Return the five-number summary; an integer weight counts exactly as that many repeated rows.

    `extremes` are the smallest and the largest value, where they are known.

    A quantile is the smallest value whose cumulated weight reaches the level (the inverse distribution function).

    Examples
    --------
    >>> summarise(np.array([1.0, 2.0, 3.0, 100.0]))
    Summary(low=1.0, lower_quartile=1.0, median=2.0, upper_quartile=3.0, high=100.0)
    """
    stride = max(1, values.size // QUANTILE_ROWS)
    sample = values[::stride]
    sample_weights = np.ones(sample.size) if weights is None else weights[::stride]
    low, high = extremes or (float(values.min()), float(values.max()))
    lower, median, upper = _quantiles(sample, (0.25, 0.5, 0.75), sample_weights)
    if upper == low and (above := sample > low).any():
        (upper,) = _quantiles(sample[above], (0.75,), sample_weights[above])
    if lower == high and (below := sample < high).any():
        (lower,) = _quantiles(sample[below], (0.25,), sample_weights[below])
    return Summary(low, lower, median, upper, high)


def _quantiles(
    values: NDArray[np.float64], levels: tuple[float, ...], weights: NDArray[np.float64]
) -> tuple[float, ...]:
    # np.quantile's "inverted_cdf" with weights, without the overhead that counts on small tables. Always the weighted
    # rule, also for equal weights: then weights and repetitions agree to the last bit.
    order = np.argsort(values)
    reached = weights[order].cumsum()
    places = (reached / reached[-1]).searchsorted(levels)
    return tuple(values[order[places]].tolist())


def choose_scaling(summary: Summary) -> ScalingKind:
    """Return the kind that ``scaling="auto"`` takes for a column.

    A strictly positive column that stays within a factor of `TAME_RATIO` keeps its ratio scale, so that its exponents
    are elasticities in the user's units; every other column is spread. Of nine rules this one had the best mean rank
    and the lowest log-loss over ten tables (``python -m benchmarks scaling``); min-max, the paper's choice, the worst.

    Examples
    --------
    >>> choose_scaling(Summary(2.0, 3.0, 4.0, 5.0, 6.0)), choose_scaling(Summary(0.0, 1.0, 2.0, 3.0, 4.0))
    ('ratio', 'spread')
    """
    return "ratio" if summary.low > 0 and summary.high / TAME_RATIO < summary.low else "spread"


def affine_map(kind: ScalingKind, summary: Summary, *, mirror: bool = False) -> Affine:
    """Return the map of the given kind for a column that is not constant, or for its mirror image low + high − x.

    A mirror image has no ratio scale of its own, so that of a ``"ratio"`` column is scaled by min-max. A raw column has
    no mirror image.

    Examples
    --------
    >>> summary = Summary(0.0, 1.0, 2.0, 3.0, 4.5)
    >>> affine_map("minmax", summary), affine_map("minmax", summary, mirror=True)
    (Affine(scale=2.0, offset=1.0), Affine(scale=-2.0, offset=10.0))
    """
    if kind == "raw":
        return Affine(1.0, 0.0)
    if kind == "ratio" and not mirror:
        return Affine(_ratio_scale(summary), 0.0)
    start, _ = FEATURE_RANGE
    anchor, quartile = (summary.high, summary.lower_quartile) if mirror else (summary.low, summary.upper_quartile)
    scale = _shifted_scale(summary, anchor, quartile) if kind == "spread" else _minmax_scale(summary.low, summary.high)
    return Affine(-scale, start + anchor * scale) if mirror else Affine(scale, start - anchor * scale)


def _minmax_scale(low: float, high: float) -> float:
    start, stop = FEATURE_RANGE
    with np.errstate(over="ignore"):
        width = np.float64(high) - low
        if np.isinf(width):  # near the largest double; half of the width is finite
            return float((stop - start) / 2 / (high / 2 - low / 2))
        return float((stop - start) / width)


def _shifted_scale(summary: Summary, anchor: float, quartile: float) -> float:
    """Return 1/c with c a quarter of the distance from the extreme to the opposite quartile, bounded from below.

    The bounds keep the digits of anchor/c + 1, and keep the image of the far extreme below the largest double.
    """
    quarter = abs(quartile / 4 - anchor / 4)
    return 1 / max(quarter, RELATIVE_RESOLUTION * abs(anchor), (summary.high / 2 - summary.low / 2) / 1e300)


def _ratio_scale(summary: Summary) -> float:
    """Return 1/c with c the power of ten nearest to the geometric middle of the range."""
    low, high = math.log10(summary.low), math.log10(summary.high)
    # The bounds matter beyond 1e±300 only: neither 1/c nor the image of the maximum may overflow.
    return float(f"1e{min(-round((low + high) / 2), 300, 300 - math.ceil(high))}")
