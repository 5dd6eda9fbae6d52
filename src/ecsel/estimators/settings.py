"""From the options of a classifier to the settings of a fit: checked once, resolved once."""

from __future__ import annotations

import numbers
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ecsel.estimators.options import check_choice, check_integer, check_number
from ecsel.fitting import LINKS, PENALTIES, Adam, Link, Penalty, Sigmoid, Softmax

if TYPE_CHECKING:
    from ecsel.estimators.classifier import ECSELClassifier


@dataclass(frozen=True, slots=True)
class Settings:
    """What is fixed before the data are seen; None where the data decide."""

    n_terms: int | None
    l1: float | None
    penalty_name: str
    solver: str | Adam
    n_threads: int

    def penalty(self, strength: float) -> Penalty:
        """Return the penalty of this strength."""
        penalty: Penalty = PENALTIES[self.penalty_name](strength)
        return penalty


def check(model: ECSELClassifier) -> Settings:
    """Check every option; the first one that is wrong is named."""
    check_integer("max_terms", model.max_terms, least=1)
    check_integer("max_iter", model.max_iter, least=1)
    check_number("tol", model.tol, least=0, strict=True)
    if isinstance(model.two_sided, str):
        check_choice("two_sided", model.two_sided, ("auto",))
    solver = model.solver
    if not isinstance(solver, Adam):
        solver = check_choice("solver", solver, ("newton", "lbfgs", "adam"))
        solver = Adam() if solver == "adam" else solver
    return Settings(
        None if _is_auto(model.n_terms) else check_integer("n_terms", model.n_terms, least=1),
        None if _is_auto(model.l1) else check_number("l1", model.l1, least=0),
        check_choice("penalty", model.penalty, tuple(PENALTIES)),
        solver,
        _threads(model.n_jobs),
    )


def _is_auto(value: Any) -> bool:
    return isinstance(value, str) and value == "auto"


def resolve_link(option: str, n_classes: int) -> Link:
    """Return the link; the sigmoid is for two classes only."""
    name = check_choice("link", option, ("auto", *LINKS))
    if name == "sigmoid" and n_classes != 2:
        raise ValueError(f"link='sigmoid' needs two classes, but y has {n_classes}: use 'softmax' or 'auto'.")
    return Sigmoid() if name == "sigmoid" or (name == "auto" and n_classes == 2) else Softmax(n_classes)


def resolve_threshold(option: float | None, n_classes: int) -> float | None:
    """Return the probability from which the second class is predicted; None where there are more than two."""
    if n_classes != 2:
        if option is not None:
            raise ValueError(f"threshold={option!r} is for two classes only, but y has {n_classes}.")
        return None
    return 0.5 if option is None else check_number("threshold", option, least=0, most=1)


def _threads(n_jobs: Any) -> int:
    """Return the number of threads: all cores for None, as many fewer as a negative number says."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if n_jobs is None:
        return cores
    if n_jobs == 0 or isinstance(n_jobs, bool) or not isinstance(n_jobs, numbers.Integral):
        raise ValueError(f"n_jobs={n_jobs!r} has no meaning: use None for all cores, or a whole number of threads.")
    return max(1, cores + 1 + int(n_jobs)) if n_jobs < 0 else int(n_jobs)
