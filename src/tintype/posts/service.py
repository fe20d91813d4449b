"""The facade of the posts room."""

from collections.abc import Container, Iterable, Sequence

from shardwright.routing import Transaction
from tintype.base.counter_reconciler import ReconciledCounter
from tintype.base.ids import AccountId, MediaId, PostId, ScheduledPostId
from tintype.base.jobs import Handler, Schedule, on
from tintype.base.listeners import Listeners
from tintype.base.pages import Page
from tintype.base.personal_data import PersonalDataHolder
from tintype.graph import Mentions, VisibleAccount
from tintype.posts.caption import CaptionParser
from tintype.posts.counters import reconciled_counters
from tintype.posts.dependencies import PostsDependencies
from tintype.posts.due_index import DueIndex
from tintype.posts.edit import PostEditor
from tintype.posts.event_handlers import PostsEventHandlers
from tintype.posts.events import PostEdited, PostImported, PostLiked, PostPublished, PostRemoved
from tintype.posts.lifecycle import PostLifecycle
from tintype.posts.like import PostLikes
from tintype.posts.like_index import LikeIndex
from tintype.posts.models import ImportedPost, ListedPost, PersonTag, Place, Post, PostChanges, PostDraft
from tintype.posts.personal_data import PostsPersonalData
from tintype.posts.post_cache import PostCache, PostSources
from tintype.posts.publish import PostPublisher, PublishedPost
from tintype.posts.publish_imported import ImportedPosts
from tintype.posts.publish_scheduled import ScheduledPublisher
from tintype.posts.reader import PostReader
from tintype.posts.retention import PostRetention
from tintype.posts.schedule import ScheduledPosts
from tintype.posts.store import QUERIES
from tintype.posts.tags import PersonTags
from tintype.posts.validation import make_draft

FLUSH_EVERY_S = 2.0
PURGE_EVERY_S = 3_600.0
DUE_EVERY_S = 5.0
SWEEP_SCHEDULED_EVERY_S = 300.0


class Posts:
    """Posts, their tags and their likes."""

    def __init__(self, dependencies: PostsDependencies) -> None:
        self._dependencies = dependencies
        self.published: Listeners[PostPublished] = Listeners()
        """Called when a post becomes visible, before the author gets the answer."""
        self.counts_changed: Listeners[PostId] = Listeners()
        """Called in the process in which somebody liked a post or commented on it, or took that back."""
        self._cache = PostCache(dependencies)
        self._reader = PostReader(dependencies, self._cache)
        captions = CaptionParser(Mentions(dependencies.accounts, dependencies.visibility))
        self._tags = PersonTags(dependencies, self._cache)
        self._publisher = PostPublisher(dependencies, self._tags, captions, self.published)
        self._imported = ImportedPosts(dependencies)
        self._editor = PostEditor(dependencies, self._cache, self._reader, self._tags, captions)
        self._lifecycle = PostLifecycle(dependencies, self._cache, self._reader, self._tags, self.published)
        like_index = LikeIndex(dependencies)
        self._likes = PostLikes(
            dependencies,
            self._cache,
            self._reader,
            index=like_index,
            counts_changed=self.counts_changed,
        )
        self._retention = PostRetention(dependencies)
        due = DueIndex(dependencies.redis_client, dependencies.namespace)
        self.scheduled = ScheduledPosts(
            dependencies, self._publisher, tags=self._tags, captions=captions, due=due
        )
        """Posts that are published later."""
        self._scheduled_publisher = ScheduledPublisher(
            dependencies, self.scheduled, self._publisher, tags=self._tags, captions=captions, due=due
        )
        self.personal_data: PersonalDataHolder = PostsPersonalData(
            dependencies,
            self._cache,
            self._reader,
            lifecycle=self._lifecycle,
            retention=self._retention,
            likes=self._likes,
            tags=self._tags,
            scheduled=self.scheduled,
        )
        self._event_handlers = PostsEventHandlers(self._cache, self._tags, like_index)

    async def publish(
        self,
        author_id: AccountId,
        media_ids: Sequence[MediaId],
        *,
        caption: str = "",
        alt_texts: Sequence[str] = (),
        tagged: Sequence[Sequence[PersonTag]] = (),
        place: Place | None = None,
        comments_enabled: bool = True,
        hides_like_count: bool = False,
        idempotency_key: str | None = None,
    ) -> PostId:
        """Publish a post; a repeated request with the same idempotency key returns the first one's post.

        `alt_texts` and `tagged` belong to the media in the same order, and may be shorter.
        """
        draft = make_draft(
            media_ids,
            alt_texts,
            tagged,
            caption=caption,
            place=place,
            comments_enabled=comments_enabled,
            hides_like_count=hides_like_count,
        )
        return (await self.publish_draft(author_id, draft, idempotency_key)).post_id

    async def publish_draft(
        self, author_id: AccountId, draft: PostDraft, idempotency_key: str | None
    ) -> PublishedPost:
        """`publish` for a draft of `make_draft`; says whether the post is new."""
        return await self._publisher.publish(author_id, draft, idempotency_key)

    async def publish_scheduled(self, scheduled_id: ScheduledPostId, by: AccountId) -> PostId:
        """Publish a scheduled post before its time, as its author."""
        return (await self._scheduled_publisher.publish_now(scheduled_id, by)).post_id

    async def publish_due(self) -> None:
        """Publish the scheduled posts whose time has come."""
        await self._scheduled_publisher.publish_due()

    async def sweep_scheduled(self) -> None:
        """Look for scheduled posts on every shard, in case Redis has lost them."""
        await self._scheduled_publisher.sweep()

    async def publish_imported(self, author_id: AccountId, imported: ImportedPost) -> PublishedPost:
        """Publish a post from elsewhere under its own time, once per key: into no feed, and notifying nobody.

        The daily limit does not apply. Of a key that a deleted post has, too, nothing new is made.
        """
        return await self._imported.publish(author_id, imported)

    async def which_imported(self, author_id: AccountId, keys: Sequence[str]) -> set[str]:
        """Those of the keys of imported items that the author has posts of, deleted or not."""
        return await self._imported.which_published(author_id, keys)

    async def get_new(self, post_id: PostId) -> Post:
        """A post that its author has just published, as they see it: with one read of its row, since nobody else has.

        `PostNotFound` where it was deleted since.
        """
        return await self._reader.get_new(post_id)

    async def edit(self, post_id: PostId, by: AccountId, edit: PostChanges) -> None:
        """Change the fields that are set and leave the others as they are; for the author alone."""
        await self._editor.edit(post_id, by, edit)

    async def untag(self, post_id: PostId, account_id: AccountId) -> None:
        """Remove this account's tags from a post it may see; where there are none, nothing happens."""
        await self._reader.get(post_id, viewer=account_id)
        await self._tags.remove(post_id, account_id)

    async def archive(self, post_id: PostId, by: AccountId) -> None:
        """Hide a post from everybody but its author, and unpin it."""
        await self._lifecycle.archive(post_id, by)

    async def unarchive(self, post_id: PostId, by: AccountId) -> None:
        """Show an archived post again."""
        await self._lifecycle.unarchive(post_id, by)

    async def delete(self, post_id: PostId, by: AccountId) -> None:
        """Delete a post, as its author: nobody sees it from now on, and weeks later it is purged with its media."""
        await self._lifecycle.delete(post_id, by)

    async def pin(self, post_id: PostId, by: AccountId) -> None:
        """Pin a post to the top of its author's profile."""
        await self._lifecycle.pin(post_id, by)

    async def unpin(self, post_id: PostId, by: AccountId) -> None:
        """Unpin a post; it goes back to its chronological position."""
        await self._lifecycle.unpin(post_id, by)

    async def hide(self, post_id: PostId, by: AccountId) -> None:
        """Hide a post from everybody but its author, as a moderator; the caller has checked the moderator's rights."""
        await self._lifecycle.hide(post_id, by)

    async def restore(self, post_id: PostId, by: AccountId) -> None:
        """Show a post again that a moderator has hidden."""
        await self._lifecycle.restore(post_id, by)

    async def remove(self, post_id: PostId, by: AccountId) -> None:
        """Delete a post as a moderator; the caller has checked the moderator's rights."""
        await self._lifecycle.remove(post_id, by)

    async def like(self, post_id: PostId, by: AccountId) -> None:
        """Like a post that is visible to this account; liking twice counts once."""
        await self._likes.change(post_id, by, is_liked=True)

    async def unlike(self, post_id: PostId, by: AccountId) -> None:
        """Take a like back."""
        await self._likes.change(post_id, by, is_liked=False)

    async def page_likers(
        self, post_id: PostId, *, viewer: AccountId | None, before: int, limit: int
    ) -> Page[VisibleAccount]:
        """Who liked a post, the latest first, as far as the viewer may know of them."""
        return await self._likes.page_likers(post_id, viewer=viewer, before=before, limit=limit)

    async def page_own_likes(self, account_id: AccountId, *, before: int, limit: int) -> Page[Post]:
        """The posts an account likes, the latest like first; the list is private to that account."""
        return await self._likes.page_own_likes(account_id, before=before, limit=limit)

    async def which_liked(self, viewer: AccountId | None, ids: Iterable[PostId]) -> set[PostId]:
        """Those of the posts that the viewer likes, from one query on the viewer's shard."""
        return await self._reader.which_liked(viewer, ids)

    async def flush_likes(self) -> None:
        """Add buffered likes to the counts in the rows."""
        await self._likes.flush()

    async def get(self, post_id: PostId, *, viewer: AccountId | None) -> Post:
        """One post that the viewer may see, or `PostNotFound`."""
        return await self._reader.get(post_id, viewer=viewer)

    async def check_visible(self, post_id: PostId, *, viewer: AccountId | None) -> None:
        """Raise `PostNotFound` unless the viewer may see the post."""
        await self._reader.get_author_id(post_id, viewer=viewer)

    async def find_many(
        self, ids: Iterable[PostId], *, viewer: AccountId | None, with_unshown: bool = False
    ) -> dict[PostId, Post]:
        """Those of the posts that the viewer may see, with counts and whether the viewer likes them.

        The viewer's own posts that are archived or hidden by a moderator are left out unless `with_unshown`.
        """
        return await self._reader.find_many(ids, viewer=viewer, with_unshown=with_unshown)

    async def list_by_visible_author(
        self,
        author: VisibleAccount,
        viewer: AccountId | None,
        ids: Sequence[PostId],
        liked: Container[PostId],
    ) -> list[ListedPost]:
        """Those of one author's posts that are listed; the caller knows the author's content to be visible."""
        return await self._reader.list_by_visible_author(author, viewer, ids, liked)

    async def find_unfiltered(self, ids: Iterable[PostId]) -> dict[PostId, Post]:
        """Those of the posts that are not deleted, whoever may see them: for moderators and background work."""
        return await self._reader.find_unfiltered(ids)

    async def find_author_of_deleted(self, post_id: PostId) -> AccountId | None:
        """Whose post it was, of one that was shown until it was deleted and is not purged yet."""
        return await self._reader.find_author_of_deleted(post_id)

    async def page_of_author(self, author_id: AccountId, *, before: int, limit: int) -> list[PostId]:
        """Ids of an author's posts that others may see, newest first."""
        return await self._reader.page_of_author(author_id, before=before, limit=limit)

    async def page_archived(self, author: AccountId, *, before: int, limit: int) -> Page[Post]:
        """An author's archived posts, newest first; only the author may read them."""
        return await self._reader.page_archived(author, before=before, limit=limit)

    async def page_tagged_in(
        self, account_id: AccountId, *, viewer: AccountId | None, before: int, limit: int
    ) -> Page[Post]:
        """The posts a person is tagged in, newest first, where the viewer may see both the person and the post."""
        return await self._reader.page_tagged_in(account_id, viewer=viewer, before=before, limit=limit)

    async def list_popular(self, *, days: int, limit_each: int) -> list[tuple[PostId, int]]:
        """The posts of the last days with the most reactions, at most so many per shard; reads every shard."""
        return await self._reader.list_popular(days=days, limit_each=limit_each)

    def sources(self) -> PostSources:
        """The cache sources of posts, for a reader that checks visibility itself."""
        return self._cache.sources()

    async def invalidate(self, *ids: PostId) -> None:
        """Drop these posts and their counts from the cache: a change of them was committed."""
        await self._cache.invalidate(*ids)

    async def invalidate_counts(self, *ids: PostId) -> None:
        """Drop the counts of these posts from the cache."""
        await self._cache.invalidate_counts(*ids)
        for each in ids:
            await self.counts_changed.notify(each)

    async def invalidate_media(self, media_ids: Sequence[MediaId]) -> None:
        """Drop the posts that show these media from the cache: a video is converted, or a file is lost."""
        await self._cache.invalidate_media(media_ids)

    async def lock(self, tx: Transaction, post_id: PostId) -> bool:
        """Lock a post's row until the transaction ends; False where there is no such post."""
        return await tx.fetch_one(QUERIES.lock_counts, id=post_id) is not None

    async def change_comment_count(self, tx: Transaction, post_id: PostId, by: int) -> None:
        """Add `by` comments to a post's count, in the transaction that adds or removes the comments."""
        await tx.execute(QUERIES.change_comment_count, post_id=post_id, by=by)

        async def after_commit(_server: str) -> None:
            await self.invalidate_counts(post_id)

        tx.after_commit(after_commit)

    async def purge_deleted(self) -> None:
        """Purge posts that were deleted long ago, and scheduled ones that were held back long ago, with their media."""
        await self._retention.purge_deleted()
        await self.scheduled.purge_lapsed()

    def reconciled_counters(self) -> list[ReconciledCounter]:
        """The counters of this room that the reconciler checks."""
        return reconciled_counters(self._dependencies, self._cache)

    def handlers(self) -> list[Handler]:
        """Event handlers for the worker."""
        handle = self._event_handlers
        return [
            on(PostPublished, handle.handle_published, name="posts-published", many=True),
            on(PostImported, handle.handle_imported, name="posts-imported"),
            on(PostEdited, handle.handle_edited, name="posts-edited"),
            on(PostRemoved, handle.handle_removed, name="posts-removed"),
            on(PostLiked, handle.handle_liked, name="posts-liked", many=True),
        ]

    def schedules(self) -> list[Schedule]:
        """Periodic work for the worker."""
        return [
            Schedule("posts-flush-likes", FLUSH_EVERY_S, self.flush_likes),
            Schedule("posts-publish-due", DUE_EVERY_S, self.publish_due),
            Schedule("posts-sweep-scheduled", SWEEP_SCHEDULED_EVERY_S, self.sweep_scheduled),
            Schedule("posts-purge", PURGE_EVERY_S, self.purge_deleted),
        ]
