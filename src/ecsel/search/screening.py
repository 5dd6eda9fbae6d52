"""Screening: which columns are worth multiplying, by the score statistic of their pieces.

Before anything is walked every piece of one column is tried alone. With residual r and curvature h of the model without
columns, a standardised piece x gains (x'r)²/(2 x'hx) nats to second order. A column is as good as the best of its
pieces; products are made of the best columns only, as many as `MAX_PAIRS` has room for. Where that leaves columns out,
the choice is part of the search and every fold makes it anew.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ecsel.search.dictionary import (
    FEW_COLUMNS,
    MAX_PAIRS,
    Atoms,
    join_atoms,
    make_atoms,
    multiplied,
    pair_pieces,
    single_pieces,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ecsel.search.dictionary import SearchColumn
    from ecsel.search.losses import Loss
    from ecsel.search.typing import Floats

MAX_SINGLES = 2000
"""Pieces of one column at most; beyond, the best columns keep theirs."""


def marginal_gains(atoms: Atoms, loss: Loss, target: Floats, weights: Floats) -> Floats:
    """Return the nats that each atom would gain alone, the largest over the scores."""
    scores = np.repeat(loss.start(target, weights)[:, None], len(target), axis=1)
    means = loss.means(scores)
    weights = weights / loss.dispersion(scores, target, weights, 1)
    gains = np.zeros(len(atoms))
    residuals = (weights * loss.residuals(means, target)).astype(np.float32)
    products = atoms.values @ residuals.T
    for c in range(loss.n_scores):
        # standardised under these weights: x'hx is h's mean where h is the same for all rows, as it is here
        h = np.broadcast_to(weights * loss.curvature(means, c, c), weights.shape)
        gains = np.maximum(gains, 0.5 * products[:, c].astype(np.float64) ** 2 / max(float(h.sum()), 1e-300))
    return gains


def screened_atoms(
    columns: Sequence[SearchColumn], loss: Loss, target: Floats, weights: Floats, *, pairs: bool = True
) -> tuple[Atoms, bool]:
    """Return the dictionary of a training, and whether columns were left out of the products (or altogether)."""
    singles = make_atoms(columns, single_pieces(columns), weights)
    gains = marginal_gains(singles, loss, target, weights)
    best: dict[int, float] = {}
    for piece, gain in zip(singles.pieces, gains.tolist(), strict=True):
        best[piece[0].column] = max(gain, best.get(piece[0].column, 0.0))
    order = sorted(best, key=lambda j: (-best[j], j))
    thinned = False
    if len(singles) > MAX_SINGLES:
        kept = _first_columns(singles, order)
        singles = singles.take(np.flatnonzero([piece[0].column in kept for piece in singles.pieces]))
        thinned = True
    if not pairs:
        return singles, thinned
    more = len({columns[j].group for j in order}) <= FEW_COLUMNS
    usable = set(multiplied(columns, order))
    order = [j for j in order if j in usable]
    chosen = _room_for_pairs(columns, order, more=more)
    products = make_atoms(columns, pair_pieces(columns, order[:chosen], more=more), weights)
    return join_atoms(singles, products), thinned or chosen < len(order)


def _first_columns(singles: Atoms, order: list[int]) -> set[int]:
    counts: dict[int, int] = {}
    for piece in singles.pieces:
        counts[piece[0].column] = counts.get(piece[0].column, 0) + 1
    kept: set[int] = set()
    room = MAX_SINGLES
    for j in order:
        room -= counts[j]
        if room < 0:
            break
        kept.add(j)
    return kept


def _room_for_pairs(columns: Sequence[SearchColumn], order: list[int], *, more: bool) -> int:
    """Return how many of the best columns may be multiplied with one another."""
    low, high = min(2, len(order)), len(order)
    while low < high:  # the number of pairs grows with the number of columns
        middle = (low + high + 1) // 2
        if _count_pairs(columns, order[:middle], more=more) <= MAX_PAIRS:
            low = middle
        else:
            high = middle - 1
    return low


def _count_pairs(columns: Sequence[SearchColumn], chosen: list[int], *, more: bool) -> int:
    """Return an upper bound of the number of products: the shapes of two numbers, of a number and an indicator."""
    straight = sum(columns[j].straight for j in chosen)
    numbers = len(chosen) - straight
    shapes = 28 if more else 16
    return shapes * numbers * (numbers - 1) // 2 + 5 * numbers * straight + straight * (straight - 1) // 2
