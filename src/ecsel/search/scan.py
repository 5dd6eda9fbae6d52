r"""One look at a dictionary: what adding each piece would gain, and what exchanging it for one of the set would.

With the residual r, the curvature weights h and M the Hessian of the current set of a score (intercept included),

    g = x'r,   c = X_S' h x,   q = x'hx + ρλ − c'M⁻¹c,   v = M⁻¹c,

adding the piece x gains ½ g²/q to second order, and exchanging piece s for it gains

    ½ g²/q − ½ (θ_s − v_s g/q)² / (M⁻¹_ss + v_s²/q),

both less the price of the code length. All of it follows from the products of every piece with a few columns, in single
precision: `csrc/pieces.c` reads each piece once, NumPy is its twin. Scores of several classes are looked at class by
class, as glmnet's cycle does.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ecsel import _compiled
from ecsel.search import glm

if TYPE_CHECKING:
    from ecsel.search.losses import Loss
    from ecsel.search.typing import Floats, Mask, Places, Singles

COLLINEAR = 1e-3
"""A piece of which less than this share (squared sine) is new to the set is no new direction."""


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


@dataclass(frozen=True, eq=False)
class Scan:
    """Gains to second order, in nats.

    Attributes
    ----------
    places
        The atoms that were looked at.
    additions
        (scores, atoms), −∞ where an atom may not join.
    exchanges
        For each score its pieces and the gains (pieces, atoms).
    """

    places: Places
    additions: Floats
    exchanges: list[tuple[Places, Floats]]
    _steps: Floats
    _systems: list[tuple[Floats, Floats]]

    def addition(self, c: int, at: int) -> tuple[float, Floats]:
        """Return the coefficient that an atom would have in score c, and what intercept and pieces would lose by it."""
        inverse, cross = self._systems[c]
        step = float(self._steps[c, at])
        return step, np.asarray(inverse @ cross[at]) * step

    def best_gain(self) -> Floats:
        """Return the largest gain of each atom by any move."""
        gain = self.additions.max(axis=0)
        for _, change in self.exchanges:
            gain = np.maximum(gain, change.max(axis=0, initial=-np.inf))
        return np.asarray(gain)


def scan(
    loss: Loss, values: Singles, target: Floats, weights: Floats, current: Current, candidates: Candidates
) -> Scan:
    """Look at the candidates once; `values` (atoms × rows) holds all atoms."""
    n_scores = loss.n_scores
    means = loss.means(current.scores)
    residuals = weights * loss.residuals(means, target)
    members = [np.flatnonzero(current.owners == c) for c in range(n_scores)]
    curvatures = [np.broadcast_to(weights * loss.curvature(means, c, c), weights.shape) for c in range(n_scores)]
    active = values[current.atoms]
    order = np.concatenate(members) if len(current.atoms) else np.zeros(0, dtype=np.intp)
    columns = np.empty((2 * n_scores + len(order), len(weights)), dtype=np.float32)
    columns[:n_scores], columns[n_scores : 2 * n_scores] = curvatures, residuals
    for row, k in enumerate(order, start=2 * n_scores):
        np.multiply(active[k], columns[current.owners[k]], out=columns[row])
    products = piece_products(values, candidates.places, columns, n_scores)
    additions = np.full((n_scores, len(candidates.places)), -np.inf)
    steps = np.zeros_like(additions)
    exchanges, systems = [], []
    first = 2 * n_scores
    for c, which in enumerate(members):
        inverse = _inverse(active[which], curvatures[c], current.ridge[which])
        cross = np.concatenate([[c], np.arange(first, first + len(which))])
        first += len(which)
        usable = candidates.usable[c].copy()
        usable[_places_of(current.atoms[which], candidates.places)] = False
        signs = None if candidates.signs is None else candidates.signs[c]
        additions[c], steps[c], changes = piece_gains(
            products,
            (cross, n_scores + c, products.shape[1] - n_scores + c),
            inverse,
            (current.coefficients[which], current.prices[which]),
            candidates,
            usable,
            signs,
        )
        exchanges.append((which, changes))
        systems.append((inverse, products[:, cross]))
    return Scan(candidates.places, additions, exchanges, steps, systems)


def _places_of(atoms: Places, places: Places) -> Places:
    """Return where atoms stand among sorted places, without those that do not."""
    at = np.searchsorted(places, atoms)
    at = at[at < len(places)]
    return at[np.isin(places[at], atoms)] if len(at) else at


def _inverse(active: Singles, h: Floats, ridge: Floats) -> Floats:
    design = np.vstack([np.ones(len(h)), active])
    hessian = (design * h) @ design.T
    hessian[np.diag_indices(len(hessian))] += np.append(glm.INTERCEPT_RIDGE * hessian[0, 0], ridge)
    return np.asarray(np.linalg.inv(hessian))


def piece_products(values: Singles, places: Places, columns: Singles, heavy: int) -> Floats:
    """Return the products of some atoms with columns, and behind them their squares under the first `heavy` columns."""
    compiled = _compiled.compiled
    if compiled is None:
        chosen = values if len(places) == len(values) else values[places]
        return np.hstack([chosen @ columns.T, chosen**2 @ columns[:heavy].T]).astype(np.float64)
    out = np.empty((len(places), len(columns) + heavy))
    compiled.piece_products(
        len(values), values.shape[1], len(places), len(columns), heavy, values, places.astype(np.int64), columns, out
    )
    return out


def piece_gains(
    products: Floats,
    at: tuple[Places, int, int],
    inverse: Floats,
    own: tuple[Floats, Floats],
    candidates: Candidates,
    usable: Mask,
    signs: Floats | None,
) -> tuple[Floats, Floats, Floats]:
    """Return additions, steps and exchanges of one score; `at` says where products hold c, g and x'hx."""
    cross, gradient, square = at
    coefficients, own_prices = own
    count, active = len(products), len(coefficients)
    compiled = _compiled.compiled
    if compiled is not None:
        additions, steps, changes = np.empty(count), np.empty(count), np.empty((active, count))
        compiled.piece_gains(
            (count, active, products.shape[1], gradient, square),
            COLLINEAR,
            products,
            cross.astype(np.int64),
            np.ascontiguousarray(inverse),
            coefficients,
            own_prices,
            candidates.ridge,
            candidates.prices,
            usable.view(np.uint8),
            None if signs is None else np.ascontiguousarray(signs),
            additions,
            steps,
            changes,
        )
        return additions, steps, changes
    g, c = products[:, gradient], products[:, cross]
    v = c @ inverse
    whole = products[:, square] + candidates.ridge
    q = whole - np.einsum("ak,ak->a", c, v)
    usable = usable & (q > COLLINEAR * whole)
    q = np.where(usable, q, np.inf)
    steps = g / q
    gain = 0.5 * g * steps - candidates.prices
    joins = usable if signs is None else usable & (signs * steps >= 0)
    leaving = coefficients - v[:, 1:] * steps[:, None]
    room = np.diagonal(inverse)[1:] + v[:, 1:] ** 2 / q[:, None]
    changes = gain[:, None] - 0.5 * leaving**2 / room + own_prices
    changes[~usable] = -np.inf
    return np.where(joins, gain, -np.inf), steps, np.ascontiguousarray(changes.T)
