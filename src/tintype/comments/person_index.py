"""The index of each person's comments and comment likes, on the person's own shard.

Comments lie with the post they are under, so this index is how exports and erasure find those of one person. Events
feed it, in batches; writes are idempotent, and events may arrive in any order.
"""

from collections.abc import Sequence

from tintype.base.ids import AccountId, CommentId, PostId
from tintype.base.shard_groups import group_by_shard
from tintype.comments.dependencies import CommentsDependencies
from tintype.comments.events import CommentAdded, CommentKept, CommentLiked
from tintype.comments.store import QUERIES


class PersonIndex:
    """Writes the index, and sweeps rows that no late event can need any more."""

    def __init__(self, dependencies: CommentsDependencies) -> None:
        self._shards = dependencies.shards

    async def add_comments(self, events: Sequence[CommentAdded | CommentKept]) -> None:
        """Index comments, unless their removal was indexed before."""
        unique = {each.comment_id: each for each in events}
        for shard, own in group_by_shard(self._shards, unique.values(), _person):
            await shard.execute(
                QUERIES.index_comments,
                account_ids=[each.account_id for each in own],
                comment_ids=[each.comment_id for each in own],
                post_ids=[each.post_id for each in own],
            )

    async def remove_comment(self, account_id: AccountId, comment_id: CommentId, post_id: PostId) -> None:
        """Index that a comment is deleted."""
        await self._shards.owner(account_id).execute(
            QUERIES.index_removal, account_id=account_id, comment_id=comment_id, post_id=post_id
        )

    async def remove_like(self, account_id: AccountId, comment_id: CommentId, change_id: int) -> None:
        """Index that an account no longer likes a comment, unless a newer change is indexed."""
        await self._shards.owner(account_id).execute(
            QUERIES.index_likes,
            account_ids=[account_id],
            comment_ids=[comment_id],
            change_ids=[change_id],
            are_liked=[False],
        )

    async def set_likes(self, events: Sequence[CommentLiked]) -> None:
        """Index whether accounts like comments; of several changes the newest wins."""
        newest: dict[tuple[AccountId, CommentId], CommentLiked] = {}
        for each in sorted(events, key=lambda event: event.change_id):
            newest[each.account_id, each.comment_id] = each
        for shard, own in group_by_shard(self._shards, newest.values(), _person):
            await shard.execute(
                QUERIES.index_likes,
                account_ids=[each.account_id for each in own],
                comment_ids=[each.comment_id for each in own],
                change_ids=[each.change_id for each in own],
                are_liked=[each.is_liked for each in own],
            )

    async def sweep(self) -> None:
        """Delete index rows of removals and unlikes so old that no event about them can still be under way."""
        for number in self._shards.map.owners:
            await self._shards.shard(number).execute(QUERIES.sweep_own_comments)
            await self._shards.shard(number).execute(QUERIES.sweep_own_comment_likes)


def _person(event: CommentAdded | CommentKept | CommentLiked) -> AccountId:
    return event.account_id
