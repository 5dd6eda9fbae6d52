"""The closed-form properties of signomial scores, as pure functions of terms and rows.

Every function takes :class:`~ecsel.signomial.ScoreTerms` and :class:`~ecsel.signomial.FeatureRows`, for any number of
terms and classes, positive features or raw columns. Names in brackets are the paper's.

============================  =========================================
:mod:`global_behaviour`       elasticity (G1), scaled scores (G2), log-gradient (G3)
:mod:`decision`               probabilities, margin (D1) and probability sensitivity (D2)
:mod:`local`                  log-additive parts (L1), linear attributions (L2)
:mod:`shapley`                exact interventional Shapley values
:mod:`product_game`           the same for one product of factors, in its two exact forms
============================  =========================================
"""

from ecsel.signomial.properties.decision import margin_sensitivity, probabilities, probability_sensitivity
from ecsel.signomial.properties.global_behaviour import Elasticity, elasticity, log_gradient, scaled_scores
from ecsel.signomial.properties.local import (
    Attribution,
    attribution,
    log_additive,
    log_score_attribution,
    probability_attribution,
)
from ecsel.signomial.properties.shapley import ShapleyValues, shapley

__all__ = [
    "Attribution",
    "Elasticity",
    "ShapleyValues",
    "attribution",
    "elasticity",
    "log_additive",
    "log_gradient",
    "log_score_attribution",
    "margin_sensitivity",
    "probabilities",
    "probability_attribution",
    "probability_sensitivity",
    "scaled_scores",
    "shapley",
]
