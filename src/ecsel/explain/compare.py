"""The closed forms beside the sampling explainers: SHAP and LIME, on this model or on another.

Both libraries want numbers, so categories are handed to them as codes and back to the model as levels. Importances are
of raw columns; those of the features of one column are added up. Of raw features a proportional change is one of the
column itself; a category has none, and what its indicators add stands in.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from ecsel._typing import Floats
from ecsel.explain.agreement import Agreement, agreement
from ecsel.explain.decision import probability_sensitivity
from ecsel.explain.frames import table_values, table_with, take_rows
from ecsel.explain.global_behaviour import elasticity, log_gradient
from ecsel.explain.optional import import_optional
from ecsel.explain.shapley import shapley
from ecsel.explain.view import ModelView

Predict = Callable[[Floats], Floats]


@dataclass(frozen=True, eq=False)
class Comparison:
    """Closed forms and a sampling explainer on the same rows.

    Attributes
    ----------
    method : str
        ``"shap"`` or ``"lime"``.
    agreement : Agreement
        Of the two global rankings, mean sizes over rows.
    row_rho : array (rows,)
        Spearman's ρ of the sizes row by row; NaN where a row's attributions are all equal.
    sign_agreement : float
        Share of the larger attributions (above a tenth of the row's largest in both) that have the same sign.
    ours, theirs : dict of column to mean size
    seconds_ours, seconds_theirs : float
        For all rows.
    """

    method: str
    agreement: Agreement
    row_rho: Floats
    sign_agreement: float
    ours: dict[str, float]
    theirs: dict[str, float]
    seconds_ours: float
    seconds_theirs: float
    ours_by_row: Floats = field(repr=False)
    theirs_by_row: Floats = field(repr=False)

    def __str__(self) -> str:
        median = float(np.nanmedian(self.row_rho)) if np.isfinite(self.row_rho).any() else float("nan")
        return (
            f"{self.method}: {self.agreement}; median ρ by row {median:.3f}; signs agree {self.sign_agreement:.0%}; "
            f"{self.seconds_theirs:.3g} s against {self.seconds_ours:.3g} s"
        )


def compare(
    model: Any,
    X: Any,
    method: Literal["shap", "lime"] = "shap",
    *,
    by: Literal["probability_sensitivity", "log_gradient", "elasticity", "shapley"] = "probability_sensitivity",
    other: Any = None,
    background: Any = None,
    label: Any = None,
    random_state: int = 0,
) -> Comparison:
    """Compare the model's closed-form explanation with SHAP or LIME of it, or of another model.

    Parameters
    ----------
    model : ECSELClassifier or ModelView
        The model whose closed forms are taken.
    X : table
        The rows to explain.
    method : {"shap", "lime"}, default="shap"
        SHAP's permutation explainer, or LIME's tabular explainer with continuous features left continuous.
    by : str, default="probability_sensitivity"
        The closed form: D2, which like the sampling explainers speaks of the probability, or G3 or G1; or the exact
        Shapley values of the probability, which is what SHAP estimates.
    other : classifier, optional
        Another model with ``predict_proba`` for SHAP or LIME, as in a table of rank correlations between models.
    background : table, optional
        Rows for the sampling; by default X.
    label
        The class explained; by default the last.
    random_state : int, default=0
        Seed of SHAP and LIME.

    Examples
    --------
    >>> compare(model, X_test, "lime", background=X_train)  # doctest: +SKIP
    """
    view = ModelView.of(model)
    X, background = view.plain(X), None if background is None else view.plain(background)
    label, position = view.chosen_class(label)
    started = time.perf_counter()
    ours = _closed_form(view, X, X if background is None else background, by, label)
    seconds_ours = time.perf_counter() - started
    codes, decode = _coder(view, X)
    behind = codes if background is None else _coder(view, background)[0]
    predict_proba = view.probabilities if other is None else other.predict_proba

    def predict(rows: Floats) -> Floats:
        return np.asarray(predict_proba(decode(rows)), dtype=np.float64)

    if method not in ("shap", "lime"):
        raise ValueError(f"method must be 'shap' or 'lime', not {method!r}")
    started = time.perf_counter()
    if method == "shap":
        theirs = _by_shap(predict, codes, behind, position, random_state)
    else:
        theirs = _by_lime(view, predict, codes, behind, position, random_state)
    seconds_theirs = time.perf_counter() - started
    mean_ours, mean_theirs = (
        dict(zip(view.raw_names, np.abs(v).mean(axis=0).tolist(), strict=True)) for v in (ours, theirs)
    )
    return Comparison(
        method=method,
        agreement=agreement(mean_ours, mean_theirs),
        row_rho=_row_rho(ours, theirs),
        sign_agreement=_sign_agreement(ours, theirs),
        ours=mean_ours,
        theirs=mean_theirs,
        seconds_ours=seconds_ours,
        seconds_theirs=seconds_theirs,
        ours_by_row=ours,
        theirs_by_row=theirs,
    )


def _closed_form(view: ModelView, X: Any, background: Any, by: str, label: Any) -> Floats:
    """Return the closed form of one class by raw column, (rows, columns)."""
    functions = {
        "probability_sensitivity": probability_sensitivity,
        "log_gradient": log_gradient,
        "elasticity": elasticity,
    }
    if by == "shapley":
        return shapley(view, X, background, output="probability").values[:, view.class_position(label)]
    if by not in functions:
        raise ValueError(f"by must be one of {', '.join(map(repr, (*functions, 'shapley')))}, not {by!r}")
    result = functions[by](view, X)
    if label not in result.classes:
        raise ValueError(f"a sigmoid has a score for {result.classes[0]!r} only; use label={result.classes[0]!r}")
    values = result.values[:, result.classes.index(label)]
    if not np.isfinite(values).all():
        raise ValueError("the elasticity is not defined in some rows; use by='log_gradient'")
    by_feature: Floats = values @ view.grouping
    if view.encoder is None or not view.encoder.is_raw:
        return by_feature
    by_column = functions[by](view, X, units="raw").values[:, result.classes.index(label)]
    return np.where(np.isnan(by_column), by_feature, by_column)


def _coder(view: ModelView, X: Any) -> tuple[Floats, Callable[[Floats], Any]]:
    """Return the table as numbers, levels as codes, and the way back."""
    cells = table_values(X)
    levels = {j: view.levels(j) or () for j in range(len(view.raw_names)) if view.levels(j) is not None}
    codes = np.empty(cells.shape, dtype=np.float64)
    for j in range(cells.shape[1]):
        place = {level: code for code, level in enumerate(levels.get(j, ()))}
        codes[:, j] = [place.get(value, np.nan) for value in cells[:, j]] if j in levels else cells[:, j]
    if np.isnan(codes).any():
        name = view.raw_names[int(np.argmax(np.isnan(codes).any(axis=0)))]
        raise ValueError(f"column {name!r} has missing values or unknown levels, which SHAP and LIME do not take")

    def decode(rows: Floats) -> Any:
        changes: dict[int, npt.NDArray[Any]] = {}
        for j in range(rows.shape[1]):
            if j in levels:
                text = np.empty(len(rows), dtype=object)
                text[:] = [levels[j][round(code)] for code in rows[:, j]]
                changes[j] = text
            else:
                changes[j] = rows[:, j]
        return table_with(take_rows(X, np.zeros(len(rows), dtype=np.intp)), changes)

    return codes, decode


def _by_shap(predict: Predict, codes: Floats, background: Floats, position: int, seed: int) -> Floats:
    shap = import_optional("shap", "compare(method='shap')")
    masker = shap.maskers.Independent(background, max_samples=len(background))
    explainer = shap.explainers.Permutation(lambda rows: predict(rows)[:, position], masker, seed=seed)
    return np.asarray(explainer(codes, silent=True).values)


def _by_lime(view: ModelView, predict: Predict, codes: Floats, background: Floats, position: int, seed: int) -> Floats:
    lime = import_optional("lime.lime_tabular", "compare(method='lime')")
    n_columns = codes.shape[1]
    explainer = lime.LimeTabularExplainer(
        background,
        feature_names=list(view.raw_names),
        categorical_features=[j for j in range(n_columns) if view.levels(j) is not None],
        discretize_continuous=False,
        random_state=seed,
    )
    result = np.zeros(codes.shape)
    for i, row in enumerate(codes):
        found = explainer.explain_instance(row, predict, labels=(position,), num_features=n_columns)
        for j, weight in found.as_map()[position]:
            result[i, j] = weight
    return result


def _row_rho(ours: Floats, theirs: Floats) -> Floats:
    result = np.full(len(ours), np.nan)
    for i, (a, b) in enumerate(zip(np.abs(ours), np.abs(theirs), strict=True)):
        if np.ptp(a) > 0 and np.ptp(b) > 0 and a.size > 2:
            result[i] = agreement(a, b).rho
    return result


def _sign_agreement(ours: Floats, theirs: Floats) -> float:
    large = [np.abs(v) >= 0.1 * np.abs(v).max(axis=1, keepdims=True) for v in (ours, theirs)]
    both = large[0] & large[1] & (ours != 0) & (theirs != 0)
    return float((np.sign(ours) == np.sign(theirs))[both].mean()) if both.any() else float("nan")
