"""Figures in matplotlib: readable, colour-blind safe, with titles and units; functions return axes or a figure."""

from ecsel.plotting.bars import plot_importance, plot_scenarios, plot_waterfall
from ecsel.plotting.dispatch import plot_explanation
from ecsel.plotting.equation import plot_equation
from ecsel.plotting.lines import plot_curves, plot_margin
from ecsel.plotting.maps import plot_decision_map
from ecsel.plotting.reliability import plot_reliability
from ecsel.plotting.screening import plot_screening
from ecsel.plotting.sessions import plot_sessions
from ecsel.plotting.swarm import plot_beeswarm

__all__ = [
    "plot_beeswarm",
    "plot_curves",
    "plot_decision_map",
    "plot_equation",
    "plot_explanation",
    "plot_importance",
    "plot_margin",
    "plot_reliability",
    "plot_scenarios",
    "plot_screening",
    "plot_sessions",
    "plot_waterfall",
]
