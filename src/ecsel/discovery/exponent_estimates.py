"""What the data say of exponents before any rounding, and which laws are one and the same.

A law says x**(2/3) where the data are compatible with it; how well they know the exponent is told by a fit in which the
exponents are free: with J the derivatives of the residual, the coefficients taken out, the covariance is s^2 (J'J)^-1.
"""

from dataclasses import replace

import numpy as np

from ecsel.discovery.fitted import ExponentEstimate, FittedLaw
from ecsel.discovery.lattice import RESOLUTION, Lattice
from ecsel.discovery.model import Structure
from ecsel.discovery.rows import Rows
from ecsel.discovery.varpro import fit_exponents, jacobian

MAX_ROWS = 2000
"""Rows of a table that the exponents are estimated from: more tell nothing of whether one is simple."""
MAX_FREE = 24
SAME = 1e-3
"""Difference of two exponents below which they are one to a reader."""


def exponent_estimates(rows: Rows, structure: Structure, names: tuple[str, ...]) -> tuple[ExponentEstimate, ...]:
    """Return estimates of the fractions among the exponents of a law, all exponents that may move being free.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x = rng.uniform(1, 4, (200, 1))
    >>> rows = Rows.from_table(x, x[:, 0] ** 0.7 + 0.05 * rng.standard_normal(200))
    >>> structure = Structure(np.array([[2 / 3]]), np.zeros((1, 1), dtype=np.int8))
    >>> (found,) = exponent_estimates(rows, structure, ("x",))
    >>> found.feature, abs(found.estimate - 0.7) < 4 * found.standard_error
    ('x', True)
    """
    movable = ~rows.signed & ~rows.has_zero
    free = (structure.exponents != 0) & movable
    fractions = free & ~structure.free & (np.abs(structure.exponents - np.round(structure.exponents)) > RESOLUTION)
    n_numbers = int(free.sum()) + len(structure)
    if not fractions.any() or free.sum() > MAX_FREE or len(rows) < n_numbers + 3:
        return ()
    lattice = Lattice.build(signed=rows.signed, has_zero=rows.has_zero)
    fit = fit_exponents(rows, lattice, structure.exponents[None], structure.parity[None], free[None])
    _, residual, slopes = jacobian(rows, fit.exponents[0], structure.parity)
    own = slopes[:, free.ravel()]
    norm = np.sqrt(np.einsum("np,np->p", own, own))
    if not (norm > 0).all():
        return ()
    inverse = np.linalg.pinv((own / norm).T @ (own / norm))
    variance = float(residual @ residual) / (len(rows) - n_numbers)
    errors = np.sqrt(np.maximum(np.diag(inverse), 0.0) * variance) / norm
    found = []
    for (k, j), error in zip(np.argwhere(free).tolist(), errors.tolist(), strict=True):
        if fractions[k, j]:
            found.append(ExponentEstimate(k, names[j], float(fit.exponents[0, k, j]), error))
    return tuple(found)


def with_estimates(law: FittedLaw, rows: Rows, structure: Structure, names: tuple[str, ...]) -> FittedLaw:
    """Return a law that knows what the data say of its fractions."""
    step = -(-len(rows) // MAX_ROWS)
    root = None if rows.root_weight is None else rows.root_weight[::step]
    few = Rows(rows.log_abs[::step], rows.negative[::step], rows.target[::step], root, rows.centre)
    found = exponent_estimates(few, structure, names)
    share = np.sqrt(len(few) / len(rows))
    return replace(law, exponent_estimates=tuple(replace(e, standard_error=e.standard_error * share) for e in found))


def is_same_law(law: FittedLaw, other: FittedLaw) -> bool:
    """Return whether two laws have the same terms to a reader: exponents that differ by less than their errors."""
    if len(law.terms) != len(other.terms):
        return False
    errors = {(id(each), p.term, p.feature): p.standard_error for each in (law, other) for p in each.parameters}
    left = list(enumerate(other.terms))
    for i, term in enumerate(law.terms):
        mine = dict(term.exponents)
        for k, candidate in left:
            theirs = dict(candidate.exponents)
            if mine.keys() == theirs.keys() and all(
                abs(float(mine[n]) - float(theirs[n]))
                <= SAME + errors.get((id(law), i, n), 0.0) + errors.get((id(other), k, n), 0.0)
                for n in mine
            ):
                left.remove((k, candidate))
                break
        else:
            return False
    return True
