"""Deleting, hiding and showing comments again; what goes takes its counts along."""

from shardwright.running import Shards, Transaction
from tintype.base.ids import AccountId, CommentId, PostId, has_shard
from tintype.base.log import get_log
from tintype.base.outbox import Outbox
from tintype.comments.errors import CommentNotFound, CommentNotYours
from tintype.comments.events import CommentAdded, CommentRemoved
from tintype.comments.reading import Reading
from tintype.comments.store import QUERIES
from tintype.graph import Sight
from tintype.posts import PostPurged, Posts

BATCH = 200
NOBODY = 0
"""Whose an empty place is."""
log = get_log("comments")


class Removing:
    """What makes comments disappear."""

    def __init__(self, shards: Shards, outbox: Outbox, sight: Sight, posts: Posts) -> None:
        self._shards, self._outbox, self._posts = shards, outbox, posts
        self._reading = Reading(shards, sight, posts)

    async def delete(self, comment_id: CommentId, by: AccountId) -> None:
        """Take a comment back, or off one's own post. Who wrote it may always do so, whatever they may see by now."""
        if not has_shard(self._shards, comment_id):
            raise CommentNotFound
        found = await self._shards.owner(comment_id).fetch_one(QUERIES.find_post_of, comment_id=comment_id)
        if found is None:
            raise CommentNotFound
        if by not in {found["account_id"], found["post_author_id"]}:
            await self._reading.get(comment_id, viewer=by)
            raise CommentNotYours
        async with self._shards.owner(comment_id).begin() as tx:
            await self._remove(tx, PostId(found["post_id"]), comment_id)
        log.info("comment.deleted", comment_id=comment_id)

    async def hide(self, comment_id: CommentId) -> None:
        """A moderator takes a comment out of sight."""
        await self._turn(comment_id, "visible", "hidden")

    async def restore(self, comment_id: CommentId) -> None:
        """A moderator shows it again."""
        await self._turn(comment_id, "hidden", "visible")

    async def drop_under(self, post_ids: list[PostId]) -> int:
        """Remove comments under posts of one shard without trace, some at a time; returns how many."""
        if not post_ids:
            return 0
        async with self._shards.owner(post_ids[0]).begin() as tx:
            rows = await tx.fetch(QUERIES.list_under_posts, post_ids=list(post_ids), limit=BATCH)
            ids = [row["id"] for row in rows]
            gone = await tx.fetch(QUERIES.drop_with_post, ids=ids)
            await tx.execute(QUERIES.drop_comment_likes, ids=ids)
            if gone:
                facts = [
                    CommentRemoved(row["id"], row["post_id"], row["account_id"])
                    for row in gone
                    if row["account_id"] != NOBODY
                ]
                await self._outbox.add(tx, *facts)
        return len(gone)

    async def follow_post(self, purged: PostPurged) -> None:
        """What was said under a post goes when the post goes for good."""
        while await self.drop_under([purged.post_id]):
            pass

    async def _remove(self, tx: Transaction, post_id: PostId, comment_id: CommentId) -> None:
        await tx.fetch_one(QUERIES.find_post_for_comment, post_id=post_id)
        row = await tx.fetch_one(QUERIES.lock_comment, comment_id=comment_id)
        if row is None or row["state"] == "deleted":
            return
        await tx.execute(QUERIES.drop_comment_likes, ids=[comment_id])
        if row["state"] == "visible":
            await self._count(tx, post_id, row["root_id"], delta=-1)
        dropped = await tx.fetch_one(QUERIES.drop_comment, comment_id=comment_id)
        if dropped is None:
            await tx.execute(QUERIES.blank_comment, comment_id=comment_id)
        else:
            await self._drop_empty_places(tx, dropped["parent_id"])
        await self._outbox.add(tx, CommentRemoved(comment_id, post_id, AccountId(row["account_id"])))

    async def _drop_empty_places(self, tx: Transaction, comment_id: int | None) -> None:
        while comment_id is not None:
            dropped = await tx.fetch_one(QUERIES.drop_empty_place, comment_id=comment_id)
            comment_id = dropped["parent_id"] if dropped is not None else None

    async def _turn(self, comment_id: CommentId, before: str, after: str) -> None:
        if not has_shard(self._shards, comment_id):
            raise CommentNotFound
        shard = self._shards.owner(comment_id)
        found = await shard.fetch_one(QUERIES.find_post_of, comment_id=comment_id)
        if found is None:
            raise CommentNotFound
        post_id, author_id = PostId(found["post_id"]), AccountId(found["post_author_id"])
        async with shard.begin() as tx:
            await tx.fetch_one(QUERIES.find_post_for_comment, post_id=post_id)
            row = await tx.fetch_one(QUERIES.lock_comment, comment_id=comment_id)
            if row is None or row["state"] != before:
                return
            is_back = after == "visible"
            await tx.execute(QUERIES.set_state, comment_id=comment_id, state=after)
            await self._count(tx, post_id, row["root_id"], delta=1 if is_back else -1)
            by = AccountId(row["account_id"])
            fact = (
                CommentAdded(comment_id, post_id, author_id, by, is_new=False)
                if is_back
                else CommentRemoved(comment_id, post_id, by, is_deleted=False)
            )
            await self._outbox.add(tx, fact)

    async def _count(self, tx: Transaction, post_id: PostId, root_id: int | None, *, delta: int) -> None:
        await self._posts.count_comments(tx, post_id, delta=delta)
        if root_id is not None:
            await tx.execute(QUERIES.count_thread, root_id=root_id, delta=delta)
