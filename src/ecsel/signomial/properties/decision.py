"""How features drive the decision: probabilities, and properties D1 and D2.

softmax   p_c = exp(z_c) / Σ_r exp(z_r)
sigmoid   p_1 = 1/(1 + exp(−z)), p_0 = 1 − p_1: a softmax of two scores of which z_0 ≡ 0
D1        ∂(z_a − z_b)/∂log x_j = G_aj − G_bj
D2        ∂p_c/∂log x_j = p_c·(G_cj − Σ_r p_r G_rj)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np
from scipy import special

from ecsel.signomial.arrays import ScoreTerms, scores
from ecsel.signomial.properties.global_behaviour import log_gradient

if TYPE_CHECKING:
    from ecsel.signomial.columns import FloatArray
    from ecsel.signomial.rows import FeatureRows

Link = Literal["sigmoid", "softmax"]


def probabilities(class_scores: FloatArray, link: Link) -> FloatArray:
    """Return class probabilities of scores (rows, classes), without overflow.

    A sigmoid takes one score and gives two columns, the probability of the positive class last.

    >>> probabilities(np.array([[0.0], [1000.0]]), "sigmoid")
    array([[0.5, 0.5],
           [0. , 1. ]])
    """
    _check_link(class_scores.shape[1], link)
    if link == "sigmoid":
        # σ(−z) rather than 1 − σ(z), which would lose the small probability of a sure decision
        return np.hstack([special.expit(-class_scores), special.expit(class_scores)])
    result: FloatArray = special.softmax(class_scores, axis=1)
    return result


def margin_sensitivity(terms: ScoreTerms, rows: FeatureRows, a: int, b: int, *, link: Link) -> FloatArray:
    """Return ∂(z_a − z_b)/∂log x_j = G_aj − G_bj (property D1), shape (rows, features).

    With a sigmoid the classes are 0, whose score is zero, and 1.
    """
    gradient = _class_gradient(terms, rows, link)
    n_classes = gradient.shape[1]
    if not (0 <= a < n_classes and 0 <= b < n_classes):
        raise ValueError(f"classes must lie between 0 and {n_classes - 1}, not {a} and {b}")
    return gradient[:, a] - gradient[:, b]


def probability_sensitivity(terms: ScoreTerms, rows: FeatureRows, *, link: Link) -> FloatArray:
    """Return ∂p_c/∂log x_j = p_c(G_cj − Σ_r p_r G_rj) (property D2), shape (rows, classes, features).

    A sigmoid has two classes here too. The sensitivities of a row add up to zero over the classes.
    """
    p = probabilities(scores(terms, rows), link)[:, :, None]
    gradient = _class_gradient(terms, rows, link)
    if gradient.shape[1] == 2:
        # p_0 p_1 (G_1 − G_0): the same, without the cancellation in G_c − Σ p G when a decision is nearly sure
        slope = p[:, 0] * p[:, 1] * (gradient[:, 1] - gradient[:, 0])
        return np.stack([-slope, slope], axis=1)
    result: FloatArray = p * (gradient - np.sum(p * gradient, axis=1, keepdims=True))
    return result


def _class_gradient(terms: ScoreTerms, rows: FeatureRows, link: Link) -> FloatArray:
    """Return the log-gradients of all class scores, with the zero score of a sigmoid's first class."""
    _check_link(terms.n_classes, link)
    gradient = log_gradient(terms, rows)
    return np.concatenate([np.zeros_like(gradient), gradient], axis=1) if link == "sigmoid" else gradient


def _check_link(n_scores: int, link: Link) -> None:
    if link not in ("sigmoid", "softmax"):
        raise ValueError(f"link must be 'sigmoid' or 'softmax', not {link!r}")
    if (link == "sigmoid") != (n_scores == 1):
        raise ValueError(f"a {link} takes {'one score' if link == 'sigmoid' else 'two or more scores'}, not {n_scores}")
