"""Sums grown with free exponents: one more term at a time, all exponents fitted together, then rounded.

A dictionary of powers is coherent: a true term has dozens of neighbours that imitate it, and a greedy choice of one of
them is mended by no single swap once others have been chosen around it. So the dictionary only says where a new term
starts. Its exponents then move together with those of all other terms,

    min over b, alpha of || y - sum_k alpha_k prod_j |x_j|^b_kj ||^2,     b_kj free where the start has x_j in term k,

which lets every term slide to its place as the sum completes (alternating descent conditional gradients of Boyd,
Schiebinger and Recht, 2017, with the exponents as the continuous parameters). Every size is rounded to the lattice by
`snap`; the rounded sum, whose superfluous exponents are zero, goes on beside the real ones. At the end terms are taken
out one by one in the same way.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ecsel._typing import Floats
from ecsel.discovery.dictionary import Atoms
from ecsel.discovery.lattice import RESOLUTION
from ecsel.discovery.model import Candidate, Problem, Structure
from ecsel.discovery.snap import natural_parity, snap
from ecsel.discovery.varpro import fit_exponents

WIDTH = 3
"""Sums that are kept at each size, and terms that each is extended by."""
ALIKE = 0.95
"""Cosine, off the present terms, from which two starts of a new term are one."""
SHORTLIST = 400
"""Monomials that starts are chosen from."""
LARGEST_SHARE = 0.6
"""Most numbers of a sum, as a share of the rows."""
COLLINEAR = 1e-8
"""A squared sine below this is no new direction."""
SAME_FIT = 1e-3
"""Relative difference of residual sums of squares below which two fits are one."""
NEAR = 1e-5
"""Distance of an exponent from a point of the lattice that it is not meant to have."""
ROUGH = 20, 1e-4
"""Iterations and tolerance of the fits between two sizes."""


@dataclass(eq=False)
class Growth:
    """Sums of continuous terms that start from a dictionary; what is rounded goes to ``note``.

    ``tick`` is called before every size with the number of terms; it may end the search by raising.
    """

    problem: Problem
    atoms: Atoms
    note: Callable[[Candidate], Candidate]
    tick: Callable[[int], None] = lambda _: None
    width: int = WIDTH

    def grow(self, start: Structure, largest: int, *, patience: int = 3) -> Structure:
        """Add terms up to so many, as long as one of the last few sizes was the shortest; return the best last sum."""
        sums, best, waited, last = [start], np.inf, 0, start
        while len(last) < largest and waited <= patience:
            self.tick(len(last))
            fitted = self._fit([extended for s in sums for extended in self._extensions(s)])
            if not fitted:
                break
            last, rounded = fitted[0], self.rounded(fitted[0])
            waited = 0 if rounded.score < best - 1e-9 else waited + 1
            best = min(best, rounded.score)
            if rounded.rss <= 100.0 * self.problem.criterion.floor:
                break
            sums = fitted
            if len(rounded) == len(last):
                sums = [*fitted, Structure(rounded.structure.exponents, rounded.structure.parity)]
        return last

    def shrink(self, start: Structure, smallest: int = 2) -> None:
        """Take out one term after the other, the one whose loss the others make good for best."""
        current = start
        while len(current) > smallest:
            self.tick(len(current))
            least = np.argsort(self._worth(current), kind="stable")[: self.width]
            rest = [current.keep(np.delete(np.arange(len(current)), i)) for i in least]
            fitted = self._fit(rest)
            if not fitted:
                return
            current = fitted[0]
            self.rounded(current)

    def rounded(self, structure: Structure) -> Candidate:
        """Round the exponents of a sum as far as the code length gains, and note it."""
        found = self.note(snap(self.problem, structure, open_=_active(structure)))
        if not found.structure.n_free:
            return found
        # Where the fit is exact, an exponent that is known to twelve digits cannot be rounded by its own error.
        plain = self.note(self.problem.assess(self._nearest(found.structure)))
        return min(found, plain, key=lambda candidate: candidate.score)

    def _nearest(self, structure: Structure) -> Structure:
        """Return a sum whose exponents next to zero or to a point of the lattice are these."""
        points = np.append(self.problem.lattice.values, 0.0)
        nearest = points[np.argmin(np.abs(structure.exponents[..., None] - points), axis=-1)]
        near = structure.free & (np.abs(structure.exponents - nearest) < NEAR)
        exponents, free = np.where(near, nearest, structure.exponents), structure.free & ~near
        return natural_parity(self.problem.lattice, Structure(exponents, structure.parity, free)).distinct()

    def _basis(self, structure: Structure) -> tuple[Floats, Floats]:
        """Return an orthonormal basis of the terms and the triangular factor of their unit columns."""
        phi, _ = self.problem.rows.columns(structure.exponents, structure.parity)
        norm = np.sqrt(np.einsum("nk,nk->k", phi, phi))
        q, r = np.linalg.qr(phi / np.where(norm > 0, norm, 1.0))
        return q, r

    def _worth(self, structure: Structure) -> Floats:
        """Return how much the residual sum of squares rises without each term, the exponents held."""
        q, r = self._basis(structure)
        u = q @ np.linalg.pinv(r).T
        return np.asarray((u.T @ self.problem.rows.target) ** 2 / np.maximum(np.einsum("nk,nk->k", u, u), 1e-300))

    def _extensions(self, base: Structure) -> list[Structure]:
        """Return the sum with the most promising further term, and with others that are unlike it."""
        atoms, target, k = self.atoms, self.problem.rows.target, len(base)
        q, _ = self._basis(base)
        residual = target - q @ (q.T @ target)
        residual -= q @ (q.T @ residual)
        along = q.T @ atoms.columns
        outside = 1.0 - np.einsum("ka,ka->a", along, along)
        usable = outside > COLLINEAR
        gain = np.where(usable, (residual @ atoms.columns) ** 2 / np.where(usable, outside, 1.0), 0.0)
        score = self.problem.criterion.data(float(residual @ residual) - gain, k + 1) + atoms.costs
        found: list[Structure] = []
        directions: list[Floats] = []
        for a in np.argsort(np.where(usable, score, np.inf), kind="stable")[:SHORTLIST]:
            direction = atoms.columns[:, a] - q @ along[:, a]
            direction /= max(float(np.linalg.norm(direction)), 1e-300)
            if not usable[a] or any(abs(float(direction @ other)) > ALIKE for other in directions):
                continue
            directions.append(direction)
            one = Structure(atoms.structure.exponents[[a]], atoms.structure.parity[[a]])
            found.append(Structure(base.exponents, base.parity).join(one))
            if len(found) == self.width:
                break
        return found

    def _fit(self, structures: list[Structure]) -> list[Structure]:
        """Fit the exponents of sums of one size, and return the best that differ."""
        most = LARGEST_SHARE * len(self.problem.rows)
        allowed = [s for s in structures if len(s) + _active(s).sum() <= most]
        if not allowed:
            return []
        exponents = np.array([s.exponents for s in allowed])
        parity = np.array([s.parity for s in allowed])
        iterations, tol = ROUGH
        free = np.abs(exponents) > RESOLUTION
        rows, lattice = self.problem.rows, self.problem.lattice
        fits = fit_exponents(rows, lattice, exponents, parity, free, max_iter=iterations, tol=tol).sorted()
        found: list[int] = []
        for i, rss in enumerate(fits.rss):
            if all(abs(rss - fits.rss[j]) > SAME_FIT * rss for j in found):
                found.append(i)
        vanished = np.abs(fits.exponents) <= RESOLUTION
        fitted = np.where(vanished, 0.0, fits.exponents)
        return [Structure(fitted[i], fits.parity[i]) for i in found[: self.width]]


def _active(structure: Structure) -> np.ndarray:
    return np.asarray(np.abs(structure.exponents) > RESOLUTION)
