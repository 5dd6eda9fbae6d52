"""Columns of a table in the form in which signomials are evaluated: log|g| and sgn(g) of every base g.

A base g is x, x + s, log(x + s) or exp(x). With u = log|g| a product of factors is
Π_j sgn(g_j)^p_j · exp(clip(Σ_j β_j u_j, ±700)); every term that uses a base shares its logarithm. Where α·exp(700) is
too large to be added up, the clip of the term is tighter (`clip_limits`): no sum of terms is infinite. Exports clip by
the same numbers.
The rules at the edge: 0 to a positive power is 0; 0 to a
negative power, a negative number to a power that is not an integer, the logarithm of what is not positive, and a value
that is missing or infinite are errors that name the column, because NaN and ∞ would hide.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from ecsel.signomial.factor import Base, Factor, Parity
from ecsel.signomial.text import print_base, print_shift

if TYPE_CHECKING:
    from ecsel._typing import Floats

# exp(±700) is the widest symmetric range of round exponents that a double holds.
LOG_LIMIT = 700.0

# Smaller shifts disappear beside the largest double; only larger ones can make a finite number infinite.
_LARGE_SHIFT = 1e290

# Sums of a few such numbers are finite, and no factor but another exponential makes up for one.
_LARGEST_EXPONENT = 1e306


def clip_limits(coefficients: Iterable[float]) -> list[tuple[float, float]]:
    """Return for each term of a sum the limits of its exponent: ±700, or where α·exp(…) is a double that adds up.

    The upper limits keep the sum of all terms, and the difference of two such sums, finite. Above the lower ones no
    product is rounded to zero, which databases refuse; where zero is welcome the lower limit is −700.

    >>> clip_limits([1.0])
    [(-700.0, 700.0)]
    >>> low, high = clip_limits([1e100])[0]
    >>> 1e100 * math.exp(high) < sys.float_info.max / 3
    True
    """
    sizes = [math.log(abs(alpha)) if alpha else 0.0 for alpha in coefficients]
    top = math.log(sys.float_info.max) - math.log(4 * max(1, len(sizes)))
    bottom = math.log(sys.float_info.min)
    return [(max(-LOG_LIMIT, bottom - size), min(LOG_LIMIT, top - size)) for size in sizes]


class Columns(Protocol):
    """A mapping or a data frame: anything that gives a column by its name."""

    def __getitem__(self, name: str, /) -> Any: ...


@dataclass(frozen=True, eq=False)
class LogColumns:
    """Named columns with a common number of rows, and log|g| (0 where g = 0) and sgn(g) of every base in use."""

    n_rows: int
    values: Mapping[str, Floats]
    _bases: dict[Base, tuple[Floats, Floats]] = field(default_factory=dict)

    @classmethod
    def read(cls, columns: Columns, names: Iterable[str]) -> LogColumns:
        """Take the named columns out of a mapping or a data frame; scalars are repeated for every row."""
        values = {name: _read_column(columns, name) for name in names}
        n_rows = _count_rows(columns, values)
        return cls(n_rows, {name: np.broadcast_to(column, (n_rows,)) for name, column in values.items()})

    def product(self, factors: Iterable[Factor], top: float = LOG_LIMIT) -> Floats:
        """Return the product of the factors, at most exp(top), one value a row."""
        log_value = np.zeros(self.n_rows)
        sign = np.ones(self.n_rows)
        for factor in factors:
            log_abs, base_sign = self._logarithm(factor)
            refuse_outside_domain(factor, base_sign)
            log_value += _scaled(float(factor.exponent), log_abs) if factor.exp else float(factor.exponent) * log_abs
            sign *= base_sign if factor.parity is Parity.ODD else np.abs(base_sign)
        value: Floats = sign * np.exp(np.clip(log_value, -LOG_LIMIT, top))
        return value

    def _logarithm(self, factor: Factor) -> tuple[Floats, Floats]:
        if factor.exp:
            return self.values[factor.name], np.ones(self.n_rows)
        if factor.base not in self._bases:
            g = base_values(factor, self.values[factor.name])
            self._bases[factor.base] = np.log(np.where(g == 0, 1.0, np.abs(g))), np.sign(g)
        return self._bases[factor.base]


def _scaled(rate: float, x: Floats) -> Floats:
    """Return the exponent of an exponential, cut far beyond what any other factor can make good."""
    with np.errstate(over="ignore"):
        return np.clip(rate * x, -_LARGEST_EXPONENT, _LARGEST_EXPONENT)


def base_values(factor: Factor, x: Floats) -> Floats:
    """Return g = x + s, log(x + s) or exp(x); what has no logarithm is refused by name."""
    if factor.exp:
        return np.asarray(np.exp(np.clip(x, -LOG_LIMIT, LOG_LIMIT)))
    g = x
    if factor.shift:
        with np.errstate(over="ignore"):
            g = x + factor.shift
        if abs(factor.shift) > _LARGE_SHIFT:
            g = np.clip(g, -sys.float_info.max, sys.float_info.max)
    if not factor.log:
        return g
    if n_bad := int(np.count_nonzero(~(g > 0))):
        bound = "positive" if factor.shift == 0 else f"above {print_shift(-factor.shift)}"
        raise ValueError(
            f"column {factor.name!r} is not {bound} in {n_bad} of {x.size} rows, where {print_base(factor)} is not "
            "defined; leave these rows out"
        )
    return np.log(g)


def refuse_outside_domain(factor: Factor, g: Floats) -> None:
    """Refuse rows in which a factor's base has no such power; of g the sign is enough."""
    if factor.refuses_negative and (n_negative := int(np.count_nonzero(g < 0))):
        raise ValueError(
            f"{_named_base(factor)} is negative in {n_negative} of {g.size} rows, where its power "
            f"{factor.exponent} is not defined; use abs() or sign() in the equation, or leave these rows out"
        )
    if factor.exponent < 0 and (n_zero := int(np.count_nonzero(g == 0))):
        raise ValueError(
            f"{_named_base(factor)} is zero in {n_zero} of {g.size} rows, where its power "
            f"{factor.exponent} is not defined; leave these rows out"
        )


def _named_base(factor: Factor) -> str:
    return f"column {factor.name!r}" if factor.is_power else f"{print_base(factor)} of column {factor.name!r}"


def _read_column(columns: Columns, name: str) -> Floats:
    try:
        raw = columns[name]
    except Exception as error:  # every data frame library has its own exception for a column it does not have
        raise ValueError(f"the data has no column {name!r}, which the equation uses") from error
    values = np.asarray(raw)
    if values.dtype.kind not in "biufO":
        raise ValueError(f"column {name!r} must hold numbers, not {values.dtype}")
    try:
        x: Floats = values.astype(np.float64)
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


def _count_rows(columns: Columns, values: Mapping[str, Floats]) -> int:
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
