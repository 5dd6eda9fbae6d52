"""Real tables: five-fold R² of a law and of a prediction beside linear regression, XGBoost and EBM.

`python -m benchmarks laws --group real` measures what is missing in `results/laws_real.csv`. R² is that of all held-out
rows together, against the mean of their training rows: below zero a model is worse than that mean. The equations are
those of all rows. The tables are in `laws_tables.json` with their sources; diabetes comes with scikit-learn.
"""

from __future__ import annotations

import json
import time
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from sklearn.datasets import load_diabetes
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import KFold
from threadpoolctl import threadpool_limits

from benchmarks.results import FOLDER, ResultFile, markdown_table
from ecsel import ECSELRegressor

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

FILE = ResultFile(FOLDER / "laws_real.csv", ("table", "method"))
GROUP = "real tables"
TABLES = ("mammals", "trees", "cpu", "diabetes")
FEW_ROWS = 100
"""Only such tables are also predicted with laws among the candidates: thirty searches for a law take minutes."""


def read_table(name: str) -> tuple[pd.DataFrame, Floats]:
    """Return the columns and the target of a table."""
    if name == "diabetes":
        X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
        return X, y.to_numpy(dtype=float)
    text = (Path(__file__).parent / "laws_tables.json").read_text(encoding="utf-8")
    table = json.loads(text)[name]
    frame = pd.DataFrame(table["rows"], columns=table["columns"], dtype=float)
    return frame.iloc[:, :-1], frame.iloc[:, -1].to_numpy()


def _xgboost() -> Any:
    from xgboost import XGBRegressor

    return XGBRegressor(n_jobs=1, random_state=0)


def _ebm() -> Any:
    from interpret.glassbox import ExplainableBoostingRegressor

    return ExplainableBoostingRegressor(n_jobs=1, random_state=0)


METHODS: dict[str, Callable[[], Any]] = {
    "law": ECSELRegressor,
    "prediction": lambda: ECSELRegressor(criterion="prediction", n_jobs=1),
    "prediction, laws=True": lambda: ECSELRegressor(criterion="prediction", laws=True, n_jobs=1),
    "linear regression": LinearRegression,
    "XGBoost": _xgboost,
    "EBM": _ebm,
}


def measure_one(name: str, method: str) -> dict[str, object]:
    """Return the row of a table and a method."""
    X, y = read_table(name)
    folds = list(KFold(5, shuffle=True, random_state=0).split(X))
    started = time.process_time()
    squares, total = 0.0, 0.0
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # rows outside the training range, which folds nearly always have
        for train, test in folds:
            model = METHODS[method]().fit(X.iloc[train], y[train])
            squares += float(np.sum((y[test] - model.predict(X.iloc[test])) ** 2))
            total += float(np.sum((y[test] - y[train].mean()) ** 2))
        seconds = (time.process_time() - started) / len(folds)
        ours = method == "law" or method.startswith("prediction")
        equation = format(METHODS[method]().fit(X, y).equation_, ".3g") if ours else ""
    return {
        "table": name,
        "method": method,
        "rows": len(y),
        "columns": X.shape[1],
        "r2": 1.0 - squares / total,
        "cpu_seconds": seconds,
        "equation": equation,
    }


def measure(*, fresh: bool) -> None:
    """Measure what is missing."""
    for name in TABLES:
        for method in METHODS:
            if method.endswith("laws=True") and len(read_table(name)[1]) > FEW_ROWS:
                continue
            if fresh or {"table": name, "method": method} not in FILE:
                FILE.put(measure_one(name, method))


def report() -> str:
    """Return the figures as a section of the page, empty where none is measured."""
    rows = FILE.rows
    if not rows:
        return ""
    names = [name for name in TABLES if any(row["table"] == name for row in rows)]
    table, equations = [], []
    for name in names:
        own = {row["method"]: row for row in rows if row["table"] == name}
        any_row = next(iter(own.values()))
        table.append(
            {"table": f"{name}, {any_row['rows']} × {any_row['columns']}"}
            | {method: f"{float(own[method]['r2']):.3f}" if method in own else "" for method in METHODS}
        )
        equations += [
            f"- {name}, {method}: `{own[method]['equation']}` ({float(own[method]['cpu_seconds']):.1f} s a fold)"
            for method in own
            if own[method]["equation"]
        ]
    columns = {"table": "table"} | {method: method for method in METHODS}
    return "\n".join(
        [
            "## Real tables",
            "",
            "R² of the held-out rows of five folds, all together; below zero a model is worse than the mean. Laws are",
            f"among the candidates of a prediction (`laws=True`) on tables of up to {FEW_ROWS} rows.",
            "",
            markdown_table(table, columns),
            "",
            *equations,
            "",
        ]
    )
