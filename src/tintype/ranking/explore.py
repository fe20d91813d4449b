"""Explore: popular posts by people the viewer does not follow, ranked for the viewer.

An order is made at most once a minute per viewer, and once for all guests, and stored for half an hour under a number
that the cursor carries, so that pages neither repeat nor skip posts while posts come and go. Visibility is checked
again for every page.
"""

import struct
import time
from collections.abc import Callable, Sequence
from typing import Protocol

import msgspec

from tintype.base.ids import AccountId, PostId
from tintype.graph import Visibility, VisibleAccount
from tintype.posts import Post, Posts
from tintype.ranking.features import NO_FEATURES, ViewerFeatures
from tintype.ranking.keys import Keys
from tintype.ranking.models import RankedPost
from tintype.ranking.popular_posts import PopularPosts
from tintype.redis.client import RedisClient

MAX_SHOWN = 500
ORDER_TTL_S = 1_800
MAX_ROUNDS = 5
ORDER_EVERY_S = 60


class ExploreRanker(Protocol):
    """What explore needs of the room."""

    async def get_viewer_features(self, viewer: AccountId) -> ViewerFeatures:
        """The viewer's features."""
        ...

    async def rank(
        self, viewer: AccountId | None, candidates: Sequence[PostId], viewer_features: ViewerFeatures
    ) -> list[RankedPost]:
        """The candidates, best first."""
        ...


class ExploreCursor(msgspec.Struct, frozen=True):
    """Where a page begins: in which stored order, and how far down."""

    order: int = 0
    offset: int = 0


class Explore:
    """Pages of popular posts of strangers."""

    def __init__(
        self,
        ranker: ExploreRanker,
        redis_client: RedisClient,
        keys: Keys,
        *,
        popular: PopularPosts,
        posts: Posts,
        visibility: Visibility,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._ranker, self._redis_client, self._keys = ranker, redis_client, keys
        self._popular, self._posts, self._visibility, self._clock = popular, posts, visibility, clock

    async def page(
        self, viewer: AccountId | None, *, cursor: ExploreCursor, limit: int
    ) -> tuple[list[Post], ExploreCursor | None]:
        """Public posts of people the viewer does not follow, and where the next page begins."""
        order, ids = await self._get_order(viewer, cursor.order)
        shown: list[Post] = []
        offset = cursor.offset
        for _ in range(MAX_ROUNDS):
            batch = ids[offset : offset + limit]
            found = await self._find_eligible(viewer, batch)
            for each in batch:
                offset += 1
                if each in found:
                    shown.append(found[each])
                if len(shown) == limit:
                    break
            if len(shown) == limit or offset >= len(ids):
                break
        return shown, ExploreCursor(order, offset) if offset < len(ids) else None

    async def _get_order(self, viewer: AccountId | None, order: int) -> tuple[int, Sequence[PostId]]:
        """The order of this number if it is still stored, else that of this minute, made by the first who reads it."""
        now = int(self._clock()) // ORDER_EVERY_S
        for number in dict.fromkeys((order or now, now)):
            [stored] = await self._redis_client.execute(("GET", self._keys.explore(viewer, number)))
            if stored:
                return number, _unpack(stored)
        ids = await self._popular.read(MAX_SHOWN)
        features = await self._ranker.get_viewer_features(viewer) if viewer is not None else NO_FEATURES
        ranked = [each.post_id for each in await self._ranker.rank(viewer, ids, features)]
        key, packed = self._keys.explore(viewer, now), struct.pack(f"<{len(ranked)}q", *ranked)
        is_first, stored = await self._redis_client.execute(
            ("SET", key, packed, "NX", "EX", ORDER_TTL_S), ("GET", key)
        )
        return now, ranked if is_first else _unpack(stored or b"")

    async def _find_eligible(self, viewer: AccountId | None, ids: Sequence[PostId]) -> dict[PostId, Post]:
        """Those of the posts that are public, and by nobody whom the viewer follows or mutes."""
        posts = await self._posts.find_many(ids, viewer=viewer)
        authors = await self._visibility.find_accounts(viewer, {post.author_id for post in posts.values()})
        return {
            each: post
            for each, post in posts.items()
            if (author := authors.get(post.author_id)) is not None and _is_public_stranger(author)
        }


def _is_public_stranger(author: VisibleAccount) -> bool:
    relation = author.relation
    is_known = relation.is_self or relation.follows or relation.mutes_posts
    return not is_known and author.is_public


def _unpack(stored: bytes) -> tuple[PostId, ...]:
    return tuple(PostId(each) for each in struct.unpack(f"<{len(stored) // 8}q", stored))
