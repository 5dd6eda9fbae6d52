"""Weighted quantiles of all rows: the smallest value whose cumulated weight reaches the level.

Unlike `scaling.summarise`, which samples long columns, every row counts, and the order of the rows has no influence:
rows of equal value are added up in the order of their weights.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


def quantiles(
    values: NDArray[np.float64], levels: tuple[float, ...], weights: NDArray[np.float64] | None = None
) -> tuple[float, ...]:
    """Return the quantiles of finite values at some levels in (0, 1].

    Examples
    --------
    >>> quantiles(np.array([3.0, 1.0, 2.0, 100.0]), (0.5, 0.75))
    (2.0, 3.0)
    >>> quantiles(np.array([3.0, 1.0]), (0.5,), np.array([2.0, 1.0]))
    (3.0,)
    """
    if weights is None:
        places = [math.ceil(level * values.size) - 1 for level in levels]
        return tuple(np.partition(values, places)[places].tolist())
    order = np.lexsort((weights, values))
    reached = weights[order].cumsum()
    return tuple(values[order[(reached / reached[-1]).searchsorted(levels)]].tolist())
