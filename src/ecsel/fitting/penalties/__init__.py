"""Penalties: what an equation pays. `base` has the contracts, `slopes` the penalties in place of λ|s|."""

from ecsel.fitting.penalties.base import EquationPenalty, Penalty, PenaltyValue
from ecsel.fitting.penalties.l1 import L1
from ecsel.fitting.penalties.paper import PaperL1
from ecsel.fitting.penalties.slopes import L0, MCP, SCAD, ElasticNet, Group

PENALTIES: dict[str, type[Penalty]] = {"elastic_net": ElasticNet, "mcp": MCP, "scad": SCAD, "l0": L0, "group": Group}
"""Penalties of slopes by name, in place of λ|s|."""

__all__ = [
    "L0",
    "L1",
    "MCP",
    "PENALTIES",
    "SCAD",
    "ElasticNet",
    "EquationPenalty",
    "Group",
    "PaperL1",
    "Penalty",
    "PenaltyValue",
]
