"""Tests of a law, which ask whether its residual still holds something.

Two F-tests decide in the search. The Lagrange test asks whether any exponent of the law, those that are zero included,
would like to move. The omnibus test asks for a constant, a linear, a logarithmic or a bilinear part.

`misfit` states how well the chosen law passes. To the two tests it adds one of smoothness for each column, which needs
no idea of the missing function: of residuals r in the order of the column, Σ r_i r_(i+1) / Σ r_i^2 is normal with
variance 1/n where they are independent (von Neumann 1941). Its p-value is the smallest of them all, times their number.
"""

from dataclasses import dataclass

import numpy as np
from scipy import stats

from ecsel._typing import Floats
from ecsel.discovery.model import Problem, Structure
from ecsel.discovery.rows import LOG_OF_ZERO, Rows
from ecsel.discovery.varpro import jacobian
from ecsel.signomial.columns import LOG_LIMIT

LEVEL = 1e-3
"""A law is rejected when such residuals had at most this probability."""
MIN_ROWS = 8
"""With fewer rows the normal approximation of the smoothness test says nothing."""


@dataclass(frozen=True, slots=True)
class Misfit:
    """The p-value of the residual tests, and the column (by its position) that the residuals depend on most."""

    p_value: float = 1.0
    column: int | None = None

    @property
    def is_adequate(self) -> bool:
        """Whether the tests leave the law standing."""
        return self.p_value >= LEVEL


def f_test(residual: Floats, design: Floats, used: int) -> float:
    """Return the p-value of the hypothesis that the design explains nothing of the residual."""
    n = len(residual)
    norm = np.sqrt(np.einsum("np,np->p", design, design))
    q, r = np.linalg.qr(design[:, norm > 0] / norm[norm > 0])
    q = q[:, np.abs(np.diag(r)) > 1e-7]
    rank = q.shape[1]
    left = n - used - rank
    if rank == 0 or left < 2:
        return 1.0
    explained = float(np.sum((q.T @ residual) ** 2))
    rest = max(float(residual @ residual) - explained, 1e-300)
    return float(stats.f.sf((explained / rank) / (rest / left), rank, left))


def _raw(rows: Rows) -> tuple[Floats, Floats]:
    """Return the columns, scaled to a largest entry of one, and their logarithms."""
    logs = np.where(rows.log_abs == LOG_OF_ZERO, 0.0, rows.log_abs)
    x = np.exp(np.clip(rows.log_abs - rows.log_abs.max(axis=0), -LOG_LIMIT, 0.0)) * (1.0 - 2.0 * rows.negative)
    return x, logs


def _simple_functions(rows: Rows, most: int) -> Floats:
    x, logs = _raw(rows)
    parts = [np.ones((len(rows), 1)), x, logs]
    i, j = np.triu_indices(x.shape[1])
    if 2 * x.shape[1] + 1 + len(i) <= most:
        parts.append(x[:, i] * x[:, j])
    design = np.concatenate(parts, axis=1)[:, :most]
    return design if rows.root_weight is None else design * rows.root_weight[:, None]


def _omnibus(rows: Rows, residual: Floats, design: Floats, used: int) -> float:
    """Return the p-value of simple functions of the columns, those of the fit's own design taken out."""
    functions = _simple_functions(rows, max((len(rows) - used) * 2 // 3, 1))
    if design.shape[1]:
        q = np.linalg.qr(design)[0]
        functions = functions - q @ (q.T @ functions)
    return f_test(residual, functions, used)


def has_misfit(problem: Problem, structure: Structure, level: float = LEVEL) -> bool:
    """Return whether one of the two F-tests rejects the law at the given level."""
    if not len(structure):
        return True
    rows, used = problem.rows, structure.n_parameters
    _, residual, j = jacobian(rows, structure.exponents, structure.parity)
    if float(residual @ residual) <= 100.0 * problem.criterion.floor:
        return False
    if f_test(residual, j, used) < level:
        return True
    phi, _ = rows.columns(structure.exponents, structure.parity)
    return _omnibus(rows, residual, phi, used) < level


def misfit_of_law(problem: Problem, structure: Structure) -> Misfit:
    """Return how well the residuals of a law pass all tests, its coefficients refitted.

    >>> from ecsel.discovery.criterion import Criterion
    >>> from ecsel.discovery.lattice import Lattice
    >>> x = np.linspace(1.0, 3.0, 60)[:, None]
    >>> rows = Rows.from_table(x, np.sin(3 * x[:, 0]))
    >>> lattice = Lattice.build(signed=rows.signed, has_zero=rows.has_zero)
    >>> found = misfit_of_law(Problem(rows, Criterion(60, rows.energy), lattice), Structure.constant(1))
    >>> found.is_adequate, found.column
    (False, 0)
    """
    rows, used = problem.rows, structure.n_parameters
    if not len(structure):
        return misfit(rows, rows.target, np.zeros((len(rows), 0)), 0)
    _, residual, j = jacobian(rows, structure.exponents, structure.parity)
    if float(residual @ residual) <= 100.0 * problem.criterion.floor:
        return Misfit()
    phi, _ = rows.columns(structure.exponents, structure.parity)
    return misfit(rows, residual, phi, used, f_test(residual, j, used))


def misfit(rows: Rows, residual: Floats, design: Floats, used: int, lagrange: float = 1.0) -> Misfit:
    """Return how well weighted residuals pass the omnibus and the smoothness tests, and the Lagrange test's p-value."""
    if not rows.n_columns or not residual.any() or len(rows) < MIN_ROWS:
        return Misfit()
    x, logs = _raw(rows)
    smooth = np.array([_smoothness(residual, x[:, j]) for j in range(x.shape[1])])
    least = min(lagrange, _omnibus(rows, residual, design, used), float(smooth.min()))
    p_value = min(1.0, (2 + len(smooth)) * least)
    if p_value >= LEVEL:
        return Misfit(p_value)
    root = np.ones((len(rows), 1)) if rows.root_weight is None else rows.root_weight[:, None]
    own = [
        f_test(residual, np.column_stack([x[:, j], x[:, j] ** 2, logs[:, j]]) * root, used) for j in range(x.shape[1])
    ]
    return Misfit(p_value, int(np.argmin(np.minimum(own, smooth))))


def _smoothness(residual: Floats, column: Floats) -> float:
    """Return the p-value of neighbours along a column having residuals that are no more alike than any two."""
    ordered = residual[np.argsort(column, kind="stable")]
    ordered = ordered - ordered.mean()
    n, energy = len(ordered), float(ordered @ ordered)
    if energy == 0.0 or len(np.unique(column)) < MIN_ROWS:
        return 1.0
    return float(stats.norm.sf(float(ordered[:-1] @ ordered[1:]) / energy * np.sqrt(n)))
