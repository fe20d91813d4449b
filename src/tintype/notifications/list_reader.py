"""The reading side of a recipient's list: pages of notifications, the unread count, and marking as read.

A stored notification may have become invisible since: its actor was muted, its post archived. Such notifications are
never shown, and a read that comes across one retracts it for good, so that the unread count comes right as well.
"""

from collections.abc import Iterable, Sequence

import asyncpg

from shardwright.routing import Transaction
from tintype.base.ids import LARGEST_ID, AccountId, PostId
from tintype.graph import VisibleAccount
from tintype.notifications.comment_quotes import CommentQuotes
from tintype.notifications.dependencies import NotificationsDependencies
from tintype.notifications.errors import NotificationNotFound
from tintype.notifications.kinds import KINDS
from tintype.notifications.list_writer import ListWriter, OnListChanged
from tintype.notifications.models import SYSTEM, LatestActivity, Notification, NotificationPage, StoryPreview
from tintype.notifications.notify import is_welcome
from tintype.notifications.store import QUERIES
from tintype.notifications.story_previews import StoryPreviews
from tintype.posts import Post

ACTORS_LOADED = 10
ACTORS_SHOWN = 3
MAX_ROUNDS = 5
"""How often more rows are read to fill a page when some of them turn out to be invisible."""


class ListReader:
    """A recipient's list, as they may see it now."""

    def __init__(
        self, deps: NotificationsDependencies, writer: ListWriter, on_changed: OnListChanged
    ) -> None:
        self._shards, self._visibility, self._posts = deps.shards, deps.visibility, deps.posts
        self._writer, self._on_changed = writer, on_changed
        self._previews, self._quotes = StoryPreviews(deps.stories), CommentQuotes(deps.comments)

    async def page(
        self, account_id: AccountId, *, before: int = LARGEST_ID, limit: int = 20
    ) -> NotificationPage:
        """A page of the list, newest first."""
        shown: list[Notification] = []
        for _ in range(MAX_ROUNDS):
            rows = await self._fetch(account_id, before, limit - len(shown) + 1)
            wanted = rows[: limit - len(shown)]
            shown += await self._show(account_id, wanted)
            if len(rows) == len(wanted):
                return NotificationPage(shown, None)
            before = wanted[-1]["place"]
            if len(shown) == limit:
                break
        return NotificationPage(shown, before)

    async def find(self, account_id: AccountId, notification_id: int) -> Notification | None:
        """One notification, if it may still be seen."""
        row = await self._shards.owner(account_id).fetch_one(
            QUERIES.find_notification,
            account_id=account_id,
            notification_id=notification_id,
            actors=ACTORS_LOADED,
        )
        shown = await self._show(account_id, [row]) if row else []
        return shown[0] if shown else None

    async def count_unread(self, account_id: AccountId) -> int:
        """How many notifications are unread."""
        count = await self._shards.owner(account_id).fetch_value(QUERIES.count_unread, account_id=account_id)
        return count or 0

    async def mark_all_read(self, account_id: AccountId, *, up_to: int | None = None) -> None:
        """Mark everything up to and including this notification as read; without one, the whole list."""
        cursor = LARGEST_ID
        async with self._shards.owner(account_id).begin() as tx:
            await tx.fetch_one(QUERIES.lock_state, account_id=account_id)
            if up_to is not None:
                cursor = await _get_cursor(tx, account_id, up_to)
            await tx.execute(QUERIES.mark_all_read, account_id=account_id, cursor=cursor)
        await self._on_changed(account_id)

    async def mark_read(self, account_id: AccountId, notification_id: int) -> None:
        """Mark one notification as read."""
        async with self._shards.owner(account_id).begin() as tx:
            await tx.fetch_one(QUERIES.lock_state, account_id=account_id)
            await _get_cursor(tx, account_id, notification_id)
            await tx.execute(QUERIES.mark_read, account_id=account_id, notification_id=notification_id)
        await self._on_changed(account_id)

    async def remove(self, account_id: AccountId, notification_id: int) -> None:
        """Remove one notification from the list."""
        if not await self._writer.remove(account_id, notification_id):
            raise NotificationNotFound

    async def _fetch(self, account_id: AccountId, before: int, limit: int) -> list[asyncpg.Record]:
        return await self._shards.owner(account_id).fetch(
            QUERIES.page, account_id=account_id, before=before, limit=limit, actors=ACTORS_LOADED
        )

    async def _show(self, account_id: AccountId, rows: Sequence[asyncpg.Record]) -> list[Notification]:
        actor_ids = {AccountId(each) for row in rows for each in row["actor_ids"]} - {SYSTEM}
        post_ids = {PostId(row["post_id"]) for row in rows if row["post_id"]}
        visible = await self._visibility.find_accounts(account_id, actor_ids)
        welcome = {each: one for each, one in visible.items() if is_welcome(one)}
        posts = await self._posts.find_many(post_ids, viewer=account_id) if post_ids else {}
        await self._retract_invisible(account_id, actor_ids - welcome.keys(), post_ids - posts.keys())
        activities = ((row["id"], _latest_activity(row, welcome)) for row in rows)
        latest = {number: each for number, each in activities if each is not None}
        stories = await self._previews.find(account_id, latest)
        quotes = await self._quotes.find(account_id, latest)
        notifications = (
            _notification(row, latest.get(row["id"]), welcome, posts, stories, quotes) for row in rows
        )
        return [each for each in notifications if each is not None]

    async def _retract_invisible(
        self, account_id: AccountId, actor_ids: Iterable[AccountId], post_ids: Iterable[PostId]
    ) -> None:
        if actors := list(actor_ids):
            await self._writer.retract_actors(account_id, actors)
        if posts := list(post_ids):
            await self._writer.retract_posts(account_id, posts)


async def _get_cursor(tx: Transaction, account_id: AccountId, notification_id: int) -> int:
    """The position of a notification in the account's list, or `NotificationNotFound`."""
    cursor: int | None = await tx.fetch_value(
        QUERIES.find_cursor, notification_id=notification_id, account_id=account_id
    )
    if cursor is None:
        raise NotificationNotFound
    return cursor


def _latest_activity(row: asyncpg.Record, welcome: dict[AccountId, VisibleAccount]) -> LatestActivity | None:
    """What somebody did last whom the recipient may see: what others did is not told of."""
    for actor_id, object_id in zip(row["actor_ids"], row["object_ids"], strict=True):
        if actor_id in welcome or actor_id == SYSTEM:
            return LatestActivity(row["kind"], AccountId(actor_id), object_id)
    return None


def _notification(  # noqa: PLR0917 - what a page has loaded
    row: asyncpg.Record,
    activity: LatestActivity | None,
    welcome: dict[AccountId, VisibleAccount],
    posts: dict[PostId, Post],
    stories: dict[int, StoryPreview],
    quotes: dict[int, str],
) -> Notification | None:
    if row["kind"] not in KINDS:  # written by a newer release, before it was rolled back to this one
        return None
    latest = list(dict.fromkeys(row["actor_ids"]))
    actors = [welcome[each].account for each in latest if each in welcome]
    hidden = 0 if KINDS[row["kind"]].is_system else len(latest) - len(actors)
    is_post_hidden = row["post_id"] is not None and row["post_id"] not in posts
    if is_post_hidden or (hidden and not actors):
        return None
    return Notification(
        id=row["id"],
        kind=row["kind"],
        cursor=row["place"],
        actors=actors[:ACTORS_SHOWN],
        actor_count=row["actor_count"] - hidden,
        object_id=(activity and activity.object_id) or row["group_id"],
        post=posts.get(row["post_id"]),
        story=stories.get(row["id"]),
        comment_text=quotes.get(row["id"]),
        is_read=row["is_read"],
    )
