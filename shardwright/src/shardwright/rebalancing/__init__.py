"""Spreads shards over servers: measures what they use, plans moves, draws and carries out the plan, adds servers.

Owns nothing of its own: moves are journalled by `shardwright.moves`, servers are in the directory's map.
"""

from shardwright.rebalancing.carry_out import Pace, carry_out
from shardwright.rebalancing.measure import DEFAULT_SAMPLE_S, measure_shards
from shardwright.rebalancing.models import Basis, Limits, Plan, Relocation, ServerUse, ShardUse
from shardwright.rebalancing.new_server import NewServer, add_server
from shardwright.rebalancing.picture import draw_plan
from shardwright.rebalancing.plan import DEFAULT_TOLERANCE, plan_drain, plan_rebalance, plan_split

__all__ = [
    "DEFAULT_SAMPLE_S",
    "DEFAULT_TOLERANCE",
    "Basis",
    "Limits",
    "NewServer",
    "Pace",
    "Plan",
    "Relocation",
    "ServerUse",
    "ShardUse",
    "add_server",
    "carry_out",
    "draw_plan",
    "measure_shards",
    "plan_drain",
    "plan_rebalance",
    "plan_split",
]
