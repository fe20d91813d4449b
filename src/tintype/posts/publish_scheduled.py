"""Publishing of scheduled posts, exactly once: one transaction deletes the scheduled post and adds the real one.

Whether the author may post, whom the caption mentions and who may be tagged is decided at that moment, not when the
post was written. The id, and with it the time, is of that moment, too; so feeds, notifications and search treat it as
any new post.
"""

import asyncio
from datetime import UTC, datetime, timedelta

from shardwright.routing import Transaction
from tintype.accounts import AccountNotFound
from tintype.base.errors import TintypeError
from tintype.base.ids import AccountId, ScheduledPostId
from tintype.base.log import get_log
from tintype.base.tracebacks import describe_error
from tintype.posts.caption import Caption, CaptionParser
from tintype.posts.dependencies import PostsDependencies
from tintype.posts.due_index import HORIZON_S, DueIndex
from tintype.posts.errors import MediaInvalid, ScheduledPostNotFound, TooManyPosts
from tintype.posts.events import PostPublished
from tintype.posts.models import PostDraft
from tintype.posts.publish import PostPublisher, PublishedPost, RequestKey
from tintype.posts.schedule import ScheduledPosts
from tintype.posts.scheduled_post import Problem, ScheduledRow, read_scheduled, without_tags
from tintype.posts.store import QUERIES
from tintype.posts.tags import PersonTags

log = get_log("posts")
BATCH = 100
AT_ONCE = 8
PROBLEMS: dict[type[TintypeError], Problem] = {
    TooManyPosts: "daily_limit",
    AccountNotFound: "account_inactive",
    MediaInvalid: "media_invalid",
}
RETRY_S = 15
"""When a post is tried again whose shard did not answer; until then it does not stand in the way of others."""


class ScheduledPublisher:
    """Publishes scheduled posts: when they are due, or when their authors say so."""

    def __init__(
        self,
        dependencies: PostsDependencies,
        scheduled: ScheduledPosts,
        publisher: PostPublisher,
        *,
        tags: PersonTags,
        captions: CaptionParser,
        due: DueIndex,
    ) -> None:
        self._shards, self._scheduled, self._publisher = dependencies.shards, scheduled, publisher
        self._tags, self._captions, self._due = tags, captions, due

    async def publish_now(self, scheduled_id: ScheduledPostId, author_id: AccountId) -> PublishedPost:
        """Publish a scheduled post before its time, as its author; whatever is in the way is said to them."""
        row = await self._scheduled.get_row(scheduled_id, author_id)
        published = await self._publish(row, only_due=False)
        if published is None:
            raise ScheduledPostNotFound
        await self._due.remove(scheduled_id)
        return published

    async def publish_due(self) -> None:
        """Publish what the index says is due; where it has been lost, what the shards say."""
        due = await self._due.find_due(BATCH)
        if due is None:
            await self.sweep()
        else:
            await self._publish_some(due)

    async def sweep(self) -> None:
        """Read every shard: publish what is overdue and file what is due soon, in case Redis has lost it."""
        now = datetime.now(UTC)
        by = now + timedelta(seconds=HORIZON_S)
        found = await self._shards.everywhere().fetch(QUERIES.list_due, by=by, limit=BATCH)
        await self._due.mark_swept(is_complete=found.is_complete)
        overdue = [ScheduledPostId(row["id"]) for row in found if row["due_at"] <= now]
        for row in found:
            if row["due_at"] > now:
                await self._due.add(ScheduledPostId(row["id"]), row["due_at"])
        await self._publish_some(overdue)

    async def _publish_some(self, ids: list[ScheduledPostId]) -> None:
        slots = asyncio.Semaphore(AT_ONCE)

        async def publish_one(scheduled_id: ScheduledPostId) -> None:
            async with slots:
                await self._publish_if_due(scheduled_id)

        async with asyncio.TaskGroup() as group:
            for each in ids:
                group.create_task(publish_one(each))

    async def _publish_if_due(self, scheduled_id: ScheduledPostId) -> None:
        """Publish one, or write down what keeps it; a shard that does not answer is asked again later."""
        try:
            row = await self._shards.owner(scheduled_id).fetch_one(QUERIES.find_scheduled, id=scheduled_id)
            due_at = None if row is None else await self._publish_or_postpone(read_scheduled(row))
        except Exception as error:  # noqa: BLE001 - whatever one post raises, the others are published
            log.warning("scheduled_post.delayed", scheduled_id=scheduled_id, error=describe_error(error))
            due_at = datetime.now(UTC) + timedelta(seconds=RETRY_S)
        if due_at is None:
            await self._due.remove(scheduled_id)
        else:
            await self._due.add(scheduled_id, due_at)

    async def _publish_or_postpone(self, row: ScheduledRow) -> datetime | None:
        """When to look at it again; None where it is published, or waits for its author."""
        if row.due_at is None or row.due_at > datetime.now(UTC):
            return row.due_at
        try:
            published = await self._publish(row, only_due=True)
        except TintypeError as error:
            return await self._postpone(row, error)
        # Not published: it was changed since it was read, or the server's clock is behind. Look again.
        return datetime.now(UTC) if published is None else None

    async def _postpone(self, row: ScheduledRow, error: TintypeError) -> datetime | None:
        """Write down what keeps a post; one that reached the daily limit is due again when that allows it."""
        due_at = (
            datetime.now(UTC) + timedelta(seconds=error.retry_after_s)
            if isinstance(error, TooManyPosts)
            else None
        )
        problem = next((name for kind, name in PROBLEMS.items() if isinstance(error, kind)), "refused")
        await self._shards.owner(row.id).fetch_one(
            QUERIES.postpone_scheduled, id=row.id, change_id=row.change_id, due_at=due_at, problem=problem
        )
        log.info("scheduled_post.postponed", scheduled_id=row.id, problem=problem, code=error.code)
        return due_at

    async def _publish(self, row: ScheduledRow, *, only_due: bool) -> PublishedPost | None:
        """Publish a scheduled post; None where it is gone, changed since it was read, or not due yet."""
        author_id = row.author_id
        caption = await self._captions.parse(author_id, row.draft.caption)
        taggable = await self._tags.which_taggable(author_id, row.draft.tagged_ids)
        draft = without_tags(row.draft, taggable)
        async with self._shards.owner(row.id).begin() as tx:
            await self._publisher.lock_author(tx, author_id)
            locked = await tx.fetch_one(QUERIES.lock_scheduled, id=row.id)
            if locked is None or locked["change_id"] != row.change_id or (only_due and not locked["is_due"]):
                return None
            event = await self._add(tx, row, draft, caption)
        log.info("scheduled_post.published", scheduled_id=row.id, post_id=event.post_id)
        return await self._publisher.finish(event)

    async def _add(
        self, tx: Transaction, row: ScheduledRow, draft: PostDraft, caption: Caption
    ) -> PostPublished:
        key_text = row.idempotency_key
        if key_text is not None and await tx.fetch_one(
            QUERIES.find_by_key, author_id=row.author_id, idempotency_key=key_text
        ):
            key_text = None  # a post that was published directly has used it
        await tx.execute(QUERIES.delete_scheduled, id=row.id)
        return await self._publisher.publish_in(
            tx, row.author_id, draft, caption, RequestKey(key_text, row.body_hash)
        )
