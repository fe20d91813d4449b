"""The index of each person's comments and comment likes, on the person's own shard.

Comments lie with the post they are under, so this index is how exports and erasure find those of one person. Events
feed it; writes are idempotent, and events may arrive in any order.
"""

from tintype.base.ids import AccountId, CommentId, PostId
from tintype.comments.dependencies import CommentsDependencies
from tintype.comments.store import QUERIES


class PersonIndex:
    """Writes the index, and sweeps rows that no late event can need any more."""

    def __init__(self, dependencies: CommentsDependencies) -> None:
        self._shards = dependencies.shards

    async def add_comment(self, account_id: AccountId, comment_id: CommentId, post_id: PostId) -> None:
        """Index a comment, unless its removal was indexed before."""
        await self._shards.owner(account_id).execute(
            QUERIES.index_comment, account_id=account_id, comment_id=comment_id, post_id=post_id
        )

    async def remove_comment(self, account_id: AccountId, comment_id: CommentId, post_id: PostId) -> None:
        """Index that a comment is deleted."""
        await self._shards.owner(account_id).execute(
            QUERIES.index_removal, account_id=account_id, comment_id=comment_id, post_id=post_id
        )

    async def set_like(
        self, account_id: AccountId, comment_id: CommentId, change_id: int, *, is_liked: bool
    ) -> None:
        """Index whether an account likes a comment; of several changes the newest wins."""
        await self._shards.owner(account_id).execute(
            QUERIES.index_like,
            account_id=account_id,
            comment_id=comment_id,
            change_id=change_id,
            is_liked=is_liked,
        )

    async def sweep(self) -> None:
        """Delete index rows of removals and unlikes so old that no event about them can still be under way."""
        for number in self._shards.map.owners:
            await self._shards.shard(number).execute(QUERIES.sweep_own_comments)
            await self._shards.shard(number).execute(QUERIES.sweep_own_comment_likes)
