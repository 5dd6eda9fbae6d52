"""Where a column turns: a distance |x − c| belongs where the data rise on one side of c and fall on the other.

A distance treats both sides alike. Where the target merely levels off beyond c it would still be forced to turn back,
and a few rows at the end of a column would pay for it: a tumour that grows past c must not become harmless. So the
residual r of the model without columns is regressed on x on either side of c. With the sums of one side,

    slope ∝ S_xr = Σ w (x − x̄)(r − r̄),        t = S_xr / √(S_xx S_rr / n),

a score may use the distance where both t are at least `MIN_SLOPE` in size, with opposite signs. Sums between
neighbouring centres give those of all sides at once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from ecsel._typing import Floats, Mask

MIN_SLOPE = 2.0
"""Standard errors that the slope on either side must differ from zero."""


def turns(values: Floats, centres: tuple[float, ...], residuals: Floats, weights: Floats) -> Mask:
    """Return whether each score (rows of `residuals`, unweighted) turns at each centre, (scores, centres)."""
    return np.asarray(turns_of_many(values, centres, residuals[None], weights[None])[0])


def turns_of_many(values: Floats, centres: tuple[float, ...], residuals: Floats, weights: Floats) -> Mask:
    """Return the same for several trainings: residuals (trainings, scores, rows), weights (trainings, rows)."""
    x = values / (float(np.abs(values).max()) or 1.0)
    edges = np.sort(np.array(centres))
    segment = np.searchsorted(edges, values, side="left")  # a row at a centre lies left of it
    inside = (segment[None, :] == np.arange(len(edges) + 1)[:, None]).astype(np.float64)
    weighed = weights[:, None, :] * residuals

    def left_of_edges(moment: Floats, power: Floats) -> Floats:
        sums = np.cumsum(moment @ power.T, axis=-1)
        return np.broadcast_to(sums, (*residuals.shape[:2], len(edges) + 1))

    first, second = inside * x, inside * (x * x)
    sums = np.stack(
        [
            *(left_of_edges(weights[:, None, :], power) for power in (inside, first, second)),
            *(left_of_edges(weighed, power) for power in (inside, first)),
            left_of_edges(weighed * residuals, inside),
        ]
    )
    left = sums[..., np.searchsorted(edges, np.array(centres))]
    t = [_slope(*side) for side in (left, sums[..., -1:] - left)]
    return np.asarray((t[0] * t[1] < 0) & (np.minimum(np.abs(t[0]), np.abs(t[1])) >= MIN_SLOPE))


def _slope(n: Floats, sx: Floats, sxx: Floats, sr: Floats, sxr: Floats, srr: Floats) -> Floats:
    """Return t of the regression of r on x from Σw, Σwx, Σwx², Σwr, Σwxr, Σwr²; 0 where there is nothing to regress."""
    n = np.maximum(n, 1e-300)
    xx, rr, xr = sxx - sx * sx / n, srr - sr * sr / n, sxr - sx * sr / n
    with np.errstate(invalid="ignore", divide="ignore"):
        t = xr / np.sqrt(xx * rr / n)
    return np.where((xx > 1e-12 * np.maximum(sxx, 1e-300)) & (rr > 1e-12 * np.maximum(srr, 1e-300)), t, 0.0)
