"""Screening: which columns are worth multiplying, by the score statistic of their pieces.

Before anything is walked every piece of one column is tried alone. With residual r and curvature h of the model without
columns, a standardised piece x gains (x'r)²/(2 x'hx) nats to second order. A column is as good as the best of its
pieces; products are made of the best columns only, as many as `MAX_PAIRS` has room for. Where that leaves columns out,
the choice is part of the search and every fold makes it anew. The dictionary holds what any of them has chosen, once.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ecsel.search.dictionary import (
    FEW_COLUMNS,
    MAX_PAIRS,
    MORE_PAIRS,
    PAIRS,
    Atoms,
    PieceValues,
    join_atoms,
    make_atoms,
    multiplied,
    pair_pieces,
    single_pieces,
)
from ecsel.search.turning import turns_of_many

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ecsel._typing import Floats, Mask, Places
    from ecsel.search.dictionary import SearchColumn
    from ecsel.search.losses import Loss

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
    columns: Sequence[SearchColumn], loss: Loss, target: Floats, weights: Sequence[Floats], *, pairs: bool = True
) -> tuple[Atoms, list[Mask]]:
    """Return a dictionary, and the atoms (scores, atoms) that each of several trainings, given by row weights, may use.

    The first weights are those of all rows, under which atoms are standardised.
    """
    singles = make_atoms(columns, single_pieces(columns), weights[0])
    owners = np.array([piece[0].column for piece in singles.pieces], dtype=np.intp)
    orders = [_order(marginal_gains(singles, loss, target, each), owners) for each in weights]
    kept = [_first_columns(owners, order) for order in orders]
    turning = _turning(singles, columns, kept, loss, target, weights)
    masks = [np.isin(owners, list(each)) & own for each, own in zip(kept, turning, strict=True)]
    if not pairs:
        return singles, masks
    more = len({columns[j].group for j in orders[0]}) <= FEW_COLUMNS
    chosen = []
    for order, known in zip(orders, kept, strict=True):
        usable = set(multiplied(columns, known))
        order = [j for j in order if j in usable]  # noqa: PLW2901 - the same order, shorter
        chosen.append(frozenset(order[: _room_for_pairs(columns, order, more=more)]))
    products = make_atoms(columns, pair_pieces(columns, *dict.fromkeys(chosen), more=more), weights[0])
    both = np.array([[part.column for part in piece] for piece in products.pieces], dtype=np.intp).reshape(-1, 2)
    for t, each in enumerate(chosen):
        usable_pairs = np.isin(both, list(each)).all(axis=1)
        masks[t] = np.hstack([masks[t], np.broadcast_to(usable_pairs, (loss.n_scores, len(products)))])
    return join_atoms(singles, products), masks


def steep_corners(atoms: Atoms, columns: Sequence[SearchColumn], weights: Floats, limit: float) -> Mask:
    """Return which products leave `limit` standard deviations at a corner of the box of their two training ranges.

    A new row may be large in one column and small in another although no training row was: cache²/memory is then
    far from all that the coefficient was fitted to, with every column inside its own range.
    """
    used = np.flatnonzero(weights)
    values = PieceValues([replace(column, values=_ends(column.values[used])) for column in columns])
    found = np.zeros(len(atoms), dtype=bool)
    for a, piece in enumerate(atoms.pieces):
        if len(piece) == 2:
            corners = np.outer(values.part(piece[0]), values.part(piece[1]))
            found[a] = np.abs(corners - atoms.mean[a]).max() > limit * atoms.scale[a]
    return found


def _ends(x: Floats) -> Floats:
    """Return the smallest and the largest value; the functions of a dictionary have their extremes there."""
    return np.array([x.min(), x.max()])


def _turning(
    singles: Atoms,
    columns: Sequence[SearchColumn],
    kept: Sequence[set[int]],
    loss: Loss,
    target: Floats,
    weights: Sequence[Floats],
) -> list[Mask]:
    """Return which atoms each score of each training may use: all but distances from where it does not turn."""
    residuals = np.stack([loss.residuals(loss.means(_empty_model(loss, target, own)), target) for own in weights])
    every = np.stack(weights)
    found: dict[tuple[int, float], Mask] = {}
    for j in sorted(set().union(*kept)):
        centres = columns[j].measured_from
        if centres:
            turning = turns_of_many(columns[j].values, centres, residuals, every)
            found.update({(j, centre): turning[:, :, k] for k, centre in enumerate(centres)})
    allowed = np.ones((len(weights), loss.n_scores, len(singles)), dtype=bool)
    for a, piece in enumerate(singles.pieces):
        turning_at = found.get((piece[0].column, piece[0].function.centre or 0.0))
        if piece[0].function.centre is not None and turning_at is not None:
            allowed[:, :, a] = turning_at
    return list(allowed)


def _empty_model(loss: Loss, target: Floats, weights: Floats) -> Floats:
    """Return the scores (scores, rows) of the best model without columns."""
    used = np.flatnonzero(weights)
    return np.repeat(loss.start(target[used], weights[used])[:, None], len(target), axis=1)


def _order(gains: Floats, owners: Places) -> list[int]:
    """Return the columns, the one with the best piece first."""
    best = np.zeros(int(owners.max(initial=-1)) + 1)
    np.maximum.at(best, owners, gains)
    return sorted({int(j) for j in owners}, key=lambda j: (-best[j], j))


def _first_columns(owners: Places, order: list[int]) -> set[int]:
    """Return the best columns whose pieces are together at most `MAX_SINGLES`."""
    counts = np.bincount(owners, minlength=len(order))
    kept: set[int] = set()
    room = MAX_SINGLES
    for j in order:
        room -= int(counts[j])
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
    shapes = 1 + len(PAIRS) + (len(MORE_PAIRS) if more else 0)
    return shapes * numbers * (numbers - 1) // 2 + 5 * numbers * straight + straight * (straight - 1) // 2
