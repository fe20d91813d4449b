"""Export and erasure of a person's notifications, and of what other people's lists hold of them."""

from collections.abc import AsyncIterator, Sequence
from typing import Any

import asyncpg

from tintype.base.ids import AccountId, has_shard
from tintype.base.personal_data import ExportRecord
from tintype.notifications.dependencies import NotificationsDependencies
from tintype.notifications.list_writer import ListWriter
from tintype.notifications.notify import Notifier
from tintype.notifications.store import QUERIES

ERASE_BATCH = 200
EXPORT_BATCH = 500


class NotificationsPersonalData:
    """One person's list, and their activities in other people's lists."""

    def __init__(self, deps: NotificationsDependencies, notifier: Notifier, writer: ListWriter) -> None:
        self._shards, self._notifier, self._writer = deps.shards, notifier, writer

    async def export(self, account_id: AccountId) -> AsyncIterator[ExportRecord]:
        """The person's notifications, oldest first, without names: those belong to others."""
        after = 0
        while True:
            rows = await self._shards.owner(account_id).fetch(
                QUERIES.export_notifications, account_id=account_id, after=after, limit=EXPORT_BATCH
            )
            for row in rows:
                yield ExportRecord("notifications.json", self._content(row))
            if len(rows) < EXPORT_BATCH:
                return
            after = rows[-1]["place"]

    async def erase(self, account_id: AccountId) -> int:
        """Delete a batch of this person's activities in others' lists and of their own list; settings go last."""
        recipients: list[AccountId] = []
        async for recipient in self._notifier.recipients_of(account_id):
            recipients.append(recipient)
            if len(recipients) == ERASE_BATCH:
                break
        for recipient in recipients:
            await self._writer.erase_actor(recipient, account_id)
        own = self._shards.owner(account_id)
        if recipients:
            await own.execute(QUERIES.erase_traces, source_id=account_id, recipient_ids=recipients)
        activities = await own.fetch(QUERIES.list_own_activities, account_id=account_id, limit=ERASE_BATCH)
        if activities:
            await self._erase_activities(account_id, activities)
            return len(recipients) + len(activities)
        return len(recipients) + int(await own.fetch_value(QUERIES.erase_own, account_id=account_id))

    async def count_left(self, account_id: AccountId) -> int:
        """How many rows of this person are left."""
        own = self._shards.owner(account_id)
        return int(await own.fetch_value(QUERIES.count_own, account_id=account_id))

    async def _erase_activities(self, account_id: AccountId, activities: Sequence[asyncpg.Record]) -> None:
        """First the traces on other shards, then the activities that say where those are."""
        sources = {
            number for row in activities for number in (row["actor_id"], row["post_id"], row["object_id"])
        }
        by_shard: dict[int, list[int]] = {}
        for source in sources - {None}:
            if has_shard(self._shards, source):
                by_shard.setdefault(self._shards.shard_of(source), []).append(source)
        for number, own in by_shard.items():
            shard = self._shards.shard(number)
            await shard.execute(QUERIES.erase_traces_to, source_ids=own, recipient_id=account_id)
        await self._shards.owner(account_id).execute(
            QUERIES.erase_own_activities,
            account_id=account_id,
            kinds=[row["kind"] for row in activities],
            object_ids=[row["object_id"] for row in activities],
            actor_ids=[row["actor_id"] for row in activities],
        )

    def _content(self, row: Any) -> dict[str, Any]:
        return {
            "kind": row["kind"],
            "at": self._shards.map.layout.id_time(row["place"]).isoformat(),
            "post_id": str(row["post_id"]) if row["post_id"] else None,
            "actor_count": row["actor_count"],
            "is_read": row["is_read"],
        }
