"""Shards for asyncio, with psycopg: the same as `SyncShards`, awaited.

The map is loaded by `AsyncShards.open`; finding a shard then needs no I/O, and a map that has grown old is loaded again
before the next connection is used.
"""

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from typing import Any, Self, TypeVar

import psycopg

from shardwright.errors import NotOwner, ServerUnavailable
from shardwright.ids import schema_name
from shardwright.psycopg.connection import AsyncShardConnection
from shardwright.psycopg.map_cache import MAX_AGE_S, MapCache
from shardwright.psycopg.server_connections import (
    MAX_IDLE,
    NOT_OWNER_WAIT_S,
    PAUSE_S,
    is_fenced_async,
    is_moved,
    is_reusable,
    may_be_moved,
    not_owner,
    open_checked_async,
    outcome_unknown,
    raise_timed_out,
)
from shardwright.topology import Server, ShardMap

T = TypeVar("T")


class AsyncShard:
    """One shard, on whichever server owns it at the moment."""

    def __init__(self, shards: "AsyncShards", number: int) -> None:
        self._shards = shards
        self.number = number
        self.schema = schema_name(number)

    @property
    def server(self) -> str:
        """The name of the server that owns it, according to the map."""
        return self._shards.map.server_of(self.number).name

    async def connect(self, **connect_args: Any) -> AsyncShardConnection:
        """Open a psycopg connection of your own, bound to this shard; psycopg's arguments are passed on.

        A shard that is being moved is waited for. After a later move its old server refuses writes (SQLSTATE SW001) and
        reads (42501, 42P01): connect again, or use `transact`, which does.
        """
        return await self._shards.wait_for_owner(
            self.number, lambda server: open_checked_async(server, self.number, **connect_args)
        )

    @contextlib.asynccontextmanager
    async def begin(self) -> AsyncGenerator[AsyncShardConnection]:
        """A transaction on this shard: `async with shard.begin() as conn`; commits at the end.

        Raises `NotOwner`, with nothing changed, when the shard is being moved: repeat it.
        """
        conn, server = await self._shards.acquire(self.number)
        is_committing = False
        try:
            async with conn.transaction():
                yield conn
                is_committing = True
        except psycopg.Error as error:
            if is_committing and conn.broken:
                raise outcome_unknown(self.number, error) from error
            await self._shards.raise_if_moved(error, self.number, server)
            raise
        finally:
            await self._shards.release(conn, server)

    async def transact(self, body: Callable[[AsyncShardConnection], Awaitable[T]]) -> T:
        """Run `body` in a transaction and return its result; the whole is repeated while the shard is being moved."""
        deadline = _now() + self._shards.not_owner_wait_s
        while True:
            try:
                async with self.begin() as conn:
                    return await body(conn)
            except NotOwner:
                if _now() > deadline:
                    raise
                await asyncio.sleep(PAUSE_S)

    def __repr__(self) -> str:
        return f"AsyncShard({self.number})"


class AsyncShards:
    """All shards, for one event loop; open one with `AsyncShards.open`."""

    def __init__(
        self, maps: MapCache, *, not_owner_wait_s: float = NOT_OWNER_WAIT_S, max_idle: int = MAX_IDLE
    ) -> None:
        self.maps = maps
        self.not_owner_wait_s = not_owner_wait_s
        self._max_idle = max_idle
        self._idle: dict[tuple[str, str], list[AsyncShardConnection]] = {}

    @classmethod
    async def open(
        cls,
        directory_dsn: str,
        *,
        dsns: Mapping[str, str] | None = None,
        max_age_s: float = MAX_AGE_S,
        max_idle: int = MAX_IDLE,
        not_owner_wait_s: float = NOT_OWNER_WAIT_S,
    ) -> Self:
        """Load the shard map. `dsns` overrides the servers' addresses; `max_idle` connections per server are kept."""
        maps = MapCache(directory_dsn, dsns=dsns, max_age_s=max_age_s)
        await maps.refresh_async()
        return cls(maps, not_owner_wait_s=not_owner_wait_s, max_idle=max_idle)

    @property
    def map(self) -> ShardMap:
        """The latest known map."""
        return self.maps.known()

    def owner(self, id: int) -> AsyncShard:  # noqa: A002 - an id is called an id
        """The shard that an id belongs to."""
        return self.shard(self.map.layout.id_shard(id))

    def of(self, key: str | bytes) -> AsyncShard:
        """The shard of a lookup key, by hash; it never changes."""
        return self.shard(self.map.lookup_shard(key))

    def place(self) -> AsyncShard:
        """Choose a shard for a new tenant."""
        return self.shard(self.maps.place())

    def shard(self, number: int) -> AsyncShard:
        """A shard by its number."""
        self.map.server_of(number)  # refuses numbers that are not in the map
        return AsyncShard(self, number)

    async def close(self) -> None:
        """Close the idle connections; those in use are closed when they are released."""
        idle, self._idle, self._max_idle = self._idle, {}, 0
        for connections in idle.values():
            for conn in connections:
                await conn.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def acquire(self, number: int) -> tuple[AsyncShardConnection, Server]:
        """A usable connection to the shard's server, bound to it."""
        server = (await self.maps.current_async()).server_of(number)
        while (conn := self._pop_idle(server)) is not None:
            if await _answers(conn):
                conn.resets_session = True
                conn.bind(number)
                return conn, server
            await conn.close()
        return await self.wait_for_owner(number, lambda owner: _open_idle(owner, number))

    async def release(self, conn: AsyncShardConnection, server: Server) -> None:
        """Keep a connection for the next transaction on its server, or close it."""
        idle = self._idle.setdefault((server.name, server.dsn), [])
        if is_reusable(conn) and len(idle) < self._max_idle:
            idle.append(conn)
        else:
            await conn.close()

    async def raise_if_moved(self, error: psycopg.Error, number: int, server: Server) -> None:
        """Load the map again if the error says that the shard is elsewhere, and raise `NotOwner`."""
        if may_be_moved(error):
            with contextlib.suppress(ServerUnavailable):  # the directory; the caller repeats either way
                await self.maps.refresh_async()
            if is_moved(error, number, server.name, self.map) or await is_fenced_async(server, number):
                raise not_owner(number) from error

    async def wait_for_owner(self, number: int, open_on: Callable[[Server], Awaitable[T]]) -> T:
        """Call `open_on` with the shard's server; repeated with newer maps while the server does not own it."""
        deadline = _now() + self.not_owner_wait_s
        while True:
            try:
                return await open_on((await self.maps.current_async()).server_of(number))
            except NotOwner as error:
                if _now() > deadline:
                    raise_timed_out(number, error)
            with contextlib.suppress(ServerUnavailable):  # the map may still be right
                await self.maps.refresh_async()
            await asyncio.sleep(PAUSE_S)

    def _pop_idle(self, server: Server) -> AsyncShardConnection | None:
        idle = self._idle.get((server.name, server.dsn))
        return idle.pop() if idle else None


async def _open_idle(server: Server, number: int) -> tuple[AsyncShardConnection, Server]:
    return await open_checked_async(server, number, autocommit=True), server


def _now() -> float:
    return asyncio.get_running_loop().time()


async def _answers(conn: AsyncShardConnection) -> bool:
    """Whether an idle connection still works: nothing of the caller's has been sent yet, so it may be replaced."""
    conn.bind(None)
    try:
        await conn.execute("")
    except psycopg.OperationalError:
        return False
    return True
