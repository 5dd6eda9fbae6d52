"""What the two case studies share: a split table of two classes, a row of figures per contender, thresholds by folds.

Baselines and their search spaces are those of the classification benchmark (`classification_methods.py`), tuned by the
log-loss of out-of-fold probabilities. Every threshold is the one that is best for F1 on out-of-fold rows. What is on
file is not tuned again: the options that won are fitted once more.
"""

from __future__ import annotations

import json
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import f1_score, log_loss, precision_score, recall_score, roc_auc_score

from benchmarks.classification_methods import METHODS, _forest, _logistic, _machine, _network, _xgboost
from benchmarks.classification_task import Task
from benchmarks.classification_tuning import PlattScaled, platt_scaling, pooled
from benchmarks.tables import Table
from ecsel import ECSELClassifier, explain
from ecsel.fitting import Adam
from ecsel.quality import best_threshold

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from benchmarks.classification_task import Split

Row = dict[str, Any]
MAKERS: dict[str, Callable[[dict[str, Any], Task], Any]] = {
    "logistic regression": _logistic,
    "random forest": _forest,
    "XGBoost": _xgboost,
    "SVM": _machine,
    "MLP": _network,
}
"""What makes a rival from the options that its tuning found."""


@dataclass(frozen=True)
class Contest:
    """Training and test rows, their classes (0 and 1), and the folds of the training rows."""

    train: pd.DataFrame
    test: pd.DataFrame
    y_train: NDArray[np.intp]
    y_test: NDArray[np.intp]
    folds: list[Split]
    seed: int = 42

    def numbers(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return training and test rows as numbers, text one-hot: what the other libraries get."""
        both = Table("both", pd.concat([self.train, self.test]), np.concatenate([self.y_train, self.y_test])).numbers
        return both[: len(self.train)], both[len(self.train) :]

    def baseline(self, name: str, n_trials: int) -> tuple[Any, Row]:
        """Tune and fit a rival; return it with its figures."""
        train, test = self.numbers()
        found = METHODS[name].fit(Task(self.train, train, self.y_train, self.folds, n_trials, "log_loss", self.seed))
        threshold, cv_f1 = out_of_fold(found.model, train, self.y_train, self.folds)
        figures = quality(self.y_test, found.model.predict_proba(test)[:, 1], threshold) | {"cv_f1": cv_f1}
        row = figures | {"seconds": found.fit_seconds, "terms": "", "active": ""}
        return found.model, row | {"options": json.dumps(dict(found.options)), "equation": ""}

    def again(self, name: str, row: Mapping[str, str]) -> Any:
        """Fit a rival with the options on file."""
        train, _ = self.numbers()
        task = Task(self.train, train, self.y_train, self.folds, 1, "log_loss", self.seed)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            return MAKERS[name](json.loads(row["options"]), task).fit(train, self.y_train)

    def equation(
        self, model: ECSELClassifier, seconds: float, *, cv_f1: float | None = None, options: Any = None
    ) -> Row:
        """Return the figures of a fitted equation; without `cv_f1` its threshold was chosen by F1 on folds."""
        (score,) = model.equations_.values()
        if cv_f1 is None:
            (_, fp), (fn, tp) = model.out_of_fold_.confusion  # type: ignore[union-attr]  # its threshold is a rule's
            cv_f1 = 2 * tp / (2 * tp + fp + fn)
        view = explain.ModelView.of(model)
        sizes = np.abs(view.terms.exponents).max(axis=0) @ view.grouping
        # Adam leaves small exponents where Newton leaves none; those that print as 0.00 are not counted.
        active = np.count_nonzero(sizes >= 0.005 if isinstance(model.solver, Adam) else sizes)
        figures = quality(self.y_test, model.predict_proba(self.test)[:, 1], model.threshold_) | {"cv_f1": cv_f1}
        row: Row = figures | {"seconds": seconds, "terms": model.n_terms_, "active": active}
        chosen: Mapping[str, Any] = options or {"l1": model.l1_}
        return row | {"options": json.dumps(dict(chosen)), "equation": format(score, ".3g")}


def out_of_fold(model: Any, X: NDArray[np.float64], y: NDArray[np.intp], folds: list[Split]) -> tuple[float, float]:
    """Return the threshold that is best for F1 on rows that a fold's model had not seen, and that F1."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        if isinstance(model, PlattScaled):
            values = pooled(model.machine, X, y, folds, "decision_function")
            p = platt_scaling(values, y).predict_proba(values)[:, 1]
        else:
            p = pooled(model, X, y, folds, "predict_proba")[:, 1]
    threshold = best_threshold(y, p, "f1")
    return threshold, float(f1_score(y, p >= threshold))


def quality(y: NDArray[np.intp], p: NDArray[np.float64], threshold: Any) -> dict[str, float]:
    """Return the figures of probabilities and of the decisions at a threshold."""
    decided = p >= threshold
    return {
        "accuracy": float((decided == y).mean()),
        "f1": float(f1_score(y, decided)),
        "recall": float(recall_score(y, decided)),
        "precision": float(precision_score(y, decided, zero_division=0)),
        "auc": float(roc_auc_score(y, p)),
        "log_loss": float(log_loss(y, p)),
        "threshold": float(threshold),
    }
