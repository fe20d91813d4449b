"""Followed hashtags: whose posts appear in a feed because of what they show, not of who made them.

A hashtag is read as a celebrity is (`celebrities.py`): one list of its newest posts in Redis, merged with the timelines
that are marked with it. So publishing costs one push per hashtag however many follow it, and reading costs those who
follow hashtags one cached list for each. In timelines and lists a hashtag goes by a negative number made of its name.
"""

import hashlib
from collections.abc import Iterable, Sequence

from shardwright.routing import Shards
from tintype.base.bounded_map import BoundedMap
from tintype.base.ids import AccountId, PostId
from tintype.base.log import get_log
from tintype.base.outbox import Outbox
from tintype.base.rate_limits import FOLLOW
from tintype.base.text import find_hashtags, hashtag_key
from tintype.feed.errors import TagInvalid, TooManyTags
from tintype.feed.events import TagFollowChanged
from tintype.feed.store import QUERIES
from tintype.redis.rate_limits import RateLimiter
from tintype.redis.viewer_invalidation import ViewerInvalidation

MAX_TAGS = 30
"""Each is one more list to merge whenever its follower reads the feed."""
TAG_POSTS = 50
"""So many of the newest posts of a hashtag take part in a feed: a busy one must not drown the people."""
MAX_NAMES = 20_000
log = get_log("feed")


def tag_list_id(tag: str) -> AccountId:
    """The number of a hashtag's list: negative, so that it is no account's."""
    digest = hashlib.blake2b(tag.encode(), digest_size=8).digest()
    return AccountId(-1 - (int.from_bytes(digest) >> 2))


class FollowedTags:
    """Which hashtags people follow, on the shard of whoever follows."""

    def __init__(
        self, shards: Shards, outbox: Outbox, limiter: RateLimiter, invalidation: ViewerInvalidation
    ) -> None:
        self._shards, self._outbox, self._limiter = shards, outbox, limiter
        self._invalidation = invalidation
        self._names: BoundedMap[int, str] = BoundedMap(MAX_NAMES)
        """The names of the numbers that this process has met."""

    async def follow(self, account_id: AccountId, tag: str) -> str:
        """Follow a hashtag; twice changes nothing. Returns its key."""
        key = _check(tag)
        await self._limiter.acquire(FOLLOW, account_id)
        async with self._shards.owner(account_id).begin() as tx:
            is_new = await tx.fetch_value(QUERIES.follow_tag, account_id=account_id, tag=key, limit=MAX_TAGS)
            if is_new is None and not await tx.fetch_value(
                QUERIES.find_followed_tag, account_id=account_id, tag=key
            ):
                raise TooManyTags
            if is_new:
                await self._outbox.add(tx, TagFollowChanged(account_id, key, is_following=True))
                self._invalidation.invalidate_after_commit(tx, account_id)
        return key

    async def unfollow(self, account_id: AccountId, tag: str) -> str:
        """Stop following a hashtag; twice changes nothing. Returns its key."""
        key = _check(tag)
        async with self._shards.owner(account_id).begin() as tx:
            if await tx.execute(QUERIES.unfollow_tag, account_id=account_id, tag=key):
                await self._outbox.add(tx, TagFollowChanged(account_id, key, is_following=False))
                self._invalidation.invalidate_after_commit(tx, account_id)
        return key

    async def list_of(self, account_id: AccountId) -> list[str]:
        """The hashtags that an account follows, the latest first."""
        rows = await self._shards.owner(account_id).fetch(QUERIES.list_followed_tags, account_id=account_id)
        return [row["tag"] for row in rows]

    async def is_followed(self, account_id: AccountId, tag: str) -> bool:
        """Whether an account follows a hashtag."""
        found = await self._shards.owner(account_id).fetch_value(
            QUERIES.find_followed_tag, account_id=account_id, tag=hashtag_key(tag)
        )
        return found is not None

    async def mark_ids(self, viewer: AccountId) -> tuple[AccountId, ...]:
        """The numbers that a timeline of this viewer is marked with."""
        tags = await self.list_of(viewer)
        ids = tuple(tag_list_id(tag) for tag in tags)
        for each, tag in zip(ids, tags, strict=True):
            self._names[each] = tag
        return ids

    async def learn_names(self, viewer: AccountId, ids: Iterable[AccountId]) -> None:
        """Know the names of these numbers, which a timeline of this viewer is marked with."""
        if any(each < 0 and each not in self._names for each in ids):
            await self.mark_ids(viewer)

    async def build_lists(self, ids: Sequence[AccountId]) -> tuple[dict[AccountId, list[PostId]], bool]:
        """The newest public posts of each of these hashtags, newest first; none of one whose name is unknown.

        Also whether all are what their shards have, so that they may be stored.
        """
        found: dict[AccountId, list[PostId]] = {}
        for each in ids:
            name = self._names.get(each)
            if name is not None:
                topic = f"tag:{name}"
                rows = await self._shards.of(topic).fetch(
                    QUERIES.newest_of_topic, topic=topic, limit=TAG_POSTS
                )
                found[each] = [row["post_id"] for row in rows]
        return {each: found.get(each, []) for each in ids}, len(found) == len(ids)

    async def erase(self, account_id: AccountId) -> int:
        """Delete what an account follows; returns how many rows there were."""
        return await self._shards.owner(account_id).execute(
            QUERIES.erase_followed_tags, account_id=account_id
        )

    async def count(self, account_id: AccountId) -> int:
        """How many hashtags an account follows."""
        return len(await self.list_of(account_id))


def _check(tag: str) -> str:
    text = "#" + tag.strip().removeprefix("#")
    found = find_hashtags(text)
    if not found or (found[0].start, found[0].end) != (0, len(text)):
        raise TagInvalid
    return found[0].key
