r"""One look at a dictionary: what adding each piece would gain, and what exchanging it for one of the set would.

With the residual r, the curvature weights h and M the Hessian of the current set of a score (intercept included),

    g = x'r,   c = X_S' h x,   q = x'hx + ρλ − c'M⁻¹c,   v = M⁻¹c,

adding the piece x gains ½ g²/q to second order, and exchanging piece s for it gains

    ½ g²/q − ½ (θ_s − v_s g/q)² / (M⁻¹_ss + v_s²/q),

both less the price of the code length. All of it follows from the products of every piece with a few columns, in single
precision. Scores of several classes are looked at class by class, as glmnet's cycle does. The compiled look
(`csrc/pieces.c`) reads each piece once; NumPy is its twin.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ecsel import _compiled
from ecsel.search import glm

if TYPE_CHECKING:
    from ecsel._typing import Floats, Mask, Places, Singles
    from ecsel.search.losses import Loss

COLLINEAR = 1e-3
"""A piece of which less than this share (squared sine) is new to the set is no new direction."""
CONSIDERED_SWAPS = 8
"""Swaps of a score that are returned: some may break a limit."""
LANES = 4
"""Candidates whose products lie side by side, as the kernel computes them."""
MIN_GAIN = 1e-6
"""Nats that a swap must gain, so that rounding does not make it go round in circles."""


@dataclass(frozen=True, eq=False)
class Current:
    """A fitted set: its atoms and their scores, coefficients, the scores of rows, ridge and price of each atom."""

    atoms: Places
    owners: Places
    coefficients: Floats
    scores: Floats
    ridge: Floats
    prices: Floats


@dataclass(frozen=True, eq=False)
class Candidates:
    """Atoms that may join: their places (sorted), ridge, price, whether each may (scores, atoms), and signs or None."""

    places: Places
    ridge: Floats
    prices: Floats
    usable: Mask
    signs: Floats | None = None


class Swap(NamedTuple):
    """An exchange: what it gains, the member of the set that leaves, and the candidate (by position) that joins."""

    gain: float
    """In nats."""
    member: int
    candidate: int


@dataclass(frozen=True, eq=False)
class Scan:
    """Gains to second order, in nats.

    Attributes
    ----------
    places
        The atoms that were looked at.
    additions
        (scores, atoms), −∞ where an atom may not join.
    swaps
        The best exchanges of each score that gain anything, the best first.
    best
        The largest gain of each atom by any move.
    members
        The pieces of the set that belong to each score.
    """

    places: Places
    additions: Floats
    swaps: list[list[Swap]]
    best: Floats
    members: list[Places]
    _steps: Floats
    _products: Floats
    _inverses: list[Floats]

    def addition(self, c: int, at: int) -> tuple[float, Floats]:
        """Return the coefficient that an atom would have in score c, and what intercept and pieces would lose by it."""
        step = float(self._steps[c, at])
        cross = self._products[at // LANES, _cross(self.members, c), at % LANES]
        return step, np.asarray(self._inverses[c] @ cross) * step

    def variances(self) -> Floats:
        """Return M⁻¹_ss of each piece of the set."""
        variances = np.empty(sum(map(len, self.members)))
        for which, inverse in zip(self.members, self._inverses, strict=True):
            variances[which] = np.diagonal(inverse)[1:]
        return variances


def scan(
    loss: Loss, values: Singles, target: Floats, weights: Floats, current: Current, candidates: Candidates
) -> Scan:
    """Look at the candidates once; `values` (atoms × rows) holds all atoms."""
    residuals, curvatures = glm.moments(loss, current.scores, target, weights)
    members = [(current.owners == c).nonzero()[0] for c in range(loss.n_scores)]
    look = _look_numpy if _compiled.compiled is None else _look_compiled
    return look(values, curvatures, residuals, members, current, candidates)


def _cross(members: list[Places], c: int) -> Places:
    """Return where a line of products holds those with the intercept and the pieces of score c."""
    first = 2 * len(members) + sum(map(len, members[:c]))
    return np.array([c, *range(first, first + len(members[c]))], dtype=np.intp)


def _look_compiled(
    values: Singles,
    curvatures: Floats,
    residuals: Floats,
    members: list[Places],
    current: Current,
    candidates: Candidates,
) -> Scan:
    n_scores, count, active = len(members), len(candidates.places), len(current.atoms)
    additions, steps = np.empty((2, n_scores, count))
    best, swaps = np.empty(count), np.empty((n_scores, CONSIDERED_SWAPS, 3))
    products = np.empty((-(-count // LANES), 3 * n_scores + active, LANES))
    sizes = [len(which) + 1 for which in members]
    flat = np.empty(sum(size**2 for size in sizes))
    _compiled.compiled.piece_scan(  # type: ignore[union-attr]
        (*values.shape, n_scores, count, active, CONSIDERED_SWAPS),
        (COLLINEAR, glm.INTERCEPT_RIDGE, MIN_GAIN),
        values,
        candidates.places.astype(np.int64, copy=False),
        curvatures,
        residuals,
        (
            current.atoms.astype(np.int64, copy=False),
            current.owners.astype(np.int64, copy=False),
            current.coefficients,
            current.ridge,
            current.prices,
        ),
        (candidates.ridge, candidates.prices, candidates.usable.view(np.uint8), candidates.signs),
        (products, flat, additions, steps, best, swaps),
    )
    inverses, first = [], 0
    for size in sizes:
        inverses.append(flat[first : first + size**2].reshape(size, size))
        first += size**2
    found = [[Swap(gain, int(s), int(p)) for gain, s, p in rows if s >= 0] for rows in swaps.tolist()]
    return Scan(candidates.places, additions, found, best, members, steps, products, inverses)


def _look_numpy(
    values: Singles,
    curvatures: Floats,
    residuals: Floats,
    members: list[Places],
    current: Current,
    candidates: Candidates,
) -> Scan:
    n_scores, places = len(members), candidates.places
    active = values[current.atoms]
    order = np.concatenate(members).astype(np.intp)
    columns = np.vstack([curvatures, residuals, active[order] * curvatures[current.owners[order]]]).astype(np.float32)
    chosen = values[places]
    products = np.hstack([chosen @ columns.T, chosen**2 @ columns[:n_scores].T]).astype(np.float64)
    additions, steps = np.empty((2, n_scores, len(places)))
    best = np.full(len(places), -np.inf)
    swaps, inverses = [], []
    for c, which in enumerate(members):
        inverse = _inverse(active[which], curvatures[c], current.ridge[which])
        usable = candidates.usable[c] & ~np.isin(places, current.atoms[which])
        g, cross = products[:, n_scores + c], products[:, _cross(members, c)]
        v = cross @ inverse
        whole = products[:, products.shape[1] - n_scores + c] + candidates.ridge
        q = whole - np.einsum("ak,ak->a", cross, v)
        usable &= q > COLLINEAR * whole
        q = np.where(usable, q, np.inf)
        steps[c] = g / q
        gain = 0.5 * g * steps[c] - candidates.prices
        joins = usable if candidates.signs is None else usable & (candidates.signs[c] * steps[c] >= 0)
        additions[c] = np.where(joins, gain, -np.inf)
        leaving = current.coefficients[which] - v[:, 1:] * steps[c][:, None]
        changes = gain[:, None] - 0.5 * leaving**2 / (np.diagonal(inverse)[1:] + v[:, 1:] ** 2 / q[:, None])
        changes = np.where(usable[:, None], changes + current.prices[which], -np.inf).T
        best = np.maximum(best, np.maximum(additions[c], changes.max(axis=0, initial=-np.inf)))
        swaps.append(_best_swaps(which, changes))
        inverses.append(inverse)
    missing = np.zeros((-len(places) % LANES, products.shape[1]))
    blocks = np.vstack([products, missing]).reshape(-1, LANES, products.shape[1]).transpose(0, 2, 1)
    return Scan(places, additions, swaps, best, members, steps, blocks, inverses)


def _best_swaps(which: Places, changes: Floats) -> list[Swap]:
    order = np.argsort(-changes, axis=None, kind="stable")[:CONSIDERED_SWAPS]
    rows, columns = np.unravel_index(order, changes.shape)
    return [
        Swap(float(changes[s, p]), int(which[s]), int(p))
        for s, p in zip(rows, columns, strict=True)
        if changes[s, p] > MIN_GAIN
    ]


def _inverse(active: Singles, h: Floats, ridge: Floats) -> Floats:
    design = np.vstack([np.ones(len(h)), active])
    hessian = (design * h) @ design.T
    hessian[np.diag_indices(len(hessian))] += np.append(glm.INTERCEPT_RIDGE * hessian[0, 0], ridge)
    return np.asarray(np.linalg.inv(hessian))
