"""The field of the classification benchmark and the search space of every rival.

Rivals get numbers (text columns one-hot). Logistic regression, the support-vector machine and the MLP standardise them
within each training set, the per-class MLPs map them to [1, 10] as the paper does; trees take them as they are. All run
on one thread. The spaces contain the paper's (its appendix on hyperparameters) and are wider where a wider one is the
better opponent: XGBoost also has its rows, columns, leaf weight, ridge and step limit tuned, the forest its leaves and
columns, the others their regularisation. EBM's fits are the dearest: it is tuned with one outer bag and half the rounds
of patience, and has its 14 bags and its own rounds in the last fit; on tables under 2000 rows its pairs have 16 bins,
not 64, which such tables do not fill.

Rivals have their fastest implementation: the forest and the support-vector machine are scikit-learn's by
scikit-learn-intelex, the MLP is scikit-learn's with a compiled loop (`benchmarks/mlp.py`).

ECSEL (auto) is the default of this library, which chooses its size itself, on the same inner folds; with `threshold` it
also chooses there from which probability on the second of two classes is predicted (``threshold="weighted_f1"``). ECSEL
(paper) is the paper's trainer and search: `ecsel.tune.search(space="benchmark")` with as many trials on the same inner
folds; because its space has a decision threshold, it is judged by weighted F1 in both protocols, as its own default
says.
"""

from __future__ import annotations

import time
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sklearn.exceptions import ConvergenceWarning
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, MinMaxScaler, StandardScaler

from benchmarks.classification_task import SMALL
from benchmarks.classification_tuning import Fitted, PlattScaled, tune

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchmarks.classification_task import Task


@dataclass(frozen=True, slots=True)
class Method:
    """A contender: how it is tuned and fitted on a task, and whether it wants the raw columns."""

    name: str
    fit: Callable[[Task], Fitted]
    raw_columns: bool = False
    libraries: tuple[str, ...] = ("optuna",)
    """What it imports when it is used; loaded beforehand, so that no cell is charged for it."""


def tuned_rival(
    suggest: Callable[[Any], dict[str, Any]],
    make: Callable[[dict[str, Any], Task], Any],
    first: dict[str, Any],
    final: dict[str, Any] | None = None,
) -> Callable[[Task], Fitted]:
    """Return the tuning and fitting of a rival; `final` are options of the last fit alone."""

    def fit(task: Task) -> Fitted:
        options = tune(task, suggest, lambda options: make(options, task), first)
        started = time.perf_counter()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model = make({**options, **(final or {})}, task).fit(task.numbers, task.y)
        return Fitted(model, options, time.perf_counter() - started)

    return fit


def _logistic(options: dict[str, Any], _: Task) -> Any:
    from sklearn.linear_model import LogisticRegression

    return make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000, **options))


def _logistic_space(trial: Any) -> dict[str, Any]:
    return {"C": trial.suggest_float("C", 1e-3, 1e3, log=True)}


def _xgboost(options: dict[str, Any], task: Task) -> Any:
    from xgboost import XGBClassifier

    return XGBClassifier(n_jobs=1, random_state=task.seed, tree_method="hist", **options)


def xgboost_space(trial: Any) -> dict[str, Any]:
    return {
        "n_estimators": trial.suggest_int("n_estimators", 50, 500, log=True),
        "learning_rate": trial.suggest_float("learning_rate", 0.01, 0.3, log=True),
        "max_depth": trial.suggest_int("max_depth", 1, 10),
        "min_child_weight": trial.suggest_float("min_child_weight", 0.1, 20, log=True),
        "subsample": trial.suggest_float("subsample", 0.5, 1.0),
        "colsample_bytree": trial.suggest_float("colsample_bytree", 0.4, 1.0),
        "reg_lambda": trial.suggest_float("reg_lambda", 0.01, 30, log=True),
        # unlimited steps diverge on rare classes
        "max_delta_step": trial.suggest_categorical("max_delta_step", [0, 1]),
    }


XGBOOST_FIRST = {
    "n_estimators": 150,
    "learning_rate": 0.1,
    "max_depth": 3,
    "min_child_weight": 1.0,
    "subsample": 1.0,
    "colsample_bytree": 1.0,
    "reg_lambda": 1.0,
    "max_delta_step": 0,
}


def _forest(options: dict[str, Any], task: Task) -> Any:
    from sklearnex.ensemble import RandomForestClassifier

    return RandomForestClassifier(n_jobs=1, random_state=task.seed, **options)


def _forest_space(trial: Any) -> dict[str, Any]:
    return {
        "n_estimators": trial.suggest_int("n_estimators", 50, 200),
        "max_depth": trial.suggest_int("max_depth", 2, 20),
        "min_samples_leaf": trial.suggest_int("min_samples_leaf", 1, 30, log=True),
        "max_features": trial.suggest_float("max_features", 0.1, 1.0),
    }


def _machine(options: dict[str, Any], task: Task) -> Any:
    from sklearnex.svm import SVC

    # Decision values of pairs of classes are smooth; those of one against the rest are counts of votes. Without
    # balanced weights those of a rare class are all but constant, and their scaling, which restores shares, is noise.
    machine = SVC(decision_function_shape="ovo", class_weight="balanced", n_jobs=1, **options)
    return PlattScaled(make_pipeline(StandardScaler(), machine), task.folds)


def _machine_space(trial: Any) -> dict[str, Any]:
    options = {
        "C": trial.suggest_float("C", 1e-2, 1e2, log=True),
        "kernel": trial.suggest_categorical("kernel", ["linear", "rbf"]),
    }
    if options["kernel"] == "rbf":
        options["gamma"] = trial.suggest_float("gamma", 1e-3, 1.0, log=True)
    return options


def _network(options: dict[str, Any], task: Task) -> Any:
    from benchmarks.mlp import CompiledMLP

    return make_pipeline(StandardScaler(), CompiledMLP(max_iter=300, random_state=task.seed, **options))


def _network_space(trial: Any) -> dict[str, Any]:
    return {
        "hidden_layer_sizes": trial.suggest_int("hidden_layer_sizes", 10, 100),
        "activation": trial.suggest_categorical("activation", ["relu", "tanh"]),
        "alpha": trial.suggest_float("alpha", 1e-5, 10, log=True),
        "learning_rate_init": trial.suggest_float("learning_rate_init", 1e-4, 1e-2, log=True),
    }


_NETWORK_FIRST = {"hidden_layer_sizes": 100, "activation": "relu", "alpha": 1e-4, "learning_rate_init": 1e-3}


def _per_class(*, logs: bool) -> Callable[[dict[str, Any], Task], Any]:
    def make(options: dict[str, Any], task: Task) -> Any:
        import numpy as np

        from benchmarks.per_class_mlp import PerClassMLP

        steps = [MinMaxScaler((1, 10), clip=True), *([FunctionTransformer(np.log)] if logs else [])]
        return make_pipeline(*steps, PerClassMLP(random_state=task.seed, **options))

    return make


def _per_class_space(trial: Any) -> dict[str, Any]:
    return {
        "n_units": trial.suggest_int("n_units", 1, 3),
        "activation": trial.suggest_categorical("activation", ["relu", "tanh"]),
        "learning_rate": trial.suggest_float("learning_rate", 1e-4, 1e-2, log=True),
        "batch_size": trial.suggest_categorical("batch_size", [32, 64, 128]),
    }


_PER_CLASS_FIRST = {"n_units": 2, "activation": "tanh", "learning_rate": 1e-2, "batch_size": 32}


_BOOSTING_MACHINE_TUNED = {"outer_bags": 1, "early_stopping_rounds": 50, "interaction_smoothing_rounds": 25}
_BOOSTING_MACHINE_LAST = {"outer_bags": 14, "early_stopping_rounds": 100, "interaction_smoothing_rounds": 75}


def _boosting_machine(options: dict[str, Any], task: Task) -> Any:
    from interpret.glassbox import ExplainableBoostingClassifier

    bins = 16 if len(task.y) < SMALL else 64
    return ExplainableBoostingClassifier(
        n_jobs=1, random_state=task.seed, max_interaction_bins=bins, **{**_BOOSTING_MACHINE_TUNED, **options}
    )


def _boosting_machine_space(trial: Any) -> dict[str, Any]:
    return {
        "learning_rate": trial.suggest_float("learning_rate", 0.005, 0.05, log=True),
        "max_leaves": trial.suggest_int("max_leaves", 2, 3),
        "min_samples_leaf": trial.suggest_int("min_samples_leaf", 2, 30, log=True),
        "interactions": trial.suggest_categorical("interactions", [0, "1x", "3x"]),
    }


_BOOSTING_MACHINE_FIRST = {"learning_rate": 0.015, "max_leaves": 2, "min_samples_leaf": 4, "interactions": "3x"}


def _ecsel(rule: str | None) -> Callable[[Task], Fitted]:
    """Return the fit of our model; `rule` is how two classes are told apart."""

    def fit(task: Task) -> Fitted:
        from ecsel import ECSELClassifier

        threshold = rule if task.y.max() == 1 else None
        started = time.perf_counter()
        model = ECSELClassifier(threshold=threshold, cv=task.folds, n_jobs=1, random_state=task.seed)
        model.fit(task.X, task.y)
        factors = sum(equation.n_factors for equation in model.equations_.values())
        chosen = {"n_terms": model.n_terms_, "factors": factors / len(model.equations_)} | (
            {} if threshold is None else {"threshold": model.threshold_}
        )
        return Fitted(model, chosen, time.perf_counter() - started)

    return fit


def _ecsel_paper(task: Task) -> Fitted:
    from ecsel import tune as ecsel_tune

    found = ecsel_tune.search(
        task.X,
        task.y,
        space="benchmark",
        n_trials=task.n_trials,
        cv=task.folds,
        options={"n_jobs": 1},
        random_state=task.seed,
        verbose=0,
    )
    return Fitted(found.model, found.options, found.refit_seconds)


METHODS = {
    method.name: method
    for method in (
        Method("logistic regression", tuned_rival(_logistic_space, _logistic, {"C": 1.0})),
        Method(
            "XGBoost",
            tuned_rival(xgboost_space, _xgboost, XGBOOST_FIRST),
            libraries=("optuna", "xgboost"),
        ),
        Method(
            "random forest",
            tuned_rival(
                _forest_space,
                _forest,
                {"n_estimators": 100, "max_depth": 20, "min_samples_leaf": 1, "max_features": 0.5},
            ),
            libraries=("optuna", "sklearnex.ensemble"),
        ),
        Method(
            "SVM",
            tuned_rival(_machine_space, _machine, {"C": 1.0, "kernel": "rbf", "gamma": 0.1}),
            libraries=("optuna", "sklearnex.svm"),
        ),
        Method(
            "MLP",
            tuned_rival(_network_space, _network, _NETWORK_FIRST),
            libraries=("optuna", "benchmarks.mlp"),
        ),
        *(
            Method(
                f"per-class MLP ({'log' if logs else 'raw'})",
                tuned_rival(_per_class_space, _per_class(logs=logs), _PER_CLASS_FIRST),
                libraries=("optuna", "benchmarks.per_class_mlp"),
            )
            for logs in (False, True)
        ),
        Method(
            "EBM",
            tuned_rival(_boosting_machine_space, _boosting_machine, _BOOSTING_MACHINE_FIRST, _BOOSTING_MACHINE_LAST),
            libraries=("optuna", "interpret.glassbox"),
        ),
        *(
            Method(name, _ecsel(rule), raw_columns=True, libraries=("ecsel.estimators.classifier",))
            for name, rule in (("ECSEL (auto)", None), ("ECSEL (auto with threshold)", "weighted_f1"))
        ),
        Method("ECSEL (paper)", _ecsel_paper, raw_columns=True, libraries=("optuna", "ecsel.tune")),
    )
}
"""By name, from cheap to dear, ours last."""
