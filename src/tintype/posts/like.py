"""Likes: one per person and post, on the post's shard with the count; indexed on the liker's own shard.

A post that is liked very fast has its count buffered (see `tintype.redis.hot_counters`), so that likes do not queue
for the lock on the post's row; the like itself and its event commit as always.
"""

from collections.abc import Iterable, Mapping

from tintype.base.ids import AccountId, PostId, has_shard
from tintype.base.listeners import Listeners
from tintype.base.log import get_log
from tintype.base.pages import Page, fill_page
from tintype.graph import VisibleAccount
from tintype.posts.dependencies import PostsDependencies
from tintype.posts.errors import PostNotFound
from tintype.posts.events import PostLiked
from tintype.posts.like_index import LikeIndex
from tintype.posts.models import Post
from tintype.posts.post_cache import PostCache
from tintype.posts.reader import PostReader
from tintype.posts.store import QUERIES, SHARD_UNAVAILABLE, read_counts
from tintype.redis.viewer_invalidation import PostChange

log = get_log("posts")


class PostLikes:
    """Likes of posts."""

    def __init__(
        self,
        dependencies: PostsDependencies,
        cache: PostCache,
        reader: PostReader,
        *,
        index: LikeIndex,
        counts_changed: Listeners[PostId],
    ) -> None:
        self._shards, self._outbox, self._cache = dependencies.shards, dependencies.outbox, cache
        self._visibility, self._reader, self._index = dependencies.visibility, reader, index
        self._viewer_invalidation = dependencies.viewer_invalidation
        self._counters, self._counts_changed = dependencies.like_counters, counts_changed

    async def change(
        self, post_id: PostId, by: AccountId, *, is_liked: bool, is_erased: bool = False
    ) -> None:
        """Write a like or remove it, with its count and event in one statement, which checks who may see the post.

        `is_erased` removes it whatever its owner may see now.
        """
        if not has_shard(self._shards, post_id):
            raise PostNotFound
        shard, is_buffered = self._shards.owner(post_id), await self._counters.should_buffer(post_id)
        changed = await shard.fetch_one(
            QUERIES.like if is_liked else QUERIES.unlike,
            post_id=post_id,
            account_id=by,
            is_buffered=is_buffered,
            **({} if is_liked else {"is_erased": is_erased}),
            **self._outbox.prepare(
                PostLiked, more=("author_id",), post_id=post_id, account_id=by, is_liked=is_liked
            ),
        )
        if changed is None:
            raise PostNotFound
        if changed["change_id"] is None:
            return
        await self._outbox.wake(shard)
        if is_buffered:
            await self._counters.buffer(post_id, 1 if is_liked else -1)
        await self._index.try_write(
            PostLiked(post_id, changed["author_id"], by, changed["change_id"], is_liked)
        )
        change = PostChange(post_id, changed["change_id"], is_liked)
        if is_buffered:
            await self._viewer_invalidation.announce([(by, change)])
        else:
            invalidation = self._viewer_invalidation.change_commands(by, change)
            await self._cache.replace_counts(post_id, read_counts(changed), along=invalidation)
        await self._counts_changed.notify(post_id)
        log.debug("like.changed", post_id=post_id, account_id=by, is_liked=is_liked, is_buffered=is_buffered)

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

    def _by_shard(self, ids: Iterable[int]) -> dict[int, list[PostId]]:
        grouped: dict[int, list[PostId]] = {}
        for each in sorted(ids):
            grouped.setdefault(self._shards.shard_of(each), []).append(PostId(each))
        return grouped
