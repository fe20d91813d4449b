"""The reading side: the list, what is unread, and what has been read.

What is kept may have become invisible since: its actor was muted, its post archived. Such lines are never shown, and
whoever meets one takes it out of the list for good, so that the unread count comes right as well.
"""

from collections.abc import Iterable, Sequence

import asyncpg

from shardwright.running import Queries, Shards
from tintype.base.ids import LARGEST_ID, AccountId, PostId
from tintype.graph import Seen, Sight
from tintype.notifications.errors import NotificationNotFound
from tintype.notifications.hearing import is_welcome
from tintype.notifications.kinds import KINDS
from tintype.notifications.models import HOUSE, Notification, Page, StoryGlance
from tintype.notifications.stories import Glances
from tintype.notifications.telling import Changed, Telling
from tintype.posts import Post, Posts

ACTORS_LOOKED_AT = 10
ACTORS_SHOWN = 3
MOST_ROUNDS = 5
"""How often a page is filled up when lines of it turn out to be invisible."""


class Reading:
    """Somebody's list, as they may see it now."""

    def __init__(
        self,
        shards: Shards,
        sight: Sight,
        posts: Posts,
        *,
        glances: Glances,
        queries: Queries,
        telling: Telling,
        changed: Changed,
    ) -> None:
        self._shards, self._sight, self._posts = shards, sight, posts
        self._queries, self._telling, self._changed = queries, telling, changed
        self._glances = glances

    async def page(self, account_id: AccountId, *, before: int = LARGEST_ID, limit: int = 20) -> Page:
        """The list, newest first."""
        shown: list[Notification] = []
        for _ in range(MOST_ROUNDS):
            rows = await self._fetch(account_id, before, limit - len(shown) + 1)
            wanted = rows[: limit - len(shown)]
            shown += await self._show(account_id, wanted)
            if len(rows) == len(wanted):
                return Page(shown, None)
            before = wanted[-1]["place"]
            if len(shown) == limit:
                break
        return Page(shown, before)

    async def find(self, account_id: AccountId, notification_id: int) -> Notification | None:
        """One line, if it may still be seen."""
        row = await self._shards.owner(account_id).fetch_one(
            self._queries.find_line,
            account_id=account_id,
            notification_id=notification_id,
            actors=ACTORS_LOOKED_AT,
        )
        shown = await self._show(account_id, [row]) if row else []
        return shown[0] if shown else None

    async def count_unread(self, account_id: AccountId) -> int:
        """How many lines have not been read."""
        count = await self._shards.owner(account_id).fetch_value(
            self._queries.count_unread, account_id=account_id
        )
        return count or 0

    async def read_all(self, account_id: AccountId, *, up_to: int | None = None) -> None:
        """Everything up to this line is read; everything there is without one."""
        place = LARGEST_ID
        async with self._shards.owner(account_id).begin() as tx:
            await tx.fetch_one(self._queries.lock_state, account_id=account_id)
            if up_to is not None:
                place = await tx.fetch_value(
                    self._queries.find_place, notification_id=up_to, account_id=account_id
                )
                if place is None:
                    raise NotificationNotFound
            await tx.execute(self._queries.read_until, account_id=account_id, place=place)
        await self._changed(account_id)

    async def read(self, account_id: AccountId, notification_id: int) -> None:
        """One line is read."""
        async with self._shards.owner(account_id).begin() as tx:
            await tx.fetch_one(self._queries.lock_state, account_id=account_id)
            found = await tx.fetch_value(
                self._queries.find_place, notification_id=notification_id, account_id=account_id
            )
            if found is None:
                raise NotificationNotFound
            await tx.execute(self._queries.read_one, account_id=account_id, notification_id=notification_id)
        await self._changed(account_id)

    async def remove(self, account_id: AccountId, notification_id: int) -> None:
        """One line is gone from the list."""
        if not await self._telling.take_back_line(account_id, notification_id):
            raise NotificationNotFound

    async def _fetch(self, account_id: AccountId, before: int, limit: int) -> list[asyncpg.Record]:
        return await self._shards.owner(account_id).fetch(
            self._queries.page, account_id=account_id, before=before, limit=limit, actors=ACTORS_LOOKED_AT
        )

    async def _show(self, account_id: AccountId, rows: Sequence[asyncpg.Record]) -> list[Notification]:
        actor_ids = {AccountId(each) for row in rows for each in row["actor_ids"]} - {HOUSE}
        post_ids = {PostId(row["post_id"]) for row in rows if row["post_id"]}
        seen = await self._sight.of(account_id, actor_ids)
        welcome = {each: one for each, one in seen.items() if is_welcome(one)}
        posts = await self._posts.find_many(post_ids, viewer=account_id) if post_ids else {}
        await self._tidy(account_id, actor_ids - welcome.keys(), post_ids - posts.keys())
        stories = await self._glances.of(account_id, rows)
        lines = (_line(row, welcome, posts, stories) for row in rows)
        return [line for line in lines if line is not None]

    async def _tidy(
        self, account_id: AccountId, actor_ids: Iterable[AccountId], post_ids: Iterable[PostId]
    ) -> None:
        if actors := list(actor_ids):
            await self._telling.take_back_actors(account_id, actors)
        if posts := list(post_ids):
            await self._telling.take_back_posts(account_id, posts)


def _line(
    row: asyncpg.Record,
    welcome: dict[AccountId, Seen],
    posts: dict[PostId, Post],
    stories: dict[int, StoryGlance],
) -> Notification | None:
    if row["kind"] not in KINDS:  # told by a newer release, before this one was put back
        return None
    latest = list(dict.fromkeys(row["actor_ids"]))
    actors = [welcome[each].account for each in latest if each in welcome]
    hidden = 0 if KINDS[row["kind"]].is_from_house else len(latest) - len(actors)
    is_gone = row["post_id"] is not None and row["post_id"] not in posts
    if is_gone or (hidden and not actors):
        return None
    return Notification(
        id=row["id"],
        kind=row["kind"],
        place=row["place"],
        actors=actors[:ACTORS_SHOWN],
        actor_count=row["actor_count"] - hidden,
        object_id=row["object_id"] or row["group_id"],
        post=posts.get(row["post_id"]),
        story=stories.get(row["id"]),
        is_read=row["is_read"],
    )
