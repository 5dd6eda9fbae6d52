"""Many rows: a sample finds the pieces, more rows choose among them, all rows fit the coefficients.

Pieces that a sample of some thousand rows has found are fitted anew on more rows, where weaker effects stand out from
noise: one part of the rows fits every candidate of the front, the held-out part chooses by the rule of the folds, with
the standard error of the rows' own differences. Coefficients given pieces are a generalised linear model, so all rows
are met in a few passes: each pass adds up loss, gradient and Hessian batch by batch, and memory holds one batch.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from ecsel.search import glm
from ecsel.search.dictionary import PieceValues, standardisation
from ecsel.search.search import FrontPoint, fit_pieces
from ecsel.search.selection import NEAR, RESOLUTION

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ecsel._typing import Floats, Places
    from ecsel.search.dictionary import SearchColumn
    from ecsel.search.losses import Loss
    from ecsel.search.search import Fold, SearchOptions, SearchResult

MAX_PASSES = 25
PASS_TOLERANCE = 1e-8
"""Passes end once the promised fall of the loss, relative to it, is below this."""


@dataclass(frozen=True, eq=False)
class _Candidate:
    raw: Floats
    standard: tuple[Floats, Floats, Floats]
    start: tuple[Floats, Floats]
    held_out: Floats
    loss: float


def choose_again(
    result: SearchResult,
    columns: Sequence[SearchColumn],
    target: Floats,
    weights: Floats,
    loss: Loss,
    fold: Fold,
    options: SearchOptions,
    stopped: Callable[[], bool] = lambda: False,
) -> SearchResult:
    """Return the front fitted on more rows, the choice made on those that the fold holds out.

    Where it is stopped on the way, the choice of the sample stays.
    """
    inside, outside = (np.flatnonzero(part) for part in fold)
    values = PieceValues(columns)
    candidates = []
    for point in result.front:
        if stopped():
            return replace(result, stopped=True)
        equations = point.equations
        raw = np.array([values.piece(piece) for piece in equations.pieces]).reshape(-1, len(target))
        standard = standardisation(raw, weights)
        fitted = fit_pieces(
            loss,
            raw[:, inside],
            equations.pieces,
            equations.owners,
            target[inside],
            fold[0][inside],
            equations.ridge,
            standard,
            None,
            _standard_numbers(equations.owners, standard, (equations.intercepts, equations.coefficients)),
        )
        scores = np.repeat(fitted.intercepts[:, None], len(outside), axis=1)
        for k, c in enumerate(fitted.owners):
            scores[c] += fitted.coefficients[k] * raw[k, outside]
        rows = loss.values(scores, target[outside])
        start = _standard_numbers(fitted.owners, standard, (fitted.intercepts, fitted.coefficients))
        mean_loss = float(np.average(rows, weights=fold[1][outside]))
        candidates.append(_Candidate(raw, standard, start, scores, mean_loss))
    losses = [loss.values(each.held_out, target[outside]) for each in candidates]
    test_weights = fold[1][outside]
    near = _near_the_best(
        [each.loss for each in candidates], losses, test_weights, NEAR if options.factor_price else 0.0
    )
    chosen = min(near, key=lambda i: (result.front[i].equations.n_factors, candidates[i].loss))
    front = []
    for i, (each, point) in enumerate(zip(candidates, result.front, strict=True)):
        if stopped():
            return replace(result, stopped=True)
        equations = fit_pieces(
            loss,
            each.raw,
            point.equations.pieces,
            point.equations.owners,
            target,
            weights,
            point.equations.ridge,
            each.standard,
            options.digits,
            each.start,
        )
        front.append(FrontPoint(equations, each.loss, _standard_error(losses[i], test_weights), point.key))
    return replace(
        result,
        front=tuple(front),
        chosen=chosen,
        near_ties=tuple(near),
        held_out=((candidates[chosen].held_out, test_weights),),
    )


def _near_the_best(means: Sequence[float], losses: Sequence[Floats], weights: Floats, share: float) -> list[int]:
    """Return the candidates whose loss is that of the best but for its standard error and a share of it.

    So many rows tell small effects from none: only what their own error leaves open may be saved.
    """
    best = int(np.argmin(means))
    limit, floor = share * abs(means[best]), RESOLUTION * max(map(abs, means))
    allowed = [max(floor, min(limit, _standard_error(each - losses[best], weights))) for each in losses]
    return [i for i, mean in enumerate(means) if mean - means[best] <= allowed[i]]


def _standard_numbers(
    owners: Places, standard: tuple[Floats, Floats, Floats], numbers: tuple[Floats, Floats]
) -> tuple[Floats, Floats]:
    """Return intercepts and coefficients of standardised pieces, given those of raw ones: where a fit starts."""
    intercepts, coefficients = numbers
    moved = np.bincount(owners, coefficients * standard[0], minlength=len(intercepts))
    return intercepts + moved, coefficients * standard[1]


def _standard_error(values: Floats, weights: Floats) -> float:
    share = weights / weights.sum()
    mean = float(share @ values)
    return float(np.sqrt(share**2 @ (values - mean) ** 2))


@dataclass(frozen=True, eq=False)
class GlmSums:
    """Loss, gradient, Hessian and weight of some rows; sums of batches are added in their order."""

    loss: float
    gradient: Floats
    hessian: Floats
    weight: float

    def __add__(self, other: GlmSums) -> GlmSums:
        return GlmSums(
            self.loss + other.loss,
            self.gradient + other.gradient,
            self.hessian + other.hessian,
            self.weight + other.weight,
        )


@dataclass(frozen=True, eq=False)
class GlmPass:
    """What a pass adds up over batches, at parameters θ (intercepts first) of standardised pieces."""

    loss: Loss
    owners: Places
    mean: Floats
    scale: Floats
    theta: Floats

    def __call__(self, raw: Floats, target: Floats, weights: Floats) -> GlmSums:
        """Return the sums of a batch: `raw` are the values (pieces × rows)."""
        loss = self.loss
        z = (raw - self.mean[:, None]) / self.scale[:, None]
        members = [np.flatnonzero(self.owners == c) for c in range(loss.n_scores)]
        coefficients = self.theta[loss.n_scores :]
        scores = np.array([self.theta[c] + coefficients[mine] @ z[mine] for c, mine in enumerate(members)])
        gradient, hessian = glm.derivatives(loss, z, members, target, weights, scores)
        return GlmSums(float(weights @ loss.values(scores, target)), gradient, hessian, float(weights.sum()))


def fit_streamed(
    loss: Loss,
    total: Callable[[GlmPass], GlmSums],
    owners: Places,
    ridge: float,
    standard: tuple[Floats, Floats, Floats],
    start: tuple[Floats, Floats],
) -> tuple[Floats, Floats]:
    """Return intercepts and coefficients of given pieces on rows that come in batches, in a few passes.

    Parameters
    ----------
    loss : Loss
        The loss.
    total : callable
        Reads all rows once and returns the sum of a `GlmPass` over them.
    owners : integer array (pieces,)
        The score of each piece.
    ridge : float
        The ridge of standardised pieces.
    standard : (mean, scale, leverage)
        How pieces are standardised.
    start : (intercepts, coefficients)
        Where to start, in raw units: the fit of a sample, from which few steps are left.
    """
    mean, scale, leverage = standard
    n_scores = loss.n_scores
    theta = np.concatenate(_standard_numbers(owners, standard, start))

    def look(at: Floats) -> tuple[float, Floats, Floats]:
        sums = total(GlmPass(loss, owners, mean, scale, at))
        pinned = np.full(n_scores, glm.INTERCEPT_RIDGE * sums.weight)
        penalty = np.concatenate([pinned, ridge * leverage])
        return (
            sums.loss + 0.5 * float(penalty @ at**2),
            sums.gradient + penalty * at,
            sums.hessian + np.diag(penalty),
        )

    value, gradient, hessian = look(theta)
    for _ in range(MAX_PASSES):
        step = -np.linalg.solve(hessian, gradient)
        slope = float(gradient @ step)
        if -slope <= PASS_TOLERANCE * abs(value):
            break
        length = 1.0
        while True:
            there = theta + length * step
            looked = look(there)
            if looked[0] <= value + 1e-4 * length * slope or length < 1e-6:
                break
            length /= 2
        theta, (value, gradient, hessian) = there, looked
    coefficients = theta[n_scores:] / scale
    return theta[:n_scores] - np.bincount(owners, coefficients * mean, minlength=n_scores), coefficients
