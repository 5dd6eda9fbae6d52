"""Pair exchange: take out up to two terms and put in the best pair of monomials, found exhaustively.

For columns projected off the remaining terms, with Gram matrix G and h = Phi'r, the pair (i, j) lowers the residual by

    (h_i^2 G_jj - 2 h_i h_j G_ij + h_j^2 G_ii) / (G_ii G_jj - G_ij^2).

It solves what single swaps cannot: collinear designs in which only two simultaneous changes help.
"""

from dataclasses import replace
from itertools import combinations

import numpy as np

from ecsel._typing import Floats
from ecsel.discovery.criterion import order_credit
from ecsel.discovery.dictionary import Atoms
from ecsel.discovery.exchange import Candidates, Exchange, lowest

MAX_ATOMS = 260


def pair_gains(gram: Floats, h: Floats) -> Floats:
    """Return how much each pair of columns lowers the residual sum of squares; zero for collinear pairs."""
    g = np.diag(gram)
    determinant = np.outer(g, g) - gram**2
    numerator = np.outer(h**2, g) - 2.0 * np.outer(h, h) * gram + np.outer(g, h**2)
    solvable = determinant > 1e-9 * np.outer(g, g)
    return np.where(solvable, numerator / np.where(solvable, determinant, 1.0), 0.0)


def best_pair_exchange(
    search: Exchange, current: Atoms, *, removed: int = 2, keep: int = 4
) -> tuple[float, Atoms] | None:
    """Return the best set of atoms after one pair exchange with up to ``removed`` terms taken out."""
    best: tuple[float, Atoms] | None = None
    candidates = search.candidates(current)
    with_target = candidates.products(search.problem.rows.target)
    for count in range(min(removed, len(current)) + 1):
        if len(current) - count + 2 > search.max_terms:
            continue
        for out in combinations(range(len(current)), count):
            search.tick(len(current))
            stay = np.array([i for i in range(len(current)) if i not in out], dtype=np.intp)
            with_rest = replace(candidates, gram=candidates.gram[:, stay])
            for trial in _pairs_for(search, current.keep(stay), with_rest, with_target, keep):
                score = search.score(trial)
                if best is None or score < best[0]:
                    best = (score, trial)
    return best


def _pairs_for(search: Exchange, rest: Atoms, candidates: Candidates, with_target: Floats, keep: int) -> list[Atoms]:
    """Return the most promising sets that add two atoms to those that stay."""
    target = search.problem.rows.target
    q, r = np.linalg.qr(rest.columns)
    residual = target - q @ (q.T @ target)
    inside = candidates.gram @ np.linalg.solve(r + 1e-14 * np.eye(len(r)), np.eye(len(r)))
    norm = 1.0 - np.einsum("ak,ak->a", inside, inside)
    usable = norm > 1e-8
    h = with_target - inside @ (q.T @ target)
    single = np.where(usable, h**2 / np.where(usable, norm, 1.0), -1.0)
    strong = np.argsort(-single, kind="stable")[: MAX_ATOMS * 2 // 3]
    cheap = np.argsort(np.where(usable, candidates.costs, np.inf), kind="stable")[: MAX_ATOMS // 3]
    chosen = np.unique(np.concatenate([strong, cheap]))
    chosen = chosen[usable[chosen]]
    atoms = candidates.keep(chosen)
    projected = atoms.columns - q @ (q.T @ atoms.columns)
    gain = pair_gains(projected.T @ projected, projected.T @ residual)
    k, rss = len(rest) + 2, float(residual @ residual)
    costs = candidates.costs[chosen]
    score = search.problem.criterion.data(rss - gain, k) + costs[:, None] + costs[None, :] - order_credit(k)
    score = np.where((gain > 0) & np.triu(np.ones(gain.shape, dtype=bool), 1), score, np.inf).reshape(-1)
    found = lowest(score, 4 * keep)
    trials: dict[frozenset[bytes], Atoms] = {}
    for flat in found:
        i, j = divmod(int(flat), len(chosen))
        trial = rest.join(atoms.keep(np.array([i, j])))
        key = trial.structure.key()
        if len(key) == len(trial) and len(trials) < keep:
            trials.setdefault(key, trial)
    return list(trials.values())
