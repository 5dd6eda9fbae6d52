"""Seconds of a fit and its quality beside XGBoost, logistic regression and EBM, over 5 stratified shuffled folds.

- ECSEL: `ECSELClassifier(n_terms=3, l1=1e-3)` (n_terms=6 on skinnonskin), on the raw columns; encoding them is part of
  its seconds.
- XGBoost: 150 trees of depth 3, learning rate 0.1, all cores. Logistic regression: scikit-learn's, on standardised
  columns (the median for missing values). EBM: InterpretML's with its defaults, on at most `--ebm-rows` training rows
  (a stratified sample), because its fits take minutes on large tables; the note says where this was so.
- These three get one-hot columns that were made beforehand, which is not counted.

Seconds are the mean over the folds of the fastest of five fits in a row (of one fit for EBM). The methods take turns
from fold to fold, so that a busy moment of the machine does not fall on one of them alone.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, f1_score, log_loss, roc_auc_score
from sklearn.model_selection import StratifiedKFold, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from benchmarks.results import FOLDER, ResultFile, Row, markdown_table, surroundings
from benchmarks.tables import SOURCES, Table, add_table_options, check_files, in_order, load
from ecsel import ECSELClassifier

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

LEFT_OUT = {"ilpd583", "paysim_sample"}
"""Not raced by default: the first is `ilpd` with four more rows, the second no random sample."""
FOLDS = 5
METRICS = ("accuracy", "f1", "log_loss", "auc")
COLUMNS = {
    "table": "table",
    "rows": "rows",
    "method": "method",
    "seconds": "seconds",
    "to_xgboost": "× XGBoost",
    "accuracy": "accuracy",
    "f1": "weighted F1",
    "log_loss": "log-loss",
    "auc": "AUC",
    "note": "note",
}


@dataclass(frozen=True, slots=True)
class Method:
    """A classifier to be raced: how to make it, how often to time it, how many training rows it may have."""

    name: str
    make: Callable[[Table], Any]
    repeats: int = 5
    most_rows: int | None = None
    raw_columns: bool = False

    def columns(self, table: Table) -> Any:
        """Return the columns of the table as this method takes them."""
        return table.X if self.raw_columns else table.numbers


def contenders(*, ebm_rows: int | None) -> list[Method]:
    """Return the field; without EBM where `ebm_rows` is None. A library that is missing is found out here."""
    from xgboost import XGBClassifier

    def ecsel(table: Table) -> ECSELClassifier:
        return ECSELClassifier(n_terms=6 if table.name == "skinnonskin" else 3, l1=1e-3)

    def logistic(_: Table) -> Any:
        return make_pipeline(SimpleImputer(strategy="median"), StandardScaler(), LogisticRegression(max_iter=1000))

    quick = [
        Method("XGBoost", lambda _: XGBClassifier(n_estimators=150, max_depth=3, learning_rate=0.1)),
        Method("ECSEL", ecsel, raw_columns=True),
        Method("logistic regression", logistic),
    ]
    if ebm_rows is None:
        return quick
    from interpret.glassbox import ExplainableBoostingClassifier

    return [*quick, Method("EBM", lambda _: ExplainableBoostingClassifier(random_state=0), 1, ebm_rows)]


@dataclass(slots=True)
class _Score:
    """What one method has reached in the folds so far."""

    seconds: list[float] = field(default_factory=list)
    quality: list[list[float]] = field(default_factory=list)
    capped: int = 0


def compare(table: Table, methods: list[Method]) -> list[dict[str, Any]]:
    """Return seconds and quality of the methods on one table, means over the folds."""
    scores = [_Score() for _ in methods]
    for train, test in StratifiedKFold(FOLDS, shuffle=True, random_state=0).split(table.y, table.y):
        with warnings.catch_warnings():
            # rows outside a fold's training range are ECSEL's warning to users, and no news in a benchmark
            warnings.simplefilter("ignore", UserWarning)
            for method, score in zip(methods, scores, strict=True):
                rows, X = _training_rows(method, table, train), method.columns(table)
                taken, model = _fit(method, table, _rows(X, rows), table.y[rows])
                score.seconds.append(taken)
                score.quality.append(_quality(model.predict_proba(_rows(X, test)), table.y[test]))
                score.capped = len(rows) if len(rows) < len(train) else 0
    return [
        {
            "table": table.name,
            "rows": len(table.y),
            "method": method.name,
            "seconds": float(np.mean(score.seconds)),
            **dict(zip(METRICS, np.mean(score.quality, axis=0).tolist(), strict=True)),
            "note": f"fitted on {score.capped} rows" if score.capped else "",
        }
        for method, score in zip(methods, scores, strict=True)
    ]


def _training_rows(method: Method, table: Table, train: NDArray[np.intp]) -> NDArray[np.intp]:
    if method.most_rows is None or len(train) <= method.most_rows:
        return train
    kept: NDArray[np.intp] = train_test_split(
        train, train_size=method.most_rows, stratify=table.y[train], random_state=0
    )[0]
    return kept


def _fit(method: Method, table: Table, X: Any, y: NDArray[np.intp]) -> tuple[float, Any]:
    """Return the seconds of the fastest of the repeated fits, and its model."""
    fastest, model = np.inf, None
    for _ in range(method.repeats):
        fresh = method.make(table)
        started = time.perf_counter()
        fresh.fit(X, y)
        taken = time.perf_counter() - started
        if taken < fastest:
            fastest, model = taken, fresh
    return fastest, model


def _rows(X: Any, rows: NDArray[np.intp]) -> Any:
    return X[rows] if isinstance(X, np.ndarray) else X.iloc[rows]


def _quality(p: NDArray[np.float64], y: NDArray[np.intp]) -> list[float]:
    """Return accuracy, weighted F1, log-loss and AUC (one against the rest where there are more than two classes)."""
    p = p / p.sum(axis=1, keepdims=True)  # float32 probabilities do not sum to one closely enough for log_loss
    predicted = p.argmax(axis=1)
    return [
        float(accuracy_score(y, predicted)),
        float(f1_score(y, predicted, average="weighted")),
        float(log_loss(y, p)),
        float(roc_auc_score(y, p[:, 1] if p.shape[1] == 2 else p, multi_class="ovr")),
    ]


def with_ratios(rows: list[Row]) -> list[Row]:
    """Return the rows with the ratio of their seconds to XGBoost's on the same table, rounded for reading."""
    base = {row["table"]: float(row["seconds"]) for row in rows if row["method"] == "XGBoost"}
    out = []
    for row in rows:
        ratio = f"{float(row['seconds']) / base[row['table']]:.2f}" if row["table"] in base else ""
        cells = {name: f"{float(row[name]):.4f}" for name in METRICS}
        out.append({**row, **cells, "seconds": f"{float(row['seconds']):.3f}", "to_xgboost": ratio})
    return out


def main(argv: list[str]) -> int:
    about = (__doc__ or "").partition("\n")[0]
    parser = argparse.ArgumentParser(prog="python -m benchmarks fit_speed", description=about)
    add_table_options(parser, [name for name in SOURCES if name not in LEFT_OUT])
    parser.add_argument("--no-ebm", action="store_true", help="leave EBM out: it takes minutes on large tables")
    parser.add_argument("--ebm-rows", type=int, default=20_000, metavar="N", help="most training rows for EBM (20000)")
    parser.add_argument("--output", type=Path, default=FOLDER, metavar="DIR", help="folder of the results")
    parser.add_argument("--resume", action="store_true", help="skip cells that this version has already measured")
    options = parser.parse_args(argv)
    check_files(options, parser)
    methods = contenders(ebm_rows=None if options.no_ebm else options.ebm_rows)
    results = ResultFile(options.output / "fit_speed.csv", ("table", "method"))
    for name in options.tables:
        table = load(options.data, name)
        missing = [m for m in methods if not (options.resume and {"table": name, "method": m.name} in results)]
        for row in compare(table, missing) if missing else []:
            results.put(row)
            print(f"{name}: {row['method']} {row['seconds']:.3f} s", file=sys.stderr)
    rows = with_ratios(in_order(results.rows))
    text = markdown_table(rows, COLUMNS)
    libraries = ["scikit-learn", "xgboost-cpu", *([] if options.no_ebm else ["interpret-core"])]
    parts = ["# Seconds and quality of a fit", __doc__ or "", text, surroundings(libraries)]
    (options.output / "fit_speed.md").write_text("\n\n".join(part.strip() for part in parts) + "\n", encoding="utf-8")
    print(text)
    return 0
