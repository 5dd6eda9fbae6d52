"""One-term laws: y = alpha prod_j |x_j|^b_j is a straight plane in logarithms.

Weighted least squares of ln|y| on ln|x| gives the starts, with weights that rise with |y| because an absolute error of
y is a relative error of ln|y|; starts without the smallest |y| survive data near zero. Each start and parity is then
fitted to y itself.
"""

import numpy as np

from ecsel._typing import Floats
from ecsel.discovery.lattice import Lattice, Parities
from ecsel.discovery.rows import Rows
from ecsel.discovery.varpro import Fits, fit_exponents


def log_linear_starts(rows: Rows, lattice: Lattice) -> Floats:
    """Return starting exponents (starts, columns) from weighted log-log regressions."""
    size = np.abs(rows.target if rows.root_weight is None else rows.target / rows.root_weight)
    usable = (size > 0) & (rows.log_abs > -600.0).all(axis=1)
    m = rows.n_columns
    starts = [np.zeros(m)]
    if usable.sum() > 2:
        log_y = np.log(size[usable])
        weight = np.minimum(size[usable] / np.median(size[usable]), 3.0)
        design = np.column_stack([np.ones(len(log_y)), rows.log_abs[usable]])
        for left_out in (0.0, 0.3, 0.6):
            keep = log_y >= np.quantile(log_y, left_out)
            w = weight[keep]
            solution = np.linalg.lstsq(design[keep] * w[:, None], log_y[keep] * w, rcond=1e-10)[0]
            starts.append(np.clip(solution[1:], lattice.lower, lattice.upper))
    return np.array(starts)


def fit_one_term(rows: Rows, lattice: Lattice, parities: Parities) -> Fits:
    """Fit one continuous term for each likely parity and start; the fits are sorted by their residual."""
    starts = log_linear_starts(rows, lattice)
    b = np.repeat(starts, len(parities), axis=0)[:, None, :]
    p = np.tile(parities, (len(starts), 1))[:, None, :]
    return fit_exponents(rows, lattice, b, p).sorted()
