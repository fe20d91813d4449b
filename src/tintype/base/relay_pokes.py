"""Pokes: best-effort messages over NATS that wake the outbox relay of a server after a commit.

Under load one poke serves many commits: a relay takes everything that is there. So a server is poked at once when it
has been quiet, and otherwise once per pause, for all that was committed during it.
"""

import asyncio
import contextlib

from nats.aio.client import Client
from nats.errors import Error as NatsError

from tintype.base.background_tasks import BackgroundTasks
from tintype.base.nats import NatsNames

PAUSE_S = 0.01


class RelayPokes:
    """Wakes relays; what is lost is found by the relay's poll."""

    def __init__(self, nats: Client, names: NatsNames) -> None:
        self._nats, self._names = nats, names
        self._quiet_from: dict[str, float] = {}
        self._due: set[str] = set()
        self._tasks = BackgroundTasks()

    async def poke(self, server: str) -> None:
        """Wake the relay of a server, now or at the end of the pause that has begun."""
        if server in self._due:
            return
        loop = asyncio.get_running_loop()
        quiet_from = self._quiet_from.get(server, 0.0)
        if loop.time() >= quiet_from:
            await self._send(server)
        else:
            self._due.add(server)
            loop.call_at(quiet_from, self._tasks.start, lambda: self._send(server))

    async def _send(self, server: str) -> None:
        self._due.discard(server)
        self._quiet_from[server] = asyncio.get_running_loop().time() + PAUSE_S
        with contextlib.suppress(NatsError):  # the relay's poll finds the row when the poke is lost
            await self._nats.publish(self._names.poke(server))
