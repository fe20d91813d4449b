"""Likes of comments: one per person, with the count in the same transaction."""

from tintype.base.ids import AccountId, CommentId, has_shard
from tintype.comments.dependencies import CommentsDependencies
from tintype.comments.errors import CommentNotFound
from tintype.comments.events import CommentLiked
from tintype.comments.reader import CommentReader
from tintype.comments.store import QUERIES
from tintype.graph import VisibleAccount


class CommentLikes:
    """Likes and unlikes comments, and lists who liked them."""

    def __init__(self, dependencies: CommentsDependencies, reader: CommentReader) -> None:
        self._shards, self._outbox = dependencies.shards, dependencies.outbox
        self._visibility, self._reader = dependencies.visibility, reader

    async def like(self, comment_id: CommentId, by: AccountId) -> None:
        """Like a comment that is visible to this account; liking twice counts once."""
        await self._reader.get(comment_id, viewer=by)
        await self._change(comment_id, by, is_liked=True)

    async def unlike(self, comment_id: CommentId, by: AccountId) -> None:
        """Take a like back, even if the comment is no longer visible to this account."""
        if not has_shard(self._shards, comment_id):
            raise CommentNotFound
        if not await self._change(comment_id, by, is_liked=False):
            await self._reader.get(comment_id, viewer=by)

    async def page_likers(
        self, comment_id: CommentId, *, viewer: AccountId | None, before: int, limit: int
    ) -> tuple[list[VisibleAccount], int | None]:
        """Who liked a comment, the latest first, as far as the viewer may know of them; and the next page's cursor."""
        await self._reader.get(comment_id, viewer=viewer)
        rows = await self._shards.owner(comment_id).fetch(
            QUERIES.page_comment_likes, comment_id=comment_id, before=before, limit=limit + 1
        )
        people = [AccountId(row["account_id"]) for row in rows[:limit]]
        visible = await self._visibility.find_accounts(viewer, people)
        next_before = rows[limit - 1]["change_id"] if len(rows) > limit else None
        return [visible[each] for each in people if each in visible], next_before

    async def _change(self, comment_id: CommentId, by: AccountId, *, is_liked: bool) -> bool:
        """Add or remove a like with its count and event, in one call; False where there was nothing to change."""
        shard = self._shards.owner(comment_id)
        changed = await shard.fetch_one(
            QUERIES.like_comment_at_once if is_liked else QUERIES.unlike_comment_at_once,
            comment_id=comment_id,
            account_id=by,
            **self._outbox.prepare(
                CommentLiked,
                more=("post_id", "comment_author_id"),
                comment_id=comment_id,
                account_id=by,
                is_liked=is_liked,
            ),
        )
        if changed is None:
            return False
        await self._outbox.wake(shard)
        return True
