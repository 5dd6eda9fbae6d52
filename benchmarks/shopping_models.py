"""The contenders of the shopping study: fitted on the training rows, decided at the best threshold, tested once."""

from __future__ import annotations

import time
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import f1_score
from sklearn.model_selection import StratifiedKFold

from benchmarks.paper_contest import Contest, out_of_fold, quality
from ecsel import ECSELClassifier, explain, tune
from ecsel.fitting import Adam
from ecsel.quality import best_threshold
from ecsel.signomial import term_values
from ecsel.tune.spaces import PAPER
from examples import shopping_data

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

    from benchmarks.results import ResultFile

BASELINES = ("logistic regression", "random forest", "XGBoost", "SVM", "MLP")
FEATURES, COLUMNS = "14 features", "17 columns"
SPARSE, DENSE = 0.00864, 0.00135
"""The paper's two strengths."""


@dataclass(frozen=True)
class Study:
    """The table split into training and test rows, as 14 features and as its own 17 columns."""

    frame: pd.DataFrame
    seed: int = shopping_data.SEED

    def contest(self, columns: str) -> Contest:
        """Return the split table, as "14 features" or "17 columns"."""
        train, test = shopping_data.split(self.frame, self.seed)
        y_train, y_test = (part[shopping_data.TARGET].to_numpy(np.intp) for part in (train, test))
        splitter = StratifiedKFold(5, shuffle=True, random_state=shopping_data.SEED)
        folds = list(splitter.split(y_train, y_train))
        if columns == FEATURES:
            recipe = shopping_data.Recipe.learn(train)
            train, test = recipe.features(train), recipe.features(test)
        else:
            train, test = (part.drop(columns=shopping_data.TARGET) for part in (train, test))
        return Contest(train, test, y_train, y_test, folds, self.seed)

    def features(self) -> tuple[pd.DataFrame, pd.DataFrame]:
        """Return the 14 features of the training and the test rows."""
        contest = self.contest(FEATURES)
        return contest.train, contest.test


def compare(study: Study, n_trials: int, paper_trials: int, results: ResultFile) -> dict[str, Any]:
    """Fit, test and store every contender; return the models that are needed later."""
    features, columns = study.contest(FEATURES), study.contest(COLUMNS)
    fitted: dict[str, Any] = {}
    for name in BASELINES:
        fitted[name] = _baseline(features, name, FEATURES, n_trials, results)
    fitted["XGBoost, 17 columns"] = _baseline(columns, "XGBoost", COLUMNS, n_trials, results)
    for name, l1 in (("sparse", SPARSE), ("dense", DENSE)):
        fitted[name], row = _fit_paper(features, l1)
        print(results.put({"model": f"ECSEL (paper's trainer, {name})", "columns": FEATURES} | row))
    row = _search_paper(features, paper_trials)
    print(results.put({"model": "ECSEL (paper's trainer and search)", "columns": FEATURES} | row))
    for label, kind, contest, terms in (
        ("ECSEL (ours, 1 term)", FEATURES, features, 1),
        ("ECSEL (ours, ≤ 3 terms)", FEATURES, features, 3),
        ("ECSEL (ours, ≤ 3 terms)", COLUMNS, columns, 3),
    ):
        started = time.perf_counter()
        model = ours(terms).fit(contest.train, contest.y_train)
        row = contest.equation(model, time.perf_counter() - started)
        print(results.put({"model": label, "columns": kind} | row))
        fitted[f"{label}, {kind}"] = model
    return fitted


def _baseline(contest: Contest, name: str, columns: str, n_trials: int, results: ResultFile) -> Any:
    """Return a fitted rival, tuned unless it is on file."""
    key = {"model": name, "columns": columns}
    if row := results.get(key):
        return contest.again(name, row)
    model, figures = contest.baseline(name, n_trials)
    print(results.put(key | figures))
    return model


def ours(max_terms: int) -> ECSELClassifier:
    """Return the model as anyone would ask for it: everything chosen by the folds."""
    return ECSELClassifier(max_terms=max_terms, threshold="f1", n_jobs=1, random_state=shopping_data.SEED)


def splits(study: Study, fitted: dict[str, Any], results: ResultFile) -> None:
    """Store F1 of our model and of the tuned XGBoost on five splits of the 17 columns."""
    for seed in range(shopping_data.SEED, shopping_data.SEED + 5):
        contest = Study(study.frame, seed).contest(COLUMNS)
        train, test = contest.numbers()
        model = ours(3).fit(contest.train, contest.y_train)
        rival = clone(fitted["XGBoost, 17 columns"])
        threshold, _ = out_of_fold(rival, train, contest.y_train, contest.folds)
        p = rival.fit(train, contest.y_train).predict_proba(test)[:, 1]
        figures = {
            "ECSEL (ours, ≤ 3 terms)": quality(
                contest.y_test, model.predict_proba(contest.test)[:, 1], model.threshold_
            ),
            "XGBoost": quality(contest.y_test, p, threshold),
        }
        for name, found in figures.items():
            kept = {measure: found[measure] for measure in ("f1", "log_loss", "auc")}
            print(results.put({"seed": seed, "model": name} | kept))


def terms(study: Study, model: ECSELClassifier, results: ResultFile) -> None:
    """Store what each term of our own model says: its spread over test rows, and its five strongest features."""
    view = explain.ModelView.of(model)
    rows = view.rows(study.contest(COLUMNS).test, warn=False)
    u, values = rows.log_abs - rows.log_abs.mean(axis=0), term_values(view.terms, rows)
    powers = [k for k in np.argsort(-values.std(axis=0), kind="stable").tolist() if view.terms.exponents[k].any()]
    for place, k in enumerate(powers, 1):
        effects = np.abs(view.terms.exponents[k] * u).mean(axis=0)
        for rank, j in enumerate(np.argsort(-effects, kind="stable")[:5].tolist(), 1):
            row = {"term": place, "rank": rank, "coefficient": float(view.terms.coefficients[k])}
            row |= {"spread": float(values[:, k].std()), "feature": view.feature_names[j]}
            results.put(row | {"exponent": float(view.terms.exponents[k, j]), "effect": float(effects[j])})


def _fit_paper(contest: Contest, l1: float) -> tuple[ECSELClassifier, dict[str, Any]]:
    """Fit the paper's trainer with the hyperparameters that it publishes.

    Without a constant a score has one sign, which may differ from fold to fold. So probabilities of different folds
    cannot share a threshold: each fit has that of its own training rows.
    """
    solver = Adam(learning_rate=3.39e-4, batch_size=256, epochs=150, patience=47, restarts=1)
    options = PAPER | {"n_terms": 1, "l1": l1, "class_weight": 0.91, "link": "sigmoid", "solver": solver}

    def fit(rows: slice | NDArray[np.intp]) -> ECSELClassifier:
        model = ECSELClassifier(**options, n_jobs=1, random_state=contest.seed)
        X, y = contest.train.iloc[rows], contest.y_train[rows]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # its budget of epochs is one of its hyperparameters
            model.fit(X, y)
        return _decided(model, X, y)

    held_out = [
        f1_score(contest.y_train[test], fit(train).predict(contest.train.iloc[test])) for train, test in contest.folds
    ]
    started = time.perf_counter()
    model = fit(slice(None))
    return model, contest.equation(model, time.perf_counter() - started, cv_f1=float(np.mean(held_out)))


def _decided(model: ECSELClassifier, X: pd.DataFrame, y: NDArray[np.intp]) -> ECSELClassifier:
    """Return the model with the threshold that is best for F1 on these rows."""
    model.threshold_ = best_threshold(y, model.predict_proba(X)[:, 1], "f1")
    return model


def best_f1(model: ECSELClassifier, X: pd.DataFrame, y: NDArray[np.intp]) -> float:
    """Return F1 at the threshold that is best for it on the same rows."""
    return float(f1_score(y, _decided(model, X, y).predict(X)))


def _search_paper(contest: Contest, n_trials: int) -> dict[str, Any]:
    """Search the paper's space of this study with the paper's trainer; a trial is judged by the mean `best_f1`."""
    found = tune.search(
        contest.train,
        contest.y_train,
        space="shopping",
        n_trials=n_trials,
        cv=contest.folds,
        scoring=best_f1,
        options={"n_jobs": 1},
        random_state=contest.seed,
        verbose=0,
    )
    model = _decided(found.model, contest.train, contest.y_train)
    return contest.equation(model, found.refit_seconds, cv_f1=found.score, options=found.options)
