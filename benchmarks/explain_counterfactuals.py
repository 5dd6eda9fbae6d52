"""Counterfactuals of ecsel and DiCE under the same rules, fixed beforehand.

Tables: hearts, ilpd and compas, columns that are codes read as categories. One model each: a sigmoid with two terms and
λ = 1e-3. The first rows of the table are the queries, the goal is the opposite decision, one answer per query. Age,
sex, gender and race stay as they are; numbers stay in their training range. The distance is Σ |Δ|/MAD over numbers (the
mean absolute deviation where the MAD is zero) plus 1 for each changed category, computed here from the answers alone.
An answer counts as confirmed when the model predicts the opposite class for it. DiCE runs with its methods "random" and
"genetic"; its distances are over the queries that it answers, and "nearer than ecsel" counts those among them for which
its answer is the nearer one.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from benchmarks.tables import load
from ecsel import ECSELClassifier, explain

if TYPE_CHECKING:
    from pathlib import Path

    from benchmarks.results import ResultFile

TABLES = {
    "hearts": ["sex", "cp", "fbs", "restecg", "exang", "slope", "ca", "thal"],
    "ilpd": ["Gender"],
    "compas": ["sex", "race", "c_charge_degree"],
}
FIXED = {"age", "sex", "gender", "race"}


def race(results: ResultFile, folder: Path, name: str, n_queries: int) -> None:
    """Run all methods on one table."""
    table = load(folder, name)
    X = table.X.assign(**{column: table.X[column].astype(str).astype(object) for column in TABLES[name]})
    model = ECSELClassifier(n_terms=2, l1=1e-3, random_state=0).fit(X, table.y)
    fixed = [column for column in X.columns if column.lower() in FIXED]
    costs = {column: 1.0 if column in TABLES[name] else 1.0 / _spread(X[column]) for column in X.columns}
    queries = X.iloc[:n_queries]
    decided = model.predict(queries)
    ours: dict[int, float] = {}
    for method in ("ecsel", "DiCE random", "DiCE genetic"):
        answers, seconds = (
            _ours(model, queries, fixed, costs)
            if method == "ecsel"
            else _dice(model, X, table.y, queries, fixed, TABLES[name], method.split()[1])
        )
        good = [
            i
            for i, answer in enumerate(answers)
            if answer is not None
            and model.predict(answer)[0] != decided[i]
            and _legal(answer, queries.iloc[[i]], X, fixed)
        ]
        distances = {i: _distance(answers[i], queries.iloc[[i]], costs, TABLES[name]) for i in good}
        distance = list(distances.values())
        ours = distances if method == "ecsel" else ours
        row = {
            "table": name,
            "method": method,
            "queries": len(queries),
            "answered": sum(answer is not None for answer in answers),
            "confirmed": len(good),
            "mean distance": float(np.mean(distance)) if distance else float("nan"),
            "median distance": float(np.median(distance)) if distance else float("nan"),
            "nearer than ecsel": sum(d < ours.get(i, np.inf) - 1e-6 for i, d in distances.items()),
            "CPU seconds per query": seconds / len(queries),
        }
        print(results.put(row))


def _spread(values: pd.Series) -> float:
    deviation = (values - values.median()).abs()
    return float(deviation.median()) or float(deviation.mean()) or 1.0


def _ours(model: Any, queries: pd.DataFrame, fixed: list[str], costs: dict[str, float]) -> tuple[list[Any], float]:
    answers: list[Any] = []
    start = time.process_time()
    for i in range(len(queries)):
        found = explain.counterfactual(model, queries.iloc[[i]], n=1, immutable=fixed, costs=costs)
        answers.append(found[0].row if found else None)
    seconds = time.process_time() - start
    return [None if row is None else pd.DataFrame([row])[list(queries.columns)] for row in answers], seconds


def _dice(
    model: Any,
    X: pd.DataFrame,
    y: Any,
    queries: pd.DataFrame,
    fixed: list[str],
    categories: list[str],
    method: str,
) -> tuple[list[Any], float]:
    import dice_ml

    numbers = [column for column in X.columns if column not in categories]
    data = dice_ml.Data(dataframe=X.assign(outcome=y), continuous_features=numbers, outcome_name="outcome")
    explainer = dice_ml.Dice(data, dice_ml.Model(model=model, backend="sklearn"), method=method)
    vary = [column for column in X.columns if column not in fixed]
    answers: list[Any] = []
    start = time.process_time()
    for i in range(len(queries)):
        options = {"random_seed": 0} if method == "random" else {}
        try:
            found = explainer.generate_counterfactuals(
                queries.iloc[[i]],
                total_CFs=1,
                desired_class="opposite",
                features_to_vary=vary,
                verbose=False,
                **options,
            )
            frame = found.cf_examples_list[0].final_cfs_df
        except Exception as error:  # noqa: BLE001  # whatever stops DiCE is an unanswered query, and is printed
            print(f"DiCE {method}, query {i}: {type(error).__name__}: {error}")
            frame = None
        answers.append(None if frame is None or frame.empty else _typed(frame, X))
    return answers, time.process_time() - start


def _typed(frame: pd.DataFrame, X: pd.DataFrame) -> pd.DataFrame:
    answer = frame[list(X.columns)].head(1)
    return answer.astype({name: float if X[name].dtype != object else object for name in X.columns})


def _legal(answer: pd.DataFrame, query: pd.DataFrame, X: pd.DataFrame, fixed: list[str]) -> bool:
    """Whether an answer keeps to the rules: nothing fixed is changed, numbers stay in range."""
    same = all(answer[name].iloc[0] == query[name].iloc[0] for name in fixed)
    numbers = [name for name in X.columns if X[name].dtype != object]
    inside = all(X[name].min() - 1e-9 <= answer[name].iloc[0] <= X[name].max() + 1e-9 for name in numbers)
    return bool(same and inside)


def _distance(answer: pd.DataFrame, query: pd.DataFrame, costs: dict[str, float], categories: list[str]) -> float:
    total = 0.0
    for name, cost in costs.items():
        before, after = query[name].iloc[0], answer[name].iloc[0]
        total += float(before != after) if name in categories else cost * abs(float(after) - float(before))
    return total
