"""Fitting: row blocks, losses, penalties, term forms and the solvers that put them together.

A fit minimises  Σ_i w_i ℓ(y_i, z(x_i)) + penalty(θ)  where every score z is a sum of terms in the standardised logs of
the positive features. `Problem` states it, `newton`, `lbfgs` and `adam` solve it, `fit_scores` chooses where to start.
"""

import warnings
from typing import Any

from ecsel._version import OLD_NAMES_GO_IN
from ecsel.fitting.fit import FitResult, fit_scores
from ecsel.fitting.objective.constraints import Constraints
from ecsel.fitting.objective.losses import Logistic, Loss, Softmax
from ecsel.fitting.objective.problem import Problem
from ecsel.fitting.penalties import (
    L0,
    L1,
    MCP,
    PENALTIES,
    SCAD,
    ElasticNet,
    EquationPenalty,
    Group,
    PaperL1,
    Penalty,
)
from ecsel.fitting.report import FitReport, Status
from ecsel.fitting.rows.blocks import ArrayBlocks
from ecsel.fitting.solvers.adam import Adam
from ecsel.fitting.solvers.multistart import Newton

__all__ = [
    "L0",
    "L1",
    "MCP",
    "PENALTIES",
    "SCAD",
    "Adam",
    "ArrayBlocks",
    "Constraints",
    "ElasticNet",
    "EquationPenalty",
    "FitReport",
    "FitResult",
    "Group",
    "Logistic",
    "Loss",
    "Newton",
    "PaperL1",
    "Penalty",
    "Problem",
    "Softmax",
    "Status",
    "fit_scores",
]

_RENAMED = {"Tariff": "Penalty", "TARIFFS": "PENALTIES", "Limits": "Constraints"}


def __getattr__(name: str) -> Any:
    """Return what an older name stands for, with a warning that has the new one."""
    if name not in _RENAMED:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    message = f"{name} is now called {_RENAMED[name]}; the old name goes in {OLD_NAMES_GO_IN}."
    warnings.warn(message, FutureWarning, stacklevel=2)
    return globals()[_RENAMED[name]]
