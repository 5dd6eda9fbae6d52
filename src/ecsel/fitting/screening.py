"""Which columns, where only a few may take part.

The path of one term a score is walked under the default penalty, from the strength that empties the model downwards.
At the first strength at which more columns take part than allowed, those that move the terms most are kept: the
standard deviation over rows of what all features of a column add to ⟨s, v⟩, summed over scores. A path that never has
too many keeps those of its end. Everything after that, the selection of terms and strength and the fit, knows of the
kept columns alone.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ecsel.fitting.fit import class_shares
from ecsel.fitting.objective.problem import Problem
from ecsel.fitting.penalties import L1
from ecsel.fitting.rows.blocks import ArrayBlocks, Coordinates, one_blas_thread
from ecsel.fitting.solvers.base import Stop
from ecsel.fitting.solvers.initialization import first_starts, interrupted
from ecsel.fitting.solvers.newton import minimise

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from ecsel._typing import Array
    from ecsel.fitting.objective.constraints import Constraints
    from ecsel.fitting.objective.losses import Loss
    from ecsel.fitting.rows.merging import Rows

N_STRENGTHS = 14
SMALLEST_STRENGTH = 1e-4
"""The path ends at this share of the strength that empties the model."""
_NEARLY = Stop(tol=1e-4, kkt=np.inf, max_iter=25)
"""Nearly converged: which columns take part is settled by then."""


def first_columns(
    rows: Rows,
    loss: Loss,
    constraints: Constraints,
    columns: NDArray[np.integer],
    most: int,
) -> NDArray[np.bool_]:
    """Return which features belong to the at most `most` columns that are kept; `columns` numbers each one's column."""
    if len(np.unique(columns)) <= most:
        return np.ones(len(columns), dtype=bool)
    weight = np.zeros(int(columns.max()) + 1)
    with one_blas_thread():
        centred = Coordinates.of(rows[0], rows[2])
        blocks = ArrayBlocks.standardised(*rows, centred)
        problem = Problem(blocks, loss, L1(0.0, constraints=constraints), 1, True, centred.std)
        v = (rows[0] - centred.centre[:, None]) / centred.std[:, None]
        correlation = (v * (rows[2] / rows[2].sum())) @ v.T
        for theta in _walk(problem, class_shares(rows[1], rows[2], loss)):
            _, _, slopes = problem.unpack(theta)
            for g in range(len(weight)):
                own = columns == g
                weight[g] = _stds(slopes[..., own], correlation[np.ix_(own, own)]).sum()
            if np.count_nonzero(weight) > most:
                break
    kept = np.argsort(-weight, kind="stable")[: min(most, np.count_nonzero(weight))]
    return np.isin(columns, kept)


def _walk(problem: Problem, shares: Array) -> Iterator[Array]:
    """Yield the fits of one term a score, strength by strength, each from the one before."""
    theta = None
    for strength in _strengths(problem, shares):
        penalised = replace(problem, penalty=replace(problem.penalty, strength=float(strength)))  # type: ignore[type-var]
        starts = first_starts(penalised, shares) if theta is None else [theta]
        runs = [minimise(penalised, start, _NEARLY) for start in starts]
        if interrupted(runs):
            raise KeyboardInterrupt
        theta = min(runs, key=lambda run: run.objective).theta
        yield theta


def _strengths(problem: Problem, shares: Array) -> Array:
    """Return strengths that fall from the smallest one with an empty model."""
    theta = problem.empty(shares)
    if not problem.form.has_intercept:
        problem.unpack(theta)[1][...] = 1.0
    slopes = problem.downhill(problem.value_and_gradient(theta)[1])  # what may not move needs no penalty to stay
    unit = replace(problem.penalty, strength=1.0).slope_weights(problem.std)  # type: ignore[type-var]
    top = float(np.max(np.abs(slopes) / unit, initial=1e-6)) or 1e-6
    top *= 1 + 1e-6  # at the very threshold rounding decides
    return np.geomspace(top, SMALLEST_STRENGTH * top, N_STRENGTHS)


def _stds(slopes: Array, correlation: Array) -> Array:
    """Return the standard deviations of ⟨s, v⟩ over rows."""
    variances = np.einsum("cki,ij,ckj->ck", slopes, correlation, slopes)
    stds: Array = np.sqrt(np.maximum(variances, 0))
    return stds
