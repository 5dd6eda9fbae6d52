"""Counterfactuals of ecsel and DiCE under the same rules, fixed beforehand.

Tables: hearts, ilpd and compas, columns that are codes read as categories. One model each: a sigmoid with two terms and
λ = 1e-3. The first rows of the table are the queries, the goal is the opposite decision, one answer per query. Age,
sex, gender and race stay as they are; numbers stay in their training range. The distance is Σ |Δ|/MAD over numbers (the
mean absolute deviation where the MAD is zero) plus 1 for each changed category, computed here from the answers alone.
An answer counts as confirmed when the model predicts the opposite class for it. DiCE runs with its methods "random" and
"genetic"; its distances are over the queries that it answers, and "nearer than ecsel" counts those among them for which
its answer is the nearer one. Everyone is asked twice over: one query a call, and all queries in one call. Where DiCE
stops with an error in the middle of all queries, none of them is answered, and the time is that until it stopped. Times
are CPU seconds, the better of two runs.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, Protocol

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
ONE_BY_ONE, TOGETHER = "one query a call", "all in one call"


def compare(results: ResultFile, folder: Path, name: str, n_queries: int) -> None:
    """Run all methods on one table."""
    table = load(folder, name)
    X = table.X.assign(**{column: table.X[column].astype(str).astype(object) for column in TABLES[name]})
    model = ECSELClassifier(n_terms=2, l1=1e-3, random_state=0).fit(X, table.y)
    fixed = [column for column in X.columns if column.lower() in FIXED]
    costs = {column: 1.0 if column in TABLES[name] else 1.0 / _median_deviation(X[column]) for column in X.columns}
    queries = X.iloc[:n_queries]
    decided = model.predict(queries)
    methods: dict[str, Method] = {
        "ecsel": _Ours(model, fixed, costs),
        "DiCE random": _Dice(model, X, table.y, fixed, TABLES[name], "random"),
        "DiCE genetic": _Dice(model, X, table.y, fixed, TABLES[name], "genetic"),
    }
    for calls in (ONE_BY_ONE, TOGETHER):
        ours: dict[int, float] = {}
        for method, asked in methods.items():
            answers, seconds = _timed(asked, queries, calls)
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
                "calls": calls,
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


def _timed(method: Method, queries: pd.DataFrame, calls: str) -> tuple[list[Any], float]:
    """Return the answers and the CPU seconds of the better of two runs: the same rule for everyone."""
    parts = [queries.iloc[[i]] for i in range(len(queries))] if calls == ONE_BY_ONE else [queries]
    best = np.inf
    for _ in range(2):
        start = time.process_time()
        found = [answer for part in parts for answer in method(part)]
        best = min(best, time.process_time() - start)
    return [None if answer is None else method.table(answer) for answer in found], best


def _median_deviation(values: pd.Series) -> float:
    deviation = (values - values.median()).abs()
    return float(deviation.median()) or float(deviation.mean()) or 1.0


class Method(Protocol):
    """A way to answer queries."""

    def __call__(self, queries: pd.DataFrame) -> list[Any]:
        """Return an answer or None for each query, in one call of the library."""

    def table(self, answer: Any) -> pd.DataFrame:
        """Return an answer as a table of one row, in the types of the training table."""


class _Ours:
    def __init__(self, model: Any, fixed: list[str], costs: dict[str, float]) -> None:
        self.model, self.fixed, self.costs = model, fixed, costs

    def __call__(self, queries: pd.DataFrame) -> list[Any]:
        found = explain.counterfactuals(self.model, queries, n=1, immutable=self.fixed, costs=self.costs)
        return [answers[0].row if answers else None for answers in found]

    def table(self, answer: Any) -> pd.DataFrame:
        return pd.DataFrame([answer])


class _Dice:
    def __init__(
        self, model: Any, X: pd.DataFrame, y: Any, fixed: list[str], categories: list[str], method: str
    ) -> None:
        import dice_ml

        numbers = [column for column in X.columns if column not in categories]
        data = dice_ml.Data(dataframe=X.assign(outcome=y), continuous_features=numbers, outcome_name="outcome")
        self.explainer = dice_ml.Dice(data, dice_ml.Model(model=model, backend="sklearn"), method=method)
        self.vary = [column for column in X.columns if column not in fixed]
        self.options = {"random_seed": 0} if method == "random" else {}
        self.types = {name: float if X[name].dtype != object else object for name in X.columns}

    def __call__(self, queries: pd.DataFrame) -> list[Any]:
        try:
            found = self.explainer.generate_counterfactuals(
                queries,
                total_CFs=1,
                desired_class="opposite",
                features_to_vary=self.vary,
                verbose=False,
                **self.options,
            )
        except Exception as error:  # noqa: BLE001  # whatever stops DiCE leaves queries unanswered, and is printed
            print(f"DiCE, {len(queries)} queries from {queries.index[0]}: {type(error).__name__}: {error}")
            return [None] * len(queries)
        frames = [example.final_cfs_df for example in found.cf_examples_list]
        return [None if frame is None or frame.empty else frame for frame in frames]

    def table(self, answer: Any) -> pd.DataFrame:
        return pd.DataFrame(answer[list(self.types)].head(1).astype(self.types))


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
