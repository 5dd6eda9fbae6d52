"""The field of the sealed tables: how each method is fitted, what it is given, and how its size is counted.

Two are ours: the default of this library, and the same with cut points (`thresholds=True`). XGBoost, LightGBM and the
forest are tuned on inner folds (30 trials on 5; over 10 000 rows 10 on 3, or as `--trials` says), with the spaces of
`benchmarks/classification_methods.py`. l1 logistic regression, FIGS and the optimal tree have the best of a short list
on the same folds. CatBoost and EBM (8 outer bags) have their own defaults, and columns of text as they are. HROCH
evolves an expression for each score in 300 000 iterations: its own limit is a clock, and the load would decide.

The sums of FIGS are no probabilities: a logistic regression of the classes on out-of-fold sums (Platt's scaling) makes
them such; with more than two classes each has sums of its own. The leaves of the optimal tree are shares of classes
with one more row of each class (Laplace), because a leaf of three rows says nothing for certain.

Methods that take no missing values get the median of the training rows, and a column that says where it stands.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from benchmarks.classification_methods import METHODS as TUNED
from benchmarks.classification_methods import tuned_rival
from benchmarks.classification_tuning import PlattScaled, best_of
from benchmarks.sealed_sizes import (
    catboost_size,
    ebm_size,
    equation_size,
    expression_size,
    figs_size,
    forest_size,
    lightgbm_size,
    linear_size,
    trees_size,
    xgboost_size,
)
from benchmarks.tables import text_columns

if TYPE_CHECKING:
    from collections.abc import Callable

    import pandas as pd
    from numpy.typing import NDArray

    from benchmarks.classification_task import Task

    Floats = NDArray[np.float64]

Kind = Literal["interpretable", "black box"]
Given = Literal["columns", "numbers", "complete numbers"]


@dataclass(frozen=True, slots=True)
class Contender:
    """A method: how it is fitted on a task, how its size is counted, what columns it takes."""

    name: str
    kind: Kind
    fit: Callable[[Task], Any]
    size: Callable[[Any], int]
    given: Given = "columns"
    libraries: tuple[str, ...] = ()
    """What it imports: loaded beforehand, so that no cell is charged for it."""

    @property
    def missing(self) -> str:
        """The first library that is not installed, empty where all are."""
        return next((name for name in self.libraries if find_spec(name.partition(".")[0]) is None), "")


def _ecsel(*, thresholds: bool) -> Callable[[Task], Any]:
    def fit(task: Task) -> Any:
        from ecsel import ECSELClassifier

        model = ECSELClassifier(thresholds=thresholds, n_jobs=1, random_state=task.seed)
        return model.fit(task.X, task.y)

    return fit


def _ecsel_size(model: Any) -> int:
    return equation_size(model.equations_.values(), model.encoder_.features)


def _tuned(name: str) -> Callable[[Task], Any]:
    return lambda task: TUNED[name].fit(task).model


def _lightgbm(options: dict[str, Any], task: Task) -> Any:
    from lightgbm import LGBMClassifier

    return LGBMClassifier(n_jobs=1, random_state=task.seed, verbose=-1, subsample_freq=1, **options)


def _lightgbm_space(trial: Any) -> dict[str, Any]:
    return {
        "n_estimators": trial.suggest_int("n_estimators", 50, 500, log=True),
        "learning_rate": trial.suggest_float("learning_rate", 0.01, 0.3, log=True),
        "num_leaves": trial.suggest_int("num_leaves", 2, 63, log=True),
        "min_child_samples": trial.suggest_int("min_child_samples", 1, 50, log=True),
        "subsample": trial.suggest_float("subsample", 0.5, 1.0),
        "colsample_bytree": trial.suggest_float("colsample_bytree", 0.4, 1.0),
        "reg_lambda": trial.suggest_float("reg_lambda", 0.01, 30, log=True),
    }


_LIGHTGBM_FIRST = {
    "n_estimators": 100,
    "learning_rate": 0.1,
    "num_leaves": 31,
    "min_child_samples": 20,
    "subsample": 1.0,
    "colsample_bytree": 1.0,
    "reg_lambda": 0.01,
}


class TextAsLevels(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """CatBoost on a data frame: columns of text are levels, a missing text is a level of its own."""

    def __init__(self, model: Any) -> None:
        self.model = model

    def fit(self, X: pd.DataFrame, y: Any) -> Self:
        """Fit the model to the columns as levels and numbers."""
        self.text_ = text_columns(X)
        self.model.fit(self._with_levels(X), y, cat_features=self.text_)
        self.classes_ = self.model.classes_
        return self

    def predict_proba(self, X: pd.DataFrame) -> Floats:
        """Return the probabilities of the classes."""
        return np.asarray(self.model.predict_proba(self._with_levels(X)))

    def _with_levels(self, X: pd.DataFrame) -> pd.DataFrame:
        return X.assign(**{name: X[name].astype(object).where(X[name].notna(), "missing") for name in self.text_})


def _catboost(task: Task) -> Any:
    from catboost import CatBoostClassifier

    model = CatBoostClassifier(thread_count=1, random_seed=task.seed, verbose=0, allow_writing_files=False)
    return TextAsLevels(model).fit(task.X, task.y)


def _boosting_machine(task: Task) -> Any:
    from interpret.glassbox import ExplainableBoostingClassifier

    return ExplainableBoostingClassifier(outer_bags=8, n_jobs=1, random_state=task.seed).fit(task.X, task.y)


STRENGTHS = (0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 100.0)
"""Inverse strengths C of the l1 penalty, of standardised columns."""


def _l1_logistic(task: Task) -> Any:
    from sklearn.linear_model import LogisticRegression

    # liblinear is the faster one, and knows two classes only
    solver = "liblinear" if task.y.max() == 1 else "saga"

    def model(c: float) -> Any:
        logistic = LogisticRegression(C=c, l1_ratio=1.0, solver=solver, max_iter=500, random_state=task.seed)
        return make_pipeline(StandardScaler(), logistic)

    return best_of(map(model, STRENGTHS), task).fit(task.numbers, task.y)


def _l1_logistic_size(model: Any) -> int:
    return linear_size(model[-1].coef_, model[-1].intercept_)


class FigsSums(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Sums of trees by FIGS: one sum for two classes, one a class (against the rest) for more."""

    def __init__(self, max_rules: int, random_state: int) -> None:
        self.max_rules = max_rules
        self.random_state = random_state

    def fit(self, X: Floats, y: NDArray[np.intp]) -> Self:
        """Fit each sum."""
        from imodels import FIGSClassifier

        self.classes_ = np.unique(y)
        targets = [y == label for label in (self.classes_[1:] if len(self.classes_) == 2 else self.classes_)]
        self.sums_ = [
            FIGSClassifier(max_rules=self.max_rules, random_state=self.random_state).fit(X, target.astype(int))
            for target in targets
        ]
        return self

    def decision_function(self, X: Floats) -> Floats:
        """Return the sums (rows, sums)."""
        return np.column_stack([model.decision_function(X) for model in self.sums_])


RULES = (3, 6, 12, 20)
"""Splits of FIGS; 12 is its default."""


def _figs(task: Task) -> Any:
    models = (PlattScaled(FigsSums(rules, task.seed), task.folds) for rules in RULES)
    return best_of(models, task).fit(task.numbers, task.y)


def _figs_size(model: Any) -> int:
    scaling = model.scaling_[-1]
    sums = sum(figs_size(each.trees_) for each in model.machine_.sums_)
    return sums + linear_size(scaling.coef_, scaling.intercept_)


class OptimalTree(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """The tree with the fewest errors of a depth, with smoothed shares in its leaves."""

    def __init__(self, max_depth: int, cost_complexity: float) -> None:
        self.max_depth = max_depth
        self.cost_complexity = cost_complexity

    def fit(self, X: Floats, y: NDArray[np.intp]) -> Self:
        """Fit the tree, then count the classes in its leaves."""
        from pystreed import STreeDClassifier

        self.classes_ = np.unique(y)
        self.tree_ = STreeDClassifier(
            "cost-complex-accuracy", max_depth=self.max_depth, cost_complexity=self.cost_complexity, n_thresholds=5
        )
        self.tree_.fit(X, y)
        # the library has no number for a leaf: rows of one leaf are those with the same shares
        self.leaves_, at = np.unique(self._shares(X), axis=0, return_inverse=True)
        counts = np.zeros(self.leaves_.shape)
        np.add.at(counts, (at.ravel(), np.searchsorted(self.classes_, y)), 1.0)
        self.smoothed_ = (counts + 1) / (counts + 1).sum(axis=1, keepdims=True)
        return self

    def predict_proba(self, X: Floats) -> Floats:
        """Return the smoothed shares of the leaves."""
        shares = self._shares(X)
        nearest = np.abs(shares[:, None, :] - self.leaves_[None]).sum(axis=2).argmin(axis=1)
        return np.asarray(self.smoothed_[nearest])

    def _shares(self, X: Floats) -> Floats:
        return np.asarray(self.tree_.predict_proba(X), dtype=np.float64).round(12)


TREES = ((2, 0.0), (3, 0.0), (3, 0.005), (4, 0.005))
"""Depth, and the share of errors that a cut must save."""


def _optimal_tree(task: Task) -> Any:
    return best_of((OptimalTree(*each) for each in TREES), task).fit(task.numbers, task.y)


def _optimal_tree_size(model: Any) -> int:
    n_classes = len(model.classes_)
    return trees_size([model.tree_.get_n_leaves()], 1 if n_classes == 2 else n_classes)


SYMBOLIC_ITERATIONS = 300_000


def _symbolic(task: Task) -> Any:
    from HROCH import NonlinearLogisticRegressor, SymbolicClassifier
    from sklearn.utils.validation import validate_data

    class Regressor(NonlinearLogisticRegressor):  # type: ignore[misc]
        """The library asks scikit-learn for two names that went with its version 1.7."""

        _estimator_type = "classifier"

        def _validate_data(self, *arguments: Any, **options: Any) -> Any:
            return validate_data(self, *arguments, **options)

    model = Regressor(time_limit=1e6, iter_limit=SYMBOLIC_ITERATIONS, num_threads=1, random_state=task.seed)
    return SymbolicClassifier(model).fit(task.numbers, task.y)


def _symbolic_size(model: Any) -> int:
    return sum(expression_size(each.sexpr_) for each in model.estimators_)


OURS, OURS_CUTS, L1 = "ECSEL", "ECSEL, thresholds", "l1 logistic regression"
METHODS = {
    method.name: method
    for method in (
        Contender(OURS, "interpretable", _ecsel(thresholds=False), _ecsel_size),
        Contender(OURS_CUTS, "interpretable", _ecsel(thresholds=True), _ecsel_size),
        Contender(L1, "interpretable", _l1_logistic, _l1_logistic_size, "complete numbers"),
        Contender("FIGS", "interpretable", _figs, _figs_size, "complete numbers", ("imodels",)),
        Contender(
            "optimal tree", "interpretable", _optimal_tree, _optimal_tree_size, "complete numbers", ("pystreed",)
        ),
        Contender("HROCH", "interpretable", _symbolic, _symbolic_size, "complete numbers", ("HROCH",)),
        Contender("EBM", "interpretable", _boosting_machine, ebm_size, "columns", ("interpret.glassbox",)),
        Contender(
            "random forest",
            "black box",
            _tuned("random forest"),
            forest_size,
            "complete numbers",
            ("optuna", "sklearnex.ensemble"),
        ),
        Contender("XGBoost", "black box", _tuned("XGBoost"), xgboost_size, "numbers", ("optuna", "xgboost")),
        Contender(
            "LightGBM",
            "black box",
            lambda task: tuned_rival(_lightgbm_space, _lightgbm, _LIGHTGBM_FIRST)(task).model,
            lightgbm_size,
            "numbers",
            ("optuna", "lightgbm"),
        ),
        Contender(
            "CatBoost", "black box", _catboost, lambda model: catboost_size(model.model), "columns", ("catboost",)
        ),
    )
}
"""By name: ours, other models that people read, black boxes."""

ABSENT = {
    "igann": "version 0.1.7 stops with an error under NumPy 2.4",
    "TabPFN": "its wheels hold no weights: it would load them from the network",
}
"""Rivals that were tried and are not in the field."""
