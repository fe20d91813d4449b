"""The graph: who follows, blocks, mutes and trusts whom.

Owns `following` (on the follower's shard, the truth) and `followers` (on the followee's shard, its mirror), `blocks`
(with the blocker) and `blocked_by` (with the blocked), `attitudes` (with the one whose they are) and the small ranking
`popular_accounts`. `Sight` decides who may see whom; `Circles` lists people as a viewer may see them.
"""

from tintype.graph.circles import Circles, Mutuals, PeoplePage
from tintype.graph.errors import (
    CannotBeYourself,
    CannotFollowYourself,
    RequestNotFound,
    TooManyAttitudes,
    TooManyFollowees,
)
from tintype.graph.events import BlockChanged, FollowApproved, FollowChanged, FollowDecided, FollowRequested
from tintype.graph.relations import ONESELF, STRANGER, Relation, Seen, may_know
from tintype.graph.service import Graph
from tintype.graph.sight import Sight
from tintype.graph.store import QUERIES
from tintype.graph.suggesting import Suggestion, Suggestions
from tintype.graph.tallies import QUERIES as TALLY_QUERIES
from tintype.graph.tallies import graph_tallies

__all__ = [
    "ONESELF",
    "QUERIES",
    "STRANGER",
    "TALLY_QUERIES",
    "BlockChanged",
    "CannotBeYourself",
    "CannotFollowYourself",
    "Circles",
    "FollowApproved",
    "FollowChanged",
    "FollowDecided",
    "FollowRequested",
    "Graph",
    "Mutuals",
    "PeoplePage",
    "Relation",
    "RequestNotFound",
    "Seen",
    "Sight",
    "Suggestion",
    "Suggestions",
    "TooManyAttitudes",
    "TooManyFollowees",
    "graph_tallies",
    "may_know",
]
