"""Learning of newer maps: PostgreSQL's notifications, with a slow poll as a net.

Notifications do not pass every pooler and are lost while a connection is down; the poll makes both harmless.
"""

import asyncio
import contextlib
import logging
import random
from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

import asyncpg

from shardwright.errors import ShardwrightError
from shardwright.topology.maps import ShardMap
from shardwright.topology.tables import CHANNEL

if TYPE_CHECKING:
    from asyncpg import Connection

log = logging.getLogger(__name__)

RECONNECT_S = 1.0


class _Source(Protocol):
    async def load(self) -> ShardMap: ...
    async def connection(self) -> "Connection": ...


class Watch:
    """A task that calls back with each newer map until it is closed."""

    def __init__(self, directory: _Source, callback: Callable[[ShardMap], None], *, poll_s: float) -> None:
        self._directory = directory
        self._callback = callback
        self._poll_s = poll_s
        self._seen = 0
        self._task = asyncio.create_task(self._run(), name="shardwright-watch")

    async def close(self) -> None:
        """The callback is not called any more."""
        self._task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await self._task

    async def _run(self) -> None:
        while True:
            try:
                await self._listen()
            except (
                OSError,
                TimeoutError,
                asyncpg.PostgresError,
                asyncpg.InterfaceError,
                ShardwrightError,
            ) as error:
                log.warning("watch.interrupted: %s", error)
            # Routers that lost the same directory come back spread over a second.
            await asyncio.sleep(RECONNECT_S * (0.5 + random.random()))  # noqa: S311  # spread, not secrecy

    async def _listen(self) -> None:
        """Follow the map over one connection, for as long as it lasts."""
        heard = asyncio.Event()

        def hear(*_: object) -> None:
            heard.set()

        conn = await self._directory.connection()
        try:
            conn.add_termination_listener(hear)
            await conn.add_listener(CHANNEL, hear)
            while not conn.is_closed():
                heard.clear()
                await self._look()
                # Not wait_for: in Python 3.11 it can swallow a cancellation that meets a notification.
                with contextlib.suppress(TimeoutError):  # time for a poll
                    async with asyncio.timeout(self._poll_s):
                        await heard.wait()
        finally:
            conn.terminate()

    async def _look(self) -> None:
        latest = await self._directory.load()
        if latest.version > self._seen:
            self._seen = latest.version
            self._callback(latest)
