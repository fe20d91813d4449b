"""The graph: who follows whom.

Owns `following` (on the follower's shard, the truth) and `followers` (on the followee's shard, its mirror), `blocks`
(with the blocker) and `blocked_by` (with the blocked). `Sight` decides who may see whom.
"""

from tintype.graph.events import BlockChanged, FollowApproved, FollowChanged, FollowRequested
from tintype.graph.relations import ONESELF, STRANGER, Relation, Seen, may_know
from tintype.graph.service import QUERIES, Graph
from tintype.graph.sight import Sight
from tintype.graph.tallies import QUERIES as TALLY_QUERIES
from tintype.graph.tallies import graph_tallies

__all__ = [
    "ONESELF",
    "QUERIES",
    "STRANGER",
    "TALLY_QUERIES",
    "BlockChanged",
    "FollowApproved",
    "FollowChanged",
    "FollowRequested",
    "Graph",
    "Relation",
    "Seen",
    "Sight",
    "graph_tallies",
    "may_know",
]
