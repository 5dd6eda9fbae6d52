"""Laws of groups: shared exponents, and prefactors of each group's own.

Of materials, devices or countries the law may be one and its prefactors many:

    y_i = sum_k a_(k, g(i)) prod_j x_ij^b_kj.

For given exponents b this is one small least-squares problem for each group, so that only b is searched (variable
projection; Golub and Pereyra 1973): with Q an orthonormal basis of the design of blocks, the residual is (I - Q Q') y
and its derivative, after Kaufman, -(I - Q Q') a phi log x. Laws grow term by term from a scan of simple monomials,
whose gain is summed over groups; exponents are then free, and rounded where the code length of :mod:`criterion` gains.
A term counts as many real numbers as there are groups.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations, product

import numpy as np
import numpy.typing as npt
from scipy.optimize import least_squares, nnls

from ecsel._typing import Floats, Mask
from ecsel.discovery.criterion import STRONG_EVIDENCE, Criterion
from ecsel.discovery.lattice import RESOLUTION, Lattice, Parities
from ecsel.discovery.model import Structure
from ecsel.discovery.ranking import TERM_EVIDENCE
from ecsel.discovery.rows import LOG_OF_ZERO, Rows

Groups = npt.NDArray[np.intp]

SIMPLE = (-2.0, -1.0, -0.5, 0.5, 1.0, 2.0, 3.0)
"""Exponents of the monomials that are scanned."""
MAX_COLUMNS_FOR_PAIRS = 12
MAX_GROUPED_TERMS = 4
"""Most terms where no number is asked for: each has a prefactor in every group."""
KEPT = 4
"""Monomials of a scan that are tried in full."""
LARGEST_START = 4.0
SCANNED_ROWS = 2000
"""Rows that a scan looks at."""
NONNEGATIVE_ROWS, NONNEGATIVE_COLUMNS = 500, 150
"""Rows and monomials of a nonnegative least-squares fit."""


@dataclass(frozen=True, eq=False)
class GroupedProblem:
    """Rows with the group of each, the exponents allowed, and the code length of the target.

    Where ``positive`` is set, a law with a coefficient that is not positive has an infinite code.
    """

    rows: Rows
    groups: Groups
    n_groups: int
    lattice: Lattice
    criterion: Criterion
    positive: bool = False

    def design(self, structure: Structure) -> Floats:
        """Return the weighted monomials of each group, (rows, terms * groups), scaled to a largest entry of one."""
        phi, _ = self.rows.columns(structure.exponents, structure.parity)
        blocks = np.zeros((len(phi), len(structure), self.n_groups))
        blocks[np.arange(len(phi)), :, self.groups] = phi
        return blocks.reshape(len(phi), -1)

    def data_length(self, structure: Structure) -> float:
        """Return the code length of the target given a structure, without that of its exponents."""
        fit = self.fit(structure)
        return float(self.criterion.data(float(fit.residual @ fit.residual), fit.basis.shape[1] + structure.n_free))

    def fit(self, structure: Structure) -> "GroupedFit":
        """Return prefactors, residual and code length of a structure."""
        design = self.design(structure)
        norm = np.sqrt(np.einsum("np,np->p", design, design))
        scaled = design / np.where(norm > 0, norm, 1.0)
        u, s, vt = np.linalg.svd(scaled, full_matrices=False)
        seen = s > 1e-10 * max(float(s.max(initial=0.0)), 1e-300)
        u = u[:, seen]
        along = u.T @ self.rows.target
        residual = self.rows.target - u @ along
        coefficients = (vt[seen].T @ (along / s[seen])) / np.where(norm > 0, norm, 1.0)
        rss = float(residual @ residual)
        if self.positive and not (coefficients > 0).all():
            return GroupedFit(structure, coefficients.reshape(len(structure), self.n_groups), residual, u, np.inf)
        length = float(self.criterion.data(rss, int(seen.sum()) + structure.n_free)) + structure.cost(self.lattice)
        return GroupedFit(structure, coefficients.reshape(len(structure), self.n_groups), residual, u, length)


@dataclass(frozen=True, eq=False)
class GroupedFit:
    """A structure with scaled prefactors (terms, groups), its residual, and an orthonormal basis of its design."""

    structure: Structure
    coefficients: Floats
    residual: Floats
    basis: Floats
    code_length: float

    @property
    def weighed_length(self) -> float:
        """The code length with the evidence that each term and real exponent must bring."""
        return self.code_length + TERM_EVIDENCE * (len(self.structure) + self.structure.n_free)


def natural_parity(exponents: Floats) -> Parities:
    """Return the parities of Python's powers: odd whole exponents carry the sign."""
    parity: Parities = (np.abs(np.abs(exponents) % 2 - 1) < RESOLUTION).astype(np.int8)
    return parity


def _structure(exponents: Floats, free: Mask | None = None) -> Structure:
    exponents = np.atleast_2d(exponents)
    return Structure(
        exponents, natural_parity(exponents), np.zeros(exponents.shape, dtype=bool) if free is None else free
    )


def find_grouped_law(problem: GroupedProblem, n_terms: int | None, max_terms: int) -> list[GroupedFit]:
    """Return the best law of each size, the chosen one first.

    >>> rng = np.random.default_rng(0)
    >>> x, groups = rng.uniform(1, 4, (60, 2)), np.repeat([0, 1, 2], 20)
    >>> rows = Rows.from_table(x, np.array([1.0, 3.0, 0.5])[groups] * x[:, 0] ** 1.5 / x[:, 1])
    >>> lattice = Lattice.build(signed=rows.signed, has_zero=rows.has_zero)
    >>> best, *_ = find_grouped_law(GroupedProblem(rows, groups, 3, lattice, Criterion(60, rows.energy)), None, 3)
    >>> best.structure.exponents.tolist()
    [[1.5, -1.0]]
    """
    m = problem.rows.n_columns
    candidates = _scanned(problem)
    constant = problem.fit(Structure.constant(m))
    by_size: dict[int, GroupedFit] = {1: constant}
    previous = [Structure.empty(m)]
    most = n_terms or min(max_terms, MAX_GROUPED_TERMS)
    for size in range(1, most + 1):
        if (size * problem.n_groups) > len(problem.rows) - 3:
            break
        found: list[GroupedFit] = []
        for before in previous:
            fit = problem.fit(before) if len(before) else None
            for term in _best_additions(problem, fit, candidates, free_start=size == 1):
                found += _refined(problem, before.join(_structure(term)))
        if size == 1:
            found.append(constant)
        if not found:
            break
        if problem.positive:
            found += [
                fit for start in _nonnegative_starts(problem, candidates, size) for fit in _refined(problem, start)
            ]
        found = [each for each in found if np.isfinite(each.code_length)] or found
        found.sort(key=lambda each: each.weighed_length)
        by_size[size] = found[0]
        previous = [each.structure for each in found[:2] if np.isfinite(each.code_length)]
        if (
            n_terms is None
            and size > 1
            and found[0].weighed_length > by_size[size - 1].weighed_length + STRONG_EVIDENCE
        ):
            break
    fits = [by_size[n_terms]] if n_terms in by_size else sorted(by_size.values(), key=lambda each: each.weighed_length)
    return fits + [each for each in by_size.values() if each is not fits[0] and each not in fits]


def _scanned(problem: GroupedProblem) -> Floats:
    """Return the exponents of simple monomials of one and two columns that the lattice allows, and of none."""
    m = problem.rows.n_columns
    found = [np.zeros(m)]
    for j in range(m):
        found += [_at(m, {j: b}) for b in SIMPLE]
    if m <= MAX_COLUMNS_FOR_PAIRS:
        for i, j in combinations(range(m), 2):
            found += [_at(m, {i: a, j: b}) for a, b in product(SIMPLE, SIMPLE)]
    every = np.array(found)
    allowed = np.isfinite(problem.lattice.term_costs(every, natural_parity(every)))
    whole = np.abs(every - np.round(every)) < RESOLUTION
    return every[allowed & (whole | ~problem.rows.signed).all(axis=1)]


def _at(m: int, exponents: dict[int, float]) -> Floats:
    row = np.zeros(m)
    for j, b in exponents.items():
        row[j] = b
    return row


def _best_additions(
    problem: GroupedProblem, fit: GroupedFit | None, candidates: Floats, *, free_start: bool
) -> Iterator[Floats]:
    """Yield the monomials that would lower the residual most, and what logarithms suggest."""
    residual = problem.rows.target if fit is None else fit.residual
    gain = np.zeros(len(candidates))
    seen = np.arange(len(problem.rows)) % -(-len(problem.rows) // SCANNED_ROWS) == 0
    rows = problem.rows
    few = Rows(
        rows.log_abs[seen],
        rows.negative[seen],
        rows.target[seen],
        None if rows.root_weight is None else rows.root_weight[seen],
        rows.centre,
    )
    columns = few.columns(candidates, natural_parity(candidates))[0]
    terms = None if fit is None else few.columns(fit.structure.exponents, fit.structure.parity)[0]
    for g in range(problem.n_groups):
        mine = problem.groups[seen] == g
        own, rest = columns[mine], residual[seen][mine]
        if terms is not None:
            basis = np.linalg.qr(terms[mine])[0]
            own, rest = own - basis @ (basis.T @ own), rest - basis @ (basis.T @ rest)
        size = np.einsum("nl,nl->l", own, own)
        along = own.T @ rest
        along = np.maximum(along, 0.0) if problem.positive else along
        gain += np.divide(along**2, size, out=np.zeros_like(size), where=size > 1e-9 * np.maximum(size.max(), 1e-300))
    for i in np.argsort(-gain, kind="stable")[:KEPT].tolist():
        yield candidates[i]
    if free_start and (start := _log_linear(problem)) is not None:
        yield start


def _nonnegative_starts(problem: GroupedProblem, candidates: Floats, size: int) -> list[Structure]:
    """Return the largest terms of the nonnegative least-squares fit of all simple monomials, which has few terms."""
    rows = problem.rows
    step = -(-len(rows) // NONNEGATIVE_ROWS)
    columns = rows.columns(candidates, natural_parity(candidates))[0][::step]
    norm = np.sqrt(np.einsum("nl,nl->l", columns, columns))
    scaled = columns / np.where(norm > 0, norm, 1.0)
    best = np.argsort(-(scaled.T @ rows.target[::step]), kind="stable")[:NONNEGATIVE_COLUMNS]
    weight = nnls(scaled[:, best], rows.target[::step])[0]
    chosen = best[np.argsort(-weight, kind="stable")[:size]]
    return [_structure(candidates[chosen])] if (np.sort(weight)[::-1][:size] > 0).all() else []


def _log_linear(problem: GroupedProblem) -> Floats | None:
    """Return the exponents of the regression in logarithms within groups, None where the target changes sign."""
    y, rows = problem.rows.target, problem.rows
    usable = ~rows.signed & ~rows.has_zero
    if not usable.any() or not ((y > 0).all() or (y < 0).all()):
        return None
    root = np.ones(len(rows)) if rows.root_weight is None else rows.root_weight
    logs = np.column_stack([np.log(np.abs(y) / np.maximum(root, 1e-300)), rows.log_abs[:, usable]])
    for g in range(problem.n_groups):
        logs[problem.groups == g] -= logs[problem.groups == g].mean(axis=0)
    slopes = np.linalg.lstsq(logs[:, 1:], logs[:, 0], rcond=1e-10)[0]
    row = np.zeros(rows.n_columns)
    row[usable] = np.clip(slopes, -LARGEST_START, LARGEST_START)
    row = np.clip(row, problem.lattice.lower, problem.lattice.upper)
    return np.where(np.abs(row) < 1e-3, 0.0, row)


def _refined(problem: GroupedProblem, structure: Structure) -> list[GroupedFit]:
    """Return a structure as it is, where it is allowed, and with its exponents freed and then rounded."""
    structure = structure.distinct()
    as_it_is = problem.fit(structure)
    found = [as_it_is] if np.isfinite(as_it_is.code_length) else []
    may_move = ~problem.rows.signed & ~problem.rows.has_zero
    free = np.broadcast_to(may_move, structure.exponents.shape).copy()
    free &= np.asarray(structure.exponents.any(axis=1))[:, None]  # a constant stays one
    if free.any():
        moved = _moved(problem, Structure(structure.exponents, structure.parity, free))
        found += _rounded(problem, moved)
    return found


def _moved(problem: GroupedProblem, structure: Structure) -> Structure:
    """Return the structure with its free exponents at a minimum of the residual."""
    free = structure.free
    logs = np.where(problem.rows.log_abs == LOG_OF_ZERO, 0.0, problem.rows.log_abs)
    term, column = np.nonzero(free)
    lower, upper = problem.lattice.lower[column], problem.lattice.upper[column]

    def at(theta: Floats) -> Structure:
        exponents = structure.exponents.copy()
        exponents[free] = theta
        return Structure(exponents, np.where(free, 0, structure.parity).astype(np.int8), free)

    def jacobian(theta: Floats) -> Floats:
        fit = problem.fit(at(theta))
        phi, _ = problem.rows.columns(fit.structure.exponents, fit.structure.parity)
        own = fit.coefficients[:, problem.groups].T * phi
        slopes = own[:, term] * logs[:, column]
        return np.asarray(-(slopes - fit.basis @ (fit.basis.T @ slopes)))

    def residual(theta: Floats) -> Floats:
        return problem.fit(at(theta)).residual

    start = np.clip(structure.exponents[free], lower + 1e-6, upper - 1e-6)
    best = least_squares(residual, start, jacobian, bounds=(lower, upper), x_scale=1.0, max_nfev=60)
    return at(best.x)


def _rounded(problem: GroupedProblem, structure: Structure) -> list[GroupedFit]:
    """Return the laws on the way from free exponents to simple ones: each time the one that costs least is rounded."""
    found = []
    values = np.append(problem.lattice.values, 0.0)
    while True:
        fit = problem.fit(structure)
        if np.isfinite(fit.code_length):
            found.append(fit)
        if not structure.free.any():
            return found
        tried: list[tuple[float, int, Structure]] = []
        for k, j in zip(*np.nonzero(structure.free), strict=True):
            b = structure.exponents[k, j]
            for value in values[np.argsort(np.abs(values - b), kind="stable")[:3]]:
                exponents, free = structure.exponents.copy(), structure.free.copy()
                exponents[k, j], free[k, j] = value, False
                parity = np.where(free, 0, natural_parity(exponents)).astype(np.int8)
                cost = float(problem.lattice.exponent_costs(exponents, parity)[k, j])
                if np.isfinite(cost):
                    each = Structure(exponents, parity, free)
                    tried.append((problem.data_length(each) + cost, len(tried), each))
        if not tried:
            return found
        nearest = [each for _, _, each in sorted(tried, key=lambda t: t[:2])[:2]]
        moved = [_moved(problem, each) if each.free.any() else each for each in nearest]
        structure = min(moved, key=problem.data_length)


def raw_coefficients(problem: GroupedProblem, fit: GroupedFit) -> Floats:
    """Return the prefactors (terms, groups) in raw units."""
    structure = fit.structure
    _, log_scale = problem.rows.columns(structure.exponents, structure.parity)
    return np.asarray(fit.coefficients * np.exp(-log_scale)[:, None])
