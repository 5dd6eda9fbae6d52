"""Rows that no noise explains: a robust smooth fit finds them before any law is known, residuals of a law after.

The smooth fit is a quadratic of the columns, or of their logarithms for the logarithm of the target (the translog
function of Christensen, Jorgenson and Lau 1973), by iteratively reweighted least squares: absolute deviations first,
then Tukey's biweight

    w(u) = (1 - (u/c)^2)^2 for |u| < c, and 0 elsewhere,     c = 4.685,

on residuals u in units of their normal-consistent median absolute deviation.
"""

import numpy as np
from scipy import stats

from ecsel._typing import Floats, Mask

TUKEY = 4.685
"""The constant of 95 % efficiency under normal noise (Holland and Welsch 1977)."""
MAD_TO_STD = 1.4826
SUSPECT = 6.0
"""Robust standard deviations from which a residual is suspected: normal noise reaches it once in 5e8 rows."""
MAX_FUNCTIONS, FIT_ROWS, MAX_NUMBERS = 60, 1000, 10_000_000
"""Most functions of the smooth fit, rows that it is fitted to, and numbers that its design may hold."""
LARGEST_SHARE = 0.1
"""Outliers are few; where more rows are far off, the law or the noise model is wrong."""


def robust_scale(residual: Floats) -> float:
    """Return the standard deviation that normal noise with these absolute residuals in the middle would have."""
    return float(MAD_TO_STD * np.median(np.abs(residual)))


def suspects(residual: Floats) -> Mask:
    """Return which rows lie too far off for noise; none where they would be too many.

    >>> suspects(np.array([0.1, -0.2, 0.1, 0.3, -0.1, 0.2, -0.3, 90.0])).nonzero()[0]
    array([7])
    """
    far = np.abs(residual) > SUSPECT * robust_scale(residual)
    return far if far.sum() <= max(LARGEST_SHARE * len(far), 1) else np.zeros(len(far), dtype=bool)


def is_inside(residual: Floats, keep: Mask) -> Mask:
    """Return which rows the noise of the kept rows explains: one false alarm in a hundred tables."""
    cut = max(4.0, float(stats.norm.isf(0.005 / len(residual))))
    return np.abs(residual) <= cut * robust_scale(residual[keep])


def smooth_fit(X: Floats, y: Floats, *, logarithmic: bool) -> Floats:
    """Return the values of a robust smooth function of the columns; of logarithms it keeps the sign of the target."""
    design = _second_order(X, len(y), logarithmic=logarithmic)
    target = np.log(np.abs(y)) if logarithmic else y
    fitted = _robust_least_squares(design, target)
    if not logarithmic:
        return fitted
    low, high = np.log(np.abs(y)).min(), np.log(np.abs(y)).max()
    return np.copysign(np.exp(np.clip(fitted, low, high)), y)


def _second_order(X: Floats, n_rows: int, *, logarithmic: bool) -> Floats:
    size = np.abs(X)
    smallest = np.where(size > 0, size, np.inf).min(axis=0, initial=np.inf)
    columns = np.log(np.where(size > 0, size, np.where(np.isfinite(smallest), smallest, 1.0))) if logarithmic else X
    centre, std = columns.mean(axis=0), columns.std(axis=0)
    varies = std > 0
    z = (columns[:, varies] - centre[varies]) / std[varies]
    signs = np.sign(X)[:, (X < 0).any(axis=0) & (X > 0).any(axis=0)] if logarithmic else X[:, :0]
    linear = np.column_stack([np.ones(n_rows), z, signs])[:, : min(max(n_rows // 3, 1), MAX_FUNCTIONS)]
    i, j = np.triu_indices(z.shape[1])
    n_functions = linear.shape[1] + len(i)
    if n_functions > min(n_rows // 5, MAX_FUNCTIONS) or n_functions * n_rows > MAX_NUMBERS:
        return linear
    return np.column_stack([linear, z[:, i] * z[:, j]])


def _robust_least_squares(design: Floats, target: Floats, rounds: int = 20) -> Floats:
    """Return the fit, whose weights come from every few rows of a long table."""
    step = -(-len(target) // FIT_ROWS)
    if step > 1:
        found = np.linalg.lstsq(design[::step], _robust_least_squares(design[::step], target[::step]))[0]
        return np.asarray(design @ found)
    fitted = design @ np.linalg.lstsq(design, target)[0]
    for tukey in (False, True):
        for _ in range(rounds):
            residual = target - fitted
            scale = robust_scale(residual)
            if scale == 0.0:
                return np.asarray(fitted)
            u = np.abs(residual) / scale
            weight = np.clip(1.0 - (u / TUKEY) ** 2, 0.0, None) ** 2 if tukey else 1.0 / np.maximum(u, 1e-3)
            weighted = design * weight[:, None]
            # The columns have unit spread, so a ridge of rounding size is enough where the weights make them alike.
            normal = weighted.T @ design + 1e-10 * weight.sum() * np.eye(design.shape[1])
            before, fitted = fitted, design @ np.linalg.solve(normal, weighted.T @ target)
            if np.abs(fitted - before).max() <= 1e-3 * scale:
                break
    return np.asarray(fitted)
