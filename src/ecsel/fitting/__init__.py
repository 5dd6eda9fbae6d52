"""Fitting: row blocks, links, penalties, term forms and the solvers that put them together.

A fit minimises  Σ_i w_i ℓ(y_i, z(x_i)) + penalty(θ)  where every score z is a sum of terms in the standardised logs of
the positive features. `Problem` states it, `newton`, `lbfgs` and `adam` solve it, `fit_scores` chooses where to start.
"""

from ecsel.fitting.adam import Adam
from ecsel.fitting.blocks import ArrayBlocks
from ecsel.fitting.fit import FitResult, fit_scores
from ecsel.fitting.links import LINKS, Link, Sigmoid, Softmax
from ecsel.fitting.penalties import L1, PENALTIES, PaperL1, Penalty
from ecsel.fitting.problem import Problem
from ecsel.fitting.report import FitReport, Status

__all__ = [
    "L1",
    "LINKS",
    "PENALTIES",
    "Adam",
    "ArrayBlocks",
    "FitReport",
    "FitResult",
    "Link",
    "PaperL1",
    "Penalty",
    "Problem",
    "Sigmoid",
    "Softmax",
    "Status",
    "fit_scores",
]
