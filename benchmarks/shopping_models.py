"""The contenders of the shopping study: each fitted on the training rows, decided at its best threshold, tested once.

Baselines and their search spaces are those of the classification benchmark (`classification_methods.py`), tuned by the
log-loss of out-of-fold probabilities. Every threshold is the one that is best for F1 on out-of-fold rows.
"""

from __future__ import annotations

import json
import time
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import f1_score, log_loss, precision_score, recall_score, roc_auc_score
from sklearn.model_selection import StratifiedKFold

from benchmarks.classification_methods import METHODS
from benchmarks.classification_task import Task
from benchmarks.classification_tuning import PlattScaled, platt_scaling, pooled
from benchmarks.tables import Table
from ecsel import ECSELClassifier, explain, tune
from ecsel.fitting import Adam
from ecsel.quality import best_threshold
from ecsel.tune.spaces import PAPER
from examples import shopping_data

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

    from benchmarks.results import ResultFile

BASELINES = ("logistic regression", "random forest", "XGBoost", "SVM", "MLP")
SPARSE, DENSE = 0.00864, 0.00135
"""The paper's two strengths."""


@dataclass(frozen=True)
class Study:
    """The table split into training and test rows, as 14 features and as the 17 columns of the table."""

    frame: pd.DataFrame
    train: pd.DataFrame
    test: pd.DataFrame
    y_train: NDArray[np.intp]
    y_test: NDArray[np.intp]

    @classmethod
    def of(cls, frame: pd.DataFrame, seed: int = shopping_data.SEED) -> Study:
        """Split a table."""
        train, test = shopping_data.split(frame, seed)
        y_train, y_test = (part[shopping_data.TARGET].to_numpy(np.intp) for part in (train, test))
        return cls(
            frame, train.drop(columns=shopping_data.TARGET), test.drop(columns=shopping_data.TARGET), y_train, y_test
        )

    def features(self) -> tuple[pd.DataFrame, pd.DataFrame]:
        """Return the 14 features of the training and the test rows."""
        recipe = shopping_data.Recipe.learn(self.train)
        return recipe.features(self.train), recipe.features(self.test)

    def folds(self) -> list[tuple[NDArray[np.intp], NDArray[np.intp]]]:
        """Return five stratified folds of the training rows."""
        splitter = StratifiedKFold(5, shuffle=True, random_state=shopping_data.SEED)
        return list(splitter.split(self.y_train, self.y_train))


def race(study: Study, n_trials: int, paper_trials: int, results: ResultFile) -> dict[str, Any]:
    """Fit, test and store every contender; return the models that are needed later."""
    train, test = study.features()
    fitted: dict[str, Any] = {}
    for name in BASELINES:
        fitted[name] = _baseline(study, name, train, test, n_trials, results, "14 features")
    fitted["XGBoost, 17 columns"] = _baseline(
        study, "XGBoost", study.train, study.test, n_trials, results, "17 columns"
    )
    for name, l1 in (("sparse", SPARSE), ("dense", DENSE)):
        fitted[name] = _fit_paper(study, f"ECSEL (paper's trainer, {name})", l1, results)
    _search_paper(study, paper_trials, results)
    for label, columns, terms in (
        ("ECSEL (ours, 1 term)", "14 features", 1),
        ("ECSEL (ours, ≤ 3 terms)", "14 features", 3),
        ("ECSEL (ours, ≤ 3 terms)", "17 columns", 3),
    ):
        pair = (train, test) if columns == "14 features" else (study.train, study.test)
        started = time.perf_counter()
        model = ours(terms).fit(pair[0], study.y_train)
        seconds = time.perf_counter() - started
        _store_equation(results, label, columns, model, pair[1], study.y_test, seconds)
    return fitted


def ours(max_terms: int) -> ECSELClassifier:
    """Return the model as anyone would ask for it: everything chosen by the folds."""
    return ECSELClassifier(max_terms=max_terms, threshold="f1", n_jobs=1, random_state=shopping_data.SEED)


def splits(study: Study, fitted: dict[str, Any], results: ResultFile) -> None:
    """Store F1 of our model and of the tuned XGBoost on five splits of the 17 columns."""
    for seed in range(shopping_data.SEED, shopping_data.SEED + 5):
        other = Study.of(study.frame, seed)
        model = ours(3).fit(other.train, other.y_train)
        p = _probability(model, other.test)
        _put_split(results, seed, "ECSEL (ours, ≤ 3 terms)", other.y_test, p, model.threshold_)
        numbers = Table("osi", other.train, other.y_train).numbers, Table("osi", other.test, other.y_test).numbers
        rival = clone(fitted["XGBoost, 17 columns"])
        threshold, _ = _out_of_fold(rival, numbers[0], other.y_train, other.folds())
        p = rival.fit(numbers[0], other.y_train).predict_proba(numbers[1])[:, 1]
        _put_split(results, seed, "XGBoost", other.y_test, p, threshold)


def _put_split(
    results: ResultFile, seed: int, model: str, y: NDArray[np.intp], p: NDArray[np.float64], threshold: Any
) -> None:
    row = {"seed": seed, "model": model, "f1": float(f1_score(y, p >= threshold))}
    print(results.put(row | {"log_loss": float(log_loss(y, p)), "auc": float(roc_auc_score(y, p))}))


def _baseline(
    study: Study,
    name: str,
    train: pd.DataFrame,
    test: pd.DataFrame,
    n_trials: int,
    results: ResultFile,
    columns: str,
) -> Any:
    numbers = Table("osi", train, study.y_train).numbers, Table("osi", test, study.y_test).numbers
    folds = study.folds()
    task = Task(train, numbers[0], study.y_train, folds, n_trials, "log_loss", shopping_data.SEED)
    found = METHODS[name].fit(task)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        threshold, cv_f1 = _out_of_fold(found.model, numbers[0], study.y_train, folds)
    p = found.model.predict_proba(numbers[1])[:, 1]
    row = {"model": name, "columns": columns, **_quality(study.y_test, p, threshold), "cv_f1": cv_f1}
    row |= {"seconds": found.fit_seconds, "terms": "", "active": "", "options": json.dumps(dict(found.options))}
    print(results.put(row | {"equation": ""}))
    return found.model


def _out_of_fold(
    model: Any, X: NDArray[np.float64], y: NDArray[np.intp], folds: list[tuple[NDArray[np.intp], NDArray[np.intp]]]
) -> tuple[float, float]:
    """Return the threshold that is best for F1 on rows that a fold's model had not seen, and that F1."""
    if isinstance(model, PlattScaled):
        values = pooled(model.machine, X, y, folds, "decision_function")
        p = platt_scaling(values, y).predict_proba(values)[:, 1]
    else:
        p = pooled(model, X, y, folds, "predict_proba")[:, 1]
    threshold = best_threshold(y, p, "f1")
    return threshold, float(f1_score(y, p >= threshold))


def _fit_paper(study: Study, label: str, l1: float, results: ResultFile) -> ECSELClassifier:
    """Fit the paper's trainer with the hyperparameters that it publishes."""
    train, test = study.features()
    solver = Adam(learning_rate=3.39e-4, batch_size=256, epochs=150, patience=47, restarts=1)
    options = PAPER | {"n_terms": 1, "l1": l1, "class_weight": 0.91, "link": "sigmoid", "threshold": "f1"}
    model = ECSELClassifier(**options, solver=solver, n_jobs=1, cv=study.folds(), random_state=shopping_data.SEED)
    started = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # its budget of epochs is part of its hyperparameters
        model.fit(train, study.y_train)
    _store_equation(results, label, "14 features", model, test, study.y_test, time.perf_counter() - started)
    return model


def _search_paper(study: Study, n_trials: int, results: ResultFile) -> None:
    """Search the paper's space of this study with the paper's trainer."""
    train, test = study.features()
    found = tune.search(
        train,
        study.y_train,
        space="shopping",
        n_trials=n_trials,
        cv=study.folds(),
        options={"n_jobs": 1},
        random_state=shopping_data.SEED,
        verbose=0,
    )
    label = "ECSEL (paper's trainer and search)"
    _store_equation(
        results, label, "14 features", found.model, test, study.y_test, found.refit_seconds, found.score, found.options
    )


def _store_equation(
    results: ResultFile,
    label: str,
    columns: str,
    model: ECSELClassifier,
    test: pd.DataFrame,
    y: NDArray[np.intp],
    seconds: float,
    cv_f1: float | None = None,
    options: Any = None,
) -> None:
    (equation,) = model.equations_.values()
    if cv_f1 is None:
        (_, fp), (fn, tp) = model.out_of_fold_.confusion  # type: ignore[union-attr]  # its threshold is a rule's
        cv_f1 = 2 * tp / (2 * tp + fp + fn)
    view = explain.ModelView.of(model)
    sizes = np.abs(view.terms.exponents).max(axis=0) @ view.grouping
    # Adam leaves small exponents where Newton leaves none; those that print as 0.00 are not counted.
    active = np.count_nonzero(sizes >= 0.005 if isinstance(model.solver, Adam) else sizes)
    row = {
        "model": label,
        "columns": columns,
        **_quality(y, _probability(model, test), model.threshold_),
        "cv_f1": cv_f1,
    }
    row |= {"seconds": seconds, "terms": model.n_terms_, "active": active}
    row |= {"options": json.dumps(dict(options) if options else {"l1": model.l1_})}
    print(results.put(row | {"equation": format(equation, ".3g")}))


def _probability(model: ECSELClassifier, rows: pd.DataFrame) -> NDArray[np.float64]:
    return np.asarray(model.predict_proba(rows)[:, 1])


def _quality(y: NDArray[np.intp], p: NDArray[np.float64], threshold: Any) -> dict[str, float]:
    decided = p >= threshold
    return {
        "accuracy": float((decided == y).mean()),
        "f1": float(f1_score(y, decided)),
        "recall": float(recall_score(y, decided)),
        "precision": float(precision_score(y, decided)),
        "auc": float(roc_auc_score(y, p)),
        "log_loss": float(log_loss(y, p)),
        "threshold": float(threshold),
    }
