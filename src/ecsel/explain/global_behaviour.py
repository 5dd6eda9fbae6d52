"""How features drive the scores: elasticity (G1), log-gradient (G3), and their averages over rows.

G_cj(x) = ∂z_c/∂log x_j = Σ_k β_ckj z_ck(x) for plain powers; a factor log x_j adds the rest of its term
E_cj(x) = ∂log z_c/∂log x_j = G_cj(x)/z_c(x)        where z_c(x) > 0
"""

from __future__ import annotations

from typing import Any, Literal

from ecsel.explain.explanation import Explanation, Undefined, Units
from ecsel.explain.units import check_units, sensitivity
from ecsel.explain.view import ModelView
from ecsel.signomial import properties


def log_gradient(model: Any, X: Any, *, units: Units = "model") -> Explanation:
    """Return G_cj = ∂z_c/∂log|x_j| (property G3): the change of a score per proportional change of a feature.

    Of a term of plain powers it is β_kj z_k. An indicator has no proportional change; its value says what it adds.

    Parameters
    ----------
    model, X : ECSELClassifier, ECSELRegressor, Signomial or ModelView, and table
        The model, and the rows to explain.
    units : {"model", "raw"}, default="model"
        Proportional changes of the features of the equations, or of the user's own columns.

    Returns
    -------
    Explanation
        ``values`` (rows, classes, features).

    Examples
    --------
    >>> from ecsel import Signomial
    >>> log_gradient(Signomial.parse("3*x**2 + y"), [[2.0, 5.0]]).values
    array([[[24.,  5.]]])
    """
    check_units(units)
    view = ModelView.of(model)
    X = view.plain(X)
    values = properties.log_gradient(view.terms, view.rows(X))
    return sensitivity(view, X, values, name="log-gradient", classes=view.score_classes, units=units)


def elasticity(model: Any, X: Any, *, absolute: bool = False, units: Units = "model") -> Explanation:
    """Return E_cj = ∂log z_c/∂log|x_j| = G_cj/z_c (property G1): per cent of score per per cent of feature.

    It is defined where z_c > 0. With one term of plain powers and no constant it is the exponent.

    Parameters
    ----------
    model, X : ECSELClassifier, ECSELRegressor, Signomial or ModelView, and table
        The model, and the rows to explain.
    absolute : bool, default=False
        Explain log|z_c| instead, which is defined where z_c ≠ 0.
    units : {"model", "raw"}, default="model"
        Proportional changes of the features of the equations, or of the user's own columns.

    Returns
    -------
    Explanation
        ``values`` (rows, classes, features).

    Examples
    --------
    >>> from ecsel import Signomial
    >>> elasticity(Signomial.parse("3*x**2/y"), [[2.0, 5.0]]).values
    array([[[ 2., -1.]]])
    """
    check_units(units)
    view = ModelView.of(model)
    X = view.plain(X)
    values, mask = properties.elasticity(view.terms, view.rows(X), absolute=absolute)
    return sensitivity(
        view,
        X,
        values,
        name="elasticity of |score|" if absolute else "elasticity",
        classes=view.score_classes,
        units=units,
        undefined=Undefined(~mask[:, :, None], "the score is zero" if absolute else "the score is not positive"),
    )


def importance(
    model: Any, X: Any, by: Literal["log_gradient", "elasticity"] = "log_gradient", *, units: Units = "model"
) -> Explanation:
    """Return the mean size of a sensitivity over rows, per class and feature.

    Parameters
    ----------
    model, X : ECSELClassifier, ECSELRegressor, Signomial or ModelView, and table
        The model, and the rows to average over.
    by : {"log_gradient", "elasticity"}, default="log_gradient"
        Mean |G| over all rows, or mean |E| over the rows where it is defined, whose share is in ``share``.
    units : {"model", "raw"}, default="model"
        As in `log_gradient`.

    Returns
    -------
    Explanation
        ``values`` (classes, features). Any other explanation by row has the method ``importance()`` for the same.

    Examples
    --------
    >>> from ecsel import Signomial
    >>> importance(Signomial.parse("2*x - y"), [[1.0, 4.0], [3.0, 2.0]]).values
    array([[4., 3.]])
    """
    if by == "log_gradient":
        return log_gradient(model, X, units=units).importance()
    if by == "elasticity":
        return elasticity(model, X, units=units).importance()
    raise ValueError(f"by must be 'log_gradient' or 'elasticity', not {by!r}")
