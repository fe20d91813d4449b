"""Where a post stands: shown, pinned, archived, hidden by a moderator, deleted; and every way from one to another."""

from collections.abc import Callable
from datetime import UTC, datetime

import asyncpg
import msgspec

from shardwright.running import Transaction
from tintype.base.events import Event
from tintype.base.ids import AccountId, PostId, has_shard
from tintype.base.log import get_log
from tintype.posts.errors import NotYourPost, PostArchived, PostNotFound, TooManyPinned
from tintype.posts.events import PostPublished, PostRemoved
from tintype.posts.models import MOST_PINNED
from tintype.posts.publishing import Publishing
from tintype.posts.room import QUERIES
from tintype.posts.tagging import list_tagged

log = get_log("posts")


class State(msgspec.Struct, frozen=True, kw_only=True):
    """When a post came to be what it is."""

    pinned_at: datetime | None
    archived_at: datetime | None
    hidden_at: datetime | None
    deleted_at: datetime | None

    @property
    def is_shown(self) -> bool:
        """Whether others may see it."""
        return self.archived_at is None and self.hidden_at is None and self.deleted_at is None

    def but(self, **changes: datetime | None) -> "State":
        """The same with something else."""
        return msgspec.structs.replace(self, **changes)


class States(Publishing):
    """Archiving, pinning, hiding and deleting."""

    async def archive(self, post_id: PostId, by: AccountId) -> None:
        """Put a post away: nobody but its author sees it, and it is not pinned any more."""
        await self._check_author(post_id, by)
        await self._move(post_id, lambda old: old.but(archived_at=old.archived_at or _now(), pinned_at=None))

    async def unarchive(self, post_id: PostId, by: AccountId) -> None:
        """Show a post again."""
        await self._check_author(post_id, by)
        await self._move(post_id, lambda old: old.but(archived_at=None))

    async def delete(self, post_id: PostId, by: AccountId) -> None:
        """Delete a post: it is out of sight at once, and purged with its pictures some weeks later."""
        await self._check_author(post_id, by)
        await self._move(post_id, lambda old: old.but(deleted_at=_now(), pinned_at=None))

    async def pin(self, post_id: PostId, by: AccountId) -> None:
        """Keep a post on top of one's profile."""
        await self._check_author(post_id, by)
        await self._move(post_id, lambda old: old.but(pinned_at=old.pinned_at or _now()))

    async def unpin(self, post_id: PostId, by: AccountId) -> None:
        """Let a post back to its place in time."""
        await self._check_author(post_id, by)
        await self._move(post_id, lambda old: old.but(pinned_at=None))

    async def hide(self, post_id: PostId, by: AccountId) -> None:
        """A moderator takes a post out of sight; its author still sees it. Who may do so is moderation's to know."""
        await self._move(post_id, lambda old: old.but(hidden_at=old.hidden_at or _now(), pinned_at=None))
        log.info("post.hidden", post_id=post_id, by=by)

    async def restore(self, post_id: PostId, by: AccountId) -> None:
        """A moderator lets a post be seen again."""
        await self._move(post_id, lambda old: old.but(hidden_at=None))
        log.info("post.restored", post_id=post_id, by=by)

    async def remove(self, post_id: PostId, by: AccountId) -> None:
        """A moderator deletes a post."""
        await self._move(post_id, lambda old: old.but(deleted_at=_now(), pinned_at=None))
        log.info("post.removed", post_id=post_id, by=by)

    async def _check_author(self, post_id: PostId, by: AccountId) -> None:
        if (await self.get(post_id, viewer=by)).author_id != by:
            raise NotYourPost

    async def _move(self, post_id: PostId, change: Callable[[State], State]) -> None:
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
                await tx.execute(QUERIES.count_posts, author_id=author_id, delta=1 if after.is_shown else -1)
            people = await list_tagged(tx, post_id)
            news = _news(row, people, change_id, before=before, after=after)
            if news is not None:
                await self._outbox.add(tx, news)
        await self._settle(post_id, author_id, news)

    async def _settle(self, post_id: PostId, author_id: AccountId, news: Event | None) -> None:
        await self.forget(post_id)
        await self._accounts.forget(author_id)
        if isinstance(news, PostRemoved) and news.is_deleted:
            await self._mirror_tags_at_once(post_id, news.change_id, removed=news.tagged_ids)
        if isinstance(news, PostPublished):
            await self._tell(news)
        log.info("post.moved", post_id=post_id, news=news.name if news else "none")

    async def _lock_author_of(self, tx: Transaction, post_id: PostId) -> AccountId:
        """The author's lock comes before the post's, as in publishing; a suspended author's post can be moved too."""
        author_id = await tx.fetch_value(QUERIES.find_author, post_id=post_id)
        if author_id is None:
            raise PostNotFound
        await tx.fetch_one(QUERIES.lock_counted_author, id=author_id)
        return AccountId(author_id)

    async def _check_pins(self, tx: Transaction, author_id: AccountId, before: State, after: State) -> None:
        if after.pinned_at is None or before.pinned_at is not None:
            return
        if not after.is_shown:
            raise PostArchived
        if await tx.fetch_value(QUERIES.count_pinned, author_id=author_id) >= MOST_PINNED:
            raise TooManyPinned


def _news(
    row: asyncpg.Record, tagged: tuple[AccountId, ...], change_id: int, *, before: State, after: State
) -> Event | None:
    """What others must hear; a pin is nobody's business but the profile's."""
    post_id, author_id = PostId(row["id"]), AccountId(row["author_id"])
    is_deleted = after.deleted_at is not None
    if is_deleted or (before.is_shown and not after.is_shown):
        return PostRemoved(post_id, author_id, change_id, is_deleted, tagged)
    if after.is_shown and not before.is_shown:
        mentions = tuple(AccountId(each) for each in row["mention_ids"])
        return PostPublished(
            post_id, author_id, tuple(row["hashtags"]), mentions, tagged, row["place_id"], is_new=False
        )
    return None


def _state(row: asyncpg.Record) -> State:
    return State(
        pinned_at=row["pinned_at"],
        archived_at=row["archived_at"],
        hidden_at=row["hidden_at"],
        deleted_at=row["deleted_at"],
    )


def _now() -> datetime:
    return datetime.now(UTC)
