"""The facade of the comments room."""

from collections.abc import Iterable, Sequence

from tintype.accounts import Account
from tintype.base.counter_reconciler import ReconciledCounter
from tintype.base.ids import AccountId, CommentId, PostId
from tintype.base.jobs import Handler, Schedule, on
from tintype.base.listeners import Listeners
from tintype.base.personal_data import PersonalDataHolder
from tintype.comments.add import CommentWriter
from tintype.comments.dependencies import CommentsDependencies
from tintype.comments.event_handlers import CommentsEventHandlers
from tintype.comments.events import CommentAdded, CommentKept, CommentLiked, CommentRemoved
from tintype.comments.filters import WordFilters
from tintype.comments.like import CommentLikes
from tintype.comments.models import CommentCursor, CommentDraft, CommentPage, Sort, VisibleComment
from tintype.comments.person_index import PersonIndex
from tintype.comments.personal_data import CommentsPersonalData
from tintype.comments.pins import CommentPins
from tintype.comments.reader import CommentReader
from tintype.comments.remove import CommentRemover
from tintype.comments.store import QUERIES
from tintype.graph import VisibleAccount
from tintype.posts import COMMENT_COUNT, PostPurged

SWEEP_EVERY_S = 86_400


class Comments:
    """Comments, on the shard of the post they are under."""

    def __init__(self, dependencies: CommentsDependencies) -> None:
        self._posts = dependencies.posts
        self._reader = CommentReader(dependencies)
        self.added: Listeners[CommentAdded] = Listeners()
        """Called when a comment becomes visible, in the process in which that happened."""
        self._writer = CommentWriter(dependencies, self._reader, self.added)
        self._remover = CommentRemover(dependencies, self._reader)
        self._likes = CommentLikes(dependencies, self._reader)
        self._pins = CommentPins(dependencies, self._reader)
        self._filters = WordFilters(dependencies)
        self._index = PersonIndex(dependencies)
        self.personal_data: PersonalDataHolder = CommentsPersonalData(
            dependencies, self._index, self._remover, self._likes
        )
        self._event_handlers = CommentsEventHandlers(self._index, self._remover)

    async def add(self, post_id: PostId, by: AccountId, draft: CommentDraft) -> CommentId:
        """Comment on a post; a repeated request with the same idempotency key returns the first one's comment."""
        return await self._writer.add(post_id, by, draft)

    async def add_and_show(self, post_id: PostId, by: Account, draft: CommentDraft) -> VisibleComment:
        """`add`, and the comment as its author sees it."""
        return await self._writer.add_and_show(post_id, by, draft)

    async def approve(self, comment_id: CommentId, by: AccountId) -> None:
        """Show a comment that was held back; only the author of the post can do that."""
        await self._writer.approve(comment_id, by)

    async def get(self, comment_id: CommentId, *, viewer: AccountId | None) -> VisibleComment:
        """One comment that the viewer may see, or `CommentNotFound`."""
        return await self._reader.get(comment_id, viewer=viewer)

    async def find_many(
        self, ids: Iterable[CommentId], *, viewer: AccountId | None
    ) -> dict[CommentId, VisibleComment]:
        """Those of the comments that the viewer may see."""
        return await self._reader.find_many(ids, viewer=viewer)

    async def page(
        self,
        post_id: PostId,
        *,
        viewer: AccountId | None,
        sort: Sort,
        cursor: CommentCursor | None,
        limit: int,
    ) -> CommentPage:
        """Comments under a post without their replies; pinned ones come first, on the first page only."""
        return await self._reader.page(post_id, viewer=viewer, sort=sort, cursor=cursor, limit=limit)

    async def page_thread(
        self, comment_id: CommentId, *, viewer: AccountId | None, cursor: CommentCursor | None, limit: int
    ) -> CommentPage:
        """All replies in the thread of a comment, oldest first."""
        return await self._reader.page_thread(comment_id, viewer=viewer, cursor=cursor, limit=limit)

    async def page_held_back(
        self, post_id: PostId, *, owner: AccountId, cursor: CommentCursor | None, limit: int
    ) -> CommentPage:
        """Comments that wait for the approval of the post's author."""
        return await self._reader.page_held_back(post_id, owner=owner, cursor=cursor, limit=limit)

    async def delete(self, comment_id: CommentId, by: AccountId) -> None:
        """Delete a comment, as its author or the author of the post."""
        await self._remover.delete(comment_id, by)

    async def hide(self, comment_id: CommentId) -> None:
        """Hide a visible comment, as a moderator; the caller has checked the moderator's rights."""
        await self._remover.hide(comment_id)

    async def restore(self, comment_id: CommentId) -> None:
        """Show a comment again that a moderator has hidden."""
        await self._remover.restore(comment_id)

    async def like(self, comment_id: CommentId, by: AccountId) -> None:
        """Like a comment that is visible to this account; liking twice counts once."""
        await self._likes.like(comment_id, by)

    async def unlike(self, comment_id: CommentId, by: AccountId) -> None:
        """Take a like back, even if the comment is no longer visible to this account."""
        await self._likes.unlike(comment_id, by)

    async def page_likers(
        self, comment_id: CommentId, *, viewer: AccountId | None, before: int, limit: int
    ) -> tuple[list[VisibleAccount], int | None]:
        """Who liked a comment, the latest first, as far as the viewer may know of them; and the next page's cursor."""
        return await self._likes.page_likers(comment_id, viewer=viewer, before=before, limit=limit)

    async def pin(self, comment_id: CommentId, by: AccountId) -> None:
        """Pin a comment, as the author of the post."""
        await self._pins.pin(comment_id, by)

    async def unpin(self, comment_id: CommentId, by: AccountId) -> None:
        """Unpin a comment, as the author of the post; it goes back to its position among the others."""
        await self._pins.unpin(comment_id, by)

    async def list_filters(self, account_id: AccountId) -> list[str]:
        """The words an account filters from the comments under its posts."""
        return await self._filters.list_of(account_id)

    async def set_filters(self, account_id: AccountId, words: Sequence[str]) -> None:
        """Replace the list of filtered words; it applies to comments from now on."""
        await self._filters.set(account_id, words)

    def reconciled_counters(self) -> list[ReconciledCounter]:
        """The counter of this room that the reconciler checks: comments of each post, stored with the post."""

        async def invalidate(post_id: int) -> None:
            await self._posts.invalidate_counts(PostId(post_id))

        return [
            ReconciledCounter(
                "comments",
                QUERIES.scan_comment_counts,
                COMMENT_COUNT.lock,
                QUERIES.recount_comments,
                COMMENT_COUNT.store,
                on_repaired=invalidate,
            )
        ]

    def handlers(self) -> list[Handler]:
        """Event handlers for the worker."""
        handle = self._event_handlers
        return [
            on(CommentAdded, handle.handle_added, name="comments-own-added", many=True),
            on(CommentKept, handle.handle_kept, name="comments-own-kept", many=True),
            on(CommentRemoved, handle.handle_removed, name="comments-own-removed"),
            on(CommentLiked, handle.handle_liked, name="comments-own-likes", many=True),
            on(PostPurged, handle.handle_post_purged, name="comments-purge"),
        ]

    def schedules(self) -> list[Schedule]:
        """Periodic work for the worker."""
        return [Schedule("comments-sweep", SWEEP_EVERY_S, self._index.sweep)]
