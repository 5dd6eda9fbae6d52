"""Explanations for people: exact, in the user's own units, with names."""

from ecsel.explain.agreement import Agreement, agreement
from ecsel.explain.baseline import Baseline, class_mean
from ecsel.explain.compare import Comparison, compare
from ecsel.explain.counterfactual import Counterfactual, counterfactual, counterfactuals
from ecsel.explain.decision import margin_sensitivity, probability_sensitivity
from ecsel.explain.directions import directions
from ecsel.explain.explanation import Explanation
from ecsel.explain.global_behaviour import elasticity, importance, log_gradient
from ecsel.explain.local import attribution, log_additive
from ecsel.explain.reasons import Reasons, reasons
from ecsel.explain.shapley import shapley
from ecsel.explain.view import ModelView
from ecsel.explain.what_if import Curves, WhatIf, what_if, what_if_curves

__all__ = [
    "Agreement",
    "Baseline",
    "Comparison",
    "Counterfactual",
    "Curves",
    "Explanation",
    "ModelView",
    "Reasons",
    "WhatIf",
    "agreement",
    "attribution",
    "class_mean",
    "compare",
    "counterfactual",
    "counterfactuals",
    "directions",
    "elasticity",
    "importance",
    "log_additive",
    "log_gradient",
    "margin_sensitivity",
    "probability_sensitivity",
    "reasons",
    "shapley",
    "what_if",
    "what_if_curves",
]
