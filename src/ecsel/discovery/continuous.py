"""Laws with several continuous terms: splitting, growing and merging.

Splitting the best one-term fit, b ± d with random d, is by far the best start for two terms, because the one-term fit
lies between them. Growing adds a term that the residual asks for. Merging replaces a pair of terms by one, and undoes
piles of whole powers that imitate a single rational one.
"""

from itertools import combinations

import numpy as np

from ecsel.discovery.lattice import Parities
from ecsel.discovery.model import Candidate, Problem, Structure
from ecsel.discovery.snap import snap
from ecsel.discovery.varpro import Fits, fit_exponents

MAX_PAIRS = 28
"""All pairs of eight terms; more are tried for no merge."""


def split_starts(base: Structure, which: int, count: int, rng: np.random.Generator) -> np.ndarray:
    """Return starts (count, terms + 1, columns) in which one term is split into b + d and b - d."""
    k, m = base.exponents.shape
    d = rng.normal(0.0, 0.6, (count, m)) * (rng.random((count, m)) < 0.6)
    starts = np.repeat(np.concatenate([base.exponents, base.exponents[which][None]])[None], count, axis=0)
    starts[:, which] += d
    starts[:, k] -= d
    return starts


def split(problem: Problem, base: Structure, rng: np.random.Generator, count: int) -> Fits:
    """Fit laws with one term more than ``base``, from splits of each of its terms and from an added constant."""
    k, m = base.exponents.shape
    per_term = max(1, count // k)
    starts = [split_starts(base, i, per_term, rng) for i in range(k)]
    parities = [
        np.repeat(np.concatenate([base.parity, base.parity[i][None]])[None], per_term, axis=0) for i in range(k)
    ]
    starts.append(np.concatenate([base.exponents, np.zeros((1, m))])[None])
    parities.append(np.concatenate([base.parity, np.zeros((1, m), dtype=np.int8)])[None])
    b, p = np.concatenate(starts), np.concatenate(parities)
    return fit_exponents(problem.rows, problem.lattice, b, p, max_iter=30).sorted()


def pair_of_parities(
    problem: Problem, parities: Parities, exponents: np.ndarray, rng: np.random.Generator
) -> Fits | None:
    """Fit two terms for every pair of likely parities, from exponents near the one-term fit."""
    pairs = list(combinations(range(len(parities)), 2))
    if not pairs:
        return None
    p = np.array([parities[list(pair)] for pair in pairs])
    b = exponents[None, None] + rng.normal(0.0, 0.4, (len(pairs), 2, parities.shape[1]))
    return fit_exponents(problem.rows, problem.lattice, b, p, max_iter=30).sorted()


def merge(problem: Problem, candidate: Candidate, *, tolerance: float = 15.0) -> Candidate | None:
    """Replace a pair of terms by one continuous term where that costs less than ``tolerance`` nats before rounding."""
    s = candidate.structure
    k, m = s.exponents.shape
    if k < 2:
        return None
    starts, parities, free = [], [], []
    size = np.abs(candidate.coefficients) if len(candidate.coefficients) == k else np.ones(k)
    for i, j in _nearest_pairs(s.exponents):
        rest = [t for t in range(k) if t not in (i, j)]
        share = (size[i] + 1e-12) / (size[i] + size[j] + 2e-12)
        for parity in {s.parity[i].tobytes(): s.parity[i], s.parity[j].tobytes(): s.parity[j]}.values():
            middle = share * s.exponents[i] + (1 - share) * s.exponents[j]
            starts.append(np.concatenate([s.exponents[rest], middle[None]]))
            parities.append(np.concatenate([s.parity[rest], parity[None]]))
            free.append(np.concatenate([s.free[rest], np.ones((1, m), dtype=bool)]))
    fits = fit_exponents(
        problem.rows, problem.lattice, np.array(starts), np.array(parities), np.array(free), max_iter=25
    )
    i = int(np.argmin(fits.rss))
    before = float(problem.criterion.data(candidate.rss, k))
    if float(problem.criterion.data(fits.rss[i], k - 1)) > before + tolerance:
        return None
    return snap(problem, Structure(fits.exponents[i], fits.parity[i]), open_=np.asarray(free[i]))


def _nearest_pairs(exponents: np.ndarray) -> list[tuple[int, int]]:
    """Return the pairs of terms; of many only those with the nearest exponents: far ones imitate no single power."""
    pairs = list(combinations(range(len(exponents)), 2))
    if len(pairs) <= MAX_PAIRS:
        return pairs
    apart = [float(np.abs(exponents[i] - exponents[j]).sum()) for i, j in pairs]
    return [pairs[i] for i in np.argsort(apart, kind="stable")[:MAX_PAIRS]]


def snap_best(problem: Problem, fits: Fits, count: int) -> list[Candidate]:
    """Round the best few distinct fits of a stack."""
    found: list[Candidate] = []
    seen: list[float] = []
    for i in range(len(fits.rss)):
        if len(found) >= count:
            break
        if any(abs(fits.rss[i] - rss) < 1e-4 * rss for rss in seen):
            continue
        seen.append(float(fits.rss[i]))
        found.append(snap(problem, Structure(fits.exponents[i], fits.parity[i])))
    return found
