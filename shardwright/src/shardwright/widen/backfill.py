"""Fills the new columns of rows that were there before the trigger, in short transactions that never wait for rows.

Only blocks that the table had when the trigger appeared can hold such rows: whatever was written since has its new
columns. Rows that others have locked are skipped and come later, so filling cannot take part in a deadlock.
"""

import asyncio
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from shardwright.topology import fetch_rows, fetch_value
from shardwright.widen.errors import WidenFailed
from shardwright.widen.journal import Widening, set_filled_blocks
from shardwright.widen.models import Column, OnWidenProgress, WidenOptions, WidenProgress, quote
from shardwright.widen.refusals import may_silence_triggers
from shardwright.widen.statements import by_table

if TYPE_CHECKING:
    from asyncpg import Connection

_BLOCKS = "SELECT pg_relation_size($1::oid) / current_setting('block_size')::bigint"
_LAG = """\
SELECT coalesce(max(pg_wal_lsn_diff(pg_current_wal_lsn(), coalesce(replay_lsn, sent_lsn))), 0)::bigint
FROM pg_stat_replication WHERE state IN ('streaming', 'catchup')
"""
_FIRST_BLOCKS = 16
_MOST_BLOCKS = 4096
_LAG_POLL_S = 0.5
_SKIPPED_AT_ONCE = 1000
_SKIPPED_ROUNDS = 600
_SKIPPED_PAUSE_S = 0.5


class Backfill:
    """Fills the tables of one widening."""

    def __init__(
        self, conn: "Connection", widening: Widening, options: WidenOptions, progress: OnWidenProgress
    ) -> None:
        self._conn = conn
        self._widening = widening
        self._options = options
        self._progress = progress
        self._batch_blocks = _FIRST_BLOCKS
        self._silence = False
        self._filled = 0
        self._total = 0

    async def run(self, columns: Sequence[Column]) -> None:
        """Fill every row; goes on where the journal says that it stopped."""
        self._silence = await may_silence_triggers(self._conn)
        tables = by_table(columns)
        sizes = [await fetch_value(self._conn, _BLOCKS, own[0].table_oid) for _, own in tables]
        self._total = sum(sizes)
        for (table, own), size in zip(tables, sizes, strict=True):
            start = min(self._widening.filled_blocks.get(table, 0), size)
            self._filled += start
            await self._fill(table, own, start, size)
            await self._fill_skipped(table, own)

    async def _fill(self, table: str, columns: Sequence[Column], start: int, size: int) -> None:
        while start < size:
            await self._wait_for_standbys()
            end = min(start + self._batch_blocks, size)
            began_at = time.monotonic()
            async with self._conn.transaction():
                await self._fill_range(table, columns, start, end)
                await set_filled_blocks(self._conn, self._widening.schema, table, end)
            self._filled += end - start
            start = end
            await self._pace(time.monotonic() - began_at)

    async def _fill_range(self, table: str, columns: Sequence[Column], start: int, end: int) -> None:
        if self._silence:
            await self._conn.execute("SET LOCAL session_replication_role = replica")
        sets = ", ".join(f"{quote(each.wide)} = t.{quote(each.name.column)}" for each in columns)
        between = "{0}.ctid >= '({1},0)'::tid AND {0}.ctid < '({2},0)'::tid"
        await self._conn.execute(
            f"WITH waiting AS (SELECT o.ctid FROM {table} AS o WHERE {between.format('o', start, end)} "
            f"AND ({_unfilled('o', columns)}) FOR NO KEY UPDATE SKIP LOCKED) "
            f"UPDATE {table} AS t SET {sets} FROM waiting WHERE t.ctid = waiting.ctid "
            f"AND {between.format('t', start, end)}"
        )

    async def _fill_skipped(self, table: str, columns: Sequence[Column]) -> None:
        sql = (
            f"SELECT DISTINCT (t.ctid::text::point)[0]::bigint AS block FROM {table} AS t "
            f"WHERE {_unfilled('t', columns)} LIMIT {_SKIPPED_AT_ONCE}"
        )
        for _ in range(_SKIPPED_ROUNDS):
            rows = await fetch_rows(self._conn, sql)
            if not rows:
                return
            self._report(f"filling rows of {table} that others had locked")
            for row in rows:
                async with self._conn.transaction():
                    await self._fill_range(table, columns, row["block"], row["block"] + 1)
            await asyncio.sleep(_SKIPPED_PAUSE_S)
        raise WidenFailed(
            f"rows of {table} stay locked: look for long transactions in pg_stat_activity, and run the command again"
        )

    async def _pace(self, took_s: float) -> None:
        self._report("filling")
        wanted_s = self._options.batch_ms / 1000
        grown = int(self._batch_blocks * min(2.0, wanted_s / max(took_s, 0.001)))
        self._batch_blocks = max(1, min(grown, _MOST_BLOCKS))
        await asyncio.sleep(took_s * (1 / self._options.duty - 1))

    async def _wait_for_standbys(self) -> None:
        while await fetch_value(self._conn, _LAG) > self._options.max_lag_bytes:
            self._report("waiting for standbys", is_waiting=True)
            await asyncio.sleep(_LAG_POLL_S)

    def _report(self, doing: str, *, is_waiting: bool = False) -> None:
        self._progress(
            WidenProgress(
                self._widening.schema, doing, self._filled, self._total, is_waiting_for_lag=is_waiting
            )
        )


def _unfilled(alias: str, columns: Sequence[Column]) -> str:
    return " OR ".join(
        f"({alias}.{quote(each.wide)} IS NULL AND {alias}.{quote(each.name.column)} IS NOT NULL)"
        for each in columns
    )
