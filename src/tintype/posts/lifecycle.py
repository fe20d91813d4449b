"""The states of a post (shown, pinned, archived, hidden by a moderator, deleted) and the transitions between them."""

from collections.abc import Callable
from datetime import UTC, datetime

import asyncpg
import msgspec

from shardwright.routing import Transaction
from tintype.base.events import Event
from tintype.base.ids import AccountId, MediaId, PostId, has_shard
from tintype.base.listeners import Listeners
from tintype.base.log import get_log
from tintype.posts.dependencies import PostsDependencies
from tintype.posts.errors import PostArchived, PostNotFound, TooManyPinnedPosts
from tintype.posts.events import PostImported, PostPublished, PostRemoved
from tintype.posts.models import MAX_PINNED
from tintype.posts.post_cache import PostCache
from tintype.posts.reader import PostReader
from tintype.posts.store import QUERIES
from tintype.posts.tags import PersonTags, TagChanges, list_tagged

log = get_log("posts")


class PostState(msgspec.Struct, frozen=True, kw_only=True):
    """Since when a post is pinned, archived, hidden or deleted; None where it is not."""

    pinned_at: datetime | None
    archived_at: datetime | None
    hidden_at: datetime | None
    deleted_at: datetime | None

    @property
    def is_shown(self) -> bool:
        """Whether others than the author may see the post."""
        return self.archived_at is None and self.hidden_at is None and self.deleted_at is None

    def replace(self, **changes: datetime | None) -> "PostState":
        """The same state with some fields changed."""
        return msgspec.structs.replace(self, **changes)


class PostLifecycle:
    """Moves posts from one state to another."""

    def __init__(
        self,
        dependencies: PostsDependencies,
        cache: PostCache,
        reader: PostReader,
        tags: PersonTags,
        published: Listeners[PostPublished],
    ) -> None:
        self._shards, self._outbox = dependencies.shards, dependencies.outbox
        self._accounts, self._media = dependencies.accounts, dependencies.media
        self._cache, self._reader, self._tags, self._published = cache, reader, tags, published

    async def archive(self, post_id: PostId, by: AccountId) -> None:
        """Hide a post from everybody but its author, and unpin it."""
        await self._reader.check_author(post_id, by)
        await self._move(
            post_id, lambda old: old.replace(archived_at=old.archived_at or _now(), pinned_at=None)
        )

    async def unarchive(self, post_id: PostId, by: AccountId) -> None:
        """Show an archived post again."""
        await self._reader.check_author(post_id, by)
        await self._move(post_id, lambda old: old.replace(archived_at=None))

    async def delete(self, post_id: PostId, by: AccountId) -> None:
        """Delete a post, as its author: nobody sees it from now on, and weeks later it is purged with its media."""
        await self._reader.check_author(post_id, by)
        await self._move(post_id, lambda old: old.replace(deleted_at=_now(), pinned_at=None))

    async def pin(self, post_id: PostId, by: AccountId) -> None:
        """Pin a post to the top of its author's profile."""
        await self._reader.check_author(post_id, by)
        await self._move(post_id, lambda old: old.replace(pinned_at=old.pinned_at or _now()))

    async def unpin(self, post_id: PostId, by: AccountId) -> None:
        """Unpin a post; it goes back to its chronological position."""
        await self._reader.check_author(post_id, by)
        await self._move(post_id, lambda old: old.replace(pinned_at=None))

    async def hide(self, post_id: PostId, by: AccountId) -> None:
        """Hide a post from everybody but its author, as a moderator; the caller has checked the moderator's rights."""
        await self._move(post_id, lambda old: old.replace(hidden_at=old.hidden_at or _now(), pinned_at=None))
        log.info("post.hidden", post_id=post_id, by=by)

    async def restore(self, post_id: PostId, by: AccountId) -> None:
        """Show a post again that a moderator has hidden."""
        await self._move(post_id, lambda old: old.replace(hidden_at=None))
        log.info("post.restored", post_id=post_id, by=by)

    async def remove(self, post_id: PostId, by: AccountId) -> None:
        """Delete a post without checking whose it is: for moderators and for the erasure of an account."""
        await self._move(post_id, lambda old: old.replace(deleted_at=_now(), pinned_at=None))
        log.info("post.removed", post_id=post_id, by=by)

    async def _move(self, post_id: PostId, change: Callable[[PostState], PostState]) -> None:
        if not has_shard(self._shards, post_id):
            raise PostNotFound
        async with self._shards.owner(post_id).begin() as tx:
            author_id = await self._lock_author_of(tx, post_id)
            row = await tx.fetch_one(QUERIES.lock_post, post_id=post_id)
            if row is None:
                raise PostNotFound
            before = _state(row)
            after = change(before)
            if after == before:
                return
            await self._check_pins(tx, author_id, before, after)
            change_id = await tx.fetch_value(
                QUERIES.set_state, post_id=post_id, **msgspec.structs.asdict(after)
            )
            if before.is_shown != after.is_shown:
                await self._accounts.change_post_count(tx, author_id, 1 if after.is_shown else -1)
            tagged = await list_tagged(tx, post_id)
            event = _event(row, tagged, change_id, before=before, after=after)
            if event is not None:
                await self._outbox.add(tx, event)
                media = await tx.fetch(QUERIES.list_post_media, post_id=post_id)
                await self._media.change_visibility(tx, [MediaId(each["media_id"]) for each in media])
        await self._after_commit(post_id, author_id, event)

    async def _after_commit(self, post_id: PostId, author_id: AccountId, event: Event | None) -> None:
        await self._cache.invalidate(post_id)
        await self._accounts.invalidate_counts(author_id)
        if isinstance(event, PostRemoved) and event.is_deleted:
            await self._tags.try_index(post_id, event.change_id, TagChanges(removed=event.tagged_ids))
        if isinstance(event, PostPublished):
            await self._published.notify(event)
        log.info("post.state_changed", post_id=post_id, announced=event.name if event else "none")

    async def _lock_author_of(self, tx: Transaction, post_id: PostId) -> AccountId:
        """Lock the author before the post, as publishing does; a suspended author's posts can change state too."""
        author_id = await tx.fetch_value(QUERIES.find_author, post_id=post_id)
        if author_id is None:
            raise PostNotFound
        await self._accounts.lock(tx, AccountId(author_id))
        return AccountId(author_id)

    async def _check_pins(
        self, tx: Transaction, author_id: AccountId, before: PostState, after: PostState
    ) -> None:
        if after.pinned_at is None or before.pinned_at is not None:
            return
        if not after.is_shown:
            raise PostArchived
        if await tx.fetch_value(QUERIES.count_pinned, author_id=author_id) >= MAX_PINNED:
            raise TooManyPinnedPosts


def _event(
    row: asyncpg.Record,
    tagged: tuple[AccountId, ...],
    change_id: int,
    *,
    before: PostState,
    after: PostState,
) -> Event | None:
    """The event of a transition; none where nobody but the author's profile is affected, as with a pin."""
    post_id, author_id = PostId(row["id"]), AccountId(row["author_id"])
    is_deleted = after.deleted_at is not None
    if is_deleted or (before.is_shown and not after.is_shown):
        return PostRemoved(post_id, author_id, change_id, is_deleted, tagged)
    if after.is_shown and not before.is_shown:
        hashtags = tuple(row["hashtags"])
        if row["is_imported"]:
            return PostImported(post_id, author_id, hashtags, is_new=False)
        mentions = tuple(AccountId(each) for each in row["mention_ids"])
        return PostPublished(post_id, author_id, hashtags, mentions, tagged, row["place_id"], is_new=False)
    return None


def _state(row: asyncpg.Record) -> PostState:
    return PostState(
        pinned_at=row["pinned_at"],
        archived_at=row["archived_at"],
        hidden_at=row["hidden_at"],
        deleted_at=row["deleted_at"],
    )


def _now() -> datetime:
    return datetime.now(UTC)
