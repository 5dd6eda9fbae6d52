"""The field of the regression tables: laws and predictions of this library, linear regression, trees, EBM, pyoperon.

XGBoost is tuned on inner folds as in classification, by squared errors. EBM has 8 outer bags and its own defaults.
pyoperon makes a million evaluations, with powers, roots and logarithms among its symbols and expressions of up to 30
nodes, of which the Bayesian information criterion chooses one: its own criterion asks for the noise.
A law takes numbers, so that it gets what linear regression gets: text one-hot, the median for missing values.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.linear_model import LinearRegression

from benchmarks.classification_methods import XGBOOST_FIRST, tuned_rival, xgboost_space
from benchmarks.sealed_methods import Contender
from benchmarks.sealed_sizes import ebm_size, equation_size, expression_size, linear_size, xgboost_size

if TYPE_CHECKING:
    from benchmarks.classification_task import Task

SYMBOLIC_EVALUATIONS = 1_000_000


def _law(task: Task) -> Any:
    from ecsel import ECSELRegressor

    return ECSELRegressor(random_state=task.seed, n_jobs=1).fit(task.numbers, task.y)


def _prediction(task: Task) -> Any:
    from ecsel import ECSELRegressor

    return ECSELRegressor(criterion="prediction", random_state=task.seed, n_jobs=1).fit(task.X, task.y)


def _linear(task: Task) -> Any:
    return LinearRegression().fit(task.numbers, task.y)


def _xgboost(options: dict[str, Any], task: Task) -> Any:
    from xgboost import XGBRegressor

    return XGBRegressor(n_jobs=1, random_state=task.seed, tree_method="hist", **options)


def _boosting_machine(task: Task) -> Any:
    from interpret.glassbox import ExplainableBoostingRegressor

    return ExplainableBoostingRegressor(outer_bags=8, n_jobs=1, random_state=task.seed).fit(task.X, task.y)


def _symbolic(task: Task) -> Any:
    from pyoperon.sklearn import SymbolicRegressor

    model = SymbolicRegressor(
        allowed_symbols="add,sub,mul,div,constant,variable,sqrt,log,pow",
        objectives=["r2", "length"],
        optimizer_iterations=5,
        max_length=30,
        generations=100_000,
        max_evaluations=SYMBOLIC_EVALUATIONS,
        model_selection_criterion="bayesian_information_criterion",
        n_threads=1,
        random_state=task.seed,
    )
    return model.fit(np.ascontiguousarray(task.numbers), np.ascontiguousarray(task.y))


def _symbolic_size(model: Any) -> int:
    return expression_size(str(model.get_model_string(model.model_, precision=6)).replace("^", "**"))


REGRESSORS = {
    method.name: method
    for method in (
        Contender(
            "ECSEL, law",
            "interpretable",
            _law,
            lambda model: equation_size([model.equation_], []),
            "complete numbers",
        ),
        Contender(
            "ECSEL, prediction",
            "interpretable",
            _prediction,
            lambda model: equation_size([model.equation_], model.encoder_.features),
        ),
        Contender(
            "linear regression",
            "interpretable",
            _linear,
            lambda model: linear_size(model.coef_, model.intercept_),
            "complete numbers",
        ),
        Contender("pyoperon", "interpretable", _symbolic, _symbolic_size, "complete numbers", ("pyoperon.sklearn",)),
        Contender("EBM", "interpretable", _boosting_machine, ebm_size, "columns", ("interpret.glassbox",)),
        Contender(
            "XGBoost",
            "black box",
            lambda task: tuned_rival(xgboost_space, _xgboost, XGBOOST_FIRST)(task).model,
            xgboost_size,
            "numbers",
            ("optuna", "xgboost"),
        ),
    )
}
"""By name: ours, other models that people read, a black box."""
