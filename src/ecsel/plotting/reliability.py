"""Do probabilities mean what they say? The share of hits against the predicted probability, bin by bin."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ecsel.plotting.style import NEUTRAL, POSITIVE, house_style, short
from ecsel.quality import reliability

if TYPE_CHECKING:
    from ecsel.quality import Reliability


def plot_reliability(model: Any, X: Any = None, y: Any = None, *, n_bins: int = 10, title: str | None = None) -> Any:
    """Draw observed shares against predicted probabilities, with the weight of every bin below; returns the figure.

    Without rows the bins of `out_of_fold_` are drawn: rows that the model had not seen. With rows the title says that
    they are the rows given. With two classes the probability is that of the second class; with more it is the largest
    one, and a hit is a row where that class is right. A bar is ±1.96 standard errors of the share, weights counting as
    rows.

    Parameters
    ----------
    model : ECSELClassifier
        A fitted classifier.
    X, y : table and labels, optional
        Rows to evaluate, which should not be those of training.
    n_bins : int, default=10
        Bins of equal weight, for given rows.
    title : str, optional
        The title of the figure.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from ecsel import ECSELClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = ECSELClassifier(n_terms=1, l1=0.02, calibrate=True).fit(X[:, :5], y)
    >>> plot_reliability(model).axes[0].get_ylabel()
    'share of 1 among the rows'
    """
    if (X is None) != (y is None):
        raise ValueError("plot_reliability needs both X and y, or neither of them.")
    if X is not None:
        bins = reliability(y, model.predict_proba(X), n_bins=n_bins, classes=model.classes_)
        rows = "on the rows given"
    elif model.out_of_fold_ is not None:
        bins, rows = model.out_of_fold_.reliability, f"out of fold ({model.n_folds_} folds)"
    else:
        raise ValueError("this model was fitted without folds: give X and y of rows that it has not seen.")
    two = len(model.classes_) == 2
    what = short(model.classes_.tolist()[1]) if two else "the most probable class"
    return _drawn(bins, what, title or f"Reliability {rows}: ECE {bins.error:.3f}")


def _drawn(bins: Reliability, what: str, title: str) -> Any:
    predicted, observed, weight = (np.array(v) for v in (bins.predicted, bins.observed, bins.weight))
    reach = 1.96 * np.sqrt(observed * (1 - observed) / np.maximum(weight, 1))
    with house_style() as plt:
        figure, (upper, lower) = plt.subplots(
            2, 1, figsize=(5.2, 6.0), sharex=True, layout="constrained", height_ratios=[4, 1]
        )
        upper.plot([0, 1], [0, 1], color=NEUTRAL, linewidth=1, linestyle="--", label="probabilities are right")
        upper.errorbar(
            predicted,
            observed,
            yerr=np.vstack([np.minimum(reach, observed), np.minimum(reach, 1 - observed)]),
            color=POSITIVE,
            marker="o",
            linewidth=1.5,
            elinewidth=1,
            capsize=3,
            label="this model",
        )
        upper.set_ylim(-0.03, 1.03)
        upper.set_ylabel(f"share of {what} among the rows")
        upper.set_title(title)
        upper.legend(loc="upper left")
        lower.vlines(predicted, 0, weight, color=POSITIVE, linewidth=3)
        lower.set_ylim(0, None)
        lower.set_ylabel("weight of rows")
        lower.set_xlabel(f"probability of {what}, mean of the bin")
        lower.set_xlim(-0.03, 1.03)
    return figure
