"""Exact interventional Shapley values, one player per raw column (levels, mirror image, missing factor and all).

Scores: for one term the game is a product, so φ_p = α ∫₀¹ (a_p − b_p) Π_{i≠p} (q·a_i + (1 − q)·b_i) dq, which is
evaluated exactly (see `ecsel.signomial.properties.shapley` and `.product_game`). The formula holds for factors of any
sign, which the columns of a regression may have. Probabilities: see `ecsel.explain.probability_game`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ecsel.explain.explanation import ROW_CLASS_FEATURE, Explanation
from ecsel.explain.probability_game import probability_shapley
from ecsel.explain.view import LogRows, ModelView
from ecsel.fitting.blocks import one_blas_thread
from ecsel.signomial import Parity, properties
from ecsel.signomial.properties.product_game import Factors, product_shapley

if TYPE_CHECKING:
    from ecsel.signomial.columns import FloatArray


def shapley(
    model: Any,
    X: Any,
    background: Any,
    output: Literal["score", "probability"] = "score",
    *,
    tolerance: float = 1e-3,
    max_permutations: int = 4096,
    random_state: int = 0,
) -> Explanation:
    """Return interventional Shapley values of the raw columns, as SHAP defines them.

    Parameters
    ----------
    model : ECSELClassifier, ECSELRegressor, Signomial or ModelView
        The model.
    X : table
        The rows to explain.
    background : table
        The rows over which absent columns are averaged.
    output : {"score", "probability"}, default="score"
        Scores are exact in polynomial time. Probabilities are exact up to 12 columns in use; beyond, antithetic
        permutations are added until the largest standard error is at most `tolerance`.
    tolerance : float, default=1e-3
        For probabilities only.
    max_permutations : int, default=4096
        For probabilities only: give up refining after so many orders; ``error`` then tells what was reached.
    random_state : int, default=0
        For probabilities only: the seed of the orders. The default gives the same bits in every run.

    Returns
    -------
    Explanation
        ``values`` (rows, classes, columns); ``base_values`` (classes,) is the background's mean, and base value + sum
        over columns = output for every row and class. ``error`` is the standard error of probabilities (0 where exact).

    Examples
    --------
    >>> from ecsel import Signomial
    >>> result = shapley(Signomial.parse("x*y"), [[3.0, -2.0]], [[1.0, 1.0]])
    >>> result.values.round(12), result.base_values
    (array([[[-1., -6.]]]), array([1.]))
    """
    view = ModelView.of(model)
    rows, behind = view.log_rows(X), view.log_rows(background)
    error = None
    if output == "score":
        values = score_shapley(view, rows, behind)
        base = view.scores_of(behind).mean(axis=0)
    elif output == "probability":
        if rows.signs is not None or behind.signs is not None:
            raise ValueError("Shapley values of probabilities need positive columns; explain output='score' instead")
        values, error = probability_shapley(
            view,
            rows.log_x,
            behind.log_x,
            tolerance=tolerance,
            max_permutations=max_permutations,
            seed=random_state,
        )
        base = view.outputs_of(view.scores_of(behind)).mean(axis=0)
    else:
        raise ValueError(f"output must be 'score' or 'probability', not {output!r}")
    return Explanation(
        name=f"Shapley value of the {output}",
        values=values,
        axes=ROW_CLASS_FEATURE,
        feature_names=view.raw_names,
        classes=view.score_classes if output == "score" else view.classes,
        units="raw",
        base_values=base,
        error=error,
        view=view,
        table=X,
    )


def score_shapley(view: ModelView, rows: LogRows, behind: LogRows) -> FloatArray:
    """Return the exact Shapley values of the scores (rows, scores, columns)."""
    with one_blas_thread():  # products of small matrices, which threads only slow down
        return _score_shapley(view, rows, behind)


def _score_shapley(view: ModelView, rows: LogRows, behind: LogRows) -> FloatArray:
    if rows.signs is None and behind.signs is None:
        n_players = len(view.raw_names)
        return properties.shapley(view.terms, rows.log_x, behind.log_x, view.players, n_players=n_players).values
    values = np.zeros((len(rows), view.terms.n_classes, len(view.raw_names)))
    for k, (alpha, c) in enumerate(zip(view.terms.coefficients, view.terms.classes, strict=True)):
        used = [view.feature_names.index(factor.name) for factor in view.monomials[k]]
        if used:
            a, b = (_factors(view, point, k, used) for point in (rows, behind))
            centre = b.min(axis=0) / 2 + b.max(axis=0) / 2
            values[:, c, used] += alpha * product_shapley(Factors.around(centre, a), Factors.around(centre, b))
    return values


def _factors(view: ModelView, point: LogRows, k: int, used: list[int]) -> FloatArray:
    """Return the signed factors of one term, (rows, used columns)."""
    size = np.exp(view.terms.exponents[k, used] * point.log_x[:, used])
    if point.signs is None:
        return size
    odd = np.array([factor.parity is Parity.ODD for factor in view.monomials[k]])
    sign = point.signs[:, used]
    return size * np.where(odd, sign, np.abs(sign))
