"""Explanations for people: exact, in the user's own units, with names."""

from ecsel.explain.baseline import Baseline, class_mean
from ecsel.explain.counterfactual import Counterfactual, counterfactual
from ecsel.explain.decision import margin_sensitivity, probability_sensitivity
from ecsel.explain.explanation import Explanation
from ecsel.explain.global_behaviour import elasticity, importance, log_gradient
from ecsel.explain.local import attribution, log_additive
from ecsel.explain.shapley import shapley
from ecsel.explain.view import ModelView
from ecsel.explain.what_if import Curves, WhatIf, what_if, what_if_curves

__all__ = [
    "Baseline",
    "Counterfactual",
    "Curves",
    "Explanation",
    "ModelView",
    "WhatIf",
    "attribution",
    "class_mean",
    "counterfactual",
    "elasticity",
    "importance",
    "log_additive",
    "log_gradient",
    "margin_sensitivity",
    "probability_sensitivity",
    "shapley",
    "what_if",
    "what_if_curves",
]
