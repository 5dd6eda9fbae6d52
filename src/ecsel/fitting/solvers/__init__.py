"""Solvers: one file each; `base` is the contract."""

from ecsel.fitting.solvers import adam, lbfgs, newton
from ecsel.fitting.solvers.adam import Adam
from ecsel.fitting.solvers.base import Need, Solver
from ecsel.fitting.solvers.multistart import Newton

SOLVERS = {solver.name: solver for solver in (newton.SOLVER, lbfgs.SOLVER, adam.SOLVER)}

__all__ = ["SOLVERS", "Adam", "Need", "Newton", "Solver", "check_support", "solver_of"]


def solver_of(option: str | Newton | Adam) -> Solver:
    """Return the solver that an option names, or whose options it is."""
    if isinstance(option, Newton):
        return newton.SOLVER
    return adam.SOLVER if isinstance(option, Adam) else SOLVERS[option]


def check_support(option: str | Newton | Adam, needs: set[Need]) -> None:
    """Refuse a solver that lacks what a fit needs; the error names both, and the solvers that have it."""
    solver_of(option).check(needs, SOLVERS.values())
