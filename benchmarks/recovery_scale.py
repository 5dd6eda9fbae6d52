"""Seconds, memory and outcome of discovery on a long table (1 000 000 × 10) and a wide one (1 000 × 50).

The law has three terms of the first five columns, 3.7 x0² / x1 + ½ x2 √x3 − 1.2 x4; columns are uniform on [1, 5] and
the noise is 1 % of the target's root mean square. Each fit has a process of its own, so that the peak memory is its.
"""

from __future__ import annotations

import resource
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

SHAPES = ((1_000_000, 10), (1_000, 50))
LAW = "0.5*x2*x3**(1/2) + 3.7*x0**2*x1**-1 - 1.2*x4"


def table(rows: int, columns: int, seed: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return columns and noisy targets."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(1, 5, (rows, columns))
    y = 3.7 * X[:, 0] ** 2 / X[:, 1] + 0.5 * X[:, 2] * X[:, 3] ** 0.5 - 1.2 * X[:, 4]
    return X, y + 0.01 * float(np.sqrt(np.mean(y**2))) * rng.standard_normal(rows)


def measure(rows: int, columns: int, seed: int) -> dict[str, float | str]:
    """Return the figures of one fit, measured in a fresh process."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(_fit, rows, columns, seed).result()


def _fit(rows: int, columns: int, seed: int) -> dict[str, float | str]:
    from ecsel import ECSELRegressor, Signomial

    X, y = table(rows, columns, seed)
    wall, cpu = time.perf_counter(), time.process_time()
    model = ECSELRegressor(random_state=seed).fit(X, y)
    return {
        "recovered": int(model.equation_ == Signomial.parse(LAW)),
        "seconds": time.perf_counter() - wall,
        "cpu_seconds": time.process_time() - cpu,
        "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        "table_mb": X.nbytes / 2**20,
        "expression": str(model.equation_),
    }
