"""Liking comments: once per person, with the count in the same transaction."""

from shardwright.running import Shards
from tintype.base.ids import AccountId, CommentId, has_shard
from tintype.base.outbox import Outbox
from tintype.comments.errors import CommentNotFound
from tintype.comments.events import CommentLiked
from tintype.comments.reading import Reading
from tintype.comments.store import QUERIES
from tintype.graph import Seen, Sight
from tintype.posts import Posts


class Liking:
    """Likes on comments."""

    def __init__(self, shards: Shards, outbox: Outbox, sight: Sight, posts: Posts) -> None:
        self._shards, self._outbox, self._sight = shards, outbox, sight
        self._reading = Reading(shards, sight, posts)

    async def like(self, comment_id: CommentId, by: AccountId) -> None:
        """Like a comment once, however often the button is pressed."""
        await self._reading.get(comment_id, viewer=by)
        await self._change(comment_id, by, is_liked=True)

    async def unlike(self, comment_id: CommentId, by: AccountId) -> None:
        """Take a like back; who gave it may always do so."""
        if not has_shard(self._shards, comment_id):
            raise CommentNotFound
        if not await self._change(comment_id, by, is_liked=False):
            await self._reading.get(comment_id, viewer=by)

    async def page_of_likes(
        self, comment_id: CommentId, *, viewer: AccountId | None, before: int, limit: int
    ) -> tuple[list[Seen], int | None]:
        """Who liked a comment, newest first, as far as the viewer may know them; and where the next page begins."""
        await self._reading.get(comment_id, viewer=viewer)
        rows = await self._shards.owner(comment_id).fetch(
            QUERIES.page_comment_likes, comment_id=comment_id, before=before, limit=limit + 1
        )
        people = [AccountId(row["account_id"]) for row in rows[:limit]]
        known = await self._sight.of(viewer, people)
        next_before = rows[limit - 1]["change_id"] if len(rows) > limit else None
        return [known[each] for each in people if each in known], next_before

    async def _change(self, comment_id: CommentId, by: AccountId, *, is_liked: bool) -> bool:
        async with self._shards.owner(comment_id).begin() as tx:
            row = await tx.fetch_one(QUERIES.lock_comment, comment_id=comment_id)
            if row is None:
                return False
            query = QUERIES.like_comment if is_liked else QUERIES.unlike_comment
            change_id = await tx.fetch_value(query, comment_id=comment_id, account_id=by)
            if change_id is None:
                return False
            await tx.execute(QUERIES.count_comment_likes, comment_id=comment_id, delta=1 if is_liked else -1)
            fact = CommentLiked(
                comment_id, row["post_id"], AccountId(row["account_id"]), by, change_id, is_liked
            )
            await self._outbox.add(tx, fact)
        return True
