"""Penalties: what an equation pays. `base` has the contracts, every other file one penalty."""

from ecsel.fitting.penalties.base import Charge, Penalty, Tariff
from ecsel.fitting.penalties.elastic_net import ElasticNet
from ecsel.fitting.penalties.group import Group
from ecsel.fitting.penalties.l0 import L0
from ecsel.fitting.penalties.l1 import L1
from ecsel.fitting.penalties.mcp import MCP
from ecsel.fitting.penalties.paper import PaperL1
from ecsel.fitting.penalties.scad import SCAD

PENALTIES = {"l1": L1, "paper": PaperL1}
TARIFFS: dict[str, type[Tariff]] = {"elastic_net": ElasticNet, "mcp": MCP, "scad": SCAD, "l0": L0, "group": Group}
"""What slopes may pay in place of λ|s|."""

__all__ = [
    "L0",
    "L1",
    "MCP",
    "PENALTIES",
    "SCAD",
    "TARIFFS",
    "Charge",
    "ElasticNet",
    "Group",
    "PaperL1",
    "Penalty",
    "Tariff",
]
