"""Which columns, where only a few may take part.

The path of one term a score is walked under the default penalty, from the strength that empties the model downwards.
At the first strength at which more columns take part than allowed, those that move the terms most are kept: the
standard deviation over rows of what all features of a column add to ⟨s, v⟩, summed over scores. A path that never has
too many keeps those of its end. Everything after that, the selection of terms and strength and the fit, knows of the
kept columns alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ecsel.fitting.blocks import one_blas_thread
from ecsel.fitting.fit import to_theta
from ecsel.fitting.penalties import L1
from ecsel.fitting.selection import Candidates, path_strengths, pose, walk_path

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ecsel.fitting.limits import Limits
    from ecsel.fitting.links import Link
    from ecsel.fitting.rows import Array, Rows


def first_columns(
    rows: Rows,
    link: Link,
    limits: Limits,
    columns: NDArray[np.integer],
    most: int,
) -> NDArray[np.bool_]:
    """Return which features belong to the at most `most` columns that are kept; `columns` numbers each one's column."""
    if len(np.unique(columns)) <= most:
        return np.ones(len(columns), dtype=bool)
    weight = np.zeros(int(columns.max()) + 1)
    with one_blas_thread():
        problem, centred, shares = pose(*rows, link, L1(0.0, limits=limits), intercept=True)
        v = (rows[0] - centred.centre[:, None]) / centred.spread[:, None]
        correlation = (v * (rows[2] / rows[2].sum())) @ v.T
        strengths = path_strengths(problem, centred, shares).tolist()
        for (laws,) in walk_path(problem, centred, shares, strengths, Candidates([1], strengths)):
            _, _, slopes = problem.unpack(to_theta(problem, laws, centred))
            for g in range(len(weight)):
                own = columns == g
                weight[g] = _spreads(slopes[..., own], correlation[np.ix_(own, own)]).sum()
            if np.count_nonzero(weight) > most:
                break
    kept = np.argsort(-weight, kind="stable")[: min(most, np.count_nonzero(weight))]
    return np.isin(columns, kept)


def _spreads(slopes: Array, correlation: Array) -> Array:
    """Return the standard deviations of ⟨s, v⟩ over rows."""
    variances = np.einsum("cki,ij,ckj->ck", slopes, correlation, slopes)
    spreads: Array = np.sqrt(np.maximum(variances, 0))
    return spreads
