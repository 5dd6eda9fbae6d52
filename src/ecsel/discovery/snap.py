"""Rounding of exponents: sequential conditional rounding under the code length.

At the optimum let C = (J'J)^-1 of the exponents. Fixing exponent i at v raises the residual sum of squares by
(v - b_i)^2 / C_ii and moves the others by C_:i / C_ii (v - b_i). The pair (i, v) with the best change of code length is
fixed, C is conditioned on it, and so on; after a share of them the fit is repeated. Zero is a lattice point, so
dropping a variable is the same step, and an exponent that is not worth rounding stays free.
"""

import numpy as np

from ecsel._typing import Floats, Mask
from ecsel.discovery.lattice import FREE, RESOLUTION, Lattice, Parities
from ecsel.discovery.model import Candidate, Problem, Structure
from ecsel.discovery.varpro import fit_exponents, jacobian

LARGEST_ERROR = 1e140
"""Standard errors beyond this have squares that leave the floating-point range."""


def _options(lattice: Lattice, parity: Parities) -> tuple[Floats, Floats]:
    """Return lattice points with zero first, and their (terms * columns, points) costs for the given parities."""
    column = np.tile(np.arange(lattice.n_columns), len(parity))
    flat = parity.reshape(-1)
    # Where a column keeps its sign the parity of an exponent is immaterial and the natural one is named.
    signed = lattice.signed[column]
    costs = np.where(signed[:, None], lattice.costs[column, :, flat], lattice.costs[column].min(axis=2))
    zero = np.where(signed & (flat == 1), np.inf, 0.0)
    # A point that is never taken stands at the end, so that every exponent has a second choice.
    values = np.concatenate([[0.0], lattice.values, [0.0]])
    return values, np.concatenate([zero[:, None], costs, np.full((len(flat), 1), np.inf)], axis=1)


def natural_parity(lattice: Lattice, structure: Structure) -> Structure:
    """Give rounded exponents of columns that keep their sign their natural parity."""
    whole = np.abs(structure.exponents - np.round(structure.exponents)) < RESOLUTION
    odd = whole & (np.round(np.abs(structure.exponents)).astype(np.int64) % 2 == 1) & ~structure.free
    parity = np.where(lattice.signed, structure.parity, odd).astype(np.int8)
    return Structure(structure.exponents, parity, structure.free)


def snap(problem: Problem, structure: Structure, open_: Mask | None = None) -> Candidate:
    """Round the (open) exponents of a continuous fit as far as the code length gains."""
    lattice = problem.lattice
    exponents, parity = structure.exponents.copy(), structure.parity
    left = np.ones(exponents.shape, dtype=bool) if open_ is None else open_.copy()
    options = _options(lattice, parity)
    while left.any():
        fits = fit_exponents(problem.rows, lattice, exponents[None], parity[None], left[None], max_iter=25)
        exponents = fits.exponents[0].copy()
        if not _round_some(problem, exponents, parity, left, options):
            break
    return problem.assess(natural_parity(lattice, Structure(exponents, parity, left)).distinct())


def _round_some(
    problem: Problem, exponents: Floats, parity: Parities, left: Mask, options: tuple[Floats, Floats]
) -> int:
    """Fix the exponents that gain most, in place, until a third of those left is fixed; return how many were."""
    lattice, data = problem.lattice, problem.criterion.data
    values, costs = options
    n_terms, m = exponents.shape
    _, residual, j = jacobian(problem.rows, exponents, parity)
    index = np.flatnonzero(left.reshape(-1))
    c = covariance(j[:, index])
    b, rss = exponents.reshape(-1)[index].copy(), float(residual @ residual)
    alive = np.ones(len(index), dtype=bool)
    quota = -(-len(index) // 3)
    elsewhere = n_terms + int(left.sum()) - len(index)
    while alive.sum() > len(index) - quota:
        variance = np.maximum(np.diag(c), 1e-300)
        with np.errstate(over="ignore"):  # an exponent that is known to all digits cannot be rounded
            rise = (values[None, :] - b[:, None]) ** 2 / variance[:, None]
        active = ((np.abs(exponents) > RESOLUTION) | left).sum(axis=1)
        k = elsewhere + int(alive.sum())
        now = float(data(rss, k))
        change = data(rss + rise, k - 1) - (now if np.isfinite(now) else 0.0) + costs[index] - FREE
        change[:, 0] -= (lattice.base_cost(active) - lattice.base_cost(np.maximum(active - 1, 0)))[index // m]
        change[~alive] = np.inf
        gain, second = np.partition(change, 1, axis=1)[:, :2].T
        if not np.isfinite(gain.min()) or (lattice.allows_real and gain.min() >= 0):
            break
        # Among nearly equal gains the exponent whose second choice is worst is the safest to fix.
        with np.errstate(invalid="ignore"):
            margin = np.where(gain <= gain.min() + 2.0, np.minimum(second - gain, 50.0), -np.inf)
        i = int(np.argmax(margin))
        v = values[int(np.argmin(change[i]))]
        delta = v - b[i]
        rss += delta**2 / variance[i]
        b = b + c[:, i] / variance[i] * delta
        # Divided first: the square of an undetermined exponent's variance leaves the floating-point range.
        scaled = c[:, i] / np.sqrt(variance[i])
        c = c - np.outer(scaled, scaled)
        b[i], alive[i] = v, False
        exponents.reshape(-1)[index[i]] = v
        left.reshape(-1)[index[i]] = False
    exponents.reshape(-1)[index[alive]] = b[alive]
    np.clip(exponents, lattice.lower, lattice.upper, out=exponents)
    return int(len(index) - alive.sum())


def covariance(jacobian_: Floats) -> Floats:
    """Return (J'J)^-1 with columns scaled to unit length and vanishing directions left out."""
    scale = np.sqrt(np.maximum(np.einsum("np,np->p", jacobian_, jacobian_), 1e-300))
    _, s, vt = np.linalg.svd(jacobian_ / scale, full_matrices=False)
    keep = s > 1e-7 * max(float(s.max(initial=0.0)), 1e-300)
    # Directions without curvature are undetermined: a large variance lets them be rounded at no cost.
    root = vt.T / np.where(keep, s, 1e-7)
    # A power of data in SI units may leave the floating-point range: its coefficient is then as good as unknown.
    with np.errstate(over="ignore", invalid="ignore"):
        root = np.nan_to_num(root / scale[:, None], nan=0.0, posinf=LARGEST_ERROR, neginf=-LARGEST_ERROR)
        found = np.clip(root, -LARGEST_ERROR, LARGEST_ERROR)
    return np.asarray(found @ found.T)
