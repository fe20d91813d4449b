"""Watches the directory for newer shard maps: by LISTEN/NOTIFY, with a slow poll as a fallback.

Notifications do not pass transaction poolers and are lost while the connection is down; the poll covers both.
"""

import asyncio
import contextlib
import logging
import random
from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

import asyncpg

from shardwright.errors import ShardwrightError
from shardwright.topology.directory_tables import CHANNEL
from shardwright.topology.shard_map import ShardMap

if TYPE_CHECKING:
    from asyncpg import Connection

log = logging.getLogger(__name__)

RECONNECT_S = 1.0


class _Source(Protocol):
    async def read(self, conn: "Connection") -> ShardMap: ...
    async def connection(self) -> "Connection": ...


class MapWatcher:
    """Background task that calls back with each newer map until it is closed."""

    def __init__(self, directory: _Source, callback: Callable[[ShardMap], None], *, poll_s: float) -> None:
        self._directory = directory
        self._callback = callback
        self._poll_s = poll_s
        self._seen = 0
        self._conn: Connection | None = None
        self._task = asyncio.create_task(self._run(), name="shardwright-watch")

    def reconnect(self) -> None:
        """Watch over another connection: the directory has a new primary, and the former one may go on answering."""
        if self._conn is not None:
            self._conn.terminate()

    async def close(self) -> None:
        """Stop the task; the callback is not called any more."""
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
                asyncpg.InternalClientError,  # what asyncpg says of a connection that ends at the wrong moment
                ShardwrightError,
            ) as error:
                log.warning("map_watch.interrupted: %s", error)
            # Jitter, so that routers do not reconnect to the directory all at once.
            await asyncio.sleep(RECONNECT_S * (0.5 + random.random()))  # noqa: S311  # spread, not secrecy

    async def _listen(self) -> None:
        """Watch the map over one connection until it closes."""
        notified = asyncio.Event()

        def notify(*_: object) -> None:
            notified.set()

        conn = self._conn = await self._directory.connection()
        try:
            conn.add_termination_listener(notify)
            await conn.add_listener(CHANNEL, notify)
            while not conn.is_closed():
                notified.clear()
                await self._poll(conn)
                # Not wait_for: in Python 3.11 it can swallow a cancellation that meets a notification.
                with contextlib.suppress(TimeoutError):  # poll now
                    async with asyncio.timeout(self._poll_s):
                        await notified.wait()
        finally:
            conn.terminate()

    async def _poll(self, conn: "Connection") -> None:
        """Over the connection that listens: writers of a moved shard wait for the new map."""
        latest = await self._directory.read(conn)
        if latest.version > self._seen:
            self._seen = latest.version
            self._callback(latest)
