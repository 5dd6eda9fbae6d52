"""The errors about values: each names the column, says what is wrong with it, and says what to do."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from ecsel.signomial.text import counted

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ecsel.tables.columns import NumericColumn
    from ecsel.tables.features import Feature


def short(value: object, width: int = 60) -> str:
    """Return a value's repr, cut to a width that fits into a message."""
    text = repr(value)
    return text if len(text) <= width else text[: width - 1] + "…"


def refuse_missing(name: str, n_missing: int, n_rows: int) -> NoReturn:
    """Refuse missing values in training."""
    raise ValueError(
        f"Column {name!r} has {counted(n_missing, 'missing value')} (NaN or None) in {n_rows} rows; "
        "missing='factor' makes them a factor of the equation, missing='median' fills them."
    )


def refuse_new_missing(name: str, n_missing: int) -> NoReturn:
    """Refuse missing values in a column that had none in training."""
    raise ValueError(
        f"Column {name!r} has {counted(n_missing, 'missing value')} (NaN or None), but had none in training; "
        "fill them, or fit with missing='median'."
    )


def refuse_infinite(name: str, values: NDArray[Any]) -> NoReturn:
    """Refuse infinities."""
    count = int(np.count_nonzero(np.isinf(values)))
    raise ValueError(
        f"Column {name!r} has {counted(count, 'infinite value')} (inf): put numbers or missing values in their place."
    )


def refuse_out_of_range(column: NumericColumn, value: float, row: int) -> NoReturn:
    """Refuse a value outside the training range, as ``out_of_range="error"`` asks."""
    raise ValueError(
        f"{_place(column.name, value, row)}, outside {_training(column)}; out_of_range='clip' or 'extrapolate' would "
        "allow it."
    )


def refuse_not_positive(feature: Feature, value: float, row: int) -> NoReturn:
    """Refuse a value whose image is not positive, so that it has no logarithm."""
    raise ValueError(
        f"{_place(feature.column, value, row)}, so far outside {_training(feature)} that the feature {feature.name!r} "
        "is not positive; out_of_range='clip' would allow it."
    )


def refuse_overflow(feature: Feature, value: float, row: int) -> NoReturn:
    """Refuse a value whose image is larger than any double."""
    raise ValueError(
        f"{_place(feature.column, value, row)}, so far outside {_training(feature)} that the feature {feature.name!r} "
        "overflows."
    )


def _place(column: str, value: float, row: int) -> str:
    return f"Column {column!r} is {value} in row {row}"


def _training(ranged: Feature | NumericColumn) -> str:
    return f"its training range [{ranged.low}, {ranged.high}]"
