"""The front of size against error: every law that no other law of at most its size fits better."""

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from ecsel._typing import Floats
from ecsel.discovery.law import Law, design_matrix
from ecsel.discovery.model import Problem, Structure
from ecsel.discovery.pool import Pool
from ecsel.discovery.ranking import Ranking
from ecsel.signomial.columns import LOG_LIMIT

FEWEST_TO_SHARE = 30
"""With fewer rows each of them carries much."""
LARGEST_SHARE = 0.8
"""Share of one row in a coefficient from which the term is that row's alone."""

EXPLODES = 2.0
"""Ratio of the largest value at recombined rows to that at the rows themselves from which a law explodes."""
EXPLOSION = 10.0
"""Nats by which a law that explodes must be shorter than one that does not."""
EXPLOSION_OF_MISFIT = 40.0
"""The same for a law that the residual tests reject: what is an approximation at the rows is nothing beyond them."""
CORNER = 10.0
"""Ratio of the largest term at a corner of the columns' ranges to the largest value at the rows from which a law that
the residual tests reject explodes."""


def representatives(pool: Pool, largest: int) -> list[Structure]:
    """Return, for each size (terms and free exponents), the structure with the smallest residual."""
    best: dict[int, tuple[float, Structure]] = {}
    for candidate in pool.ranked():
        size = candidate.structure.n_parameters
        if len(candidate) <= largest and (size not in best or candidate.rss < best[size][0]):
            best[size] = (candidate.rss, candidate.structure)
    return [structure for _, structure in best.values()]


def finish_representatives(pool: Pool, ranking: Ranking, largest: int) -> None:
    """Give the best structure of each size its final form."""
    for structure in representatives(pool, largest):
        ranking.finish(structure)


def front(ranking: Ranking, largest: int) -> list[Law]:
    """Return the finished laws that are not dominated in (size, residual), smallest first."""
    return undominated(law for law in ranking.laws() if len(law) <= largest)


def undominated(laws: Iterable[Law]) -> list[Law]:
    """Return the laws that no other one of at most their size fits better, smallest first."""
    kept: list[Law] = []
    for law in sorted(laws, key=lambda law: (law.complexity, law.rss)):
        if not kept or law.rss < kept[-1].rss * (1.0 - 1e-9):
            kept.append(law)
    return kept


def leave_one_out(problem: Problem, law: Law) -> float:
    """Return the mean squared error of predicting each row from the others, the monomials held.

    The residual of a left-out row is r_i / (1 - h_i) with the leverage h_i (PRESS), exact for rational exponents.
    """
    residual = problem.rows.target - law.predict(problem.rows)
    leverage = np.minimum(leverages(problem, law), 1.0 - 1e-9)
    return float(np.mean((residual / (1.0 - leverage)) ** 2))


def leverages(problem: Problem, law: Law) -> Floats:
    """Return how much each row pulls the law to itself: 0 not at all, 1 all the way."""
    if not len(law):
        return np.zeros(len(problem.rows))
    design = design_matrix(problem.rows, law.structure, law.coefficients)
    norm = np.sqrt(np.einsum("np,np->p", design, design))
    q = np.linalg.qr(design / np.where(norm > 0, norm, 1.0))[0]
    return np.asarray(np.einsum("np,np->n", q, q))


def is_carried_by_one_row(problem: Problem, law: Law) -> bool:
    """Return whether one row alone decides the coefficient of some term, so that it explains nothing but that row.

    Of the unit vector u_k in the span of the terms that is orthogonal to all other terms, u_ki² is the share of row i
    in what is known of coefficient k.
    """
    if len(law) < 2 or len(problem.rows) < FEWEST_TO_SHARE:
        return False
    phi, _ = problem.rows.columns(law.structure.exponents, law.structure.parity)
    norm = np.sqrt(np.einsum("nk,nk->k", phi, phi))
    q, r = np.linalg.qr(phi / np.where(norm > 0, norm, 1.0))
    u = q @ np.linalg.pinv(r).T
    share = u**2 / np.maximum(np.einsum("nk,nk->k", u, u), 1e-300)
    return bool(share.max() > LARGEST_SHARE)


def explodes(problem: Problem, law: Law) -> bool:
    """Return whether a law leaves the range of its values by far where the columns are combined in another way.

    Where columns go together, a quotient such as ``cache/memory`` is moderate in every row of the table and a thousand
    times as large in a row that is large in one and small in the other.
    """
    rows, plain = problem.rows.recombined, replace(problem.rows, root_weight=None)
    inside = np.abs(law.predict(plain)).max(initial=0.0)
    return bool(np.abs(law.predict(rows)).max(initial=0.0) > EXPLODES * inside)


def explodes_at_corner(problem: Problem, law: Law) -> bool:
    """Return whether a term is far beyond the values of the law at a corner of the columns' ranges.

    The corner where a product of powers is largest has the largest |x_j| where the exponent is positive and the
    smallest where it is negative.
    """
    rows = replace(problem.rows, root_weight=None)
    b, logs = law.structure.exponents, rows.log_abs
    top = np.where(b > 0, b * logs.max(axis=0), b * logs.min(axis=0)).sum(axis=1) + b @ rows.centre
    inside = float(np.abs(law.predict(rows)).max(initial=0.0))
    largest = np.abs(law.coefficients) * np.exp(np.clip(top, -LOG_LIMIT, LOG_LIMIT))
    return bool(largest.max(initial=0.0) > CORNER * inside)
