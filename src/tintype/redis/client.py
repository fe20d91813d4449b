"""Redis clients that send many commands in one round trip: what the hottest reads use instead of redis-py.

redis-py takes a connection from a pool for every command and packs, sends and parses in Python.
`MultiplexedRedisClient` shares one connection among all callers of a process: the commands of one turn of the event
loop are one write, replies come back in order, and hiredis packs and parses. Nothing is sent twice: callers that wait
when the connection is lost get an exception and decide for themselves. Because the connection is shared, no command
may block in Redis or change the state of the connection: a transaction is sent whole.
"""

import asyncio
from collections.abc import Sequence
from typing import Any, Protocol

from redis.asyncio import Redis
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import TimeoutError as RedisTimeoutError

from tintype.redis.client_cache import ClientCache
from tintype.redis.connection import MultiplexedConnection, open_connection

Command = Sequence[bytes | str | int]
TIMEOUT_S = 5.0


class RedisClient(Protocol):
    """Anything that sends commands together and returns their replies, as bytes and numbers, in the same order."""

    @property
    def client_cache(self) -> ClientCache:
        """What is cached of the replies in this process; see `client_cache.py`."""
        ...

    async def execute(self, *commands: Command) -> list[Any]:
        """One round trip. A refused command raises; a lost connection raises what redis-py raises."""
        ...


class PipelinedRedisClient:
    """Over redis-py's pipeline: slower, without client-side caching, and with no connection of its own to close."""

    def __init__(self, redis: Redis) -> None:
        self._redis, self.client_cache = redis, ClientCache()

    async def execute(self, *commands: Command) -> list[Any]:
        """Send the commands in one round trip; returns their replies in order."""
        async with self._redis.pipeline(transaction=False) as pipe:
            for command in commands:
                pipe.execute_command(*command)
            return await pipe.execute()


class MultiplexedRedisClient:
    """One connection for all callers. It is opened at first use, and again at the next use after it was lost."""

    def __init__(self, redis: Redis, *, timeout_s: float = TIMEOUT_S) -> None:
        self._pool, self._timeout_s = redis.connection_pool, timeout_s
        self.client_cache = ClientCache()
        self._connection: MultiplexedConnection | None = None
        self._opening: asyncio.Task[MultiplexedConnection] | None = None
        self._is_closed = False

    async def execute(self, *commands: Command) -> list[Any]:
        """One round trip, unless the connection must be opened first."""
        if not commands:
            return []
        connection = self._connection
        if connection is None or not connection.is_open_here():
            connection = await self._open()
        return await connection.send(commands)

    async def close(self) -> None:
        """Close the connection for good; callers that still wait get a connection error."""
        self._is_closed = True
        if self._opening is not None and not self._opening.done():
            self._opening.cancel()
            await asyncio.wait([self._opening])
        if self._connection is not None:
            await self._connection.close()
            self._connection = None

    async def _open(self) -> MultiplexedConnection:
        """The open connection; callers that need one at the same time wait for the same attempt."""
        if self._is_closed:
            raise RedisConnectionError("this Redis client was closed")
        opening = self._opening
        if opening is None or opening.done() or opening.get_loop() is not asyncio.get_running_loop():
            opening = self._opening = asyncio.create_task(self._connect())
        try:
            return await asyncio.shield(opening)
        except asyncio.CancelledError:
            if opening.cancelled():
                raise RedisConnectionError("this Redis client was closed") from None
            raise

    async def _connect(self) -> MultiplexedConnection:
        if self._connection is not None:
            self._connection.abandon()
        try:
            async with asyncio.timeout(self._timeout_s):
                self._connection = await open_connection(self._pool, self._timeout_s, self.client_cache)
        except TimeoutError as error:
            raise RedisTimeoutError("Redis did not answer in time") from error
        except OSError as error:
            raise RedisConnectionError(f"Redis does not answer: {error}") from error
        return self._connection
