"""Columns of a table in the form in which signomials are evaluated: log|x| and sgn(x).

With u_j = log|x_j| a monomial is Π_j sgn(x_j)^p_j · exp(clip(Σ_j β_j u_j, ±700)); every term that uses a column
shares its logarithm. The rules at the edge: 0 to a positive power is 0; 0 to a negative power, a negative number to a
power that is not an integer, and a value that is missing or infinite are errors that name the column, because NaN and ∞
would hide.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from ecsel.signomial.factor import Factor, Parity

# exp(±700) is the widest symmetric range of round exponents that a double holds.
LOG_LIMIT = 700.0

FloatArray = npt.NDArray[np.float64]


class Columns(Protocol):
    """A mapping or a data frame: anything that gives a column by its name."""

    def __getitem__(self, name: str, /) -> Any: ...


@dataclass(frozen=True)
class LogColumns:
    """log|x| (0 where x = 0) and sgn(x) of named columns with a common number of rows."""

    n_rows: int
    log_abs: Mapping[str, FloatArray]
    sign: Mapping[str, FloatArray]

    @classmethod
    def read(cls, columns: Columns, names: Iterable[str]) -> LogColumns:
        """Take the named columns out of a mapping or a data frame; scalars are repeated for every row."""
        values = {name: _read_column(columns, name) for name in names}
        n_rows = _count_rows(columns, values)
        values = {name: np.broadcast_to(column, (n_rows,)) for name, column in values.items()}
        return cls(
            n_rows=n_rows,
            log_abs={name: np.log(np.where(x == 0, 1.0, np.abs(x))) for name, x in values.items()},
            sign={name: np.sign(x) for name, x in values.items()},
        )

    def monomial(self, factors: Iterable[Factor]) -> FloatArray:
        """Return the product of the factors, one value a row."""
        log_value = np.zeros(self.n_rows)
        sign = np.ones(self.n_rows)
        for factor in factors:
            feature_sign = self.sign[factor.name]
            _refuse_outside_domain(factor, feature_sign)
            log_value += float(factor.exponent) * self.log_abs[factor.name]
            sign *= feature_sign if factor.parity is Parity.ODD else np.abs(feature_sign)
        value: FloatArray = sign * np.exp(np.clip(log_value, -LOG_LIMIT, LOG_LIMIT))
        return value


def _refuse_outside_domain(factor: Factor, feature_sign: FloatArray) -> None:
    if factor.refuses_negative and (n_negative := int(np.count_nonzero(feature_sign < 0))):
        raise ValueError(
            f"column {factor.name!r} is negative in {n_negative} of {feature_sign.size} rows, where its power "
            f"{factor.exponent} is not defined; use abs() or sign() in the equation, or leave these rows out"
        )
    if factor.exponent < 0 and (n_zero := int(np.count_nonzero(feature_sign == 0))):
        raise ValueError(
            f"column {factor.name!r} is zero in {n_zero} of {feature_sign.size} rows, where its power "
            f"{factor.exponent} is not defined; leave these rows out"
        )


def _read_column(columns: Columns, name: str) -> FloatArray:
    try:
        raw = columns[name]
    except Exception as error:  # every data frame library has its own exception for a column it does not have
        raise ValueError(f"the data has no column {name!r}, which the equation uses") from error
    values = np.asarray(raw)
    if values.dtype.kind not in "biufO":
        raise ValueError(f"column {name!r} must hold numbers, not {values.dtype}")
    try:
        x: FloatArray = values.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"column {name!r} must hold numbers: {error}") from error
    if x.ndim > 1:
        raise ValueError(
            f"column {name!r} must be one-dimensional, but has shape {x.shape}; are two columns named alike?"
        )
    if n_bad := int(np.count_nonzero(~np.isfinite(x))):
        raise ValueError(
            f"column {name!r} is missing or infinite in {n_bad} of {x.size} rows; fill or leave out these rows"
        )
    return x


def _count_rows(columns: Columns, values: Mapping[str, FloatArray]) -> int:
    """Return the number of rows: that of the frame, or the common length of the columns in use, or of any column."""
    if not isinstance(columns, Mapping):
        return len(columns)  # type: ignore[arg-type]  # every data frame has a length
    lengths = {name: x.size for name, x in values.items() if x.ndim == 1}
    if not lengths:
        lengths = {name: np.size(x) for name, x in columns.items() if np.ndim(x) == 1}
        return next(iter(lengths.values()), 1)
    if len(set(lengths.values())) > 1:
        listed = ", ".join(f"{name!r} has {n}" for name, n in lengths.items())
        raise ValueError(f"columns must have the same number of rows: {listed}")
    return next(iter(lengths.values()))
