"""Likes: one per person and post, on the post's shard with the count; indexed on the liker's own shard.

A post that is liked very fast has its count buffered (see `tintype.redis.hot_counters`), so that likes do not queue
for the lock on the post's row; the like itself and its event commit as always.
"""

from collections.abc import Iterable, Mapping

from tintype.base.ids import AccountId, PostId
from tintype.base.log import get_log
from tintype.base.pages import Page, fill_page
from tintype.graph import VisibleAccount
from tintype.posts.dependencies import PostsDependencies
from tintype.posts.events import PostLiked
from tintype.posts.models import Post
from tintype.posts.post_cache import PostCache
from tintype.posts.reader import PostReader
from tintype.posts.store import QUERIES, SHARD_UNAVAILABLE, read_counts

log = get_log("posts")
_CHANGES = {
    (True, False): QUERIES.like_and_count,
    (False, False): QUERIES.unlike_and_count,
    (True, True): QUERIES.like,
    (False, True): QUERIES.unlike,
}
"""The query that changes a like, by whether it is given or taken back, and whether the count is buffered."""


class PostLikes:
    """Likes of posts."""

    def __init__(self, dependencies: PostsDependencies, cache: PostCache, reader: PostReader) -> None:
        self._shards, self._outbox, self._cache = dependencies.shards, dependencies.outbox, cache
        self._visibility, self._reader = dependencies.visibility, reader
        self._viewer_invalidation = dependencies.viewer_invalidation
        self._counters = dependencies.like_counters

    async def change(self, post_id: PostId, author_id: AccountId, by: AccountId, *, is_liked: bool) -> None:
        """Write a like or remove it, with its count and event in one transaction, whoever may see the post."""
        is_buffered = await self._counters.should_buffer(post_id)
        async with self._shards.owner(post_id).begin() as tx:
            changed = await tx.fetch_one(_CHANGES[is_liked, is_buffered], post_id=post_id, account_id=by)
            if changed is None:
                return
            event = PostLiked(post_id, author_id, by, changed["change_id"], is_liked)
            await self._outbox.add(tx, event)
        if is_buffered:
            await self._counters.buffer(post_id, 1 if is_liked else -1)
        else:
            await self._cache.replace_counts(post_id, read_counts(changed))
        await self._try_index(event)
        log.info("like.changed", post_id=post_id, account_id=by, is_liked=is_liked, is_buffered=is_buffered)

    async def page_likers(
        self, post_id: PostId, *, viewer: AccountId | None, before: int, limit: int
    ) -> Page[VisibleAccount]:
        """Who liked a post, the latest first, as far as the viewer may know of them."""
        await self._reader.get_author_id(post_id, viewer=viewer)

        async def fetch(before: int, limit: int) -> list[tuple[AccountId, int]]:
            rows = await self._shards.owner(post_id).fetch(
                QUERIES.page_likers, post_id=post_id, before=before, limit=limit
            )
            return [(AccountId(row["account_id"]), row["liked_id"]) for row in rows]

        async def show(ids: list[AccountId]) -> dict[AccountId, VisibleAccount]:
            return await self._visibility.find_accounts(viewer, ids)

        return await fill_page(fetch, show, before=before, limit=limit)

    async def page_own_likes(self, account_id: AccountId, *, before: int, limit: int) -> Page[Post]:
        """The posts an account likes, the latest like first; the list is private to that account."""

        async def fetch(before: int, limit: int) -> list[tuple[PostId, int]]:
            rows = await self._shards.owner(account_id).fetch(
                QUERIES.page_own_likes, account_id=account_id, before=before, limit=limit
            )
            return [(PostId(row["post_id"]), row["change_id"]) for row in rows]

        async def show(ids: list[PostId]) -> dict[PostId, Post]:
            return await self._reader.find_many(ids, viewer=account_id)

        return await fill_page(fetch, show, before=before, limit=limit)

    async def index(self, event: PostLiked) -> None:
        """Write the like to the liker's own shard; idempotent, and of several changes the newest wins."""
        await self._shards.owner(event.account_id).execute(
            QUERIES.index_like,
            account_id=event.account_id,
            post_id=event.post_id,
            change_id=event.change_id,
            is_active=event.is_liked,
        )
        await self._viewer_invalidation.invalidate(event.account_id)

    async def flush(self) -> None:
        """Add buffered likes to the counts in the rows, and finish what an interrupted flush has left."""
        folded = await self._counters.flush(self.fold)
        if folded:
            log.info("likes.flushed", posts=folded)

    async def fold(self, batch: int, deltas: Mapping[int, int]) -> Iterable[int]:
        """Add a batch of buffered likes to the rows, shard by shard; returns the posts that are done."""
        done: list[PostId] = []
        for number, posts in self._by_shard(deltas).items():
            try:
                await self._shards.shard(number).execute(
                    QUERIES.fold_likes, batch=batch, post_ids=posts, deltas=[deltas[each] for each in posts]
                )
            except SHARD_UNAVAILABLE as error:
                log.warning("likes.flush_failed", shard=number, error=str(error))
                continue
            await self._cache.invalidate_counts(*posts)
            done += posts
        return done

    async def _try_index(self, event: PostLiked) -> None:
        """`index`, before the answer goes out; where the shard is unavailable, the event's handler repeats it."""
        try:
            await self.index(event)
        except SHARD_UNAVAILABLE as error:
            log.warning("like.postponed", post_id=event.post_id, error=str(error))

    def _by_shard(self, ids: Iterable[int]) -> dict[int, list[PostId]]:
        grouped: dict[int, list[PostId]] = {}
        for each in sorted(ids):
            grouped.setdefault(self._shards.shard_of(each), []).append(PostId(each))
        return grouped
