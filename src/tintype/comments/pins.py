"""Comments that the author of a post has pinned to the top of its comments."""

from tintype.base.ids import AccountId, CommentId, PostId, has_shard
from tintype.comments.dependencies import CommentsDependencies
from tintype.comments.errors import CommentNotFound, CommentNotYours, TooManyPinnedComments
from tintype.comments.models import MAX_PINNED
from tintype.comments.reader import CommentReader
from tintype.comments.store import QUERIES


class CommentPins:
    """Pins and unpins comments, for authors of posts."""

    def __init__(self, dependencies: CommentsDependencies, reader: CommentReader) -> None:
        self._shards, self._posts, self._reader = dependencies.shards, dependencies.posts, reader

    async def pin(self, comment_id: CommentId, by: AccountId) -> None:
        """Pin a comment, as the author of the post."""
        post_id = await self._check_own_post(comment_id, by)
        async with self._shards.owner(post_id).begin() as tx:
            await self._posts.lock(tx, post_id)
            row = await tx.fetch_one(QUERIES.lock_comment, comment_id=comment_id)
            if row is None or row["state"] != "visible":
                raise CommentNotFound
            pinned = await tx.fetch_value(QUERIES.count_pinned, post_id=post_id, comment_id=comment_id)
            if pinned >= MAX_PINNED or row["root_id"] is not None:
                raise TooManyPinnedComments
            await tx.execute(QUERIES.pin_comment, comment_id=comment_id)

    async def unpin(self, comment_id: CommentId, by: AccountId) -> None:
        """Unpin a comment, as the author of the post; it goes back to its position among the others."""
        post_id = await self._check_own_post(comment_id, by)
        await self._shards.owner(post_id).execute(QUERIES.unpin_comment, comment_id=comment_id)

    async def _check_own_post(self, comment_id: CommentId, by: AccountId) -> PostId:
        """The post of a comment, if it is this account's."""
        if not has_shard(self._shards, comment_id):
            raise CommentNotFound
        found = await self._shards.owner(comment_id).fetch_one(QUERIES.find_post_of, comment_id=comment_id)
        if found is None or found["post_author_id"] != by:
            await self._reader.get(comment_id, viewer=by)
            raise CommentNotYours
        return PostId(found["post_id"])
