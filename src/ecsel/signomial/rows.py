"""Rows of features, as score terms take them: logarithms of positive features, or raw numbers of any sign.

The paper's model has positive features and speaks of u = log x, which is what its rows hold. Every other model, a sum
of functions of raw columns, a regression or a bare equation, has rows of values, in which zeros and signs mean
something.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from ecsel._typing import Floats

_LOG_LARGEST = float(np.log(np.finfo(np.float64).max))
"""Beyond it exp(u) is infinite."""


@dataclass(frozen=True, eq=False)
class FeatureRows:
    """Rows (rows, features); make them with `from_logs` or `from_values`.

    Examples
    --------
    >>> rows = FeatureRows.from_values([[2.0, 0.0], [-1.0, 3.0]])
    >>> len(rows), rows.signs.tolist(), rows.take([1]).values.tolist()
    (2, [[1.0, 0.0], [-1.0, 1.0]], [[-1.0, 3.0]])
    """

    given: Floats
    """What the rows were made of."""
    is_log: bool
    """Whether that is log x."""

    @classmethod
    def from_logs(cls, log_x: Any) -> FeatureRows:
        """Return rows of positive features from u = log x."""
        return cls(_as_rows(log_x), is_log=True)

    @classmethod
    def from_values(cls, x: Any) -> FeatureRows:
        """Return rows of raw features from their values, which may be negative and zero."""
        return cls(_as_rows(x), is_log=False)

    def __len__(self) -> int:
        return len(self.given)

    @property
    def n_features(self) -> int:
        """The number of features."""
        return int(self.given.shape[1])

    @cached_property
    def values(self) -> Floats:
        """The features themselves."""
        return np.exp(np.minimum(self.given, _LOG_LARGEST)) if self.is_log else self.given

    @cached_property
    def log_abs(self) -> Floats:
        """log|x|, and 0 where x = 0."""
        return self.given if self.is_log else np.log(np.where(self.given == 0, 1.0, np.abs(self.given)))

    @cached_property
    def signs(self) -> Floats:
        """sgn(x): −1, 0 or 1."""
        return np.ones_like(self.given) if self.is_log else np.sign(self.given)

    def is_positive(self, features: Any = slice(None)) -> bool:
        """Whether all rows of the chosen features are positive."""
        return self.is_log or bool((self.given[:, features] > 0).all())

    def take(self, rows: Any) -> FeatureRows:
        """Return the chosen rows."""
        return FeatureRows(self.given[rows], self.is_log)

    def repeat(self, n_rows: int) -> FeatureRows:
        """Return the only row so many times, or the rows themselves if they are that many."""
        return FeatureRows(np.broadcast_to(self.given, (n_rows, self.n_features)), self.is_log)

    def scaled(self, factors: Floats) -> FeatureRows:
        """Return the rows with feature j multiplied by q_j > 0; `factors` are (features,) or (rows, features)."""
        return FeatureRows(self.given + np.log(factors) if self.is_log else self.given * factors, self.is_log)

    def with_features(self, features: Any, other: FeatureRows) -> FeatureRows:
        """Return the rows with some features, a mask or positions, taken from other rows, as many or one."""
        if self.is_log != other.is_log:
            return FeatureRows.from_values(self.values).with_features(features, FeatureRows.from_values(other.values))
        mixed = self.given.copy()
        mixed[:, features] = other.given[:, features]
        return FeatureRows(mixed, self.is_log)


def _as_rows(values: Any) -> Floats:
    rows: Floats = np.asarray(values, dtype=np.float64)
    if rows.ndim != 2:
        raise ValueError(f"rows must have the shape (rows, features), not {rows.shape}")
    return rows
