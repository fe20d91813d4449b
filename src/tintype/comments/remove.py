"""Deleting, hiding and restoring comments, with their counts."""

from shardwright.routing import Transaction
from tintype.base.ids import AccountId, CommentId, PostId, has_shard
from tintype.base.log import get_log
from tintype.comments.dependencies import CommentsDependencies
from tintype.comments.errors import CommentNotFound, CommentNotYours
from tintype.comments.events import CommentAdded, CommentRemoved
from tintype.comments.models import CommentState
from tintype.comments.reader import CommentReader
from tintype.comments.store import QUERIES

BATCH = 200
NOBODY = 0
"""The account id of a placeholder."""
log = get_log("comments")


class CommentRemover:
    """Deletes, hides and restores comments."""

    def __init__(self, dependencies: CommentsDependencies, reader: CommentReader) -> None:
        self._shards, self._outbox = dependencies.shards, dependencies.outbox
        self._posts, self._reader = dependencies.posts, reader

    async def delete(self, comment_id: CommentId, by: AccountId) -> None:
        """Delete a comment, as its author or the author of the post, even if it is no longer visible to them."""
        if not has_shard(self._shards, comment_id):
            raise CommentNotFound
        found = await self._shards.owner(comment_id).fetch_one(QUERIES.find_post_of, comment_id=comment_id)
        if found is None:
            raise CommentNotFound
        if by not in {found["account_id"], found["post_author_id"]}:
            await self._reader.get(comment_id, viewer=by)
            raise CommentNotYours
        async with self._shards.owner(comment_id).begin() as tx:
            await self._delete(tx, PostId(found["post_id"]), comment_id)
        log.info("comment.deleted", comment_id=comment_id)

    async def hide(self, comment_id: CommentId) -> None:
        """Hide a visible comment, as a moderator."""
        await self._move(comment_id, "visible", "hidden")

    async def restore(self, comment_id: CommentId) -> None:
        """Show a comment again that a moderator has hidden."""
        await self._move(comment_id, "hidden", "visible")

    async def delete_under(self, post_ids: list[PostId]) -> int:
        """Delete a batch of comments under posts of one shard, placeholders included; returns how many."""
        if not post_ids:
            return 0
        async with self._shards.owner(post_ids[0]).begin() as tx:
            rows = await tx.fetch(QUERIES.list_under_posts, post_ids=list(post_ids), limit=BATCH)
            ids = [row["id"] for row in rows]
            deleted = await tx.fetch(QUERIES.delete_with_post, ids=ids)
            await tx.execute(QUERIES.delete_comment_likes, ids=ids)
            if deleted:
                events = [
                    CommentRemoved(row["id"], row["post_id"], row["account_id"])
                    for row in deleted
                    if row["account_id"] != NOBODY
                ]
                await self._outbox.add(tx, *events)
        return len(deleted)

    async def _delete(self, tx: Transaction, post_id: PostId, comment_id: CommentId) -> None:
        await self._posts.lock(tx, post_id)
        row = await tx.fetch_one(QUERIES.lock_comment, comment_id=comment_id)
        if row is None or row["state"] == "deleted":
            return
        await tx.execute(QUERIES.delete_comment_likes, ids=[comment_id])
        if row["state"] == "visible":
            await self._change_counts(tx, post_id, row["root_id"], by=-1)
        deleted = await tx.fetch_one(QUERIES.delete_comment, comment_id=comment_id)
        if deleted is None:
            await tx.execute(QUERIES.make_placeholder, comment_id=comment_id)
        else:
            await self._delete_placeholders(tx, deleted["parent_id"])
        await self._outbox.add(tx, CommentRemoved(comment_id, post_id, AccountId(row["account_id"])))

    async def _delete_placeholders(self, tx: Transaction, comment_id: int | None) -> None:
        """Delete the placeholder a deleted comment replied to, and those above it, while they have no replies left."""
        while comment_id is not None:
            deleted = await tx.fetch_one(QUERIES.delete_placeholder, comment_id=comment_id)
            comment_id = deleted["parent_id"] if deleted is not None else None

    async def _move(self, comment_id: CommentId, before: CommentState, after: CommentState) -> None:
        if not has_shard(self._shards, comment_id):
            raise CommentNotFound
        shard = self._shards.owner(comment_id)
        found = await shard.fetch_one(QUERIES.find_post_of, comment_id=comment_id)
        if found is None:
            raise CommentNotFound
        post_id, author_id = PostId(found["post_id"]), AccountId(found["post_author_id"])
        async with shard.begin() as tx:
            await self._posts.lock(tx, post_id)
            row = await tx.fetch_one(QUERIES.lock_comment, comment_id=comment_id)
            if row is None or row["state"] != before:
                return
            is_restored = after == "visible"
            await tx.execute(QUERIES.set_state, comment_id=comment_id, state=after)
            await self._change_counts(tx, post_id, row["root_id"], by=1 if is_restored else -1)
            commenter_id = AccountId(row["account_id"])
            event = (
                CommentAdded(comment_id, post_id, author_id, commenter_id, is_new=False)
                if is_restored
                else CommentRemoved(comment_id, post_id, commenter_id, is_deleted=False)
            )
            await self._outbox.add(tx, event)

    async def _change_counts(self, tx: Transaction, post_id: PostId, root_id: int | None, *, by: int) -> None:
        await self._posts.change_comment_count(tx, post_id, by)
        if root_id is not None:
            await tx.execute(QUERIES.change_thread_count, root_id=root_id, by=by)
