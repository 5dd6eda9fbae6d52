"""The contract of solvers: when to stop, where they ended, and what they support.

A solver is a function ``(problem, theta, stop, watch) -> Outcome`` and a `Solver` that says what it can do. What a fit
needs beyond a smooth loss and ℓ1 weights is a `Need`; a solver that lacks one is refused by name before any work.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ecsel._typing import Array
    from ecsel.fitting.report import Status


KKT_TOLERANCE = 5e-5
"""KKT residual to aim at, in units of the larger of 1 and the empty model's largest gradient.

Where rounding allows no further step, twice as much still counts as converged."""


class Need(Enum):
    """What a fit may need of its solver, as an error names it."""

    EXPONENT_BOUNDS = "exponent_bounds"
    STREAMED_ROWS = "rows that are not in memory"
    START = "a given start (warm_start)"


@dataclass(frozen=True, slots=True)
class Solver:
    """The name of a solver, as the option has it, and what it supports."""

    name: str
    supports: frozenset[Need]

    def check(self, needs: Iterable[Need], others: Iterable[Solver]) -> None:
        """Refuse a need that is not supported, and name the solvers that support all of them.

        Examples
        --------
        >>> all_of_it, nothing = Solver("newton", frozenset(Need)), Solver("other", frozenset())
        >>> nothing.check([Need.EXPONENT_BOUNDS], [all_of_it, nothing])
        Traceback (most recent call last):
        ValueError: solver='other' does not support exponent_bounds: use solver='newton'.
        """
        wanted = set(needs)
        if missing := sorted(need.value for need in wanted - self.supports):
            able = " or ".join(repr(each.name) for each in others if wanted <= each.supports)
            raise ValueError(f"solver={self.name!r} does not support {' and '.join(missing)}: use solver={able}.")


@dataclass(frozen=True, slots=True)
class Outcome:
    """Where a solver ended and what it spent."""

    theta: Array
    objective: float
    loss: float
    kkt_residual: float
    status: Status
    iterations: int
    evaluations: int


@dataclass(frozen=True, slots=True)
class Stop:
    """When to stop: relative fall of the objective, KKT residual, iterations."""

    tol: float = 1e-6
    kkt: float = KKT_TOLERANCE
    max_iter: int = 200


Watch = Callable[[int, float, float], None]
"""Called after each iteration with its number, the objective and the KKT residual."""
