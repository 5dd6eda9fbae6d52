"""From the options of a classifier to the settings of a fit: checked once, resolved once."""

from __future__ import annotations

import numbers
import os
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ecsel.estimators.bounds import exponent_bounds
from ecsel.estimators.guarantees import slope_signs
from ecsel.estimators.options import check_choice, check_flag, check_integer, check_number, is_number
from ecsel.fitting import L1, LINKS, TARIFFS, Adam, Limits, Link, Newton, PaperL1, Penalty, Sigmoid, Softmax, Tariff
from ecsel.fitting.limits import FREE
from ecsel.quality.thresholds import RULES, cost_matrix

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
    penalty_option: str | Tariff
    solver: str | Newton | Adam
    n_threads: int
    mirrors_chosen: bool
    """Whether the folds decide which columns get a mirror image."""
    limits: Limits = FREE
    """Signs of slopes and bounds of exponents."""
    columns: NDArray[np.intp] | None = None
    """The number of the column that each feature comes from."""

    def of_table(
        self, model: ECSELClassifier, encoder: TableEncoder, classes: Sequence[Any], n_scores: int
    ) -> Settings:
        """Return the settings for the features of a table."""
        signs = slope_signs(model.monotone, encoder, classes, n_scores)
        _, columns = np.unique([feature.column for feature in encoder.features], return_inverse=True)
        return replace(self, limits=Limits(signs, exponent_bounds(model.exponent_bounds, encoder)), columns=columns)

    def with_features(self, kept: NDArray[np.bool_]) -> Settings:
        """Return the same settings for some of the features."""
        columns = None if self.columns is None else self.columns[kept]
        return replace(self, limits=self.limits.of_features(kept), columns=columns)

    def penalty(self, strength: float) -> Penalty:
        """Return the penalty of this strength."""
        option = self.penalty_option
        if not isinstance(option, str):
            return L1(strength, option, self.limits, self.columns)
        if option == "paper":
            return PaperL1(strength, limits=self.limits)
        return L1(strength, TARIFFS[option]() if option in TARIFFS else None, self.limits, self.columns)


def check(model: ECSELClassifier) -> Settings:
    """Check every option; the first one that is wrong is named."""
    check_integer("max_terms", model.max_terms, least=1)
    check_integer("max_iter", model.max_iter, least=1)
    check_number("tol", model.tol, least=0, strict=True)
    check_flag("calibrate", model.calibrate)
    if isinstance(model.two_sided, str):
        check_choice("two_sided", model.two_sided, ("auto",))
    solver = model.solver
    if not isinstance(solver, Newton | Adam):
        solver = check_choice("solver", solver, ("newton", "lbfgs", "adam"))
        solver = Adam() if solver == "adam" else solver
    penalty = model.penalty
    if isinstance(penalty, str) or not isinstance(penalty, Tariff):
        penalty = check_choice("penalty", penalty, ("l1", "paper", *TARIFFS))
    bent = model.fit_intercept and penalty != "paper"
    if model.monotone and not bent:
        raise ValueError('monotone needs penalty="l1", or another but "paper", and fit_intercept=True.')
    if model.exponent_bounds is not None and bent and solver == "lbfgs":
        raise ValueError("exponent_bounds needs solver='newton' or 'adam'.")
    if model.max_features is not None:
        check_integer("max_features", model.max_features, least=1)
    n_terms = None if _is_auto(model.n_terms) else check_integer("n_terms", model.n_terms, least=1)
    l1 = None if _is_auto(model.l1) else check_number("l1", model.l1, least=0)
    return Settings(
        n_terms,
        l1,
        penalty,
        solver,
        _threads(model.n_jobs),
        _is_auto(model.two_sided) and (n_terms is None or l1 is None),
    )


def _is_auto(value: Any) -> bool:
    return isinstance(value, str) and value == "auto"


def resolve_link(option: str, n_classes: int) -> Link:
    """Return the link; the sigmoid is for two classes only."""
    name = check_choice("link", option, ("auto", *LINKS))
    if name == "sigmoid" and n_classes != 2:
        raise ValueError(f"link='sigmoid' needs two classes, but y has {n_classes}: use 'softmax' or 'auto'.")
    return Sigmoid() if name == "sigmoid" or (name == "auto" and n_classes == 2) else Softmax(n_classes)


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
    size_is_given = settings.n_terms is not None and settings.l1 is not None
    return calibrate or not size_is_given or not (rule is None or isinstance(rule, float))


def _threads(n_jobs: Any) -> int:
    """Return the number of threads: all cores for None, as many fewer as a negative number says."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if n_jobs is None:
        return cores
    if n_jobs == 0 or isinstance(n_jobs, bool) or not isinstance(n_jobs, numbers.Integral):
        raise ValueError(f"n_jobs={n_jobs!r} has no meaning: use None for all cores, or a whole number of threads.")
    return max(1, cores + 1 + int(n_jobs)) if n_jobs < 0 else int(n_jobs)
