"""What each feature contributes for one row, relative to a baseline b: L1, exact for each term, and L2, first order.

    L1   log|z_k(x)| = log|z_k(b)| + Σ_j β_kj log(x_j/b_j)
    L2   f(x) = f(b) + Σ_j ∂f(b)/∂log x_j · log(x_j/b_j) + error,      f = z_c, log z_c or p_c

In raw units the contributions of the features of one column are added up. Without an encoder columns may be negative:
L1 then speaks of |x|, and L2 is defined for rows in the baseline's own orthant.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from ecsel.explain.baseline import Baseline, resolve_baseline
from ecsel.explain.explanation import NO_TERM, ROW_CLASS_FEATURE, Explanation, Undefined, Units
from ecsel.explain.units import check_units, sum_by_column, unit_names
from ecsel.explain.view import IntArray, LogRows, ModelView
from ecsel.signomial import properties, term_values

Output = Literal["score", "log_score", "probability"]


def log_additive(model: Any, X: Any, baseline: Any = None, *, units: Units = "model") -> Explanation:
    """Return β_kj log(x_j/b_j) (property L1): what a feature adds to log|z_k|, exactly, term by term.

    Parameters
    ----------
    model : ECSELClassifier, ECSELRegressor, Signomial or ModelView
        The model.
    X : table
        The rows to explain.
    baseline : None, dict, row or Baseline, default=None
        The reference point: the geometric mean, given values, a row, or `class_mean`.
    units : {"model", "raw"}, default="model"
        One value per positive feature, or per column of the table.

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
    rows = view.log_rows(X)
    start = resolve_baseline(view, X, baseline)
    parts = properties.log_additive(view.terms, rows.log_x, start.log_x)
    if units == "raw":
        parts = sum_by_column(view, parts)
    place = _places(view)
    shape = (view.terms.n_classes, int(place[:, 1].max(initial=-1)) + 1)
    values = np.full((len(rows), *shape, parts.shape[2]), np.nan)
    base = np.full(shape, np.nan)
    signs = np.zeros((len(rows), *shape))
    at_start = term_values(view.terms, start.point.log_x)[0]
    for k, (c, position) in enumerate(place):
        values[:, c, position] = parts[:, k]
        base[c, position] = np.log(np.abs(at_start[k]))
        term_sign = 1.0 if rows.term_signs is None else rows.term_signs[:, k]
        signs[:, c, position] = np.sign(view.terms.coefficients[k]) * term_sign
    candidates = (
        Undefined(np.isnan(base)[None, :, :, None], NO_TERM),
        Undefined(_zero_factors(rows, start, place, shape)[..., None], "a factor of the term is zero"),
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


def _places(view: ModelView) -> IntArray:
    """Return the class of each term and its number within the class, (terms, 2)."""
    seen: dict[int, int] = {}
    result = []
    for c in view.terms.classes.tolist():
        result.append((c, seen.get(c, 0)))
        seen[c] = seen.get(c, 0) + 1
    return np.array(result, dtype=np.intp).reshape(-1, 2)


def _zero_factors(
    rows: LogRows, start: Baseline, place: IntArray, shape: tuple[int, int]
) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """Return the rows and terms whose logarithm does not exist because a column is zero, there or at the baseline."""
    zero = np.zeros((len(rows), *shape), dtype=bool)
    for k, (c, position) in enumerate(place):
        for point in (rows, start.point):
            if point.term_signs is not None:
                zero[:, c, position] |= point.term_signs[:, k] == 0
    return zero


def attribution(
    model: Any, X: Any, baseline: Any = None, output: Output = "score", *, units: Units = "model"
) -> Explanation:
    """Return first-order contributions ∂f(b)/∂log x_j · log(x_j/b_j) (property L2) and what they leave unexplained.

    Parameters
    ----------
    model : ECSELClassifier, ECSELRegressor, Signomial or ModelView
        The model.
    X : table
        The rows to explain.
    baseline : None, dict, row or Baseline, default=None
        The reference point: the geometric mean, given values, a row, or `class_mean`.
    output : {"score", "log_score", "probability"}, default="score"
        The function f that is explained: z_c, log z_c (where it exists) or p_c.
    units : {"model", "raw"}, default="model"
        One value per positive feature, or per column of the table.

    Returns
    -------
    Explanation
        ``values`` (rows, classes, features), ``base_values`` (classes,) = f(b), and ``error`` (rows, classes) =
        f(x) − f(b) − Σ values, the error of the linearisation (NaN where f(x) does not exist).

    Examples
    --------
    >>> from ecsel import Signomial
    >>> result = attribution(Signomial.parse("3*x**2 + y"), [[1.1, 1.2]], baseline=[1.0, 1.0])
    >>> result.values.round(4), result.base_values, result.error.round(4)
    (array([[[0.5719, 0.1823]]]), array([4.]), array([[0.0758]]))
    """
    check_units(units)
    view = ModelView.of(model)
    rows = view.log_rows(X)
    start = resolve_baseline(view, X, baseline)
    result = _linearise(view, rows, start, output)
    values, error = result.values, result.error
    undefined = []
    if output == "log_score" and (bad := np.isnan(result.base_values)).any():
        undefined.append(Undefined(bad[None, :, None], "the score is not positive at the baseline"))
    if (elsewhere := _other_orthant(rows, start)).any():
        values, error = values.copy(), error.copy()
        values[elsewhere] = error[elsewhere] = np.nan
        undefined.append(Undefined(elsewhere[:, None, None], "a column has another sign than at the baseline"))
    return Explanation(
        name=f"attribution to the {output.replace('_', '-')}",
        values=sum_by_column(view, values) if units == "raw" else values,
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


def _linearise(view: ModelView, rows: LogRows, start: Baseline, output: Output) -> properties.Attribution:
    (_, terms), *_ = view.orthants(start.point)
    if output == "score":
        return properties.attribution(terms, rows.log_x, start.log_x)
    if output == "log_score":
        return properties.log_score_attribution(terms, rows.log_x, start.log_x)
    if output == "probability":
        return properties.probability_attribution(terms, rows.log_x, start.log_x, link=view.probability_link)
    raise ValueError(f"output must be 'score', 'log_score' or 'probability', not {output!r}")


def _other_orthant(rows: LogRows, start: Baseline) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """Return the rows that no path of proportional changes connects with the baseline."""
    if rows.signs is None and start.point.signs is None:
        return np.zeros(len(rows), dtype=bool)
    here = np.ones_like(rows.log_x) if rows.signs is None else rows.signs
    there = np.ones_like(start.point.log_x) if start.point.signs is None else start.point.signs
    different: np.ndarray[Any, np.dtype[np.bool_]] = ((here != there) | (here == 0)).any(axis=1)
    return different
