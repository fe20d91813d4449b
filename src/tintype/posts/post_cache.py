"""Posts and their counts as everybody sees them, read through the cache.

The two are cached apart because counts change far more often than posts. Nothing here checks what a viewer may see.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import msgspec

from tintype.base.ids import MediaId, PostId, has_shard
from tintype.base.shard_groups import gather_rows, read_by_shard
from tintype.posts.dependencies import PostsDependencies
from tintype.posts.models import Post, PostCounts
from tintype.posts.store import COUNTS, POSTS, QUERIES, read_counts, read_post
from tintype.redis.client import Command
from tintype.redis.hot_counters import NO_DELTAS, BufferedDeltas, HotCounters
from tintype.redis.leased_cache import CacheSource


@dataclass(frozen=True)
class PostSources:
    """The cache sources of posts, for a reader that fetches many kinds of objects in one round trip."""

    posts: CacheSource[PostId, Post]
    counts: CacheSource[PostId, PostCounts]
    like_counters: HotCounters
    """Buffered likes to add to the counts; read them before the counts, or together with them."""


class PostCache:
    """Reads posts and counts through the cache, and invalidates them."""

    def __init__(self, dependencies: PostsDependencies) -> None:
        self._shards, self._cache = dependencies.shards, dependencies.cache
        self._like_counters = dependencies.like_counters

    def sources(self) -> PostSources:
        """The cache sources, for a reader that checks visibility itself."""
        return PostSources(
            CacheSource(POSTS, self._load_posts), CacheSource(COUNTS, self._load_counts), self._like_counters
        )

    async def find_posts(self, ids: Iterable[PostId]) -> dict[PostId, Post]:
        """Those of the posts that are not deleted, without their counts."""
        known = [post_id for post_id in dict.fromkeys(ids) if has_shard(self._shards, post_id)]
        return await self._cache.get_many(POSTS, known, self._load_posts)

    async def find_counts(self, ids: Iterable[PostId]) -> dict[PostId, PostCounts]:
        """The counts of posts with buffered likes added; the buffer is read first, see `HotCounters`."""
        wanted = list(ids)
        buffered = await self._like_counters.get_buffered(wanted)
        stored = await self._cache.get_many(COUNTS, wanted, self._load_counts)
        if buffered is NO_DELTAS:
            return stored
        return {each: _add(each, counts, buffered) for each, counts in stored.items()}

    async def replace_counts(
        self, post_id: PostId, counts: PostCounts, *, along: Sequence[Command] = ()
    ) -> None:
        """Cache counts that a like has just written, so that a popular post is not read again after every like.

        The commands `along` go out in the same round trip.
        """
        await self._cache.replace_if_newer(
            COUNTS,
            post_id,
            counts,
            is_newer=lambda cached: cached.counted_id < counts.counted_id,
            along=along,
        )

    async def drop_older_counts(self, changes: Mapping[PostId, int]) -> None:
        """Drop cached counts that do not include these changes of likes, by post; not those of hot posts."""
        older = await self._cache.find_outdated(
            COUNTS, list(changes), is_current=lambda each, counts: counts.counted_id >= changes[each]
        )
        if older:
            unsettled = await self._like_counters.find_unsettled(older)
            await self.invalidate_counts(*(each for each in older if each not in unsettled))

    async def invalidate(self, *ids: PostId) -> None:
        """Drop these posts and their counts from the cache: a change of them was committed."""
        await self._cache.invalidate(POSTS, *ids)
        await self.invalidate_counts(*ids)

    async def invalidate_counts(self, *ids: PostId) -> None:
        """Drop the counts of these posts from the cache."""
        await self._cache.invalidate(COUNTS, *ids)

    async def invalidate_media(self, media_ids: Sequence[MediaId]) -> None:
        """Drop the posts that show these media: a video is converted, or a file is lost."""
        found = await self._shards.gather(QUERIES.gather_posts_of_media, list(media_ids))
        await self._cache.invalidate(POSTS, *(row["post_id"] for row in found.complete()))

    async def _load_posts(self, ids: list[PostId]) -> dict[PostId, Post]:
        rows = await read_by_shard(self._shards, QUERIES.gather_posts, ids)
        return {PostId(row["id"]): read_post(row) for row in rows}

    async def _load_counts(self, ids: list[PostId]) -> dict[PostId, PostCounts]:
        rows = await gather_rows(self._shards, QUERIES.gather_counts, ids)
        return {PostId(row["id"]): read_counts(row) for row in rows}


def _add(post_id: PostId, counts: PostCounts, buffered: BufferedDeltas) -> PostCounts:
    like_count = buffered.apply(post_id, counts.like_count, counts.like_batch)
    return msgspec.structs.replace(counts, like_count=like_count)
