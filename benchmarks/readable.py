"""Is the printed equation the model, and is it short? The default on the tables of `classification` and `unseen`.

For every table the default is fitted to all rows. Measured are

- factors a score, significant digits of the coefficients, and the cancellation Σ|pieces| / range of the score (the
  largest over the scores);
- the gap: the printed text with three digits (``format(equation, ".3g")``), read back and evaluated at
  `to_model_features(X)`, against `predict_proba`, the largest difference in a probability over all rows;
- processor seconds of the fit on one thread, over those of 150 trees of depth 3 of XGBoost in the same process;
- the overlap (Jaccard) of columns and of pieces with those of a fit under another seed of the inner folds.

Log-loss and weighted F1 stand in the nested folds of `classification` (b) and `unseen`; the page sets them beside the
default of version 0.1.0, whose cells are kept in `default_0_1_0.csv`. A run that was stopped goes on where it was.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks.classification import TABLES
from benchmarks.readable_report import write_report
from benchmarks.results import FOLDER, ResultFile
from benchmarks.tables import Table, add_table_options, check_files, load
from ecsel import ECSELClassifier, Signomial

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

SEEDS = (0, 1)


def probabilities(z: Floats) -> Floats:
    """Return the probabilities of scores (rows, scores): a sigmoid for one, else a softmax."""
    if z.shape[1] == 1:
        return np.column_stack([1 / (1 + np.exp(z)), 1 / (1 + np.exp(-z))])
    e = np.exp(z - z.max(axis=1, keepdims=True))
    return np.asarray(e / e.sum(axis=1, keepdims=True))


def printed_gap(model: ECSELClassifier, X: Any) -> float:
    """Return how far the probabilities of the printed equations are from the model's."""
    values = dict(zip(model.encoder_.feature_names, model.to_model_features(X).T, strict=True))
    scores = [
        np.broadcast_to(Signomial.parse(format(equation, ".3g")).evaluate(values), len(X))
        for equation in model.equations_.values()
    ]
    return float(np.abs(probabilities(np.column_stack(scores)) - model.predict_proba(X)).max())


def cancellation(model: ECSELClassifier, X: Any) -> float:
    """Return the largest Σ|pieces| over the range of a score, the largest over the scores."""
    values = dict(zip(model.encoder_.feature_names, model.to_model_features(X).T, strict=True))
    worst = 0.0
    for equation in model.equations_.values():
        pieces = [np.broadcast_to(Signomial([term]).evaluate(values), len(X)) for term in equation.terms]
        if len(pieces) > 1:
            stacked = np.stack(pieces)
            worst = max(worst, float(np.abs(stacked).sum(axis=0).max() / np.ptp(stacked.sum(axis=0))))
    return worst


def n_digits(value: float) -> int:
    """Return the significant digits that a number is written with."""
    return next(d for d in range(1, 18) if float(f"{value:.{d}g}") == value)


def pieces_of(model: ECSELClassifier) -> tuple[set[Any], set[Any]]:
    """Return the columns and the pieces, each with its class, that the equations speak of."""
    columns = {feature.name: feature.column for feature in model.encoder_.features}
    pieces = {(label, t.factors) for label, e in model.equations_.items() for t in e.terms if not t.is_constant}
    return {columns[name] for e in model.equations_.values() for name in e.names}, pieces


def overlap(one: set[Any], other: set[Any]) -> float:
    """Return the Jaccard index, 1 for two empty sets."""
    return len(one & other) / len(one | other) if one | other else 1.0


def xgboost_seconds(table: Table) -> float:
    """Return the processor seconds of one fit of 150 trees of depth 3 on one thread."""
    import xgboost

    numbers = table.numbers
    model = xgboost.XGBClassifier(n_estimators=150, max_depth=3, n_jobs=1)
    started = time.process_time()
    model.fit(numbers, table.y)
    return time.process_time() - started


def measure(table: Table) -> dict[str, Any]:
    """Return the row of a table."""
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = min(xgboost_seconds(table) for _ in range(3))
        models, seconds = [], []
        for seed in SEEDS:
            started = time.process_time()
            models.append(ECSELClassifier(n_jobs=1, random_state=seed).fit(table.X, table.y))
            seconds.append(time.process_time() - started)
        model = models[0]
        (columns, pieces), (others, other_pieces) = (pieces_of(each) for each in models)
        equations = list(model.equations_.values())
        coefficients = [t.coefficient for e in equations for t in e.terms if not t.is_constant]
        quality = model.out_of_fold_
        return {
            "table": table.name,
            "rows": len(table.y),
            "scores": len(equations),
            "factors": sum(e.n_factors for e in equations) / len(equations),
            "digits": max(map(n_digits, coefficients), default=0),
            "digits_median": float(np.median([n_digits(c) for c in coefficients] or [0])),
            "intercept_digits": max(n_digits(t.coefficient) for e in equations for t in [*e.terms] if t.is_constant)
            if any(t.is_constant for e in equations for t in e.terms)
            else 0,
            "cancellation": cancellation(model, table.X),
            "gap": printed_gap(model, table.X),
            "log_loss": float("nan") if quality is None else quality.log_loss,
            "cpu_seconds": min(seconds),
            "xgboost_cpu_seconds": theirs,
            "same_columns": overlap(columns, others),
            "same_pieces": overlap(pieces, other_pieces),
            "equations": "; ".join(f"{label}: {equation}" for label, equation in model.equations_.items()),
        }


def all_tables(data: Any, names: list[str]) -> Iterator[Table]:
    """Yield the tables of `classification`, then those of `unseen`."""
    from benchmarks.unseen import keel_folder, load_all

    for name in names:
        yield load(data, name)
    yield from load_all(keel_folder()).values()


def main(argv: list[str]) -> int:
    about = (__doc__ or "").partition("\n")[0]
    parser = argparse.ArgumentParser(prog="python -m benchmarks readable", description=about)
    add_table_options(parser, [*TABLES, "osi"])
    parser.add_argument("--again", action="store_true", help="measure tables anew that are on file")
    parser.add_argument("--report", action="store_true", help="measure nothing, write the page alone")
    options = parser.parse_args(argv)
    check_files(options, parser)
    results = ResultFile(FOLDER / "readable.csv", ("table",))
    if not options.report:
        for table in all_tables(options.data, options.tables):
            if options.again or {"table": table.name} not in results:
                row = results.put(measure(table))
                line = " ".join(f"{name} {row[name]}" for name in ("factors", "gap", "cpu_seconds"))
                print(f"{table.name}: {line}", file=sys.stderr, flush=True)
    print(write_report(FOLDER, about=__doc__ or ""))
    return 0
