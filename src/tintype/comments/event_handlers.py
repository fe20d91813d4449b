"""Reactions of the comments room to events: the person index, and comments of purged posts."""

from tintype.comments.events import CommentAdded, CommentKept, CommentLiked, CommentRemoved
from tintype.comments.person_index import PersonIndex
from tintype.comments.remove import CommentRemover
from tintype.posts import PostPurged


class CommentsEventHandlers:
    """Idempotent handlers; events may arrive in any order."""

    def __init__(self, index: PersonIndex, remover: CommentRemover) -> None:
        self._index, self._remover = index, remover

    async def handle_added(self, events: list[CommentAdded]) -> None:
        """Index comments with their authors."""
        await self._index.add_comments(events)

    async def handle_kept(self, events: list[CommentKept]) -> None:
        """Index comments that are held back with their authors."""
        await self._index.add_comments(events)

    async def handle_removed(self, event: CommentRemoved) -> None:
        """Index that the comment is deleted; one that a moderator hid stays in the index."""
        if event.is_deleted:
            await self._index.remove_comment(event.account_id, event.comment_id, event.post_id)

    async def handle_liked(self, events: list[CommentLiked]) -> None:
        """Index likes with the people who gave them."""
        await self._index.set_likes(events)

    async def handle_post_purged(self, event: PostPurged) -> None:
        """Delete every comment under a post that is gone for good."""
        while await self._remover.delete_under([event.post_id]):
            pass
