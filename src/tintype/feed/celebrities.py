"""Celebrities: authors with so many followers that their posts are merged when a feed is read instead of fanned out.

The author's row in `feed_stars` is the truth. Every timeline that exists is marked before the first post is withheld
from fan-out. A mark is never wrong, only superfluous once the author is no longer a celebrity: it then points to a
list with nothing new in it. So marks need not be removed, and no order of events can lose a post.
"""

import asyncio
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from datetime import UTC, datetime, timedelta

import msgspec

from shardwright.routing import Shards
from tintype.base.bounded_map import BoundedMap
from tintype.base.ids import AccountId, PostId
from tintype.base.outbox import Outbox
from tintype.feed.events import StarRisen
from tintype.feed.post_lists import PostLists
from tintype.feed.store import QUERIES
from tintype.feed.timeline_builder import TimelineBuilder
from tintype.redis.client import RedisClient
from tintype.redis.tracked_read import TrackedRead

ENDS_BELOW = 0.8
"""Authors stop being celebrities at this share of the threshold, so that one follower less changes nothing."""
LOADED_TTL_S = 2.0
MAX_LOADED = 1_000
LOADED_AT_ONCE = 50
STUCK_AFTER = timedelta(minutes=10)
"""Marking the timelines starts again if it has not finished after this long: the job that did it has died."""


class CelebrityStatus(msgspec.Struct, frozen=True):
    """Whether an author is a celebrity: `change_id` is set as soon as marking the timelines has begun."""

    follower_count: int
    change_id: int | None = None
    is_settled: bool = False
    """All timelines are marked: posts are no longer fanned out."""


class CelebrityRegistry:
    """Who is a celebrity, on the author's shard."""

    def __init__(self, shards: Shards, outbox: Outbox, *, threshold: int) -> None:
        self._shards, self._outbox, self._threshold = shards, outbox, threshold

    async def update_status(self, author: AccountId, status: CelebrityStatus) -> CelebrityStatus:
        """The author's new status: whoever has crossed the threshold becomes, or ceases to be, a celebrity."""
        if status.change_id is None and status.follower_count >= self._threshold:
            return await self._add(author, status)
        if status.change_id is not None and status.follower_count < self._threshold * ENDS_BELOW:
            await self._remove(author, status.change_id)
            return CelebrityStatus(status.follower_count)
        if status.change_id is not None and not status.is_settled and self._is_stuck(status.change_id):
            return await self._add(author, status)
        return status

    async def is_unsettled(self, risen: StarRisen) -> bool:
        """Whether the timelines have still to be marked because of this very event."""
        row = await self._shards.owner(risen.author_id).fetch_one(
            QUERIES.find_celebrity_status, account_id=risen.author_id
        )
        return row is not None and row["change_id"] == risen.change_id and not row["is_settled"]

    async def settle(self, risen: StarRisen) -> None:
        """Stop fanning out the author's posts: every timeline is marked. No effect if the row has changed meanwhile."""
        await self._shards.owner(risen.author_id).execute(
            QUERIES.settle_celebrity, account_id=risen.author_id, change_id=risen.change_id
        )

    async def erase(self, author: AccountId) -> int:
        """Delete the author's row; returns how many there were."""
        return await self._shards.owner(author).execute(QUERIES.erase_celebrity, account_id=author)

    async def count(self, author: AccountId) -> int:
        """How many rows there are of this author."""
        return int(
            await self._shards.owner(author).fetch_value(QUERIES.count_celebrity_rows, account_id=author)
        )

    async def _add(self, author: AccountId, status: CelebrityStatus) -> CelebrityStatus:
        async with self._shards.owner(author).begin() as tx:
            change_id = await tx.fetch_value(
                QUERIES.add_celebrity, account_id=author, expected=status.change_id or 0
            )
            if change_id is not None:
                await self._outbox.add(tx, StarRisen(author, change_id))
        return CelebrityStatus(status.follower_count, change_id)

    async def _remove(self, author: AccountId, change_id: int) -> None:
        await self._shards.owner(author).execute(
            QUERIES.remove_celebrity, account_id=author, change_id=change_id
        )

    def _is_stuck(self, change_id: int) -> bool:
        return self._shards.map.layout.id_time(change_id) < datetime.now(UTC) - STUCK_AFTER


class CelebrityLists:
    """The celebrities' own posts: from the client-side cache, else from Redis, else from the shards."""

    def __init__(
        self,
        redis_client: RedisClient,
        lists: PostLists,
        builder: TimelineBuilder,
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._redis_client, self._lists, self._builder, self._clock = redis_client, lists, builder, clock
        self._cached = lists.cached.values
        self._loaded: BoundedMap[AccountId, tuple[float, list[int]]] = BoundedMap(MAX_LOADED)
        """Lists that this process has just loaded from the shards, with their expiry."""
        self._loading = asyncio.Lock()

    def add_to_read(self, celebrities: Iterable[AccountId], read: TrackedRead) -> None:
        """Add the commands for those of these lists that are not in the client-side cache."""
        for celebrity in celebrities:
            if celebrity not in self._cached:
                self._lists.add_to_read(celebrity, read)

    async def from_read(self, celebrities: Sequence[AccountId], read: TrackedRead) -> list[Sequence[int]]:
        """These lists, in this order; one more round trip for those that were not added or were invalidated since."""
        cached = self._cached
        lists = {celebrity: cached[celebrity].ids for celebrity in celebrities if celebrity in cached}
        if len(lists) < len(celebrities):
            lists |= await self._fetch([each for each in celebrities if each not in lists], read)
        return [lists[celebrity] for celebrity in celebrities]

    async def push(self, post_id: PostId, lists: Sequence[AccountId]) -> None:
        """Push a post onto those of these lists that exist."""
        await self._lists.push(post_id, lists)

    def key(self, celebrity: AccountId) -> str:
        """The key of a celebrity's list: in a cluster in the same slot as the celebrity's own timeline."""
        return self._lists.key(celebrity)

    async def delete(self, celebrity: AccountId) -> None:
        """Delete a list, in Redis and in this process."""
        self._loaded.pop(celebrity, None)
        await self._lists.delete(celebrity)

    async def _fetch(
        self, celebrities: Sequence[AccountId], read: TrackedRead
    ) -> dict[AccountId, Sequence[int]]:
        unread = [each for each in celebrities if read.group_replies(self._lists.cached, each) is None]
        fetched = await self._parse([each for each in celebrities if each not in unread], read)
        if unread:
            with closing(TrackedRead(self._redis_client)) as second_read:
                self.add_to_read(unread, second_read)
                await second_read.execute()
                fetched |= await self._parse(unread, second_read)
        absent = [each for each in celebrities if each not in fetched]
        if absent:
            async with self._loading:  # cache stampede: one caller loads, the others wait
                fetched |= self._just_loaded(absent)
                for start in range(0, len(absent), LOADED_AT_ONCE):
                    some = absent[start : start + LOADED_AT_ONCE]
                    fetched |= await self._load([each for each in some if each not in fetched])
        return fetched

    async def _parse(
        self, celebrities: Iterable[AccountId], read: TrackedRead
    ) -> dict[AccountId, Sequence[int]]:
        """Those of the lists that are in Redis."""
        found: dict[AccountId, Sequence[int]] = {}
        for celebrity in celebrities:
            post_list = await self._lists.from_read(celebrity, read)
            if post_list is not None and post_list.is_ready:
                found[celebrity] = post_list.ids
                await self._lists.extend(celebrity)
        return found

    def _just_loaded(self, celebrities: Iterable[AccountId]) -> dict[AccountId, list[int]]:
        """Those of the lists that this process has just loaded, and that may not be in Redis yet."""
        now, loaded = self._clock(), self._loaded
        return {each: loaded[each][1] for each in celebrities if each in loaded and loaded[each][0] > now}

    async def _load(self, celebrities: Sequence[AccountId]) -> dict[AccountId, list[int]]:
        if not celebrities:
            return {}
        tokens = await self._lists.begin_build(*celebrities)
        built, is_complete = await self._builder.build_author_lists(celebrities)
        for celebrity, token in tokens.items():
            if is_complete:
                await self._lists.fill(celebrity, token, built[celebrity])
            else:
                await self._lists.abandon_build(celebrity, token)
        expires_at = self._clock() + LOADED_TTL_S
        found = {celebrity: list[int](built[celebrity][::-1]) for celebrity in celebrities}
        for celebrity, ids in found.items():
            self._loaded[celebrity] = (expires_at, ids)
        return found
