"""What the training rows of one column hold: its numbers, its levels and their weights, and what was learned of them.

Shared by the descriptions of positive and of raw features.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias, get_args

import numpy as np

from ecsel.tables.columns import Column, EmptyColumn
from ecsel.tables.errors import refuse_infinite, refuse_missing, short
from ecsel.tables.features import Feature, Level, canonical_level
from ecsel.tables.levels import MISSING, level_codes
from ecsel.tables.quantities import is_missing
from ecsel.tables.scaling import is_constant

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ecsel.tables.raw import RawColumn
    from ecsel.tables.scaling import ScalingKind

MissingRule: TypeAlias = Literal["factor", "median", "error"]
MISSING_RULES: tuple[str, ...] = get_args(MissingRule)

MAX_KNOWN_LEVELS = 10_000
"""Of a column of more levels only those with an indicator are remembered."""


@dataclass(frozen=True, slots=True)
class ColumnOptions:
    """How one column is to be read."""

    scaling: ScalingKind | Literal["auto"] = "auto"
    missing: MissingRule = "factor"
    missing_codes: tuple[Level, ...] = ()
    finds_codes: bool = False
    """Whether further codes for missing values are looked for."""
    nominal: bool = False
    order: tuple[Level, ...] | None = None
    two_sided: bool = False
    asked_of_numbers: tuple[str, ...] = ()
    """The options that were given for this column by name, and that only a numeric column can follow."""
    kept: bool = False
    """Whether the column takes part although it looks like an identifier."""
    dropped: bool = False


class Description(NamedTuple):
    """What was learned about one column."""

    column: Column
    features: tuple[Feature, ...]
    notes: tuple[str, ...]


class Numbers(NamedTuple):
    """The numbers that a column has in training."""

    values: NDArray[np.float64]
    weights: NDArray[np.float64] | None
    low: float
    high: float
    missing_codes: tuple[Level, ...]
    n_missing: int
    share_missing: float
    n_rows: int


def read_numbers(raw: RawColumn, options: ColumnOptions, weights: NDArray[np.float64] | None) -> Numbers | None:
    """Return the observed numbers of a column; None where there are none."""
    values = np.asarray(raw.numbers(), dtype=np.float64)
    codes = tuple(code for code in options.missing_codes if not isinstance(code, str))
    low, high = float(values.min()), float(values.max())
    # The minimum is NaN exactly when there is one.
    missing = is_missing(values, codes) if codes or math.isnan(low) else None
    n_missing = 0 if missing is None else int(np.count_nonzero(missing))
    observed, observed_weights = values, weights
    if missing is not None and n_missing:
        if options.missing == "error":
            refuse_missing(raw.name, n_missing, values.size)
        if n_missing == values.size:
            return None
        observed, observed_weights = values[~missing], None if weights is None else weights[~missing]
        low, high = float(observed.min()), float(observed.max())
    if math.isinf(low) or math.isinf(high):
        refuse_infinite(raw.name, observed)
    share = 0.0 if missing is None else float(np.average(missing, weights=weights))
    return Numbers(observed, observed_weights, low, high, codes, n_missing, share, values.size)


def sorted_levels(raw: RawColumn, options: ColumnOptions) -> tuple[Level, ...]:
    """Return the distinct levels, numbers before text, each in its order."""
    distinct = raw.distinct()
    try:
        found = {canonical_level(value) for value in distinct} - set(options.missing_codes)
    except ValueError as error:
        raise ValueError(f"Column {raw.name!r}: {error}") from None
    return tuple(sorted(found, key=lambda level: (isinstance(level, str), level)))


def ordered_codes(raw: RawColumn, order: tuple[Level, ...], options: ColumnOptions) -> NDArray[np.int32]:
    """Return the position of each row's level in the given order, which must have them all."""
    codes, unknown = level_codes(raw, order, options.missing_codes)
    if unknown:
        raise ValueError(
            f"Column {raw.name!r} holds {short(unknown[0])}, which is not in its given order {short(list(order))}."
        )
    return codes


def level_weights(
    name: str, codes: NDArray[np.int32], n_levels: int, weights: NDArray[np.float64] | None, options: ColumnOptions
) -> tuple[NDArray[Any], int]:
    """Return the total weight of every level, the missing one last, and the number of missing rows."""
    n_missing = int(np.count_nonzero(codes == MISSING))
    if n_missing and options.missing == "error":
        refuse_missing(name, n_missing, codes.size)
    counts = np.bincount(np.where(codes == MISSING, n_levels, codes), weights=weights, minlength=n_levels + 1)
    return counts, n_missing


def constant_notes(name: str, low: float, high: float) -> tuple[str, ...]:
    """Say that a column of numbers is left out because it is constant; nothing where it is not."""
    if low == high:
        return (f"{name!r} is constant ({low}) and was left out.",)
    if is_constant(low, high):
        reason = f"{name!r} varies in its last digits only ({low} to {high}) and was left out"
        return (f"{reason}; subtract a constant from it to keep it.",)
    return ()


def describe_empty(name: str) -> Description:
    """Return the description of a column without values."""
    return Description(EmptyColumn(name), (), (f"{name!r} has no values and was left out.",))


def describe_left_out(name: str, reason: str) -> Description:
    """Return the description of a column that takes no part for a reason of its own, which was reported before."""
    return Description(EmptyColumn(name, reason), (), ())
