"""One cell of the classification benchmark: split, tune, fit, judge on the test rows, with the seconds it took.

All arithmetic runs on one thread. `seconds` is the wall clock of tuning and fitting, `cpu_seconds` the processor time
of the same, which other work on the machine hardly changes; `fit_seconds` is the wall clock of the last fit alone (for
ECSEL (auto), which tunes within its fit, of the whole).
"""

from __future__ import annotations

import json
import time
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.metrics import accuracy_score, f1_score, log_loss, precision_score, recall_score, roc_auc_score
from threadpoolctl import threadpool_limits

from benchmarks.classification_methods import METHODS
from benchmarks.classification_task import held_out_columns, make_task, outer_split

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from benchmarks.classification_task import Cell
    from benchmarks.tables import Table

METRICS = ("accuracy", "f1", "precision", "recall", "minority_recall", "log_loss", "auc")
SECONDS = ("seconds", "cpu_seconds", "fit_seconds")


def measure(cell: Cell, table: Table) -> dict[str, Any]:
    """Return the row of a cell."""
    method = METHODS[cell.method]
    train, test = outer_split(cell, table.y)
    task = make_task(cell, table, train)
    with threadpool_limits(1), warnings.catch_warnings():
        # rows outside a fold's training range are ECSEL's warning to users, and no news in a benchmark
        warnings.simplefilter("ignore", UserWarning)
        wall, cpu = time.perf_counter(), time.process_time()
        fitted = method.fit(task)
        taken = (time.perf_counter() - wall, time.process_time() - cpu, fitted.fit_seconds)
        X = held_out_columns(table, test, raw=method.raw_columns)
        p = np.asarray(fitted.model.predict_proba(X), dtype=np.float64)
        # only ECSEL has a threshold of its own; the others are judged by their most probable class
        predicted = np.asarray(fitted.model.predict(X)) if method.raw_columns else p.argmax(axis=1)
    return {
        **cell.key,
        "status": "ok",
        **quality(p, predicted, table.y[test], rarest_class(table.y)),
        **dict(zip(SECONDS, taken, strict=True)),
        "options": json.dumps(dict(fitted.options), sort_keys=True, default=str),
    }


def unfinished(cell: Cell) -> dict[str, Any]:
    """Return the row of a cell that met its time limit."""
    blank = dict.fromkeys((*METRICS, *SECONDS), "")
    return {**cell.key, "status": "dnf", **blank, "options": ""}


def rarest_class(y: NDArray[np.intp]) -> int | None:
    """Return the rarer of two classes, None where there are more."""
    counts = np.bincount(y)
    return int(counts.argmin()) if len(counts) == 2 else None


def quality(
    p: NDArray[np.float64], predicted: NDArray[np.intp], y: NDArray[np.intp], rare: int | None
) -> dict[str, Any]:
    """Return the metrics: weighted by class sizes, the recall of the rarer of two classes, and of the probabilities.

    AUC is one against the rest, weighted by class sizes, where there are more than two classes.
    """
    p = p / p.sum(axis=1, keepdims=True)  # float32 probabilities do not sum to one closely enough
    weighted = {"average": "weighted", "zero_division": 0}
    minority = "" if rare is None else float(recall_score(y, predicted, labels=[rare], average="macro"))
    return {
        "accuracy": float(accuracy_score(y, predicted)),
        "f1": float(f1_score(y, predicted, **weighted)),
        "precision": float(precision_score(y, predicted, **weighted)),
        "recall": float(recall_score(y, predicted, **weighted)),
        "minority_recall": minority,
        "log_loss": float(log_loss(y, p, labels=np.arange(p.shape[1]))),
        "auc": float(roc_auc_score(y, p[:, 1] if p.shape[1] == 2 else p, multi_class="ovr", average="weighted")),
    }
