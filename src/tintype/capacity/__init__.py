"""Capacity planning: how many cores, servers, shards and bytes a site of a given size needs, and what breaks first.

A pure model: costs per operation and assumptions about people go in, a plan comes out. It reads no clock, no file but
the costs, and no server; `tintype plan` shows it, and docs/capacity.md is made by that command.
"""

from tintype.capacity.cost_files import default_costs, read_costs
from tintype.capacity.errors import CostsInvalid
from tintype.capacity.models import Assumptions, Cost, Costs, Plan, Wall
from tintype.capacity.plan import make_plan

__all__ = [
    "Assumptions",
    "Cost",
    "Costs",
    "CostsInvalid",
    "Plan",
    "Wall",
    "default_costs",
    "make_plan",
    "read_costs",
]
