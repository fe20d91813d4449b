"""The graph: who follows, blocks and mutes whom, and who may see whom.

Owns `following` (on the follower's shard, the truth) and `followers` (on the followee's shard, its mirror), `blocks`
(with the blocker) and `blocked_by` (with the blocked, its mirror), `attitudes` (mutes, restrictions, close friends and
dismissed suggestions; with the account that set them) and the small ranking `popular_accounts`.

`visibility_rules` decides who may see what; `Visibility` applies it to accounts; `PeopleLists` lists people.
"""

from tintype.graph import visibility_rules
from tintype.graph.errors import (
    CannotBeYourself,
    CannotFollowYourself,
    RequestNotFound,
    TooManyFollowees,
    TooManyPreferences,
)
from tintype.graph.events import BlockChanged, FollowApproved, FollowChanged, FollowDecided, FollowRequested
from tintype.graph.mentions import Mentions
from tintype.graph.people_lists import Mutuals, PeopleLists, PeoplePage, PreferenceKind
from tintype.graph.relations import ONESELF, STRANGER, Relation, VisibleAccount, is_account_visible
from tintype.graph.service import Graph
from tintype.graph.store import QUERIES
from tintype.graph.suggestions import Suggestion, Suggestions
from tintype.graph.visibility import Visibility

__all__ = [
    "ONESELF",
    "QUERIES",
    "STRANGER",
    "BlockChanged",
    "CannotBeYourself",
    "CannotFollowYourself",
    "FollowApproved",
    "FollowChanged",
    "FollowDecided",
    "FollowRequested",
    "Graph",
    "Mentions",
    "Mutuals",
    "PeopleLists",
    "PeoplePage",
    "PreferenceKind",
    "Relation",
    "RequestNotFound",
    "Suggestion",
    "Suggestions",
    "TooManyFollowees",
    "TooManyPreferences",
    "Visibility",
    "VisibleAccount",
    "is_account_visible",
    "visibility_rules",
]
