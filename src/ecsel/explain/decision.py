"""How features drive the decision: margin sensitivity (D1) and probability sensitivity (D2).

D1   ∂(z_a − z_b)/∂log x_j = G_aj − G_bj
D2   ∂p_c/∂log x_j = p_c·(G_cj − Σ_r p_r G_rj),   Σ_c D2 = 0
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ecsel.explain.units import check_units, sensitivity
from ecsel.explain.view import ModelView
from ecsel.signomial import properties

if TYPE_CHECKING:
    from ecsel.explain.explanation import Explanation, Units


def margin_sensitivity(model: Any, X: Any, a: Any, b: Any, *, units: Units = "model") -> Explanation:
    """Return ∂(z_a − z_b)/∂log x_j = G_aj − G_bj (property D1): what moves the boundary between two classes.

    Parameters
    ----------
    model : ECSELClassifier or ModelView
        The model. With a sigmoid the first class has the score 0.
    X : table
        The rows to explain.
    a, b
        Class labels.
    units : {"model", "raw"}, default="model"
        Proportional changes of the features of the equations, or of the user's own columns.

    Returns
    -------
    Explanation
        ``values`` (rows, features).

    Examples
    --------
    >>> from ecsel import Signomial
    >>> view = ModelView.of_equations({"no": Signomial.parse("2*x"), "yes": Signomial.parse("x*y")}, ["x", "y"])
    >>> margin_sensitivity(view, [[1.0, 3.0]], "yes", "no").values
    array([[1., 3.]])
    """
    check_units(units)
    view = ModelView.of(model)
    X = view.plain(X)
    link = view.probability_link
    first, second = view.class_position(a), view.class_position(b)
    values = properties.margin_sensitivity(view.terms, view.rows(X), first, second, link=link)
    name = f"sensitivity of the margin {a} − {b}"
    return sensitivity(view, X, values, name=name, classes=(a,), units=units, axes=("row", "feature"))


def probability_sensitivity(model: Any, X: Any, *, units: Units = "model") -> Explanation:
    """Return ∂p_c/∂log x_j = p_c·(G_cj − Σ_r p_r G_rj) (property D2).

    It is the change of a probability per proportional change of a feature.

    Parameters
    ----------
    model, X : ECSELClassifier or ModelView, and table
        The model, and the rows to explain.
    units : {"model", "raw"}, default="model"
        Proportional changes of the features of the equations, or of the user's own columns.

    Returns
    -------
    Explanation
        ``values`` (rows, classes, features); over the classes they add up to zero. A sigmoid has two classes here.

    Examples
    --------
    >>> from ecsel import Signomial
    >>> view = ModelView.of_equations({"no": Signomial.parse("2*x"), "yes": Signomial.parse("x*y")}, ["x", "y"])
    >>> probability_sensitivity(view, [[1.0, 2.0]]).values[:, 1]
    array([[0. , 0.5]])
    """
    check_units(units)
    view = ModelView.of(model)
    X = view.plain(X)
    link = view.probability_link
    values = properties.probability_sensitivity(view.terms, view.rows(X), link=link)
    return sensitivity(view, X, values, name="probability sensitivity", classes=view.classes, units=units)
