"""What time it is on each server, without asking it every time.

A story ends by the clock of the server that keeps it, and the tray must judge hundreds of stories at once. So each
server is asked at most every two seconds, and in between this process counts on by its own monotonic clock, which no
correction of the time can move. The answer is taken as if it had been given when the question was sent: a story may
leave the tray a round trip too early, never too late.
"""

import asyncio
import time
from datetime import datetime, timedelta

from tintype.base.log import get_log
from tintype.stories.store import QUERIES, SERVER_AWAY, AtDesk, Desk

LIFE = timedelta(hours=24)
ASKED_EVERY_S = 2.0
log = get_log("stories")


class Clocks(AtDesk):
    """The clocks of the servers."""

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk)
        self._told: dict[str, tuple[datetime, float]] = {}
        self._asking = asyncio.Lock()

    async def first_living(self) -> dict[str, int]:
        """Per server the id at which what lives there begins; a server that does not answer is missing."""
        if self._is_due():
            async with self._asking:
                if self._is_due():
                    await self._ask()
        layout, now = self._shards.map.layout, time.monotonic()
        tick = timedelta(milliseconds=1)
        return {
            server: layout.min_id_at(told + timedelta(seconds=now - asked) - LIFE + tick)
            for server, (told, asked) in self._told.items()
            if now - asked < 2 * ASKED_EVERY_S
        }

    def forget(self) -> None:
        """Ask anew at the next look."""
        self._told.clear()

    def _is_due(self) -> bool:
        now = time.monotonic()
        servers = set(self._shards.map.owners.values())
        return servers != self._told.keys() or any(
            now - asked >= ASKED_EVERY_S for _, asked in self._told.values()
        )

    async def _ask(self) -> None:
        some_shard = {server: number for number, server in self._shards.map.owners.items()}
        answers = await asyncio.gather(*(self._ask_one(number) for number in some_shard.values()))
        told = zip(some_shard, answers, strict=True)
        self._told = {server: answer for server, answer in told if answer is not None}

    async def _ask_one(self, number: int) -> tuple[datetime, float] | None:
        asked = time.monotonic()
        try:
            return await self._shards.shard(number).fetch_value(QUERIES.read_clock), asked
        except SERVER_AWAY as error:
            log.warning("clock.unknown", shard=number, error=str(error))
            return None
