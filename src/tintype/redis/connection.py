"""The one connection to Redis that all callers of a process share: see `client.py`.

A cancelled caller keeps its place in the queue of pending replies, so that its replies reach nobody else. There is one
timer per connection, not one per request: Redis replies in order, so when the oldest request is late all of them are.
"""

import asyncio
import contextlib
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any, cast

import hiredis
from redis.asyncio import ConnectionPool
from redis.asyncio.connection import AbstractConnection, DefaultParser
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import RedisError, ResponseError
from redis.exceptions import TimeoutError as RedisTimeoutError

from tintype.redis.client_cache import ClientCache

CHECKS_PER_TIMEOUT = 4
pack = cast("Callable[[tuple[bytes | str | int, ...]], bytes]", hiredis.pack_command)
parse_error = cast("Callable[[str], Exception]", DefaultParser.parse_error)
NOTHING_YET = object()
ENABLE_TRACKING = (("HELLO", 3), ("CLIENT", "TRACKING", "ON", "OPTIN"))
"""RESP3, and invalidations for the keys that are read after `CLIENT CACHING YES`."""
INVALIDATE = b"invalidate"


class PendingReply:
    """The place of one caller in the queue: its replies so far, and how many are still to come."""

    __slots__ = ("future", "remaining", "replies", "sent_at")

    def __init__(self, future: asyncio.Future[list[Any]], count: int, sent_at: float) -> None:
        self.future, self.remaining, self.sent_at = future, count, sent_at
        self.replies: list[Any] = []


class MultiplexedConnection(asyncio.Protocol):
    """Sends commands of many callers and hands each its replies. It belongs to the event loop it was opened in."""

    def __init__(self, timeout_s: float, client_cache: ClientCache) -> None:
        self._client_cache = client_cache
        self._loop = asyncio.get_running_loop()
        self._timeout_s = timeout_s
        self._reader = hiredis.Reader(
            protocolError=RedisConnectionError, replyError=parse_error, notEnoughData=NOTHING_YET
        )
        self._pending: deque[PendingReply] = deque()
        self._unsent: list[bytes] = []
        self._transport: asyncio.Transport | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._ended = self._loop.create_future()

    def is_open_here(self) -> bool:
        """Whether it is open and belongs to the running event loop."""
        return self._transport is not None and self._loop is asyncio.get_running_loop()

    def send(self, commands: Sequence[Sequence[bytes | str | int]]) -> asyncio.Future[list[Any]]:
        """The replies, once they are here. What is sent in one turn of the event loop goes out in one write."""
        packed = [pack(tuple(command)) for command in commands]
        future: asyncio.Future[list[Any]] = self._loop.create_future()
        if self._transport is None:
            future.set_exception(RedisConnectionError("the connection to Redis was lost"))
            return future
        if not self._unsent:
            self._loop.call_soon(self._flush)
        self._unsent += packed
        self._pending.append(PendingReply(future, len(packed), self._loop.time()))
        if self._timer is None:
            self._timer = self._loop.call_later(self._timeout_s / CHECKS_PER_TIMEOUT, self._check_timeout)
        return future

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Called by asyncio: commands can be sent from now on."""
        self._transport = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        """Called by asyncio: hand replies to callers in the order they sent, invalidations to the client cache."""
        try:
            self._reader.feed(data)
            while (reply := self._reader.gets()) is not NOTHING_YET:
                if type(reply) is hiredis.PushNotification:
                    self._handle_push(reply)
                else:
                    self._deliver(reply)
        except (RedisError, IndexError) as error:
            self._fail(RedisConnectionError(f"Redis sent something that is not valid RESP: {error}"))

    def connection_lost(self, exc: Exception | None) -> None:
        """Called by asyncio: every caller that waits gets a connection error."""
        self._fail(RedisConnectionError(f"the connection to Redis was lost: {exc or 'it was closed'}"))
        if not self._ended.done():
            self._ended.set_result(None)

    def abandon(self) -> None:
        """Abort the connection without waiting for its end, whichever event loop it belongs to."""
        if not self._loop.is_closed():
            self._fail(RedisConnectionError("the connection to Redis was abandoned"))

    async def close(self) -> None:
        """Abort the connection; waits for its end if it belongs to the running event loop."""
        is_open = self.is_open_here()
        self.abandon()
        if is_open:
            await self._ended

    def _handle_push(self, push: list[Any]) -> None:
        if push[0] == INVALIDATE:
            self._client_cache.invalidate(push[1])

    def _deliver(self, reply: Any) -> None:
        pending = self._pending[0]
        pending.replies.append(reply)
        pending.remaining -= 1
        if pending.remaining:
            return
        self._pending.popleft()
        if pending.future.done():
            return
        refused = next((each for each in pending.replies if isinstance(each, RedisError)), None)
        if refused is None:
            pending.future.set_result(pending.replies)
        else:
            pending.future.set_exception(refused)

    def _flush(self) -> None:
        unsent, self._unsent = self._unsent, []
        if self._transport is not None:
            self._transport.write(b"".join(unsent))

    def _check_timeout(self) -> None:
        self._timer = None
        if not self._pending:
            return
        if self._loop.time() - self._pending[0].sent_at > self._timeout_s:
            self._fail(RedisTimeoutError("Redis did not answer in time"))
        else:
            self._timer = self._loop.call_later(self._timeout_s / CHECKS_PER_TIMEOUT, self._check_timeout)

    def _fail(self, error: RedisError) -> None:
        """Abort the connection and raise this error in every caller that waits."""
        transport, self._transport = self._transport, None
        if transport is not None:
            self._client_cache.connection_lost()
            transport.abort()
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        waiting, self._pending = self._pending, deque()
        for pending in waiting:
            if not pending.future.done():
                pending.future.set_exception(type(error)(*error.args))


async def open_connection(
    pool: ConnectionPool, timeout_s: float, client_cache: ClientCache
) -> MultiplexedConnection:
    """Connect to the server of this redis-py pool, as the same user and to the same database.

    On a Redis too old for client tracking the client cache stays empty, and every read is a round trip.
    """
    template = pool.connection_class(**pool.connection_kwargs)
    loop = asyncio.get_running_loop()
    path, tls = getattr(template, "path", None), getattr(template, "ssl_context", None)
    if path:
        _, connection = await loop.create_unix_connection(
            lambda: MultiplexedConnection(timeout_s, client_cache), path
        )
    else:
        host, port = cast("Any", template).host, cast("Any", template).port
        _, connection = await loop.create_connection(
            lambda: MultiplexedConnection(timeout_s, client_cache), host, port, ssl=tls.get() if tls else None
        )
    try:
        handshake = await _handshake(template)
        if handshake:
            await connection.send(handshake)
        with contextlib.suppress(ResponseError):
            await connection.send(ENABLE_TRACKING)
            client_cache.connection_opened()
    except BaseException:
        connection.abandon()
        raise
    return connection


async def _handshake(template: AbstractConnection) -> list[Sequence[bytes | str | int]]:
    """The commands that redis-py would send first: AUTH, CLIENT SETNAME, SELECT, each only if it is needed."""
    commands: list[Sequence[bytes | str | int]] = []
    provider = template.credential_provider
    known = await provider.get_credentials_async() if provider else (template.username, template.password)
    credentials = [each for each in known if each]
    if credentials:
        commands.append(("AUTH", *credentials))
    if template.client_name:
        commands.append(("CLIENT", "SETNAME", template.client_name))
    if int(template.db):
        commands.append(("SELECT", int(template.db)))
    return commands
