"""A thorough search for the lowest minimum: many starts race, and the best is kicked.

A sum of terms has many local minima; growing it (`starts`) finds a good one, not always the lowest. With
`Newton(starts=N)` N − 1 scattered starts run beside the grown one; after 32 iterations, before which the objective
tells little about the end, the best quarter goes on. From the lowest point so far single terms are then replaced by
scattered ones, and the fit goes on from there: few starts from scratch are near minima that differ in one term.
"""

from __future__ import annotations

import numbers
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ecsel.fitting.newton import Outcome, Stop
from ecsel.fitting.report import Status
from ecsel.fitting.starts import charged, grow, interrupted, run_all, scattered

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ecsel.fitting.newton import Watch
    from ecsel.fitting.problem import Problem

Array = NDArray[np.floating]

FIRST_ROUND, GO_ON = Stop(1e-5, np.inf, 32), 4
"""What every start is given, and one in how many goes on."""
STARTS_PER_ROUND_OF_KICKS, KICKS_AT_ONCE = 12, 4
"""Several kicks start from the same point, so that threads have work."""
KICKED = Stop(1e-4, np.inf, 10)
NEAR = 0.05
"""A kick is followed to its end where the objective is within this share of the lowest."""


@dataclass(frozen=True, slots=True)
class Newton:
    """Options of the default solver; hand an instance to `solver` to search more than one start.

    Parameters
    ----------
    starts : int, default=1
        1 grows the terms one after the other, which is quick and finds a good minimum. More starts look for a lower
        one, at the given number of terms and strength; around 64 find the lowest on most tables.

    Examples
    --------
    >>> from ecsel import ECSELClassifier
    >>> from ecsel.fitting import Newton
    >>> ECSELClassifier(n_terms=2, l1=1e-3, solver=Newton(starts=64))
    ECSELClassifier(...)
    """

    starts: int = 1

    def __post_init__(self) -> None:
        starts: object = self.starts
        if type(starts) is bool or not isinstance(starts, numbers.Integral) or starts < 1:
            raise ValueError(f"Newton: starts must be a positive whole number, got {starts!r}.")


def explore(
    problem: Problem,
    class_shares: Array,
    rng: np.random.Generator,
    options: Newton,
    stop: Stop,
    watch: Watch | None = None,
) -> tuple[list[Outcome], list[float]]:
    """Return what was reached, best first (charged with all work), and the objectives of the separate starts."""
    grown, spread = grow(problem, class_shares, stop, watch)
    if options.starts == 1 or grown.status is Status.INTERRUPTED:
        return [grown], spread
    starts = [scattered(problem, class_shares, rng) for _ in range(options.starts - 1)]
    runs = _best_first(run_all(problem, starts, FIRST_ROUND, watch))
    spent = [grown, *runs]
    if not interrupted(spent):
        runs = run_all(problem, [run.theta for run in runs[: -(-len(runs) // GO_ON)]], stop, watch)
        spent += runs
    reached = _best_first([grown, *runs])
    spread = [run.objective for run in reached]
    for _ in range(-(-options.starts // STARTS_PER_ROUND_OF_KICKS)):
        if interrupted(spent):
            break
        runs = _kicked(problem, class_shares, reached[0], rng, stop, watch)
        spent += runs
        reached = _best_first([*reached, *runs])
    best = charged(reached[0], [run for run in spent if run is not reached[0]])
    status = Status.INTERRUPTED if interrupted(spent) else best.status
    return [replace(best, status=status), *reached[1:]], spread


def _best_first(runs: Sequence[Outcome]) -> list[Outcome]:
    return sorted(runs, key=lambda run: run.objective)


def _kicked(
    problem: Problem, class_shares: Array, best: Outcome, rng: np.random.Generator, stop: Stop, watch: Watch | None
) -> list[Outcome]:
    starts = [_kick(problem, class_shares, best.theta, rng) for _ in range(KICKS_AT_ONCE)]
    runs = run_all(problem, starts, KICKED, watch)
    limit = best.objective + NEAR * abs(best.objective)
    near = [run for run in runs if run.objective <= limit]
    if interrupted(runs) or not near:
        return runs
    return [*runs, *run_all(problem, [run.theta for run in near], stop, watch)]


def _kick(problem: Problem, class_shares: Array, theta: Array, rng: np.random.Generator) -> Array:
    """Replace one term of one score, or one of every score, by a scattered one."""
    intercepts, shapes, slopes = (part.copy() for part in problem.unpack(theta))
    _, other_shapes, other_slopes = problem.unpack(scattered(problem, class_shares, rng))
    scores, terms = shapes.shape
    rows = np.arange(scores) if rng.random() < 0.5 else rng.integers(scores, size=1)
    columns = rng.integers(terms, size=len(rows))
    shapes[rows, columns], slopes[rows, columns] = other_shapes[rows, columns], other_slopes[rows, columns]
    return problem.pack(intercepts, shapes, slopes)
