"""Ranking: in which order a viewer would like to see posts, and how close people are.

Owns the features of posts and viewers in Redis, which the events of the other rooms keep up to date and which may be
lost at any time, and the scorer that makes an order of them.
"""

from tintype.ranking.models import Ranked
from tintype.ranking.service import Ranking

__all__ = ["Ranked", "Ranking"]
