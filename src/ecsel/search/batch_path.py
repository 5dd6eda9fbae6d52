"""The exchange path of many scores: pieces join, are exchanged and leave in batches, at most one a score.

A softmax of many classes needs several pieces for each of them. To add them one at a time, with exact fits of all
scores for every trial, costs as many rounds as there are pieces, although the scan looks at each score by itself. So a
round adds the best piece of every score, fits all scores once, and exchanges one piece of every score that has a better
one, once. On the way back it drops as many. The sizes of a path are few, and the same for all folds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ecsel.search.path import POOL, WHOLE_EVERY, WORKING, Found, Walk
from ecsel.search.scan import MIN_GAIN

if TYPE_CHECKING:
    from ecsel.search.scan import Scan

PIECES_A_SCORE, MAX_PIECES = 9, 330
"""Pieces that every score may have whatever the family says, up to so many of all scores: the curvature that rounding
needs costs the square of their number. 81 classes around points in 20 columns lose 1.81 nats a row with 110 pieces, .36
with 330."""


class BatchWalk(Walk):
    """One walk through the sizes, in batches."""

    @property
    def _max_pieces(self) -> int:
        return max(self._family.max_pieces, min(PIECES_A_SCORE * self._training.loss.n_scores, MAX_PIECES))

    def run(self) -> list[Found]:
        """Return the best set of every so many pieces, from none to the most that there is room for, or time."""
        current = self._rescale(self._fit((), (), None))
        best: dict[int, Found] = {0: current}
        look = self._scan(current, self._dictionary)
        pool = self._dictionary
        idle = 0
        rounds = 0
        while len(current) < self._max_pieces and not self._stopped():
            larger = self._add_batch(current, look)
            if larger is None:
                break
            gained = current.fitted.objective - larger.fitted.objective
            idle = idle + 1 if gained < self._family.min_addition * (len(larger) - len(current)) else 0
            current = self._rescale(larger)
            rounds += 1
            if self._is_large:
                pool = self._dictionary if rounds % WHOLE_EVERY == 0 else pool
            look = self._scan(current, pool)
            if self._is_large and pool is self._dictionary:
                pool = self._promising(best.values(), look, WORKING)
            swapped = self._swap_batch(current, look)
            if swapped is not None:
                current = swapped
                look = self._scan(current, pool)
            best[len(current)] = current
            if idle == self._family.patience:
                break
        self._shrink_batches(best, current, look)
        return [best[size] for size in sorted(best)]

    def _shrink_batches(self, best: dict[int, Found], current: Found, look: Scan) -> None:
        """Walk back through the sizes and keep what beats the way up; `look` is the scan of the current set."""
        pool = self._promising(best.values(), look, POOL)
        for size in sorted((size for size in best if 0 < size < len(current)), reverse=True):
            if self._stopped():
                break
            current = self._drop_batch(current, look, len(current) - size)
            look = self._scan(current, pool)
            swapped = self._swap_batch(current, look)
            if swapped is not None:
                current = swapped
                look = self._scan(current, pool[:0])
            if current.total < best[size].total - MIN_GAIN:
                best[size] = current

    def _add_batch(self, current: Found, look: Scan) -> Found | None:
        """Return the set with the best piece for every score, as far as there is room; scores that gain most first."""
        gains = look.additions
        room = self._room(current)
        if room is not None:
            gains = np.where(room[:, look.places], gains, -np.inf)
        if not gains.shape[1]:
            return None
        places = gains.argmax(axis=1)
        promised = gains[np.arange(len(gains)), places]
        atoms, owners = list(current.atoms), list(current.owners)
        coefficients = current.fitted.coefficients.tolist()
        intercepts, kept = current.fitted.intercepts.copy(), current.fitted.coefficients.copy()
        for c in np.argsort(-promised, kind="stable").tolist():
            atom = int(look.places[places[c]])
            if len(atoms) == self._max_pieces or not np.isfinite(promised[c]):
                break
            if not self._within(atoms, atom):
                continue
            step, loss_by_it = look.addition(c, int(places[c]))
            intercepts[c] -= loss_by_it[0]
            kept[look.members[c]] -= loss_by_it[1:]
            coefficients.append(step)
            atoms.append(atom)
            owners.append(c)
        if len(atoms) == len(current):
            return None
        start = (intercepts, np.append(kept, coefficients[len(current) :]))
        return self._fit(tuple(atoms), tuple(owners), start)

    def _within(self, atoms: list[int], atom: int) -> bool:
        """Whether an atom may join these within the limits of all scores together."""
        known, constraints = self._training.atoms, self._constraints
        places = [*atoms, atom]
        if known.count_factors(places) > constraints.max_factors:
            return False
        return constraints.max_columns is None or len(np.unique(known.groups[places])) <= constraints.max_columns

    def _swap_batch(self, current: Found, look: Scan) -> Found | None:
        """Return the set with the best exchange of every score that has one, or with the best of all alone."""
        moves = []
        for c, swaps in enumerate(look.swaps):
            for gain, s, place in swaps:
                atom = int(look.places[place])
                if self._fits(current, atom, without=s):
                    moves.append((gain, s, atom, c))
                    break
        moves.sort(key=lambda move: -move[0])
        for some in (moves, moves[:1]) if len(moves) > 1 else (moves,):
            atoms, coefficients = list(current.atoms), current.fitted.coefficients.copy()
            for _, s, atom, _c in some:
                if self._within([a for i, a in enumerate(atoms) if i != s], atom):
                    atoms[s] = atom
                    coefficients[s] = 0.0
            if tuple(atoms) == current.atoms:
                return None
            trial = self._fit(tuple(atoms), current.owners, (current.fitted.intercepts, coefficients))
            if trial.total < current.total - MIN_GAIN:
                return trial
        return None

    def _drop_batch(self, current: Found, look: Scan, count: int) -> Found:
        """Return the set without the pieces that are missed least."""
        fitted, places = current.fitted, np.array(current.atoms, dtype=np.intp)
        missed = 0.5 * fitted.coefficients**2 / look.variances() - self._prices[places]
        kept = np.sort(np.argsort(missed, kind="stable")[count:])
        self._dispersion = self._dispersions.get(len(kept), self._dispersion)
        return self._fit(
            tuple(current.atoms[i] for i in kept),
            tuple(current.owners[i] for i in kept),
            (fitted.intercepts, fitted.coefficients[kept]),
        )
