"""The paper's study of online shopping: equations, baselines with thresholds, and explanations beside SHAP and LIME.

The table, its 14 features and the choices that the paper leaves open are in `examples/shopping_data.py`; the split is
70/30, stratified, seed 42. Everything runs on one thread.

1. *Models* (`benchmarks/shopping_models.py`): the baselines, tuned by Optuna on five folds of the training rows; the
   paper's trainer at its two published strengths and after its own search; our solver. Each decides at the threshold
   that is best for F1 on the held-out rows of those folds.
2. *Splits*: our model of at most three terms and the tuned XGBoost on the table's own 17 columns, on five splits.
3. *Explanations* (`benchmarks/shopping_explainers.py`): importances with seconds, ranks beside those of the paper's
   sparse equation, G3 and D2 beside LIME on 200 rows, LIME with other seeds.

`--report` writes the page anew from what is on file.
"""

from __future__ import annotations

import argparse
import warnings
from pathlib import Path
from typing import TYPE_CHECKING

from threadpoolctl import threadpool_limits

from benchmarks.results import FOLDER, ResultFile

if TYPE_CHECKING:
    from collections.abc import Sequence


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks shopping", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--data", type=Path, metavar="DIR", help="folder of osi.csv.gz")
    parser.add_argument("--trials", type=int, default=10, help="trials of every baseline (default: 10)")
    parser.add_argument("--paper-trials", type=int, default=30, help="trials of the paper's search (default: 30)")
    parser.add_argument("--rows", type=int, default=200, help="test rows for LIME and KernelSHAP (default: 200)")
    parser.add_argument("--output", type=Path, default=FOLDER, metavar="DIR", help="where results go")
    parser.add_argument("--report", action="store_true", help="only write the page from what is on file")
    options = parser.parse_args(argv)
    from benchmarks import shopping_report

    if not options.report:
        if options.data is None or not (options.data / "osi.csv.gz").is_file():
            parser.error("--data must be the folder that holds osi.csv.gz.")
        with threadpool_limits(1), warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # test rows and LIME's samples lie outside the training range
            _measure(options)
    shopping_report.write(options.output)
    return 0


def _measure(options: argparse.Namespace) -> None:
    from benchmarks import shopping_explainers, shopping_models, shopping_report
    from examples import shopping_data

    study = shopping_models.Study(shopping_data.read(options.data))
    output, n_rows = options.output, options.rows
    models = ResultFile(output / "shopping_models.csv", ["model", "columns"])
    fitted = shopping_models.compare(study, options.trials, options.paper_trials, models)
    fitted["sparse"].save(output / "shopping_sparse.json")
    best = fitted["ECSEL (ours, ≤ 3 terms), 17 columns"]
    shopping_models.terms(study, best, ResultFile(output / "shopping_terms.csv", ["term", "rank"]))
    shopping_models.splits(study, fitted, ResultFile(output / "shopping_splits.csv", ["seed", "model"]))
    shopping_explainers.importances(
        study, fitted, n_rows, ResultFile(output / "shopping_importance.csv", ["model", "explainer"])
    )
    (output / "shopping_local.csv").unlink(missing_ok=True)  # which two rows are told depends on the equation
    local = shopping_explainers.Files(
        ResultFile(output / "shopping_local.csv", ["row", "feature"]),
        ResultFile(output / "shopping_facts.csv", ["fact"]),
    )
    shopping_explainers.beside_lime(study, fitted["sparse"], n_rows, local)
    shopping_explainers.instability(study, fitted, local)
    shopping_report.draw(study, fitted["sparse"], output)
