"""Objections to a law: tests whether its residual still holds something.

Two F-tests on the residual. The Lagrange test asks whether any exponent of the law, those that are zero included, would
like to move. The omnibus test asks for a constant, a linear, a logarithmic or a bilinear part.
"""

import numpy as np
from scipy import stats

from ecsel.discovery.lattice import Floats
from ecsel.discovery.model import Problem, Structure
from ecsel.discovery.rows import LOG_OF_ZERO, Rows
from ecsel.discovery.varpro import jacobian


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


def _simple_functions(rows: Rows, most: int) -> Floats:
    logs = np.where(rows.log_abs == LOG_OF_ZERO, 0.0, rows.log_abs)
    x = np.exp(np.clip(rows.log_abs - rows.log_abs.max(axis=0), -700.0, 0.0)) * (1.0 - 2.0 * rows.negative)
    parts = [np.ones((len(rows), 1)), x, logs]
    i, j = np.triu_indices(x.shape[1])
    if 2 * x.shape[1] + 1 + len(i) <= most:
        parts.append(x[:, i] * x[:, j])
    design = np.concatenate(parts, axis=1)[:, :most]
    return design if rows.root_weight is None else design * rows.root_weight[:, None]


def has_objection(problem: Problem, structure: Structure, level: float = 1e-3) -> bool:
    """Return whether one of the two tests rejects the law at the given level."""
    rows = problem.rows
    if not len(structure):
        return True
    _, residual, j = jacobian(rows, structure.exponents, structure.parity)
    if float(residual @ residual) <= 100.0 * problem.criterion.floor:
        return False
    used = structure.n_parameters
    if f_test(residual, j, used) < level:
        return True
    phi, _ = rows.columns(structure.exponents, structure.parity)
    q = np.linalg.qr(phi)[0]
    design = _simple_functions(rows, max((len(rows) - used) * 2 // 3, 1))
    return f_test(residual, design - q @ (q.T @ design), used) < level
