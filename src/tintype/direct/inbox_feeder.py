"""Keeps the inbox of every member, on the member's shard, in step with the thread.

Rows are made from what the thread says at the moment, never from what an event says, so events may arrive late, twice
and in any order: the newest change of the thread decides about membership, and numbers only grow.
"""

from collections.abc import Iterable, Sequence

import asyncpg

from shardwright.errors import ShardwrightError
from shardwright.routing import Shard
from tintype.base.ids import AccountId
from tintype.base.log import get_log
from tintype.base.shard_groups import read_by_shard, run_by_shard
from tintype.direct.dependencies import DirectDependencies
from tintype.direct.models import ThreadId
from tintype.direct.store import QUERIES

UNAVAILABLE = (ShardwrightError, asyncpg.PostgresError, asyncpg.InterfaceError, OSError)
BATCH = 200
log = get_log("direct")


class InboxFeeder:
    """Writes inbox rows."""

    def __init__(self, deps: DirectDependencies) -> None:
        self._shards = deps.shards

    async def feed(self, thread_ids: Iterable[ThreadId]) -> None:
        """Bring the inboxes of everybody in these threads up to date, one statement per shard of members."""
        wanted = sorted(set(thread_ids))
        if wanted:
            rows = await read_by_shard(self._shards, QUERIES.gather_memberships, wanted)
            await run_by_shard(self._shards, rows, lambda row: row["account_id"], self._write)

    async def feed_at_once(self, thread_id: ThreadId) -> None:
        """`feed`, right after a change; where a server does not answer, the handler of the event does it later."""
        try:
            await self.feed([thread_id])
        except (*UNAVAILABLE, ExceptionGroup) as error:
            log.warning("inbox.postponed", thread_id=thread_id, error=str(error))

    async def touch(
        self, shard: Shard, messages: Sequence[tuple[asyncpg.Record, Sequence[AccountId]]]
    ) -> set[tuple[AccountId, ThreadId]]:
        """Put new messages on top of the inboxes of members on a shard; returns those of them that have a row."""
        newest: dict[tuple[AccountId, ThreadId], tuple[int, int]] = {}
        seen: dict[tuple[AccountId, ThreadId], int] = {}
        for row, member_ids in sorted(messages, key=lambda each: each[0]["number"]):
            for member_id in member_ids:
                newest[member_id, row["thread_id"]] = (row["id"], row["number"])
            seen[row["account_id"], row["thread_id"]] = row["number"]
        newest = dict(sorted(newest.items()))  # rows are locked in the same order whoever writes them
        rows = await shard.fetch(
            QUERIES.touch_inboxes,
            account_ids=[account_id for account_id, _ in newest],
            thread_ids=[thread_id for _, thread_id in newest],
            last_ids=[last_id for last_id, _ in newest.values()],
            last_numbers=[number for _, number in newest.values()],
            seen_numbers=[seen.get(each, 0) for each in newest],
        )
        return {(row["account_id"], row["thread_id"]) for row in rows}

    async def see_at_once(self, thread_id: ThreadId, account_id: AccountId, number: int) -> None:
        """Move the seen marker in the reader's own inbox, right after it moved in the thread."""
        try:
            await self._shards.owner(account_id).execute(
                QUERIES.see_inbox, account_id=account_id, thread_id=thread_id, number=number
            )
        except UNAVAILABLE as error:
            log.warning("inbox.postponed", thread_id=thread_id, error=str(error))

    async def repair(self) -> None:
        """Compare all inboxes with their threads, shard by shard, and bring them up to date where they are behind."""
        for number in sorted(self._shards.map.owners):
            shard, after = self._shards.shard(number), 0
            while rows := await shard.fetch(QUERIES.page_threads, after=after, limit=BATCH):
                after = rows[-1]["id"]
                await self.feed([ThreadId(row["id"]) for row in rows])

    async def _write(self, shard: Shard, rows: list[asyncpg.Record]) -> None:
        await shard.execute(
            QUERIES.feed_inboxes,
            account_ids=[row["account_id"] for row in rows],
            thread_ids=[row["thread_id"] for row in rows],
            states=[row["state"] for row in rows],
            are_blocked=[row["is_blocked"] for row in rows],
            change_ids=[row["change_id"] for row in rows],
            last_ids=[row["last_id"] for row in rows],
            last_numbers=[row["last_number"] for row in rows],
            seen_numbers=[row["seen_number"] for row in rows],
        )
