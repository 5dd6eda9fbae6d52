"""Where the cost of a default fit might explode: many levels, columns, classes and rows, beside XGBoost.

Every case draws its table by a fixed seed (COMPAS is read as it is found) and fits the default to half of its rows,
and 150 trees of depth 3 of XGBoost to the same half, on one thread in the same process, after a fit of a small table by
both, so that what a process loads at its first fit is not counted. Text is one-hot for
XGBoost, its rare levels (under 20 rows) as one. The page tells processor seconds, their ratio, and the log-loss on the
other half beside that of l1 logistic regression (its strength by five folds; left out where that would take minutes).
The cases of the regressor tell seconds alone: a law of two terms among many columns, and a target that no law explains.

A run that was stopped goes on where it was.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegressionCV
from sklearn.metrics import log_loss
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from benchmarks.capped import run_capped
from benchmarks.results import FOLDER, ResultFile, markdown_table, surroundings
from ecsel import ECSELClassifier, ECSELRegressor

if TYPE_CHECKING:
    from collections.abc import Callable

    Table = tuple[pd.DataFrame, np.ndarray[Any, Any]]

CAP = 300.0
"""Processor seconds of a case at most."""
RARE = 20
COLUMNS = {
    "case": "case",
    "rows": "rows of training",
    "cpu_seconds": "CPU s",
    "ratio": "× XGBoost",
    "factors": "factors a score",
    "log_loss": "log-loss",
    "xgboost_log_loss": "XGBoost",
    "logistic_log_loss": "l1 logistic regression",
}


def _labels(rng: np.random.Generator, z: Any) -> Any:
    return (rng.random(len(z)) < 1 / (1 + np.exp(-z))).astype(int)


def levels(n_levels: int, n: int = 10_000) -> Table:
    """Five numbers and one column of text, some of whose levels matter."""
    rng = np.random.default_rng(n_levels)
    X = pd.DataFrame(rng.normal(size=(n, 5)).round(3), columns=list("abcde"))
    place = rng.integers(0, n_levels, n)
    X["place"] = [f"town {i}" for i in place]
    effect = rng.normal(size=n_levels)
    return X, _labels(rng, X["a"] - 0.5 * X["b"] ** 2 + effect[place])


def wide(n: int, m: int) -> Table:
    """Numbers of which five matter."""
    rng = np.random.default_rng(m)
    X = rng.normal(size=(n, m)).round(4)
    return pd.DataFrame(X, columns=[f"x{j}" for j in range(m)]), _labels(
        rng, X[:, :5] @ [1, -1, 1, 0.5, 2] + X[:, 0] ** 2
    )


def classes(k: int, m: int, n: int = 4000) -> Table:
    """Classes around points of their own."""
    rng = np.random.default_rng(k)
    y = rng.integers(0, k, n)
    X = rng.normal(size=(k, m))[y] * 1.5 + rng.normal(size=(n, m))
    return pd.DataFrame(X.round(4), columns=[f"x{j}" for j in range(m)]), y


def compas(folder: Path) -> Table:
    """COMPAS as it is found, with its charge texts; nothing left out."""
    frame = pd.read_csv(folder / "compas_propublica7214.csv.gz")
    return frame.iloc[:, :-1], frame.iloc[:, -1].to_numpy()


def digits() -> Table:
    """Ten classes and 64 columns, of scikit-learn."""
    from sklearn.datasets import load_digits

    X, y = load_digits(return_X_y=True, as_frame=True)
    return X, y.to_numpy()


def classifier_cases(data: Path | None) -> dict[str, Callable[[], Table]]:
    """Return the cases of the classifier by name."""
    found: dict[str, Callable[[], Table]] = {f"{k} levels": partial(levels, k) for k in (10, 100, 1000, 10_000)}
    if data is not None:
        found["COMPAS, 7214 × 20"] = partial(compas, data)
    found |= {f"2000 × {m}": partial(wide, 2000, m) for m in (10, 50, 200, 1000)}
    found["100 × 2000"] = partial(wide, 100, 2000)
    found["digits, 10 classes × 64"] = digits
    found |= {f"{k} classes × 20": partial(classes, k, 20) for k in (26, 81)}
    found |= {f"{n} × 10": partial(wide, n, 10) for n in (1000, 10_000, 100_000, 1_000_000)}
    return found


def law(m: int) -> tuple[Any, Any]:
    """Two terms among m columns, with a little noise."""
    rng = np.random.default_rng(m)
    X = rng.uniform(1, 5, (200, m))
    return X, 2 * X[:, 0] ** 2 / X[:, 1] + 3 * np.sqrt(X[:, 2]) + 0.01 * rng.normal(size=200)


def no_law(m: int) -> tuple[Any, Any]:
    """A target that has nothing to do with the columns."""
    rng = np.random.default_rng(m)
    return rng.uniform(1, 5, (200, m)), rng.normal(size=200)


REGRESSOR_CASES: dict[str, Callable[[], tuple[Any, Any]]] = {
    **{f"law among {m} columns": partial(law, m) for m in (10, 100, 300)},
    "no law in 30 columns": partial(no_law, 30),
}


def one_hot(X: pd.DataFrame) -> Any:
    """Return numbers for the rivals: text one-hot, rare levels as one, missing numbers at the median."""
    text = [name for name in X if not pd.api.types.is_numeric_dtype(X[name].dtype)]
    X = X.copy()
    for name in text:
        counts = X[name].map(X[name].value_counts())
        X[name] = X[name].where(counts >= RARE, "other")
    X = pd.get_dummies(X, columns=text).astype(float)
    return X.fillna(X.median()).to_numpy()


def cpu_seconds(work: Callable[[], Any]) -> tuple[float, Any]:
    """Return processor seconds and what the work has made."""
    started = time.process_time()
    made = work()
    return time.process_time() - started, made


def warm_up() -> None:
    """Fit a small table by both libraries: what a process loads at its first fit is not the cost of a case."""
    import xgboost

    X, y = wide(100, 5)
    ECSELClassifier(n_jobs=1, random_state=0).fit(X.assign(text=np.where(X["x0"] > 0, "a", "b")), y)
    xgboost.XGBClassifier(n_estimators=5, max_depth=3, n_jobs=1).fit(X, y)


def measure_classifier(data: Path | None, name: str) -> dict[str, Any]:
    """Return the row of a case."""
    import xgboost

    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warm_up()
        X, y = classifier_cases(data)[name]()
        half = np.random.default_rng(0).permutation(len(y))
        train, test = half[: len(y) // 2], half[len(y) // 2 :]
        ours, model = cpu_seconds(
            lambda: ECSELClassifier(n_jobs=1, random_state=0).fit(X.iloc[train].reset_index(drop=True), y[train])
        )
        Z = one_hot(X)
        trees = xgboost.XGBClassifier(n_estimators=150, max_depth=3, n_jobs=1)
        theirs, _ = cpu_seconds(lambda: trees.fit(Z[train], y[train]))
        known = list(np.unique(y[train]))
        kept = test[np.isin(y[test], known)]

        def loss(p: Any) -> float:
            return float(log_loss(y[kept], p, labels=known))

        straight = float("nan")
        if len(train) * Z.shape[1] * len(known) <= 2_000_000:
            lasso = LogisticRegressionCV(
                Cs=6, cv=5, l1_ratios=(1.0,), solver="saga", scoring="neg_log_loss", max_iter=200
            )
            straight = loss(make_pipeline(StandardScaler(), lasso).fit(Z[train], y[train]).predict_proba(Z[kept]))
        equations = model.equations_.values()
        return {
            "case": name,
            "rows": len(train),
            "cpu_seconds": ours,
            "xgboost_cpu_seconds": theirs,
            "ratio": ours / theirs,
            "factors": sum(e.n_factors for e in equations) / len(equations),
            "log_loss": loss(model.predict_proba(X.iloc[kept].reset_index(drop=True))),
            "xgboost_log_loss": loss(trees.predict_proba(Z[kept])),
            "logistic_log_loss": straight,
        }


def measure_regressor(name: str) -> dict[str, Any]:
    """Return the row of a case of the regressor."""
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        X, y = REGRESSOR_CASES[name]()
        seconds, model = cpu_seconds(lambda: ECSELRegressor(random_state=0).fit(X, y))
        return {"case": name, "rows": len(y), "cpu_seconds": seconds, "found": format(model.equation_, ".3g")}


def write_report(folder: Path, about: str) -> str:
    """Write the page and return it."""
    rows = ResultFile(folder / "cliffs.csv", ("case",)).rows
    laws = ResultFile(folder / "cliffs_laws.csv", ("case",)).rows
    page = f"# Cliffs\n\n{about}\n{markdown_table(rows, COLUMNS)}\n\n## Laws\n\n"
    page += markdown_table(laws, {"case": "case", "cpu_seconds": "CPU s", "found": "found"})
    page += f"\n\n{surroundings(['numpy', 'scikit-learn', 'scipy', 'xgboost-cpu'])}\n"
    (folder / "cliffs.md").write_text(page, encoding="utf-8")
    return page


def main(argv: list[str]) -> int:
    about = (__doc__ or "").partition("\n")[0]
    parser = argparse.ArgumentParser(prog="python -m benchmarks cliffs", description=about)
    parser.add_argument("--data", type=Path, metavar="DIR", help="folder of the .csv.gz files, for COMPAS")
    parser.add_argument("--again", action="store_true", help="measure cases anew that are on file")
    parser.add_argument("--report", action="store_true", help="measure nothing, write the page alone")
    options = parser.parse_args(argv)
    works: tuple[tuple[str, list[str], Callable[[str], dict[str, Any]]], ...] = (
        ("cliffs.csv", list(classifier_cases(options.data)), partial(measure_classifier, options.data)),
        ("cliffs_laws.csv", list(REGRESSOR_CASES), measure_regressor),
    )
    for file, names, work in works:
        results = ResultFile(FOLDER / file, ("case",))
        wanted = [name for name in names if options.again or {"case": name} not in results]
        for done in run_capped([] if options.report else wanted, work, CAP):
            if done.result is None:
                print(f"{done.item}: {'over the time limit' if done.late else done.error}", file=sys.stderr, flush=True)
                continue
            row = results.put(done.result)
            print(f"{row['case']}: {row['cpu_seconds']} s, × {row.get('ratio', '')}", file=sys.stderr, flush=True)
    print(write_report(FOLDER, __doc__ or ""))
    return 0
