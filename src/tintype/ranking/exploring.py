"""Explore: what many people react to just now, by people the viewer does not follow, in the viewer's own order.

An order is made once a minute for a viewer, once for all guests, and kept for half an hour under a number that the
cursor carries, so that pages neither repeat nor skip while posts come and go. What may be seen is asked of every page
anew.
"""

import struct
import time
from collections.abc import Callable, Sequence
from typing import Protocol

import msgspec

from tintype.base.ids import AccountId, PostId
from tintype.base.wire import Wire
from tintype.graph import Seen, Sight
from tintype.posts import Post, Posts
from tintype.ranking.features import NOBODY, Known
from tintype.ranking.keys import Keys
from tintype.ranking.models import Ranked
from tintype.ranking.popular import Popular

MOST_SHOWN = 500
KEEP_ORDER_S = 1_800
MOST_ROUNDS = 5
ORDER_EVERY_S = 60


class Ranker(Protocol):
    """What explore needs of the room."""

    async def know(self, viewer: AccountId) -> Known:
        """What is known of the viewer."""
        ...

    async def rank(
        self, viewer: AccountId | None, candidates: Sequence[PostId], known: Known
    ) -> list[Ranked]:
        """The candidates, best first."""
        ...


class Place(msgspec.Struct, frozen=True):
    """Where a page begins: in which order, and how far down."""

    order: int = 0
    offset: int = 0


class Explore:
    """Popular posts of strangers."""

    def __init__(
        self,
        ranker: Ranker,
        wire: Wire,
        keys: Keys,
        *,
        popular: Popular,
        posts: Posts,
        sight: Sight,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._ranker, self._wire, self._keys = ranker, wire, keys
        self._popular, self._posts, self._sight, self._clock = popular, posts, sight, clock

    async def page(
        self, viewer: AccountId | None, *, place: Place, limit: int
    ) -> tuple[list[Post], Place | None]:
        """Public posts of people the viewer does not follow, and where the next page begins."""
        order, ids = await self._order(viewer, place.order)
        shown: list[Post] = []
        offset = place.offset
        for _ in range(MOST_ROUNDS):
            batch = ids[offset : offset + limit]
            found = await self._welcome(viewer, batch)
            for each in batch:
                offset += 1
                if each in found:
                    shown.append(found[each])
                if len(shown) == limit:
                    break
            if len(shown) == limit or offset >= len(ids):
                break
        return shown, Place(order, offset) if offset < len(ids) else None

    async def _order(self, viewer: AccountId | None, order: int) -> tuple[int, Sequence[PostId]]:
        """The order a cursor names; else that of this minute, made by whoever asks first."""
        now = int(self._clock()) // ORDER_EVERY_S
        for number in dict.fromkeys((order or now, now)):
            [kept] = await self._wire.ask(("GET", self._keys.explore(viewer, number)))
            if kept:
                return number, _unpack(kept)
        ids = await self._popular.read(MOST_SHOWN)
        known = await self._ranker.know(viewer) if viewer is not None else NOBODY
        ranked = [each.post_id for each in await self._ranker.rank(viewer, ids, known)]
        name, packed = self._keys.explore(viewer, now), struct.pack(f"<{len(ranked)}q", *ranked)
        is_first, kept = await self._wire.ask(("SET", name, packed, "NX", "EX", KEEP_ORDER_S), ("GET", name))
        return now, ranked if is_first else _unpack(kept or b"")

    async def _welcome(self, viewer: AccountId | None, ids: Sequence[PostId]) -> dict[PostId, Post]:
        """Those of the posts that belong here: public, and of nobody whom the viewer knows already."""
        posts = await self._posts.find_many(ids, viewer=viewer)
        authors = await self._sight.of(viewer, {post.author_id for post in posts.values()})
        return {
            each: post
            for each, post in posts.items()
            if (seen := authors.get(post.author_id)) is not None and _is_new_to(seen)
        }


def _is_new_to(seen: Seen) -> bool:
    relation = seen.relation
    is_known = relation.is_self or relation.follows or relation.mutes_posts
    return not is_known and not seen.account.is_private


def _unpack(kept: bytes) -> tuple[PostId, ...]:
    return tuple(PostId(each) for each in struct.unpack(f"<{len(kept) // 8}q", kept))
