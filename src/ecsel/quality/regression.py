"""Measures of predicted numbers: root mean squared error, mean absolute error and R²."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class RegressionQuality:
    """Measures of predictions; `r2` is 1 − Σ(y − f)²/Σ(y − ȳ)², None where all targets are equal.

    Examples
    --------
    >>> RegressionQuality(n_rows=3, rmse=0.5, mae=0.4, r2=0.9).to_dict()["r2"]
    0.9
    """

    n_rows: int
    rmse: float
    mae: float
    r2: float | None

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON values."""
        return asdict(self)

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> RegressionQuality:
        """Inverse of `to_dict`; what has another shape is a KeyError, TypeError or ValueError."""
        r2 = plain["r2"]
        return cls(int(plain["n_rows"]), float(plain["rmse"]), float(plain["mae"]), None if r2 is None else float(r2))


def measure_regression(target: Floats, predicted: Floats, weights: Floats) -> RegressionQuality:
    """Return the quality of predictions; weights count as rows.

    >>> measure_regression(np.array([1.0, 2.0, 3.0]), np.array([1.0, 2.0, 4.0]), np.ones(3)).r2
    0.5
    """
    error = target - predicted
    squared = float(np.average(error**2, weights=weights))
    variance = float(np.average((target - np.average(target, weights=weights)) ** 2, weights=weights))
    return RegressionQuality(
        len(target),
        squared**0.5,
        float(np.average(np.abs(error), weights=weights)),
        1.0 - squared / variance if variance > 0 else None,
    )
