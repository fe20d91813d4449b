"""Likes: once per person and post, on the post's shard with its count; mirrored on the liker's own.

A post that is liked very fast has its count buffered (see `tintype.base.counting`), so that likes do not queue for the
lock on its row; the like itself and its event commit as always.
"""

from collections.abc import Iterable, Mapping

from tintype.base.ids import AccountId, PostId
from tintype.base.log import get_log
from tintype.graph import Seen
from tintype.posts.errors import PostNotFound
from tintype.posts.events import PostLiked
from tintype.posts.models import Counts, Page, Post
from tintype.posts.paging import fill_page
from tintype.posts.reading import Reading
from tintype.posts.room import COUNTS, QUERIES, SERVER_AWAY, read_counts

log = get_log("posts")
_CHANGES = {
    (True, False): QUERIES.like_and_count,
    (False, False): QUERIES.unlike_and_count,
    (True, True): QUERIES.like,
    (False, True): QUERIES.unlike,
}
"""What changes a like, by whether it is given and whether its post is hot."""


class Liking(Reading):
    """Likes of posts."""

    async def like(self, post_id: PostId, by: AccountId) -> None:
        """Like a post once, however often the button is pressed."""
        author_id = await self._author_of_visible(post_id, by)
        await self._change_like(post_id, author_id, by, is_liked=True)

    async def unlike(self, post_id: PostId, by: AccountId) -> None:
        """Take a like back."""
        author_id = await self._author_of_visible(post_id, by)
        await self._change_like(post_id, author_id, by, is_liked=False)

    async def page_likers(
        self, post_id: PostId, *, viewer: AccountId | None, before: int, limit: int
    ) -> Page[Seen]:
        """Who liked a post, the latest first, as far as the viewer may know them."""
        await self._author_of_visible(post_id, viewer)

        async def fetch(before: int, limit: int) -> list[tuple[AccountId, int]]:
            rows = await self._shards.owner(post_id).fetch(
                QUERIES.page_likers, post_id=post_id, before=before, limit=limit
            )
            return [(AccountId(row["account_id"]), row["liked_id"]) for row in rows]

        return await fill_page(fetch, lambda ids: self._sight.of(viewer, ids), before=before, limit=limit)

    async def page_own_likes(self, account_id: AccountId, *, before: int, limit: int) -> Page[Post]:
        """What somebody likes, the latest first."""

        async def fetch(before: int, limit: int) -> list[tuple[PostId, int]]:
            rows = await self._shards.owner(account_id).fetch(
                QUERIES.page_own_likes, account_id=account_id, before=before, limit=limit
            )
            return [(PostId(row["post_id"]), row["change_id"]) for row in rows]

        return await fill_page(
            fetch, lambda ids: self.find_many(ids, viewer=account_id), before=before, limit=limit
        )

    async def mirror_like(self, event: PostLiked) -> None:
        """The liker's own shard knows; safe to repeat and to reorder."""
        await self._shards.owner(event.account_id).execute(
            QUERIES.mirror_like,
            account_id=event.account_id,
            post_id=event.post_id,
            change_id=event.change_id,
            is_active=event.is_liked,
        )
        await self._desk.ties.changed(event.account_id)

    async def handle_liked(self, event: PostLiked) -> None:
        """What a process that died after its commit has left undone."""
        await self.mirror_like(event)
        cached = await self._cache.peek(COUNTS, event.post_id)
        is_behind = cached is not None and cached.counted_id < event.change_id
        if is_behind and event.post_id not in await self._desk.likes.settling([event.post_id]):
            await self.forget_counts(event.post_id)

    async def flush_likes(self) -> None:
        """Fold buffered counts into the rows, and whatever an earlier flush has not finished."""
        folded = await self._desk.likes.flush(self._fold)
        if folded:
            log.info("likes.folded", posts=folded)

    async def _author_of_visible(self, post_id: PostId, viewer: AccountId | None) -> AccountId:
        found = await self._visible([post_id], viewer)
        if post_id not in found:
            raise PostNotFound
        return found[post_id].author_id

    async def _change_like(
        self, post_id: PostId, author_id: AccountId, by: AccountId, *, is_liked: bool
    ) -> None:
        is_hot = await self._desk.likes.is_hot(post_id)
        async with self._shards.owner(post_id).begin() as tx:
            changed = await tx.fetch_one(_CHANGES[is_liked, is_hot], post_id=post_id, account_id=by)
            if changed is None:
                return
            change = PostLiked(post_id, author_id, by, changed["change_id"], is_liked)
            await self._outbox.add(tx, change)
        if is_hot:
            await self._desk.likes.add(post_id, 1 if is_liked else -1)
        else:
            await self._renew_counts(post_id, read_counts(changed))
        await self._mirror_at_once(change)
        log.info("like.changed", post_id=post_id, account_id=by, is_liked=is_liked, is_hot=is_hot)

    async def _renew_counts(self, post_id: PostId, counts: Counts) -> None:
        """Show the new number without reading it again: a popular post is liked as often as it is read."""
        await self._cache.renew(
            COUNTS, post_id, counts, is_newer=lambda cached: cached.counted_id < counts.counted_id
        )

    async def _mirror_at_once(self, change: PostLiked) -> None:
        """Both sides agree when the answer goes out; a side that is away is brought in line by the event."""
        try:
            await self.mirror_like(change)
        except SERVER_AWAY as error:
            log.warning("like.postponed", post_id=change.post_id, error=str(error))

    async def _fold(self, batch: int, deltas: Mapping[int, int]) -> Iterable[int]:
        done: list[PostId] = []
        for number, posts in self._by_shard(deltas).items():
            try:
                await self._shards.shard(number).execute(
                    QUERIES.fold_likes, batch=batch, post_ids=posts, deltas=[deltas[each] for each in posts]
                )
            except SERVER_AWAY as error:
                log.warning("likes.unfolded", shard=number, error=str(error))
                continue
            await self.forget_counts(*posts)
            done += posts
        return done

    def _by_shard(self, ids: Iterable[int]) -> dict[int, list[PostId]]:
        grouped: dict[int, list[PostId]] = {}
        for each in sorted(ids):
            grouped.setdefault(self._shards.shard_of(each), []).append(PostId(each))
        return grouped
