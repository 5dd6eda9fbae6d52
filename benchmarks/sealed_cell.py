"""One cell of the sealed tables: split, fit, and judge on the test rows.

Folds, inner folds and seeds are those of `benchmarks/classification_task.py`; regression has five shuffled folds. All
arithmetic runs on one thread. CPU seconds are those of tuning and fitting, of the process and its children.
"""

from __future__ import annotations

import math
import resource
import time
import warnings
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.impute import SimpleImputer
from sklearn.metrics import f1_score, log_loss, roc_auc_score
from sklearn.model_selection import KFold
from threadpoolctl import threadpool_limits

from benchmarks.classification_task import LARGE, Cell, Task, make_task, outer_split
from benchmarks.sealed_methods import METHODS
from benchmarks.sealed_regression import REGRESSORS
from benchmarks.tables import Table

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from benchmarks.sealed_methods import Contender
    from benchmarks.sealed_read import Kind
    from benchmarks.sealed_tables import Numbers

    Floats = NDArray[np.float64]

KEY = ("table", "method", "fold")
N_FOLDS = 5
CLIP = 1e-6
"""No probability counts as less in the log-loss: some trees are certain, and one row would decide over a table."""
N_BINS = 10
MEASURES: dict[Kind, tuple[str, ...]] = {
    "classification": ("log_loss", "f1", "auc", "calibration_error"),
    "regression": ("r2", "squared_error", "squared_total"),
}
COSTS = ("size", "cpu_seconds", "seconds")
FIELD: dict[Kind, dict[str, Contender]] = {"classification": METHODS, "regression": REGRESSORS}


@dataclass(frozen=True, slots=True)
class Unit:
    """A table, a method and a fold: what is measured, capped and stored."""

    task: Kind
    table: str
    method: str
    fold: int
    n_trials: int | None = None
    """Trials of tuning; None: as many as the size of the table asks for."""
    time_limit: float = math.inf
    """Processor seconds of the fit; tuning begins no trial after half of them."""

    @property
    def key(self) -> dict[str, object]:
        """The columns by which its row is found again."""
        return {"table": self.table, "method": self.method, "fold": self.fold}


def measure(unit: Unit, table: Table | Numbers) -> dict[str, Any]:
    """Return the row of a cell."""
    method = FIELD[unit.task][unit.method]
    task, test = _task(unit, table)
    X: Any = table.X.iloc[test].reset_index(drop=True) if method.given == "columns" else table.numbers[test]
    if method.given == "complete numbers":
        completed = SimpleImputer(strategy="median", add_indicator=True, keep_empty_features=True)
        task = replace(task, numbers=np.asarray(completed.fit_transform(task.numbers)))
        X = np.asarray(completed.transform(X))
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what a library says about columns or convergence is no news here
        wall, cpu = time.perf_counter(), _cpu_seconds()
        model = method.fit(task)
        spent = {"cpu_seconds": _cpu_seconds() - cpu, "seconds": time.perf_counter() - wall}
        if isinstance(table, Table):
            found = class_quality(np.asarray(model.predict_proba(X), dtype=np.float64), table.y[test])
        else:
            found = number_quality(np.asarray(model.predict(X)).ravel(), table.y[test], float(task.y.mean()))
        size = method.size(model)
    return {**unit.key, "status": "ok", **_about(table), **found, "size": size, **spent, "note": ""}


def unfinished(unit: Unit, table: Table | Numbers, *, status: str, note: str = "") -> dict[str, Any]:
    """Return the row of a cell that met its time limit or an error."""
    blank = dict.fromkeys((*MEASURES[unit.task], *COSTS), "")
    return {**unit.key, "status": status, **_about(table), **blank, "note": note}


def _about(table: Table | Numbers) -> dict[str, Any]:
    """Return the size of a table, and for classes their number, the share of the rarest and their entropy."""
    shape = {"rows": len(table.y), "columns": table.X.shape[1]}
    if not isinstance(table, Table):
        return shape
    shares = np.bincount(table.y) / len(table.y)
    entropy = float(-(shares * np.log(shares)).sum())
    return {**shape, "classes": len(shares), "rarest": float(shares.min()), "entropy": entropy}


def _task(unit: Unit, table: Table | Numbers) -> tuple[Task, NDArray[np.intp]]:
    """Return what a method may see, and the test rows."""
    if isinstance(table, Table):
        cell = Cell("b", unit.table, unit.method, 0, unit.fold)
        train, test = outer_split(cell, table.y)
        task = make_task(cell, table, train)
    else:
        train, test = list(KFold(N_FOLDS, shuffle=True, random_state=0).split(table.X))[unit.fold]
        reduced = len(table.y) > LARGE
        inner = KFold(3 if reduced else 5, shuffle=True, random_state=unit.fold).split(train)
        X, y = table.X.iloc[train].reset_index(drop=True), table.y[train]
        task = Task(X, table.numbers[train], y, list(inner), 10 if reduced else 30, "mse", unit.fold)
    n_trials = task.n_trials if unit.n_trials is None else min(unit.n_trials, task.n_trials)
    return replace(task, n_trials=n_trials, tuning_seconds=unit.time_limit / 2), test


def _cpu_seconds() -> float:
    uses = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(use.ru_utime + use.ru_stime for use in uses)


def class_quality(p: Floats, y: NDArray[np.intp]) -> dict[str, float]:
    """Return log-loss of clipped probabilities, weighted F1, AUC (one against the rest) and the calibration error."""
    p = np.clip(p, CLIP, None)
    p = p / p.sum(axis=1, keepdims=True)
    n_classes = p.shape[1]
    return {
        "log_loss": float(log_loss(y, p, labels=np.arange(n_classes))),
        "f1": float(f1_score(y, p.argmax(axis=1), average="weighted", zero_division=0)),
        "auc": float(roc_auc_score(y, p[:, 1] if n_classes == 2 else p, multi_class="ovr", average="weighted")),
        "calibration_error": calibration_error(p, y),
    }


def calibration_error(p: Floats, y: NDArray[np.intp]) -> float:
    """Return the expected calibration error of the most probable class over ten bins of equal width.

    That is the mean over the rows of |share of right answers in the bin − mean probability in the bin|.
    """
    confidence, right = p.max(axis=1), p.argmax(axis=1) == y
    at = np.minimum((confidence * N_BINS).astype(int), N_BINS - 1)
    gaps = np.bincount(at, right - confidence, minlength=N_BINS)
    return float(np.abs(gaps).sum() / len(y))


def number_quality(predicted: Floats, y: Floats, mean: float) -> dict[str, float]:
    """Return R² against the mean of the training rows, with its two sums of squares, which add up over folds."""
    if not np.isfinite(predicted).all():
        raise ValueError("a prediction is not finite")
    error, total = float(np.sum((y - predicted) ** 2)), float(np.sum((y - mean) ** 2))
    return {"r2": 1.0 - error / total, "squared_error": error, "squared_total": total}
