"""What people say under posts: one door to writing, reading, liking and removing."""

from collections.abc import AsyncIterator, Sequence

from shardwright.running import Shards
from tintype.base.belongings import Record
from tintype.base.ids import AccountId, CommentId, PostId, has_shard
from tintype.base.jobs import Handler, Schedule, on
from tintype.base.limits import Limiter
from tintype.base.outbox import Outbox
from tintype.base.tallies import Tally
from tintype.comments.errors import CommentNotFound, CommentNotYours, FiltersInvalid, TooManyPinned
from tintype.comments.events import CommentAdded, CommentKept, CommentLiked, CommentRemoved
from tintype.comments.liking import Liking
from tintype.comments.models import (
    LONGEST_FILTER,
    MOST_FILTERS,
    MOST_PINNED,
    CommentPage,
    Place,
    SeenComment,
    Sort,
)
from tintype.comments.own import OwnComments
from tintype.comments.reading import Reading
from tintype.comments.removing import Removing
from tintype.comments.store import QUERIES
from tintype.comments.writing import Writing
from tintype.graph import Sight
from tintype.posts import Names, PostPurged, Posts

__all__ = ["QUERIES", "Comments"]


class Comments:
    """Comments, on the shard of the post they are under."""

    def __init__(
        self,
        shards: Shards,
        outbox: Outbox,
        sight: Sight,
        posts: Posts,
        *,
        names: Names,
        limiter: Limiter,
    ) -> None:
        self._shards, self._posts = shards, posts
        self._reading = Reading(shards, sight, posts)
        self._writing = Writing(shards, outbox, sight, posts, names=names, limiter=limiter)
        self._removing = Removing(shards, outbox, sight, posts)
        self._liking = Liking(shards, outbox, sight, posts)
        self._own = OwnComments(shards, self._removing, self._liking)
        self.add, self.approve = self._writing.add, self._writing.approve
        self.delete, self.hide, self.restore = (
            self._removing.delete,
            self._removing.hide,
            self._removing.restore,
        )
        self.drop_under = self._removing.drop_under
        self.like, self.unlike = self._liking.like, self._liking.unlike
        self.page_of_likes = self._liking.page_of_likes
        self.erase, self.count_left = self._own.erase, self._own.count_left

    async def get(self, comment_id: CommentId, *, viewer: AccountId | None) -> SeenComment:
        """One comment."""
        return await self._reading.get(comment_id, viewer=viewer)

    async def page(
        self, post_id: PostId, *, viewer: AccountId | None, sort: Sort, place: Place | None, limit: int
    ) -> CommentPage:
        """Comments under a post itself, those on top first."""
        return await self._reading.page(post_id, viewer=viewer, sort=sort, place=place, limit=limit)

    async def thread(
        self, comment_id: CommentId, *, viewer: AccountId | None, place: Place | None, limit: int
    ) -> CommentPage:
        """All answers in a comment's thread, oldest first."""
        return await self._reading.thread(comment_id, viewer=viewer, place=place, limit=limit)

    async def kept_back(
        self, post_id: PostId, *, owner: AccountId, place: Place | None, limit: int
    ) -> CommentPage:
        """What waits for the author of the post."""
        return await self._reading.kept_back(post_id, owner=owner, place=place, limit=limit)

    async def pin(self, comment_id: CommentId, by: AccountId) -> None:
        """Put a comment on top of one's post."""
        post_id = await self._own_post(comment_id, by)
        async with self._shards.owner(post_id).begin() as tx:
            await tx.fetch_one(QUERIES.find_post_for_comment, post_id=post_id)
            row = await tx.fetch_one(QUERIES.lock_comment, comment_id=comment_id)
            if row is None or row["state"] != "visible":
                raise CommentNotFound
            pinned = await tx.fetch_value(QUERIES.count_pinned, post_id=post_id, comment_id=comment_id)
            if pinned >= MOST_PINNED or row["root_id"] is not None:
                raise TooManyPinned
            await tx.execute(QUERIES.pin_comment, comment_id=comment_id)

    async def unpin(self, comment_id: CommentId, by: AccountId) -> None:
        """Let it back among the others."""
        post_id = await self._own_post(comment_id, by)
        await self._shards.owner(post_id).execute(QUERIES.unpin_comment, comment_id=comment_id)

    async def list_filters(self, account_id: AccountId) -> list[str]:
        """The words somebody does not want under their posts."""
        rows = await self._shards.owner(account_id).fetch(QUERIES.list_filters, account_id=account_id)
        return [row["word"] for row in rows]

    async def set_filters(self, account_id: AccountId, words: Sequence[str]) -> None:
        """Replace the list. It holds for what is said from now on."""
        wanted = sorted({" ".join(word.split()) for word in words})
        if len(wanted) > MOST_FILTERS or not all(1 <= len(word) <= LONGEST_FILTER for word in wanted):
            raise FiltersInvalid
        async with self._shards.owner(account_id).begin() as tx:
            await tx.execute(QUERIES.drop_filters, account_id=account_id)
            await tx.execute(QUERIES.add_filters, account_id=account_id, words=wanted)

    def export(self, account_id: AccountId) -> AsyncIterator[Record]:
        """Everything somebody said and liked."""
        return self._own.export(account_id)

    def tallies(self) -> list[Tally]:
        """The count of this room and how it is checked."""

        async def forget(post_id: int) -> None:
            await self._posts.forget_counts(PostId(post_id))

        return [
            Tally(
                "comments",
                QUERIES.scan_comments,
                QUERIES.lock_counted_post,
                QUERIES.recount_comments,
                QUERIES.store_comments,
                repaired=forget,
            )
        ]

    def handlers(self) -> list[Handler]:
        """What this room does when something has happened."""
        return [
            on(CommentAdded, self._own.note_added, name="comments-own-added"),
            on(CommentKept, self._own.note_added, name="comments-own-kept"),
            on(CommentRemoved, self._own.note_removed, name="comments-own-removed"),
            on(CommentLiked, self._own.note_like, name="comments-own-likes"),
            on(PostPurged, self._removing.follow_post, name="comments-purge"),
        ]

    def schedules(self) -> list[Schedule]:
        """What this room repeats by the clock."""
        return [Schedule("comments-sweep", 86_400, self._own.sweep)]

    async def _own_post(self, comment_id: CommentId, by: AccountId) -> PostId:
        if not has_shard(self._shards, comment_id):
            raise CommentNotFound
        found = await self._shards.owner(comment_id).fetch_one(QUERIES.find_post_of, comment_id=comment_id)
        if found is None or found["post_author_id"] != by:
            await self._reading.get(comment_id, viewer=by)
            raise CommentNotYours
        return PostId(found["post_id"])
