"""From the options of a classifier to the settings of a fit: checked once, resolved once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedShuffleSplit, check_cv

from ecsel.estimators.options import check_choice, check_integer, check_number
from ecsel.fitting import LINKS, PENALTIES, Adam, Link, Penalty, Sigmoid, Softmax

if TYPE_CHECKING:
    from ecsel.estimators.classifier import ECSELClassifier

Fold = tuple[NDArray[np.intp], NDArray[np.intp]]


@dataclass(frozen=True, slots=True)
class Settings:
    """What is fixed before the data are seen; None where the data decide."""

    n_terms: int | None
    l1: float | None
    penalty_name: str
    solver: str | Adam

    def penalty(self, strength: float) -> Penalty:
        """Return the penalty of this strength."""
        return PENALTIES[self.penalty_name](strength)


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


def usable_folds(wished: int, codes: NDArray[np.intp], weights: NDArray[np.float64]) -> int:
    """Return the number of folds, no more than the rarest class can fill."""
    check_integer("cv", wished, least=2)
    rarest = float(np.bincount(codes, weights=weights).min())
    return max(2, min(wished, int(rarest))) if rarest >= 2 else 2


def explicit_folds(cv: Any, y: NDArray[Any]) -> list[Fold]:
    """Return the folds of a splitter or of a list of splits."""
    splitter = check_cv(cv, y, classifier=True)
    folds = [(np.asarray(a), np.asarray(b)) for a, b in splitter.split(np.empty((len(y), 1)), y)]
    if not folds:
        raise ValueError("cv gives no splits: use a number of folds, a splitter or a list of (train, test) indices.")
    return folds


def thin(
    logs: NDArray[Any],
    codes: NDArray[np.intp],
    weights: NDArray[np.float64],
    folds: Sequence[Fold],
    size: int,
    seed: int,
) -> tuple[NDArray[Any], NDArray[np.intp], NDArray[np.float64], list[Fold]]:
    """Keep a stratified sample of the rows, and of the folds what lies in it."""
    kept = np.sort(next(StratifiedShuffleSplit(1, train_size=size, random_state=seed).split(codes, codes))[0])
    place = np.full(len(codes), -1)
    place[kept] = np.arange(len(kept))
    inside = [(place[a], place[b]) for a, b in folds]
    return logs[:, kept], codes[kept], weights[kept], [(a[a >= 0], b[b >= 0]) for a, b in inside]
