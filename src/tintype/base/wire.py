"""Many commands to Redis, one wait: what the hottest reads use instead of the general client.

redis-py takes a connection from a pool for every command and packs, sends and parses in Python. Here all callers of a
process share one connection: what they ask in one turn of the event loop is one write, answers come back in order, and
hiredis packs and parses. Nothing is sent twice: whoever is waiting when the connection is lost is told, and decides.
Because it is shared, no command may block in Redis or change the connection: a transaction is asked for whole.
"""

import asyncio
from collections.abc import Sequence
from typing import Any, Protocol

from redis.asyncio import Redis
from redis.exceptions import ConnectionError as RedisAway
from redis.exceptions import TimeoutError as RedisLate

from tintype.base.near import Near
from tintype.base.wire_link import Link, open_link

Command = Sequence[bytes | str | int]
TIMEOUT_S = 5.0


class Wire(Protocol):
    """Anything that sends commands together and returns their answers, as bytes and numbers, in the same order."""

    @property
    def near(self) -> Near:
        """What is kept of the answers; see `near.py`."""
        ...

    async def ask(self, *commands: Command) -> list[Any]:
        """One round trip. A refused command raises; a lost connection raises what redis-py raises."""
        ...


class PipelinedWire:
    """Over redis-py's pipeline: slower, and with no connection of its own that somebody must close."""

    def __init__(self, redis: Redis) -> None:
        self._redis, self.near = redis, Near()

    async def ask(self, *commands: Command) -> list[Any]:
        """One round trip."""
        async with self._redis.pipeline(transaction=False) as pipe:
            for command in commands:
                pipe.execute_command(*command)
            return await pipe.execute()


class SharedWire:
    """One connection for everybody. It opens at first use, and again at the next use after it was lost."""

    def __init__(self, redis: Redis, *, timeout_s: float = TIMEOUT_S) -> None:
        self._pool, self._timeout_s, self.near = redis.connection_pool, timeout_s, Near()
        self._link: Link | None = None
        self._opening: asyncio.Task[Link] | None = None
        self._is_closed = False

    async def ask(self, *commands: Command) -> list[Any]:
        """One round trip, unless the connection must be opened first."""
        if not commands:
            return []
        link = self._link
        if link is None or not link.is_open_here():
            link = await self._open()
        return await link.send(commands)

    async def close(self) -> None:
        """Whoever still waits is told that the connection is lost."""
        self._is_closed = True
        if self._opening is not None and not self._opening.done():
            self._opening.cancel()
            await asyncio.wait([self._opening])
        if self._link is not None:
            await self._link.close()
            self._link = None

    async def _open(self) -> Link:
        """The connection that is open now; many who ask at once wait for the same one."""
        if self._is_closed:
            raise RedisAway("this wire was closed")
        opening = self._opening
        if opening is None or opening.done() or opening.get_loop() is not asyncio.get_running_loop():
            opening = self._opening = asyncio.create_task(self._connect())
        try:
            return await asyncio.shield(opening)
        except asyncio.CancelledError:
            if opening.cancelled():
                raise RedisAway("this wire was closed") from None
            raise

    async def _connect(self) -> Link:
        if self._link is not None:
            self._link.abandon()
        try:
            async with asyncio.timeout(self._timeout_s):
                self._link = await open_link(self._pool, self._timeout_s, self.near)
        except TimeoutError as error:
            raise RedisLate("Redis did not answer in time") from error
        except OSError as error:
            raise RedisAway(f"Redis does not answer: {error}") from error
        return self._link
