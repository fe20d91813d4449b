"""What time it is on each database server, without asking it on every request.

A story ends by the clock of the server that stores it, and the tray must judge hundreds of stories at once. So each
server's clock is read at most every two seconds; in between this process counts on by its own monotonic clock, which
no time correction can move. A reading counts from the moment the query was sent: a story may leave the tray a round
trip too early, never too late.
"""

import asyncio
import time
from datetime import datetime, timedelta

from tintype.base.log import get_log
from tintype.stories.dependencies import StoriesDependencies
from tintype.stories.models import LIFETIME
from tintype.stories.store import QUERIES, SERVER_UNAVAILABLE

REFRESH_EVERY_S = 2.0
log = get_log("stories")


class ServerClocks:
    """The clock of every server, as read lately."""

    def __init__(self, deps: StoriesDependencies) -> None:
        self._shards = deps.shards
        self._readings: dict[str, tuple[datetime, float]] = {}
        self._refreshing = asyncio.Lock()

    async def first_live_ids(self) -> dict[str, int]:
        """Per server the smallest id a live story can have; servers that do not answer are missing."""
        if self._is_stale():
            async with self._refreshing:
                if self._is_stale():
                    await self._refresh()
        layout, now = self._shards.map.layout, time.monotonic()
        tick = timedelta(milliseconds=1)
        return {
            server: layout.min_id_at(reading + timedelta(seconds=now - read_at) - LIFETIME + tick)
            for server, (reading, read_at) in self._readings.items()
            if now - read_at < 2 * REFRESH_EVERY_S
        }

    def invalidate(self) -> None:
        """Drop all readings, so that the next call reads every clock again."""
        self._readings.clear()

    def _is_stale(self) -> bool:
        now = time.monotonic()
        servers = set(self._shards.map.owners.values())
        return servers != self._readings.keys() or any(
            now - read_at >= REFRESH_EVERY_S for _, read_at in self._readings.values()
        )

    async def _refresh(self) -> None:
        some_shard = {server: number for number, server in self._shards.map.owners.items()}
        readings = await asyncio.gather(*(self._read_clock(number) for number in some_shard.values()))
        by_server = zip(some_shard, readings, strict=True)
        self._readings = {server: reading for server, reading in by_server if reading is not None}

    async def _read_clock(self, number: int) -> tuple[datetime, float] | None:
        sent_at = time.monotonic()
        try:
            return await self._shards.shard(number).fetch_value(QUERIES.read_clock), sent_at
        except SERVER_UNAVAILABLE as error:
            log.warning("server_clock.unavailable", shard=number, error=str(error))
            return None
