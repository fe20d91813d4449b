"""Scheduling: a post is written now and published at a time that its author chooses.

A scheduled post is a row on its author's shard that only the author is shown. Its photos are uploads that do not expire
until then. Publishing deletes the row and adds the post in one transaction (`publish_scheduled.py`).
"""

import hashlib
from collections.abc import Sequence
from datetime import datetime, timedelta

import msgspec

from shardwright.routing import Transaction
from tintype.base.ids import AccountId, MediaId, ScheduledPostId, has_shard
from tintype.base.log import get_log
from tintype.posts.caption import CaptionParser
from tintype.posts.dependencies import PostsDependencies
from tintype.posts.due_index import DueIndex
from tintype.posts.errors import (
    IdempotencyKeyReused,
    MediaInvalid,
    ScheduledPostNotFound,
    ScheduledPostPublished,
    TooManyScheduledPosts,
)
from tintype.posts.models import PostDraft
from tintype.posts.publish import PostPublisher, RequestKey
from tintype.posts.scheduled_post import (
    KEPT_DAYS,
    MAX_SCHEDULED,
    UNSET,
    ScheduleChanges,
    ScheduledPost,
    ScheduledRow,
    apply_changes,
    check_publish_time,
    read_scheduled,
    show_scheduled,
)
from tintype.posts.store import QUERIES
from tintype.posts.tags import PersonTags

log = get_log("posts")


class ScheduledPosts:
    """The scheduled posts of authors."""

    def __init__(
        self,
        dependencies: PostsDependencies,
        publisher: PostPublisher,
        *,
        tags: PersonTags,
        captions: CaptionParser,
        due: DueIndex,
    ) -> None:
        self._shards, self._media = dependencies.shards, dependencies.media
        self._posts_per_day = dependencies.settings.posts_per_day
        self._publisher, self._tags, self._captions, self._due = publisher, tags, captions, due

    async def schedule(
        self, author_id: AccountId, draft: PostDraft, publish_at: datetime, key_text: str | None
    ) -> ScheduledPostId:
        """Schedule a valid draft; a repeated request with the same idempotency key returns the first one's post."""
        check_publish_time(publish_at)
        await self._check_people(author_id, draft, draft.tagged_ids)
        body = msgspec.json.encode((draft, publish_at))
        key = RequestKey(key_text, hashlib.sha256(body).digest())
        async with self._shards.owner(author_id).begin() as tx:
            await self._publisher.lock_author(tx, author_id)
            earlier = await _find_earlier(tx, author_id, key)
            if earlier is not None:
                return earlier
            media_ids = [item.media_id for item in draft.media]
            await self._check_room(tx, author_id, media_ids, publish_at)
            await self._keep_media(tx, author_id, media_ids, publish_at)
            scheduled_id = ScheduledPostId(
                await tx.fetch_value(
                    QUERIES.add_scheduled,
                    author_id=author_id,
                    publish_at=publish_at,
                    draft=msgspec.json.encode(draft).decode(),
                    media_ids=media_ids,
                    idempotency_key=key.text,
                    body_hash=key.body_hash,
                )
            )
        await self._due.add(scheduled_id, publish_at)
        log.info("post.scheduled", scheduled_id=scheduled_id)
        return scheduled_id

    async def list_of(self, author_id: AccountId) -> list[ScheduledPost]:
        """An author's scheduled posts, the next first."""
        rows = await self._shards.owner(author_id).fetch(QUERIES.list_scheduled, author_id=author_id)
        return await self._show(author_id, [read_scheduled(row) for row in rows])

    async def get(self, scheduled_id: ScheduledPostId, author_id: AccountId) -> ScheduledPost:
        """One of the author's scheduled posts."""
        return (await self._show(author_id, [await self.get_row(scheduled_id, author_id)]))[0]

    async def get_row(self, scheduled_id: ScheduledPostId, author_id: AccountId) -> ScheduledRow:
        """One of the author's scheduled posts, without its media; of anybody else's, `ScheduledPostNotFound`."""
        if not has_shard(self._shards, scheduled_id):
            raise ScheduledPostNotFound
        row = await self._shards.owner(scheduled_id).fetch_one(QUERIES.find_scheduled, id=scheduled_id)
        if row is None or row["author_id"] != author_id:
            raise ScheduledPostNotFound
        return read_scheduled(row)

    async def edit(
        self, scheduled_id: ScheduledPostId, author_id: AccountId, changes: ScheduleChanges
    ) -> None:
        """Change what is set of the post or its time; it is due at that time, also if it was held back before."""
        before = await self.get_row(scheduled_id, author_id)
        publish_at = (
            before.publish_at if changes.publish_at is UNSET else check_publish_time(changes.publish_at)
        )
        draft = apply_changes(before.draft, changes.post)
        await self._check_people(author_id, draft, set(draft.tagged_ids) - set(before.draft.tagged_ids))
        media_ids = [item.media_id for item in draft.media]
        async with self._shards.owner(scheduled_id).begin() as tx:
            await self._publisher.lock_author(tx, author_id)
            row = await tx.fetch_one(QUERIES.lock_scheduled, id=scheduled_id)
            if row is None:
                raise ScheduledPostNotFound
            draft = apply_changes(read_scheduled(row).draft, changes.post)
            if publish_at != before.publish_at:
                await self._check_room(tx, author_id, media_ids, publish_at, scheduled_id)
            await self._keep_media(tx, author_id, media_ids, publish_at)
            await tx.execute(
                QUERIES.change_scheduled,
                id=scheduled_id,
                draft=msgspec.json.encode(draft).decode(),
                publish_at=publish_at,
            )
        await self._due.add(scheduled_id, publish_at)
        log.info("scheduled_post.edited", scheduled_id=scheduled_id)

    async def cancel(self, scheduled_id: ScheduledPostId, author_id: AccountId) -> None:
        """Delete a scheduled post with its photos, as its author."""
        await self.get_row(scheduled_id, author_id)
        if not await self.delete(scheduled_id):
            raise ScheduledPostNotFound

    async def delete(self, scheduled_id: ScheduledPostId) -> bool:
        """Delete a scheduled post with its photos, whoever's it is; False where it is gone."""
        async with self._shards.owner(scheduled_id).begin() as tx:
            row = await tx.fetch_one(QUERIES.delete_scheduled, id=scheduled_id)
            if row is None:
                return False
            await self._media.delete_in(tx, [MediaId(each) for each in row["media_ids"]], only_unposted=True)
        await self._due.remove(scheduled_id)
        log.info("scheduled_post.deleted", scheduled_id=scheduled_id)
        return True

    async def purge_lapsed(self) -> None:
        """Delete posts that were held back long ago and that nobody has come back to."""
        for number in sorted(self._shards.map.owners):
            shard = self._shards.shard(number)
            while rows := await shard.fetch(QUERIES.list_lapsed, days=KEPT_DAYS, limit=MAX_SCHEDULED):
                for row in rows:
                    await self.delete(ScheduledPostId(row["id"]))

    async def _check_people(
        self, author_id: AccountId, draft: PostDraft, newly_tagged: Sequence[AccountId] | set[AccountId]
    ) -> None:
        """Refuse now what would be refused at its time; whom the caption mentions is decided then."""
        await self._captions.parse(author_id, draft.caption)
        await self._tags.check_taggable(author_id, newly_tagged)

    async def _check_room(
        self,
        tx: Transaction,
        author_id: AccountId,
        media_ids: Sequence[MediaId],
        publish_at: datetime,
        except_id: int = 0,
    ) -> None:
        row = await tx.fetch_one(
            QUERIES.count_scheduled,
            author_id=author_id,
            publish_at=publish_at,
            media_ids=list(media_ids),
            except_id=except_id,
        )
        if row is None:
            return
        if row["posts"] >= MAX_SCHEDULED or max(row["day_before"], row["day_after"]) >= self._posts_per_day:
            raise TooManyScheduledPosts
        if row["with_media"]:
            raise MediaInvalid

    async def _keep_media(
        self, tx: Transaction, author_id: AccountId, media_ids: Sequence[MediaId], publish_at: datetime
    ) -> None:
        until = publish_at + timedelta(days=KEPT_DAYS + 1)
        if await self._media.keep_unposted(tx, author_id, media_ids, until) != len(media_ids):
            raise MediaInvalid

    async def _show(self, author_id: AccountId, rows: Sequence[ScheduledRow]) -> list[ScheduledPost]:
        ids = [item.media_id for row in rows for item in row.draft.media]
        found = await self._shards.owner(author_id).fetch(
            QUERIES.list_scheduled_media, media_ids=ids, author_id=author_id
        )
        media = {MediaId(each["media_id"]): each for each in found}
        return [show_scheduled(row, media) for row in rows]


async def _find_earlier(tx: Transaction, author_id: AccountId, key: RequestKey) -> ScheduledPostId | None:
    """The scheduled post of an earlier request with this key; refused where it was published meanwhile."""
    if key.text is None:
        return None
    row = await tx.fetch_one(QUERIES.find_scheduled_by_key, author_id=author_id, idempotency_key=key.text)
    if row is None:
        published = await tx.fetch_one(QUERIES.find_by_key, author_id=author_id, idempotency_key=key.text)
        if published is not None:
            raise ScheduledPostPublished
        return None
    if row["body_hash"] != key.body_hash:
        raise IdempotencyKeyReused
    return ScheduledPostId(row["id"])
