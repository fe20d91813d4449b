"""How long lists are kept, and how they are handed out and let go."""

from collections.abc import AsyncIterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import asyncpg

from shardwright.running import Queries, Query, Shards
from tintype.base.belongings import Record
from tintype.base.ids import AccountId, has_shard
from tintype.notifications.hearing import Hearing
from tintype.notifications.telling import Telling

KEPT_DAYS = 90
TRACES_KEPT_DAYS = KEPT_DAYS + 3
SWEEP_BATCH = 1_000
ERASE_BATCH = 200
EXPORT_BATCH = 500


class Keeping:
    """Age, exports and departures."""

    def __init__(self, shards: Shards, *, queries: Queries, hearing: Hearing, telling: Telling) -> None:
        self._shards, self._queries, self._hearing, self._telling = shards, queries, hearing, telling

    async def sweep(self, now: datetime | None = None) -> None:
        """What is older than ninety days is gone, on every shard."""
        now = now or datetime.now(UTC)
        oldest = self._shards.map.layout.min_id_at(now - timedelta(days=KEPT_DAYS))
        await self._sweep(self._queries.sweep_notifications, oldest)
        await self._sweep(self._queries.sweep_acts, oldest)
        await self._sweep(self._queries.sweep_traces, (now - timedelta(days=TRACES_KEPT_DAYS)).date())

    async def export(self, account_id: AccountId) -> AsyncIterator[Record]:
        """The list of a person, oldest first, by id: the names of others are theirs."""
        after = 0
        while True:
            rows = await self._shards.owner(account_id).fetch(
                self._queries.export_lines, account_id=account_id, after=after, limit=EXPORT_BATCH
            )
            for row in rows:
                yield Record("notifications.json", self._content(row))
            if len(rows) < EXPORT_BATCH:
                return
            after = rows[-1]["place"]

    async def erase(self, account_id: AccountId) -> int:
        """A batch of what others were told of this person and of what the person was told; the rest at the end."""
        recipients: list[AccountId] = []
        async for recipient in self._hearing.recipients_of(account_id):
            recipients.append(recipient)
            if len(recipients) == ERASE_BATCH:
                break
        for recipient in recipients:
            await self._telling.forget_actor(recipient, account_id)
        own = self._shards.owner(account_id)
        if recipients:
            await own.execute(self._queries.erase_traces, source_id=account_id, recipient_ids=recipients)
        acts = await own.fetch(self._queries.list_own_acts, account_id=account_id, limit=ERASE_BATCH)
        if acts:
            await self._erase_acts(account_id, acts)
            return len(recipients) + len(acts)
        return len(recipients) + int(await own.fetch_value(self._queries.erase_own, account_id=account_id))

    async def count_left(self, account_id: AccountId) -> int:
        """What is still there of this person."""
        own = self._shards.owner(account_id)
        return int(await own.fetch_value(self._queries.count_own, account_id=account_id))

    async def _erase_acts(self, account_id: AccountId, acts: Sequence[asyncpg.Record]) -> None:
        """First the traces elsewhere, then the acts that tell where they are."""
        sources = {number for act in acts for number in (act["actor_id"], act["post_id"], act["object_id"])}
        by_shard: dict[int, list[int]] = {}
        for source in sources - {None}:
            if has_shard(self._shards, source):
                by_shard.setdefault(self._shards.shard_of(source), []).append(source)
        for number, own in by_shard.items():
            shard = self._shards.shard(number)
            await shard.execute(self._queries.drop_traces_to, source_ids=own, recipient_id=account_id)
        await self._shards.owner(account_id).execute(
            self._queries.erase_own_acts,
            account_id=account_id,
            kinds=[act["kind"] for act in acts],
            object_ids=[act["object_id"] for act in acts],
            actor_ids=[act["actor_id"] for act in acts],
        )

    async def _sweep(self, query: Query, oldest: Any) -> None:
        while True:
            swept = await self._shards.everywhere().execute(query, oldest=oldest, limit=SWEEP_BATCH)
            if all(row["count"] < SWEEP_BATCH for row in swept.complete()):
                return

    def _content(self, row: Any) -> dict[str, Any]:
        return {
            "kind": row["kind"],
            "at": self._shards.map.layout.id_time(row["place"]).isoformat(),
            "post_id": str(row["post_id"]) if row["post_id"] else None,
            "actor_count": row["actor_count"],
            "is_read": row["is_read"],
        }
