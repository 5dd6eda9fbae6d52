"""Explanations of the shopping study: importances with seconds and ranks, G3 and D2 beside LIME, LIME's seeds.

Rankings are compared with that of the sparse equation (G1: with one term the elasticity is its exponent everywhere).
LIME (its defaults, 5000 samples a row) and KernelSHAP (background: 20 means of the training rows) explain the first
rows of the test set, the others all of it. Seconds are those of the explanation, not of the fit.
"""

from __future__ import annotations

import json
import time
import warnings
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ecsel import explain

if TYPE_CHECKING:
    from collections.abc import Callable

    import pandas as pd
    from numpy.typing import NDArray

    from benchmarks.results import ResultFile
    from benchmarks.shopping_models import Study
    from ecsel import ECSELClassifier

SEEDS = range(5)
CLOSED_FORMS: dict[str, Literal["log_gradient", "probability_sensitivity"]] = {
    "G3": "log_gradient",
    "D2": "probability_sensitivity",
}


@dataclass(frozen=True)
class Files:
    """Where local attributions and single figures go."""

    local: ResultFile
    facts: ResultFile

    def tell(self, fact: str, value: float) -> None:
        """Store one figure."""
        print(self.facts.put({"fact": fact, "value": float(value)}))


def exponents(model: ECSELClassifier, rows: pd.DataFrame) -> dict[str, float]:
    """Return the importance of every feature by G1, the mean size of its elasticity."""
    found = explain.elasticity(model, rows, absolute=True).importance()
    return dict(zip(found.feature_names, found.values[0].tolist(), strict=True))  # noqa: PD011  # an explanation, no frame


def importances(study: Study, fitted: dict[str, Any], n_rows: int, results: ResultFile) -> None:
    """Store every explainer's importances, its seconds, and how far its ranking agrees with the sparse equation's."""
    import lime.lime_tabular  # noqa: F401
    import shap  # noqa: F401  # both before the clock starts: the first explainer is not charged for them

    train, test = study.features()
    X, Z = train.to_numpy(np.float64), test.to_numpy(np.float64)
    started = time.perf_counter()
    reference = exponents(fitted["sparse"], test)
    _store(results, "ECSEL", "exact exponents (G1)", time.perf_counter() - started, reference, reference, len(Z))
    few = Z[:n_rows]
    jobs: list[tuple[str, str, NDArray[np.float64], Callable[[Any, Any, Any], NDArray[np.float64]]]] = [
        ("logistic regression", "exact coefficients", Z, _coefficients),
        ("logistic regression", "LinearSHAP", Z, _linear_shap),
        ("logistic regression", "LIME", few, _lime),
        ("random forest", "TreeSHAP", Z, _tree_shap),
        ("random forest", "LIME", few, _lime),
        ("XGBoost", "TreeSHAP", Z, _tree_shap),
        ("XGBoost", "LIME", few, _lime),
        ("MLP", "KernelSHAP", few, _kernel_shap),
        ("MLP", "LIME", few, _lime),
    ]
    for name, explainer, rows, method in jobs:
        started = time.perf_counter()
        sizes = method(fitted[name], X, rows)
        seconds = time.perf_counter() - started
        named = dict(zip(test.columns, np.abs(sizes).tolist(), strict=True))
        _store(results, name, explainer, seconds, named, reference, len(rows))


def _store(
    results: ResultFile,
    model: str,
    explainer: str,
    seconds: float,
    sizes: dict[str, float],
    reference: dict[str, float],
    n_rows: int,
) -> None:
    top = sorted(sizes, key=lambda name: -sizes[name])[:3]
    agreed = explain.agreement(reference, sizes)
    row = {"model": model, "explainer": explainer, "rows": n_rows, "seconds": seconds, "top": ", ".join(top)}
    row |= {"rho": agreed.rho, "p_value": agreed.p_value}
    print(results.put(row | {"sizes": json.dumps({name: float(f"{size:.4g}") for name, size in sizes.items()})}))


def _coefficients(model: Any, _: Any, __: Any) -> NDArray[np.float64]:
    return np.asarray(model[-1].coef_[0])


def _linear_shap(model: Any, X: NDArray[np.float64], rows: NDArray[np.float64]) -> NDArray[np.float64]:
    import shap

    explainer = shap.LinearExplainer(model[-1], model[0].transform(X))
    return np.asarray(np.abs(explainer.shap_values(model[0].transform(rows))).mean(axis=0))


def _tree_shap(model: Any, _: Any, rows: NDArray[np.float64]) -> NDArray[np.float64]:
    import shap

    values = np.asarray(shap.TreeExplainer(model).shap_values(rows))
    return np.asarray(np.abs(values[..., 1] if values.ndim == 3 else values).mean(axis=0))


def _kernel_shap(model: Any, X: NDArray[np.float64], rows: NDArray[np.float64]) -> NDArray[np.float64]:
    import shap

    background = shap.kmeans(X, 20)
    explainer = shap.KernelExplainer(lambda table: model.predict_proba(table)[:, 1], background)
    return np.asarray(np.abs(explainer.shap_values(rows, silent=True)).mean(axis=0))


def _lime(model: Any, X: NDArray[np.float64], rows: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(np.abs(_lime_rows(model, X, rows, 0)).mean(axis=0))


def _lime_rows(model: Any, X: NDArray[np.float64], rows: NDArray[np.float64], seed: int) -> NDArray[np.float64]:
    from lime.lime_tabular import LimeTabularExplainer

    explainer = LimeTabularExplainer(X, discretize_continuous=False, random_state=seed)
    out = np.zeros(rows.shape)
    for i, row in enumerate(rows):
        found = explainer.explain_instance(row, model.predict_proba, num_features=rows.shape[1])
        for j, weight in found.as_map()[1]:
            out[i, j] = weight
    return out


def beside_lime(study: Study, model: ECSELClassifier, n_rows: int, files: Files) -> None:
    """Compare G3 and D2 of the sparse equation with LIME of it, on the first test rows and for two rows in full."""
    train, test = study.features()
    p = model.predict_proba(test)[:, 1]
    near = int(np.argmax(np.where(p < (model.threshold_ or 0.5), p, -1.0)))  # just below the threshold
    sure = int(np.argmin(np.abs(p - 0.746)))  # the paper's second row has p = 0.746
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # LIME's samples lie outside the training range
        for name, by in CLOSED_FORMS.items():
            found = explain.compare(model, test[:n_rows], "lime", by=by, background=train)
            files.tell(f"{name} against LIME: mean rho by row", float(np.nanmean(found.row_rho)))
            files.tell(f"{name} against LIME: median rho by row", float(np.nanmedian(found.row_rho)))
            files.tell(f"{name} against LIME: standard deviation", float(np.nanstd(found.row_rho)))
            files.tell(f"{name} against LIME: sign agreement", found.sign_agreement)
            files.tell(f"{name}: microseconds per row", 1e6 * _seconds_per_row(model, test, by))
            files.tell("LIME: microseconds per row", 1e6 * found.seconds_theirs / n_rows)
        two = test.iloc[[near, sure]]
        lime = explain.compare(model, two, "lime", background=train).theirs_by_row
        g3 = explain.log_gradient(model, two).values[:, 0]  # noqa: PD011  # an explanation, no frame
        d2 = explain.probability_sensitivity(model, two).values[:, 1]  # noqa: PD011  # an explanation, no frame
    for i, at in enumerate((near, sure)):
        for j, feature in enumerate(test.columns):
            if g3[i, j] != 0:
                row = {"row": int(test.index[at]), "feature": feature, "p": float(p[at])}
                files.local.put(row | {"g3": float(g3[i, j]), "d2": float(d2[i, j]), "lime": float(lime[i, j])})


def _seconds_per_row(model: ECSELClassifier, rows: pd.DataFrame, by: str) -> float:
    """Return the seconds of a closed form over all rows, the mean of twenty runs, divided by the rows."""
    closed_form = getattr(explain, by)
    started = time.perf_counter()
    for _ in range(20):
        closed_form(model, rows)
    return (time.perf_counter() - started) / 20 / len(rows)


def instability(study: Study, fitted: dict[str, Any], files: Files) -> None:
    """Explain one row near the boundary of the MLP with five seeds of LIME."""
    train, test = study.features()
    X, Z = train.to_numpy(np.float64), test.to_numpy(np.float64)
    model = fitted["MLP"]
    row = int(np.argmin(np.abs(model.predict_proba(Z)[:, 1] - 0.5)))
    found = [_lime_rows(model, X, Z[[row]], seed)[0] for seed in SEEDS]
    reference = np.array(list(exponents(fitted["sparse"], test).values()))
    pairs = [explain.agreement(a, b).rho for a, b in combinations(found, 2)]
    files.tell("LIME of the MLP, five seeds: mean pairwise rho", float(np.mean(pairs)))
    files.tell("LIME of the MLP, five seeds: smallest pairwise rho", float(np.min(pairs)))
    for seed, values in zip(SEEDS, found, strict=True):
        agreed = explain.agreement(reference, values)
        files.tell(f"LIME of the MLP against G1: rho, seed {seed}", agreed.rho)
        files.tell(f"LIME of the MLP against G1: p-value, seed {seed}", agreed.p_value)
    again = [explain.log_gradient(fitted["sparse"], test.iloc[[row]]).values for _ in SEEDS]  # noqa: PD011  # an explanation, no frame
    files.tell("G3, five runs: largest difference", max(float(np.abs(a - again[0]).max()) for a in again))
