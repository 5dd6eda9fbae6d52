"""Tuning of a rival: Optuna's TPE over its space, judged on the pooled out-of-fold probabilities of the inner folds.

The first trial is at or near the library's defaults. Pooling costs one fit per inner fold and trial for every method,
the support-vector machine included: its decision values f are pooled, a logistic regression p(c) ∝ exp(a_c·f + b_c)
(Platt's scaling) is fitted to them, and the same scaling turns the final machine's values into probabilities.
"""

from __future__ import annotations

import time
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score, log_loss
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from numpy.typing import NDArray

    from benchmarks.classification_task import Split, Task


@dataclass(frozen=True, slots=True)
class Fitted:
    """A model that was tuned and fitted on all training rows, with the options that won."""

    model: Any
    options: Mapping[str, Any]
    fit_seconds: float
    """Wall clock of the fit on all training rows, without tuning."""


class PlattScaled(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A machine with decision values, made probabilistic by Platt's scaling of its out-of-fold decision values."""

    def __init__(self, machine: Any, folds: list[Split]) -> None:
        self.machine = machine
        self.folds = folds

    def fit(self, X: Any, y: NDArray[np.intp]) -> Self:
        """Fit the scaling on out-of-fold decision values, then the machine on all rows."""
        self.scaling_ = platt_scaling(pooled(self.machine, X, y, self.folds, "decision_function"), y)
        self.machine_ = clone(self.machine).fit(X, y)
        self.classes_ = self.machine_.classes_
        return self

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the probabilities of the classes."""
        return np.asarray(self.scaling_.predict_proba(as_columns(self.machine_.decision_function(X))))


def pooled(model: Any, X: Any, y: NDArray[np.intp], folds: list[Split], method: str) -> NDArray[np.float64]:
    """Return the outputs of every row from the model that did not see it."""
    parts = [as_columns(getattr(clone(model).fit(X[train], y[train]), method)(X[test])) for train, test in folds]
    out = np.empty((len(y), parts[0].shape[1]))
    for (_, test), part in zip(folds, parts, strict=True):
        out[test] = part
    return out


def platt_scaling(values: NDArray[np.float64], y: NDArray[np.intp]) -> Any:
    """Return the logistic regression of the classes on standardised decision values.

    Its default ridge is kept: without one, classes that are apart out of fold get probabilities of 0 and 1.
    """
    return make_pipeline(StandardScaler(), LogisticRegression()).fit(values, y)


def as_columns(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return decision values or probabilities as a matrix."""
    return np.asarray(values, dtype=np.float64).reshape(len(values), -1)


def criterion_value(name: str, p: NDArray[np.float64], y: NDArray[np.intp]) -> float:
    """Return what tuning minimises: log-loss, minus the weighted F1 of the most probable classes, or squared error."""
    if name == "f1":
        return -float(f1_score(y, p.argmax(axis=1), average="weighted", zero_division=0))
    if name == "mse":
        return float(np.mean((p[:, 0] - y) ** 2))
    return float(log_loss(y, p / p.sum(axis=1, keepdims=True), labels=np.arange(p.shape[1])))


def held_out_value(model: Any, task: Task) -> float:
    """Return the criterion of a model on the rows that its inner folds leave out."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # a budget of iterations is part of the race
        if isinstance(model, PlattScaled):
            values = pooled(model.machine, task.numbers, task.y, task.folds, "decision_function")
            p = platt_scaling(values, task.y).predict_proba(values)
        else:
            output = "predict" if task.criterion == "mse" else "predict_proba"
            p = pooled(model, task.numbers, task.y, task.folds, output)
    return criterion_value(task.criterion, p, task.y)


def best_of(models: Iterable[Any], task: Task) -> Any:
    """Return the model of a short list that is best on the inner folds, not fitted; cheap ones should come first."""
    began = time.process_time()
    found: list[tuple[float, Any]] = []
    for model in models:
        if found and time.process_time() - began > task.tuning_seconds:
            break
        found.append((held_out_value(model, task), model))
    return min(found, key=lambda pair: pair[0])[1]


def tune(
    task: Task,
    suggest: Callable[[Any], dict[str, Any]],
    make: Callable[[dict[str, Any]], Any],
    first: dict[str, Any],
) -> dict[str, Any]:
    """Return the options of the best of `task.n_trials` trials; `first` are the suggestions of the first one."""
    import optuna

    def objective(trial: Any) -> float:
        options = suggest(trial)
        trial.set_user_attr("options", options)
        return held_out_value(make(options), task)

    optuna.logging.set_verbosity(optuna.logging.WARNING)
    study = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=task.seed))
    study.enqueue_trial(first)
    began = time.process_time()

    def stop_in_time(study: Any, _: Any) -> None:
        if time.process_time() - began > task.tuning_seconds:
            study.stop()

    study.optimize(objective, n_trials=task.n_trials, callbacks=[stop_in_time])
    options: dict[str, Any] = study.best_trial.user_attrs["options"]
    return options
