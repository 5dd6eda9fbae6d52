"""How features drive the decision: probabilities, and properties D1 and D2.

p         the probabilities of the scores under a link (`ecsel.signomial.links`)
D1        ∂(z_a − z_b)/∂log x_j = G_aj − G_bj
D2        ∂p_c/∂log x_j = p_c·(G_cj − Σ_r p_r G_rj)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ecsel.signomial.arrays import ScoreTerms, scores
from ecsel.signomial.links import Link, link_of_classes
from ecsel.signomial.properties.global_behaviour import log_gradient

if TYPE_CHECKING:
    from ecsel._typing import Floats
    from ecsel.signomial.rows import FeatureRows


def probabilities(class_scores: Floats, link: Link | str) -> Floats:
    """Return class probabilities of scores (rows, classes), without overflow.

    A sigmoid takes one score and gives two columns, the probability of the positive class last.

    >>> probabilities(np.array([[0.0], [1000.0]]), "sigmoid")
    array([[0.5, 0.5],
           [0. , 1. ]])
    """
    return link_of_classes(link).outputs(class_scores)


def margin_sensitivity(terms: ScoreTerms, rows: FeatureRows, a: int, b: int, *, link: Link | str) -> Floats:
    """Return ∂(z_a − z_b)/∂log x_j = G_aj − G_bj (property D1), shape (rows, features).

    With a sigmoid the classes are 0, whose score is zero, and 1.
    """
    gradient = _class_gradient(terms, rows, link)
    n_classes = gradient.shape[1]
    if not (0 <= a < n_classes and 0 <= b < n_classes):
        raise ValueError(f"classes must lie between 0 and {n_classes - 1}, not {a} and {b}")
    return gradient[:, a] - gradient[:, b]


def probability_sensitivity(terms: ScoreTerms, rows: FeatureRows, *, link: Link | str) -> Floats:
    """Return ∂p_c/∂log x_j = p_c(G_cj − Σ_r p_r G_rj) (property D2), shape (rows, classes, features).

    A sigmoid has two classes here too. The sensitivities of a row add up to zero over the classes.
    """
    p = probabilities(scores(terms, rows), link)[:, :, None]
    gradient = _class_gradient(terms, rows, link)
    if gradient.shape[1] == 2:
        # p_0 p_1 (G_1 − G_0): the same, without the cancellation in G_c − Σ p G when a decision is nearly sure
        slope = p[:, 0] * p[:, 1] * (gradient[:, 1] - gradient[:, 0])
        return np.stack([-slope, slope], axis=1)
    result: Floats = p * (gradient - np.sum(p * gradient, axis=1, keepdims=True))
    return result


def _class_gradient(terms: ScoreTerms, rows: FeatureRows, link: Link | str) -> Floats:
    """Return the log-gradients of all class scores, with the zero score of a sigmoid's first class."""
    return link_of_classes(link).class_scores(log_gradient(terms, rows))
