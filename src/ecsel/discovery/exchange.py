"""Search over sets of monomials: add, drop and swap, all moves of a round from one matrix product.

With Phi = QR (unit columns) let U = Q R^-T with its columns normalised: u_k is the unit vector of span(Phi) that is
orthogonal to the other K - 1 columns. For a candidate column phi and the residual r,

    ||P_(-k) phi||^2 = ||P phi||^2 + (u_k.phi)^2,      r_(-k).phi = r.phi + (u_k.phi)(u_k.y),

so the residual sum of squares of every addition and every swap (k, phi) follows from Phi_c' [Q U r]. Phi_c' Phi is kept
term by term, as most terms of a round are those of the one before, and Phi_c' Q = Phi_c' Phi R^-1; only Phi_c' r is a
product of its own, because differences would lose the digits of a small residual.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from ecsel._typing import Floats
from ecsel.discovery.criterion import order_credit
from ecsel.discovery.dictionary import Atoms, evaluate, neighbours
from ecsel.discovery.model import Candidate, Problem, Structure
from ecsel.discovery.pool import Pool
from ecsel.discovery.rows import LOG_OF_ZERO
from ecsel.signomial.columns import LOG_LIMIT

MAX_COLUMNS = 40
"""With more columns than this, neighbours change the exponents of the most promising ones only."""
COLLINEAR = 1e-10
"""A candidate column closer than this (squared sine) to the span of the others is not a new direction."""
FEW_TERMS, SWAPS, SWAPS_OF_MANY = 10, 12, 3
"""Most swaps at one number of terms. Longer sums are for predictions: which terms they have matters less."""


@dataclass(frozen=True, eq=False)
class _Basis:
    """An orthonormal basis of the current terms, the vectors u_k, the residual."""

    q: Floats
    u: Floats
    residual: Floats
    rss: float
    leaving: Floats
    to_q: Floats
    to_u: Floats


def _basis(columns: Floats, target: Floats) -> _Basis:
    if columns.shape[1] == 0:
        none = np.zeros((0, 0))
        return _Basis(columns, columns, target, float(target @ target), np.zeros(0), none, none)
    q, r = np.linalg.qr(columns)
    k = len(r)
    inverse = np.asarray(np.linalg.solve(r + 1e-14 * np.eye(k), np.eye(k)), dtype=np.float64)
    u = q @ inverse.T
    norm = np.sqrt(np.einsum("nk,nk->k", u, u))
    u /= norm
    residual = target - q @ (q.T @ target)
    residual -= q @ (q.T @ residual)
    return _Basis(q, u, residual, float(residual @ residual), u.T @ target, inverse, inverse @ inverse.T / norm)


@dataclass(frozen=True, eq=False)
class Candidates:
    """The dictionary and the neighbours of the current terms, as blocks that are never copied.

    ``gram`` holds their products with the columns of the current terms.
    """

    blocks: tuple[Atoms, ...]
    gram: Floats

    @cached_property
    def costs(self) -> Floats:
        """The description length of every candidate."""
        return np.concatenate([block.costs for block in self.blocks])

    def products(self, vector: Floats) -> Floats:
        """Return the products of all columns with a vector."""
        return np.concatenate([block.columns.T @ vector for block in self.blocks])

    def keep(self, index: np.ndarray) -> Atoms:
        """Return some of the candidates."""
        ends = np.cumsum([len(block) for block in self.blocks])
        where = np.searchsorted(ends, index, side="right")
        parts = [
            (np.flatnonzero(where == b), block.keep(index[where == b] - (ends[b] - len(block))))
            for b, block in enumerate(self.blocks)
            if (where == b).any()
        ]
        if len(parts) <= 1:
            return parts[0][1] if parts else self.blocks[0].keep(index)
        found = parts[0][1]
        for _, part in parts[1:]:
            found = found.join(part)
        return found.keep(np.argsort(np.concatenate([place for place, _ in parts])))


@dataclass(eq=False)
class Exchange:
    """An exchange search on a dictionary; the neighbours of every term met are kept, so they are built once.

    ``tick`` is called before every move with the number of terms reached; it may end the search by raising.
    """

    problem: Problem
    atoms: Atoms
    pool: Pool
    with_neighbours: bool = True
    max_terms: int = 10
    tick: Callable[[int], None] = lambda _: None
    _near: dict[bytes, Atoms] = field(default_factory=dict)
    _grams: dict[tuple[bytes, bytes], Floats] = field(default_factory=dict)

    @cached_property
    def _known(self) -> frozenset[bytes]:
        return self.atoms.structure.key()

    def with_pool(self, pool: Pool) -> "Exchange":
        """Return the same search that notes its findings elsewhere."""
        return replace(self, pool=pool)

    def as_atoms(self, structure: Structure) -> Atoms:
        """Return the atoms of a structure on the rows of this search."""
        return evaluate(self.problem.rows, self.problem.lattice, structure)

    @cached_property
    def _functions(self) -> list[Floats]:
        """Simple functions of every column, centred and of unit norm: |x|, x, ln|x|, 1/|x|."""
        rows = self.problem.rows
        logs = np.where(rows.log_abs == LOG_OF_ZERO, 0.0, rows.log_abs)
        x = np.exp(np.clip(logs - logs.max(axis=0), -LOG_LIMIT, 0.0))
        inverse = np.exp(np.clip(logs.min(axis=0) - logs, -LOG_LIMIT, 0.0))
        found = []
        for function in (x, x * (1.0 - 2.0 * rows.negative), logs, inverse):
            column = function if rows.root_weight is None else function * rows.root_weight[:, None]
            column = column - column.mean(axis=0)
            norm = np.sqrt(np.einsum("nm,nm->m", column, column))
            found.append(column / np.where(norm > 0, norm, np.inf))
        return found

    def _screened(self, current: Atoms) -> np.ndarray | None:
        """Return the columns whose exponents neighbours may change; of very many those that the residual asks for."""
        if self.problem.lattice.n_columns <= MAX_COLUMNS:
            return None
        residual = _basis(current.columns, self.problem.rows.target).residual
        best = np.max([np.abs(residual @ function) for function in self._functions], axis=0)
        return np.sort(np.argsort(-best, kind="stable")[:MAX_COLUMNS])

    def candidates(self, current: Atoms) -> Candidates:
        """Return the dictionary together with the neighbours of the current terms."""
        keys = current.structure.term_keys()
        blocks = {b"": self.atoms}
        for i, key in enumerate(keys if self.with_neighbours else []):
            if key not in self._near:
                s = current.structure
                near = neighbours(self.problem.lattice, s.exponents[i], s.parity[i], self._screened(current))
                near = near.keep([n for n, k in enumerate(near.term_keys()) if k not in self._known])
                self._near[key] = evaluate(self.problem.rows, self.problem.lattice, near)
            blocks[key] = self._near[key]
        gram = np.empty((sum(map(len, blocks.values())), len(keys)))
        start = 0
        for name, block in blocks.items():
            for i, key in enumerate(keys):
                if (name, key) not in self._grams:
                    self._grams[name, key] = block.columns.T @ current.columns[:, i]
                gram[start : start + len(block), i] = self._grams[name, key]
            start += len(block)
        return Candidates(tuple(blocks.values()), gram)

    def score(self, current: Atoms) -> float:
        """Return the code length of a set of atoms and note it in the pool."""
        basis = _basis(current.columns, self.problem.rows.target)
        k = len(current)
        score = float(self.problem.criterion.data(basis.rss, k) + current.costs.sum() - order_credit(k))
        self.pool.add(Candidate(current.structure, np.zeros(0), basis.rss, score))
        return score

    def best_moves(self, current: Atoms, *, adds: bool, swaps: bool, keep: int = 6) -> list[tuple[float, Atoms]]:
        """Return the most promising sets of atoms one move away, with exact scores."""
        self.tick(len(current))
        basis = _basis(current.columns, self.problem.rows.target)
        k, c = len(current), self.candidates(current)
        with_q = c.gram @ basis.to_q
        inside = np.einsum("ak,ak->a", with_q, with_q)
        along, with_residual = c.gram @ basis.to_u, c.products(basis.residual)
        base_cost = current.costs.sum()
        moves: list[tuple[float, int, int]] = []
        if adds and k < self.max_terms:
            outside = 1.0 - inside
            gain = np.where(outside > COLLINEAR, with_residual**2 / np.maximum(outside, COLLINEAR), 0.0)
            scores = self.problem.criterion.data(basis.rss - gain, k + 1) + base_cost + c.costs - order_credit(k + 1)
            scores = np.where(gain > 0, scores, np.inf)
            moves += [(float(scores[a]), -1, int(a)) for a in lowest(scores, 4 * keep)]
        if swaps and k:
            outside = 1.0 - inside[:, None] + along**2
            numerator = (with_residual[:, None] + along * basis.leaving[None, :]) ** 2
            gain = np.where(outside > COLLINEAR, numerator / np.maximum(outside, COLLINEAR), 0.0)
            rss = basis.rss + basis.leaving[None, :] ** 2 - gain
            scores = (
                self.problem.criterion.data(rss, k)
                + base_cost
                - current.costs[None, :]
                + c.costs[:, None]
                - order_credit(k)
            )
            flat = np.where(gain > 0, scores, np.inf).reshape(-1)
            moves += [(float(flat[i]), int(i % k), int(i // k)) for i in lowest(flat, 4 * keep)]
        return self._settle(current, c, sorted(moves), keep)

    def best_move(self, current: Atoms, *, adds: bool, swaps: bool, keep: int = 6) -> tuple[float, Atoms] | None:
        """Return the best set of atoms one move away, its score exact; the runners-up go to the pool too."""
        return min(self.best_moves(current, adds=adds, swaps=swaps, keep=keep), key=lambda m: m[0], default=None)

    def _settle(
        self, current: Atoms, c: Candidates, moves: list[tuple[float, int, int]], keep: int
    ) -> list[tuple[float, Atoms]]:
        """Score the most promising moves exactly: differences of large sums lose digits.

        A monomial may be a candidate more than once, as a neighbour of several terms; it is tried once.
        """
        scored: list[tuple[float, Atoms]] = []
        present = current.structure.term_keys()
        tried: set[tuple[int, bytes]] = set()
        for _, leaving, a in moves:
            entering = c.keep(np.array([a]))
            key = entering.structure.term_keys()[0]
            rest = [i for i in range(len(current)) if i != leaving]
            if (leaving, key) in tried or key in [present[i] for i in rest]:
                continue
            tried.add((leaving, key))
            trial = current.keep(np.array(rest, dtype=np.intp)).join(entering)
            scored.append((self.score(trial), trial))
            if len(tried) == keep:
                break
        return scored

    def best_drop(self, current: Atoms) -> tuple[float, Atoms] | None:
        """Return the best set with one atom less."""
        k = len(current)
        if k < 1:
            return None
        basis = _basis(current.columns, self.problem.rows.target)
        scores = self.problem.criterion.data(basis.rss + basis.leaving**2, k - 1) - current.costs
        out = int(np.argmin(scores))
        trial = current.keep(np.array([i for i in range(k) if i != out], dtype=np.intp))
        return self.score(trial), trial

    def swap_until_stable(self, current: Atoms, score: float) -> tuple[float, Atoms]:
        """Swap single terms at a fixed number of terms as long as the code length falls."""
        for _ in range(SWAPS if len(current) <= FEW_TERMS else SWAPS_OF_MANY):
            move = self.best_move(current, adds=False, swaps=True)
            if move is None or move[0] >= score - 1e-9:
                break
            score, current = move
        return score, current

    def path(self, start: Atoms, *, patience: int = 3, longest: int | None = None) -> tuple[float, Atoms]:
        """For K = 1, 2, ...: force the best addition, then swap; the score need not fall at once, hence patience."""
        current, best = start, (self.score(start), start)
        waited = 0
        limit = min(
            self.max_terms, longest if longest is not None else self.max_terms, max(len(self.problem.rows) - 3, 1)
        )
        while len(current) < limit and waited <= patience:
            move = self.best_move(current, adds=True, swaps=False, keep=3)
            if move is None:
                break
            score, current = self.swap_until_stable(move[1], move[0])
            if score < best[0] - 1e-9:
                best, waited = (score, current), 0
            else:
                waited += 1
        return best

    def descend(self, current: Atoms) -> tuple[float, Atoms]:
        """Add, swap or drop, whichever is best, until nothing improves."""
        score = self.score(current)
        for _ in range(60):
            options = [self.best_move(current, adds=True, swaps=True), self.best_drop(current)]
            move = min((o for o in options if o is not None), key=lambda o: o[0], default=None)
            if move is None or move[0] >= score - 1e-9:
                break
            score, current = move
        return score, current

    def beam(self, start: Atoms, width: int) -> tuple[float, Atoms]:
        """For K = 1, 2, ...: extend each of the best sets in several ways, keep the best, and swap their terms."""
        members, best = [(self.score(start), start)], (self.score(start), start)
        limit = min(self.max_terms, max(len(self.problem.rows) - 3, 1))
        while len(members[0][1]) < limit:
            grown: dict[frozenset[bytes], tuple[float, Atoms]] = {}
            for _, atoms in members:
                for score, trial in self.best_moves(atoms, adds=True, swaps=False, keep=width):
                    grown.setdefault(trial.structure.key(), (score, trial))
            settled: dict[frozenset[bytes], tuple[float, Atoms]] = {}
            for score, trial in sorted(grown.values(), key=lambda g: g[0])[:width]:
                found = self.swap_until_stable(trial, score)
                settled.setdefault(found[1].structure.key(), found)
            if not settled:
                break
            members = sorted(settled.values(), key=lambda g: g[0])
            best = min(best, members[0], key=lambda g: g[0])
        return best

    def eliminate(self, start: Atoms) -> tuple[float, Atoms]:
        """Drop terms one by one down to the constant and return the best set met."""
        current, best = start, (self.score(start), start)
        while len(current) > 1:
            step = self.best_drop(current)
            if step is None:
                break
            if step[0] < best[0]:
                best = step
            current = step[1]
        return best


def lowest(scores: Floats, count: int) -> np.ndarray:
    """Return the positions of the lowest finite scores, lowest first.

    >>> lowest(np.array([3.0, np.inf, 1.0, 2.0]), 2)
    array([2, 3])
    """
    count = min(count, len(scores))
    if not count:
        return np.zeros(0, dtype=np.intp)
    found = np.argpartition(scores, count - 1)[:count]
    found = found[np.isfinite(scores[found])]
    return np.asarray(found[np.argsort(scores[found], kind="stable")])
