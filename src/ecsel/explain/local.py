"""What each feature contributes for one row, relative to a baseline b: L1, exact for each term, and L2, first order.

    L1   log|z_k(x)| = log|z_k(b)| + Σ_j (log|φ_kj(x_j)| − log|φ_kj(b_j)|)       β_kj log(x_j/b_j) for plain powers
    L2   f(x) = f(b) + Σ_j ∂f(b)/∂log x_j · log(x_j/b_j) + error,                f = z_c, log z_c or p_c

In raw units the contributions of the features of one column are added up. Columns may be negative or zero: L1 then
speaks of sizes and needs factors that do not vanish, and L2 needs numbers that keep their sign. An indicator, which has
no proportional change, contributes f(b with the indicator of x) − f(b) to L2.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ecsel.explain.baseline import resolve_baseline
from ecsel.explain.explanation import NO_TERM, ROW_CLASS_FEATURE, Explanation, Undefined, Units
from ecsel.explain.units import check_units, sum_by_column, unit_names
from ecsel.explain.view import ModelView
from ecsel.signomial import FeatureRows, properties, term_values

if TYPE_CHECKING:
    from ecsel._typing import Places

Output = Literal["score", "log_score", "probability"]


def log_additive(model: Any, X: Any, baseline: Any = None, *, units: Units = "model") -> Explanation:
    """Return log|φ_kj(x_j)| − log|φ_kj(b_j)| (property L1): what a feature adds to log|z_k|, exactly, term by term.

    Of a plain power it is β_kj log(x_j/b_j).

    Parameters
    ----------
    model, X : ECSELClassifier, ECSELRegressor, Signomial or ModelView, and table
        The model, and the rows to explain.
    baseline : None, dict, row or Baseline, default=None
        The reference point: a typical row, given values, a row, or `class_mean`.
    units : {"model", "raw"}, default="model"
        One value per feature of the equations, or per column of the table.

    Returns
    -------
    Explanation
        ``values`` (rows, classes, terms, features), ``base_values`` (classes, terms) = log|z_k(b)|, ``signs`` (rows,
        classes, terms) of the terms. Classes with fewer terms than others are padded, which ``mask`` shows.

    Examples
    --------
    >>> from ecsel import Signomial
    >>> result = log_additive(Signomial.parse("-3*x**2/y"), [[np.e, 1.0]], baseline=[1.0, np.e])
    >>> result.values.round(12), result.base_values.round(6), result.signs
    (array([[[[2., 1.]]]]), array([[0.098612]]), array([[[-1.]]]))
    """
    check_units(units)
    view = ModelView.of(model)
    X = view.plain(X)
    rows = view.rows(X)
    start = resolve_baseline(view, X, baseline)
    parts = properties.log_additive(view.terms, rows, start.point)
    vanishing = np.asarray(np.isnan(parts).any(axis=2))
    if units == "raw":
        parts = sum_by_column(view, parts)
    place = _places(view)
    shape = (view.terms.n_classes, int(place[:, 1].max(initial=-1)) + 1)
    values = np.full((len(rows), *shape, parts.shape[2]), np.nan)
    base = np.full(shape, np.nan)
    signs = np.zeros((len(rows), *shape))
    absent, zero = np.ones(shape, dtype=bool), np.zeros((len(rows), *shape), dtype=bool)
    at_x, at_start = term_values(view.terms, rows), np.abs(term_values(view.terms, start.point)[0])
    for k, (c, position) in enumerate(place):
        values[:, c, position] = parts[:, k]
        base[c, position] = np.log(at_start[k]) if at_start[k] else np.nan
        signs[:, c, position] = np.sign(at_x[:, k])
        absent[c, position], zero[:, c, position] = False, vanishing[:, k]
    candidates = (
        Undefined(absent[None, :, :, None], NO_TERM),
        Undefined(zero[..., None], "a factor of the term is zero"),
    )
    undefined = tuple(each for each in candidates if each.cells.any())
    for each in undefined:
        values[np.broadcast_to(each.cells, values.shape)] = np.nan
    return Explanation(
        name="log-additive contribution",
        values=values,
        axes=("row", "class", "term", "feature"),
        feature_names=unit_names(view, units),
        classes=view.score_classes,
        units=units,
        base_values=base,
        signs=signs,
        undefined=undefined,
        view=view,
        table=X,
    )


def _places(view: ModelView) -> Places:
    """Return the class of each term and its number within the class, (terms, 2)."""
    seen: dict[int, int] = {}
    result = []
    for c in view.terms.classes.tolist():
        result.append((c, seen.get(c, 0)))
        seen[c] = seen.get(c, 0) + 1
    return np.array(result, dtype=np.intp).reshape(-1, 2)


def attribution(
    model: Any, X: Any, baseline: Any = None, output: Output = "score", *, units: Units = "model"
) -> Explanation:
    """Return first-order contributions ∂f(b)/∂log x_j · log(x_j/b_j) (property L2) and what they leave unexplained.

    Parameters
    ----------
    model, X : ECSELClassifier, ECSELRegressor, Signomial or ModelView, and table
        The model, and the rows to explain.
    baseline : None, dict, row or Baseline, default=None
        The reference point: a typical row, given values, a row, or `class_mean`.
    output : {"score", "log_score", "probability"}, default="score"
        The function f that is explained: z_c, log z_c (where it exists) or p_c.
    units : {"model", "raw"}, default="model"
        One value per feature of the equations, or per column of the table.

    Returns
    -------
    Explanation
        ``values`` (rows, classes, features), ``base_values`` (classes,) = f(b), and ``error`` (rows, classes) =
        f(x) − f(b) − Σ values, the error of the linearisation (NaN where f(x) does not exist). The sum is over the
        values that are defined.

    Examples
    --------
    >>> from ecsel import Signomial
    >>> result = attribution(Signomial.parse("3*x**2 + y"), [[1.1, 1.2]], baseline=[1.0, 1.0])
    >>> result.values.round(4), result.base_values, result.error.round(4)
    (array([[[0.5719, 0.1823]]]), array([4.]), array([[0.0758]]))
    """
    check_units(units)
    view = ModelView.of(model)
    X = view.plain(X)
    result = _linearise(view, view.rows(X), resolve_baseline(view, X, baseline).point, output)
    crossed, values, error = result.crossed, result.values, result.error
    if units == "raw":
        crossed, values = sum_by_column(view, crossed.astype(np.float64)) > 0, sum_by_column(view, values)
        if crossed.any():  # of a column with a lost number the other features are lost too
            error = error + np.nansum(result.values, axis=2) - np.nansum(values, axis=2)
    undefined = []
    if output == "log_score" and (bad := np.isnan(result.base_values)).any():
        undefined.append(Undefined(bad[None, :, None], "the score is not positive at the baseline"))
    lost = np.isnan(values) & crossed[:, None, :]
    if lost.any():
        undefined.append(Undefined(lost, "the number is zero or has another sign than at the baseline"))
    if (gone := np.isnan(values) & ~lost).any() and output == "log_score":
        undefined.append(Undefined(gone, "the score is not positive where the indicator is switched"))
    return Explanation(
        name=f"attribution to the {output.replace('_', '-')}",
        values=values,
        axes=ROW_CLASS_FEATURE,
        feature_names=unit_names(view, units),
        classes=view.classes if output == "probability" else view.score_classes,
        units=units,
        base_values=result.base_values,
        error=error,
        undefined=tuple(undefined),
        view=view,
        table=X,
    )


def _linearise(view: ModelView, rows: FeatureRows, start: FeatureRows, output: Output) -> properties.Attribution:
    switches = view.indicators
    if output == "score":
        return properties.attribution(view.terms, rows, start, indicators=switches)
    if output == "log_score":
        return properties.log_score_attribution(view.terms, rows, start, indicators=switches)
    if output == "probability":
        link = view.probability_link
        return properties.probability_attribution(view.terms, rows, start, link=link, indicators=switches)
    raise ValueError(f"output must be 'score', 'log_score' or 'probability', not {output!r}")
