"""Counterfactuals: the nearest changes of a row that lead to another decision, a probability or a value."""

from ecsel.explain.counterfactual.api import Counterfactual, counterfactual, counterfactuals

__all__ = ["Counterfactual", "counterfactual", "counterfactuals"]
