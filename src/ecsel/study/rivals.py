"""The models with which a fit is compared: a linear one, and XGBoost as it comes where it is installed."""

from __future__ import annotations

import warnings
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.compose import make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from ecsel.explain.optional import import_optional
from ecsel.quality.thresholds import best_threshold

if TYPE_CHECKING:
    import pandas as pd

    from ecsel.study.screening import TaskKind

MAX_ROWS = 200_000
"""Rows that a rival is fitted on at most: more would take longer than the fit that it is compared with."""
DEFAULT_THRESHOLD = 0.5
THRESHOLD_FOLDS = 3
"""Folds that give a rival's probabilities of unseen rows; more would take longer than the rival is worth."""
MAX_LEVELS = 100
"""Levels of a text column beyond these are one together: no rival should fail for want of memory."""


def rivals(task: TaskKind, X: pd.DataFrame, y: np.ndarray[Any, Any]) -> dict[str, Any]:
    """Return the fitted rivals by name; `y` holds codes of classes, or numbers."""
    rows = np.arange(0, len(X), -(-len(X) // MAX_ROWS))
    frame, y = rival_frame(X.iloc[rows]), y[rows]
    models = {_linear_name(task): _linear(task, frame)}
    if find_spec("xgboost") is not None:
        models["XGBoost"] = _boosted(task, frame)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a rival that has not quite converged is still one to be compared with
        return {name: model.fit(frame, y) for name, model in models.items()}


def rival_threshold(rule: Any, rival: Any, X: pd.DataFrame, codes: np.ndarray[Any, Any]) -> float:
    """Return the probability from which a rival predicts the second class, by the rule of the model beside it.

    A rule such as "f1" is applied to probabilities of rows that the rival was not fitted on.
    """
    if rule is None or isinstance(rule, (int, float)):
        return DEFAULT_THRESHOLD if rule is None else float(rule)
    rows = np.arange(0, len(X), -(-len(X) // MAX_ROWS))
    y = codes[rows]
    folds = min(THRESHOLD_FOLDS, int(np.bincount(y, minlength=2).min()))
    if folds < 2:
        return DEFAULT_THRESHOLD
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        p = cross_val_predict(rival, rival_frame(X.iloc[rows]), y, cv=folds, method="predict_proba")
    return best_threshold(y, p[:, 1], rule)


def rival_frame(X: pd.DataFrame) -> pd.DataFrame:
    """Return the table as scikit-learn's own tools read it: numbers as floats, everything else as text."""
    columns = {
        name: X[name].astype("float64") if _is_number(X[name]) else X[name].astype("str").fillna("?")
        for name in X.columns
    }
    frame: pd.DataFrame = import_optional("pandas", "a study").DataFrame(columns)
    return frame


def size_of(model: Any) -> int | None:
    """Return of how many numbers a rival is made: coefficients, or the nodes of all trees."""
    last = model[-1]
    if hasattr(last, "coef_"):
        return int(np.size(last.coef_) + np.size(last.intercept_))
    return sum(str(tree).count("\n") for tree in last.get_booster().get_dump())


def _is_number(values: pd.Series[Any]) -> bool:
    pd = import_optional("pandas", "a study")
    return bool(pd.api.types.is_numeric_dtype(values.dtype))


def _linear_name(task: TaskKind) -> str:
    return "logistic regression" if task == "classification" else "linear regression"


def _linear(task: TaskKind, frame: pd.DataFrame) -> Any:
    last = LogisticRegression(max_iter=1000) if task == "classification" else Ridge(alpha=1e-6)
    return make_pipeline(_columns(frame), last)


def _boosted(task: TaskKind, frame: pd.DataFrame) -> Any:
    from xgboost import XGBClassifier, XGBRegressor  # noqa: PLC0415 - where it is installed

    return make_pipeline(_columns(frame), XGBClassifier() if task == "classification" else XGBRegressor())


def _columns(frame: pd.DataFrame) -> Any:
    numbers = [name for name in frame.columns if _is_number(frame[name])]
    levels = [name for name in frame.columns if name not in numbers]
    fill = SimpleImputer(strategy="median", add_indicator=True, keep_empty_features=True)
    return make_column_transformer(
        (make_pipeline(fill, StandardScaler()), numbers),
        (OneHotEncoder(handle_unknown="ignore", max_categories=MAX_LEVELS), levels),
    )
