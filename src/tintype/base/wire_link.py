"""One connection to Redis that many callers share: see `wire.py`.

A caller that is cancelled keeps its place in the line, so that its answers reach nobody else. Time is kept by one clock
per connection, not one per question: Redis answers in order, so when the oldest question is late all of them are.
"""

import asyncio
import contextlib
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any, cast

import hiredis
from redis.asyncio import ConnectionPool
from redis.asyncio.connection import AbstractConnection, DefaultParser
from redis.exceptions import ConnectionError as RedisAway
from redis.exceptions import RedisError, ResponseError
from redis.exceptions import TimeoutError as RedisLate

from tintype.base.near import Near

LOOKS_PER_TIMEOUT = 4
pack = cast("Callable[[tuple[bytes | str | int, ...]], bytes]", hiredis.pack_command)
read_error = cast("Callable[[str], Exception]", DefaultParser.parse_error)
NOTHING_YET = object()
WATCH = (("HELLO", 3), ("CLIENT", "TRACKING", "ON", "OPTIN"))
"""From then on Redis tells of changes to what is read after `CLIENT CACHING YES`."""
CHANGED = b"invalidate"


class Asking:
    """A place in the line of answers."""

    __slots__ = ("answers", "asked_at", "future", "left")

    def __init__(self, future: asyncio.Future[list[Any]], count: int, asked_at: float) -> None:
        self.future, self.left, self.asked_at = future, count, asked_at
        self.answers: list[Any] = []


class Link(asyncio.Protocol):
    """The connection. It belongs to the event loop it was opened in."""

    def __init__(self, timeout_s: float, near: Near) -> None:
        self._near = near
        self._loop = asyncio.get_running_loop()
        self._timeout_s = timeout_s
        self._reader = hiredis.Reader(
            protocolError=RedisAway, replyError=read_error, notEnoughData=NOTHING_YET
        )
        self._line: deque[Asking] = deque()
        self._unsent: list[bytes] = []
        self._transport: asyncio.Transport | None = None
        self._watch: asyncio.TimerHandle | None = None
        self._ended = self._loop.create_future()

    def is_open_here(self) -> bool:
        """Whether the running loop can send on it."""
        return self._transport is not None and self._loop is asyncio.get_running_loop()

    def send(self, commands: Sequence[Sequence[bytes | str | int]]) -> asyncio.Future[list[Any]]:
        """Stand in line for the answers. What is sent in one turn of the loop goes out in one write."""
        packed = [pack(tuple(command)) for command in commands]
        future: asyncio.Future[list[Any]] = self._loop.create_future()
        if self._transport is None:
            future.set_exception(RedisAway("the connection to Redis was lost"))
            return future
        if not self._unsent:
            self._loop.call_soon(self._flush)
        self._unsent += packed
        self._line.append(Asking(future, len(packed), self._loop.time()))
        if self._watch is None:
            self._watch = self._loop.call_later(self._timeout_s / LOOKS_PER_TIMEOUT, self._look)
        return future

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """The connection stands."""
        self._transport = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        """Hand answers to those who wait, in the order in which they asked."""
        try:
            self._reader.feed(data)
            while (answer := self._reader.gets()) is not NOTHING_YET:
                if type(answer) is hiredis.PushNotification:
                    self._hear(answer)
                else:
                    self._take(answer)
        except (RedisError, IndexError) as error:
            self._end(RedisAway(f"what came from Redis makes no sense: {error}"))

    def connection_lost(self, exc: Exception | None) -> None:
        """Tell everybody who waits."""
        self._end(RedisAway(f"the connection to Redis was lost: {exc or 'it was closed'}"))
        if not self._ended.done():
            self._ended.set_result(None)

    def abandon(self) -> None:
        """Give it up without waiting, whichever loop it belongs to."""
        if not self._loop.is_closed():
            self._end(RedisAway("the connection to Redis was given up"))

    async def close(self) -> None:
        """Give it up, and wait for its end where that can be seen."""
        is_open = self.is_open_here()
        self.abandon()
        if is_open:
            await self._ended

    def _hear(self, news: list[Any]) -> None:
        if news[0] == CHANGED:
            self._near.changed(news[1])

    def _take(self, answer: Any) -> None:
        asking = self._line[0]
        asking.answers.append(answer)
        asking.left -= 1
        if asking.left:
            return
        self._line.popleft()
        if asking.future.done():
            return
        refused = next((each for each in asking.answers if isinstance(each, RedisError)), None)
        if refused is None:
            asking.future.set_result(asking.answers)
        else:
            asking.future.set_exception(refused)

    def _flush(self) -> None:
        unsent, self._unsent = self._unsent, []
        if self._transport is not None:
            self._transport.write(b"".join(unsent))

    def _look(self) -> None:
        self._watch = None
        if not self._line:
            return
        if self._loop.time() - self._line[0].asked_at > self._timeout_s:
            self._end(RedisLate("Redis did not answer in time"))
        else:
            self._watch = self._loop.call_later(self._timeout_s / LOOKS_PER_TIMEOUT, self._look)

    def _end(self, error: RedisError) -> None:
        transport, self._transport = self._transport, None
        if transport is not None:
            self._near.end()
            transport.abort()
        if self._watch is not None:
            self._watch.cancel()
            self._watch = None
        line, self._line = self._line, deque()
        for asking in line:
            if not asking.future.done():
                asking.future.set_exception(type(error)(*error.args))


async def open_link(pool: ConnectionPool, timeout_s: float, near: Near) -> Link:
    """A connection to where this pool's lead, as the same user and in the same database.

    A Redis too old to tell of changes is asked every time.
    """
    wanted = pool.connection_class(**pool.connection_kwargs)
    loop = asyncio.get_running_loop()
    path, tls = getattr(wanted, "path", None), getattr(wanted, "ssl_context", None)
    if path:
        _, link = await loop.create_unix_connection(lambda: Link(timeout_s, near), path)
    else:
        host, port = cast("Any", wanted).host, cast("Any", wanted).port
        _, link = await loop.create_connection(
            lambda: Link(timeout_s, near), host, port, ssl=tls.get() if tls else None
        )
    try:
        greeting = await _greeting(wanted)
        if greeting:
            await link.send(greeting)
        with contextlib.suppress(ResponseError):
            await link.send(WATCH)
            near.begin()
    except BaseException:
        link.abandon()
        raise
    return link


async def _greeting(wanted: AbstractConnection) -> list[Sequence[bytes | str | int]]:
    commands: list[Sequence[bytes | str | int]] = []
    given = wanted.credential_provider
    known = await given.get_credentials_async() if given else (wanted.username, wanted.password)
    secrets = [each for each in known if each]
    if secrets:
        commands.append(("AUTH", *secrets))
    if wanted.client_name:
        commands.append(("CLIENT", "SETNAME", wanted.client_name))
    if int(wanted.db):
        commands.append(("SELECT", int(wanted.db)))
    return commands
