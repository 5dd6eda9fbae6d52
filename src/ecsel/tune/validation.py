"""How good a set of options is: every fold's model evaluated on the rows it was not trained on.

Scores that belong to a space are taken of the pooled rows of all folds: the weighted F1 of the predicted classes, or
the F1 of the second class at the threshold that makes it largest. A scorer of scikit-learn is averaged over the folds.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import narwhals.stable.v2 as nw
import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import f1_score
from sklearn.model_selection import StratifiedKFold, check_cv

from ecsel.estimators.classifier import ECSELClassifier
from ecsel.estimators.options import check_integer
from ecsel.fitting import Status
from ecsel.quality import best_threshold

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from numpy.typing import NDArray

Split = tuple["NDArray[np.intp]", "NDArray[np.intp]"]


@dataclass(frozen=True, slots=True)
class TrialResult:
    """A score, higher is better, and the threshold that belongs to it where one was chosen."""

    score: float
    threshold: float | None = None


@dataclass(frozen=True, slots=True)
class Validator:
    """A table with its folds, and what counts on it; `scorer` None means the score of the space."""

    X: Any
    y: NDArray[Any]
    folds: list[Split]
    scorer: Callable[[Any, Any, Any], float] | None
    chooses_threshold: bool

    def evaluate(self, options: Mapping[str, Any]) -> TrialResult:
        """Fit a model on every fold and measure it."""
        if self.scorer is not None:
            scores = [
                self.scorer(model, take_rows(self.X, test), self.y[test]) for model, test in self._models(options)
            ]
            return TrialResult(float(np.mean(scores)))
        labels = np.concatenate([self.y[test] for _, test in self.folds])
        models = self._models(options)
        if not self.chooses_threshold:
            predicted = [model.predict(take_rows(self.X, test)) for model, test in models]
            return TrialResult(float(f1_score(labels, np.concatenate(predicted), average="weighted", zero_division=0)))
        p = np.concatenate([model.predict_proba(take_rows(self.X, test))[:, 1] for model, test in models])
        threshold = best_threshold(labels, p, "f1")
        positive = np.unique(self.y)[1]
        score = float(f1_score(labels == positive, p >= threshold, zero_division=0))
        return TrialResult(score, threshold)

    def _models(self, options: Mapping[str, Any]) -> Iterator[tuple[ECSELClassifier, NDArray[np.intp]]]:
        """Yield the model of each fold with its test rows, quietly: a fold says nothing about the user's table."""
        for train, test in self.folds:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UserWarning)
                yield fit_or_stop(ECSELClassifier(**options), take_rows(self.X, train), self.y[train]), test


def fit_or_stop(model: ECSELClassifier, X: Any, y: NDArray[Any]) -> ECSELClassifier:
    """Fit a model; an interrupt ends the search, where the estimator alone would keep its best equations so far."""
    with warnings.catch_warnings():
        # The trainer's budget of epochs is one of the options that are searched: to use it up is no failure.
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(X, y)
    if model.fit_report_.status is Status.INTERRUPTED:
        raise KeyboardInterrupt
    return model


def take_rows(X: Any, rows: NDArray[np.intp]) -> Any:
    """Return rows of an array or of any data frame.

    >>> take_rows([[1, 2], [3, 4], [5, 6]], np.array([2, 0]))
    array([[5, 6],
           [1, 2]])
    """
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    if isinstance(frame, nw.DataFrame):
        return frame[rows.tolist()].to_native()
    return np.asarray(X)[rows]


def make_folds(cv: Any, y: NDArray[Any], seed: int) -> list[Split]:
    """Return stratified shuffled folds for a number, else the folds of a splitter or a list, all classes in each."""
    classes, counts = np.unique(y, return_counts=True)
    if isinstance(cv, (int, np.integer)):
        n_folds = check_integer("cv", cv, least=2)
        if counts.min() < n_folds:
            rare = classes.tolist()[int(counts.argmin())]
            raise ValueError(
                f"cv={n_folds} needs {n_folds} rows of every class, but {rare!r} has {counts.min()}: use fewer folds."
            )
        cv = StratifiedKFold(n_folds, shuffle=True, random_state=seed)
    folds = [
        (np.asarray(a), np.asarray(b)) for a, b in check_cv(cv, y, classifier=True).split(np.empty((len(y), 1)), y)
    ]
    if not folds:
        raise ValueError("cv gives no splits: use a number of folds, a splitter or a list of (train, test) indices.")
    for i, (train, test) in enumerate(folds):
        absent = set(classes.tolist()) - set(y[train].tolist())
        if absent or not len(test):
            what = f"trains on no row of class {next(iter(absent))!r}" if absent else "has no rows to judge"
            raise ValueError(f"cv: split {i} {what}.")
    return folds
