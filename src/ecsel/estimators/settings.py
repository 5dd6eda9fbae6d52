"""From the options of a classifier to the settings of a fit: checked once, resolved once."""

from __future__ import annotations

import numbers
import os
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ecsel.estimators.bounds import exponent_bounds
from ecsel.estimators.guarantees import slope_signs
from ecsel.estimators.options import check_choice, check_flag, check_integer, check_number, is_number
from ecsel.fitting import L1, PENALTIES, Adam, Constraints, EquationPenalty, Loss, Newton, PaperL1, Penalty
from ecsel.fitting.objective.constraints import UNCONSTRAINED
from ecsel.fitting.objective.losses import class_loss
from ecsel.fitting.solvers import SOLVERS, Need, check_support
from ecsel.quality.thresholds import RULES, cost_matrix
from ecsel.search.dictionary import SINGLES
from ecsel.signomial.links import LINKS, SIGMOID, SOFTMAX, Link

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from ecsel.estimators.classifier import ECSELClassifier
    from ecsel.tables import TableEncoder

    ThresholdRule = float | str | NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Settings:
    """What is fixed before the data are seen; None where the data decide."""

    n_terms: int | None
    l1: float | None
    penalty_option: str | Penalty
    solver: str | Newton | Adam
    n_threads: int
    link_option: str = "auto"
    constraints: Constraints = UNCONSTRAINED
    """Signs of slopes and bounds of exponents."""
    columns: NDArray[np.intp] | None = None
    """The number of the column that each feature comes from."""
    time_limit: float | None = None
    """Seconds that are left for the search."""

    @property
    def searches(self) -> bool:
        """Whether the readable equations are searched for: without a strength there is no penalty to fit under."""
        return self.l1 is None

    def after(self, seconds: float) -> Settings:
        """Return the settings when some of the time is over, such as that of reading the table."""
        if self.time_limit is None:
            return self
        return replace(self, time_limit=max(self.time_limit - seconds, MIN_SECONDS))

    def link(self, n_classes: int) -> Link:
        """Return the link of so many classes."""
        return resolve_link(self.link_option, n_classes)

    def loss(self, n_classes: int) -> Loss:
        """Return the loss of the paper's model for so many classes."""
        return class_loss(self.link(n_classes), n_classes)

    def of_table(
        self, model: ECSELClassifier, encoder: TableEncoder, classes: Sequence[Any], n_scores: int
    ) -> Settings:
        """Return the settings for the features of a table."""
        signs = slope_signs(model.monotone, encoder, classes, n_scores)
        _, columns = np.unique([feature.column for feature in encoder.features], return_inverse=True)
        return replace(
            self, constraints=Constraints(signs, exponent_bounds(model.exponent_bounds, encoder)), columns=columns
        )

    def penalty(self, strength: float) -> EquationPenalty:
        """Return the penalty of this strength."""
        option = self.penalty_option
        if not isinstance(option, str):
            return L1(strength, option, self.constraints, self.columns)
        if option == "paper":
            return PaperL1(strength, constraints=self.constraints)
        return L1(strength, PENALTIES[option]() if option in PENALTIES else None, self.constraints, self.columns)


def check(model: ECSELClassifier) -> Settings:
    """Check every option; the first one that is wrong is named."""
    for name in ("max_terms", "max_features", "digits"):
        if getattr(model, name) is not None:
            check_integer(name, getattr(model, name), least=1)
    check_integer("max_factors", model.max_factors, least=1)
    check_integer("max_iter", model.max_iter, least=1)
    check_number("tol", model.tol, least=0, strict=True)
    check_flag("calibrate", model.calibrate)
    check_flag("thresholds", model.thresholds)
    check_choice("rule", model.rule, RULES_OF_SIZE)
    check_allowed_exponents(model.allowed_exponents)
    if model.time_limit is not None:
        check_number("time_limit", model.time_limit, least=0, strict=True)
    solver = model.solver
    if not isinstance(solver, Newton | Adam):
        solver = check_choice("solver", solver, tuple(SOLVERS))
        solver = Adam() if solver == "adam" else solver
    penalty = model.penalty
    if isinstance(penalty, str) or not isinstance(penalty, Penalty):
        penalty = check_choice("penalty", penalty, ("l1", "paper", *PENALTIES))
    check_choice("link", model.link, LINK_OPTIONS)
    n_terms = None if _is_auto(model.n_terms) else check_integer("n_terms", model.n_terms, least=1)
    l1 = None if _is_auto(model.l1) else check_number("l1", model.l1, least=0)
    if l1 is None:
        _refuse_options(model, OF_THE_PAPER, "belongs to the model of n_terms=K, l1=λ: give both, or leave it out")
    else:
        if n_terms is None:
            raise ValueError(
                f"l1={model.l1!r} needs a number of terms: give n_terms=K, or leave l1 out for the search."
            )
        _refuse_options(model, OF_THE_SEARCH, "belongs to the search: leave l1 out, or leave it out")
        has_angles = model.fit_intercept and penalty != "paper"
        if model.monotone and not has_angles:
            raise ValueError('monotone needs penalty="l1", or another but "paper", and fit_intercept=True.')
        if model.exponent_bounds is not None and has_angles:
            check_support(solver, {Need.EXPONENT_BOUNDS})
    return Settings(n_terms, l1, penalty, solver, thread_count(model.n_jobs), model.link, time_limit=model.time_limit)


MIN_SECONDS = 1e-3
"""A search that has no time left still returns its first answer."""
RULES_OF_SIZE = ("simplest", "best")
LINK_OPTIONS = ("auto", *(name for name, link in LINKS.items() if link.has_classes))
OF_THE_PAPER: dict[str, Any] = {
    "penalty": "l1",
    "fit_intercept": True,
    "scaling": "auto",
    "two_sided": False,
    "solver": "newton",
    "warm_start": False,
}
"""Options of the paper's model, with the values that ask for nothing."""
OF_THE_SEARCH: dict[str, Any] = {
    "max_terms": None,
    "allowed_exponents": None,
    "thresholds": False,
    "time_limit": None,
}


def _refuse_options(model: ECSELClassifier, defaults: dict[str, Any], reason: str) -> None:
    for name, default in defaults.items():
        value = getattr(model, name)
        if not (type(value) is type(default) and value == default):
            raise ValueError(f"{name}={value!r} {reason}.")


def check_allowed_exponents(option: Any) -> None:
    """Refuse what is no list of exponents that the dictionary has."""
    if option is None:
        return
    known = {0.0 if f.log else float(f.exponent) for f in SINGLES}
    wrong = None
    if isinstance(option, str) or not isinstance(option, Iterable):
        wrong = option
    else:
        exponents = list(option)
        strangers = [b for b in exponents if not (b == "log" or (is_number(b) and float(b) in known))]
        wrong = strangers[0] if strangers else (option if not exponents else None)
    if wrong is not None:
        raise ValueError(
            f"allowed_exponents: {wrong!r} is not known; give a list of some of -2, -1, -0.5, 0.5, 1, 2, 3 and 'log'."
        )


def _is_auto(value: Any) -> bool:
    return isinstance(value, str) and value == "auto"


def resolve_link(option: str, n_classes: int) -> Link:
    """Return the link; the sigmoid is for two classes only."""
    name = check_choice("link", option, LINK_OPTIONS)
    link = LINKS.get(name, SIGMOID if SIGMOID.serves(n_classes) else SOFTMAX)
    if link.has_reference and not link.serves(n_classes):
        raise ValueError(f"link='sigmoid' needs two classes, but y has {n_classes}: use 'softmax' or 'auto'.")
    return link


def resolve_threshold(option: Any, n_classes: int) -> ThresholdRule | None:
    """Return the probability from which the second class is predicted, or the rule that will choose it.

    None where there are more than two classes.
    """
    if n_classes != 2:
        if option is not None:
            raise ValueError(f"threshold={option!r} is for two classes only, but y has {n_classes}.")
        return None
    if option is None:
        return 0.5
    if is_number(option):
        return check_number("threshold", option, least=0, most=1)
    return option if isinstance(option, str) and option in RULES else cost_matrix(option)


def needs_folds(settings: Settings, rule: ThresholdRule | None, *, calibrate: bool) -> bool:
    """Whether anything is left to decide on folds: the size, the threshold or the temperature."""
    return calibrate or settings.searches or not (rule is None or isinstance(rule, float))


def thread_count(n_jobs: Any) -> int:
    """Return the number of threads: all cores for None, as many fewer as a negative number says."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if n_jobs is None:
        return cores
    if n_jobs == 0 or isinstance(n_jobs, bool) or not isinstance(n_jobs, numbers.Integral):
        raise ValueError(f"n_jobs={n_jobs!r} has no meaning: use None for all cores, or a whole number of threads.")
    return max(1, cores + 1 + int(n_jobs)) if n_jobs < 0 else int(n_jobs)
