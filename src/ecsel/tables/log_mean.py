"""The mean of log x' over the rows of a column: the geometric mean that explanations start from.

Of many rows the logs are taken in single precision by the compiled kernel and added up in double; without it the logs
of products are taken, Σ log x = log Π x, which needs an eighth of the logs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ecsel import _compiled

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ecsel.tables.features import Feature

_BLOCK_ROWS, _FACTORS = 65_536, 8
_LEAST, _LARGEST = 1e-35, 1e35
"""Products of eight numbers in this range neither overflow nor lose digits."""


def log_mean(feature: Feature, values: NDArray[np.float64], weights: NDArray[np.float64] | None) -> float:
    """Return the weighted mean of log(scale·x + offset)."""
    if weights is None and len(values) > _BLOCK_ROWS and _LEAST < feature.floor <= feature.ceiling < _LARGEST:
        blocks = (values[i : i + _BLOCK_ROWS] for i in range(0, len(values), _BLOCK_ROWS))
        return sum(_sum_of_logs(feature, block) for block in blocks) / len(values)
    return float(np.average(np.log(feature.positive(values)), weights=weights))


def _sum_of_logs(feature: Feature, values: NDArray[np.float64]) -> float:
    if (compiled := _compiled.compiled) is not None:
        logs = np.empty(len(values), np.float32)
        values = np.require(values, requirements=["C", "A"])
        compiled.log_image(values, feature.scale, feature.offset, logs)
        total: float = compiled.deviations(logs, 0.0)[0]
        return total
    positive = feature.positive(values)
    whole = len(positive) // _FACTORS * _FACTORS
    products = np.multiply.reduce(positive[:whole].reshape(_FACTORS, -1), axis=0)
    return float(np.log(products).sum()) + float(np.log(positive[whole:]).sum())
