"""Exact interventional Shapley values, one group per raw column (levels, mirror image, missing factor and all).

Scores: for one term the game is a product, so φ_p = α ∫₀¹ (a_p − b_p) Π_{i≠p} (q·a_i + (1 − q)·b_i) dq, which is
evaluated exactly (see `ecsel.signomial.properties.shapley` and `.product_game`), whatever functions the factors are and
whatever their signs. Probabilities: see `ecsel.explain.probability_game`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from ecsel.explain.explanation import ROW_CLASS_FEATURE, Explanation
from ecsel.explain.probability_game import probability_shapley
from ecsel.explain.view import ModelView
from ecsel.fitting.rows.blocks import one_blas_thread
from ecsel.signomial import FeatureRows, properties

if TYPE_CHECKING:
    from ecsel._typing import Floats


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
    model, X : ECSELClassifier, ECSELRegressor, Signomial or ModelView, and table
        The model, and the rows to explain.
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
    X, background = view.plain(X), view.plain(background)
    rows, behind = view.rows(X), view.rows(background, warn=False)
    error = None
    if output == "score":
        values = score_shapley(view, rows, behind)
        base = view.scores_of(behind).mean(axis=0)
    elif output == "probability":
        values, error = probability_shapley(
            view, rows, behind, tolerance=tolerance, max_permutations=max_permutations, seed=random_state
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


def score_shapley(view: ModelView, rows: FeatureRows, behind: FeatureRows) -> Floats:
    """Return the exact Shapley values of the scores (rows, scores, columns)."""
    with one_blas_thread():  # products of small matrices, which threads only slow down
        return properties.shapley(view.terms, rows, behind, view.feature_groups, n_groups=len(view.raw_names)).values
