"""The graph: who follows whom.

Owns `following` (on the follower's shard, the truth) and `followers` (on the followee's shard, a mirror fed by events).
"""

from tintype.graph.events import FollowChanged
from tintype.graph.service import QUERIES, Graph

__all__ = ["QUERIES", "FollowChanged", "Graph"]
