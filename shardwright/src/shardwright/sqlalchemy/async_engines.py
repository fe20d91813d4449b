"""Engines for asyncio."""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Any, Self, TypeVar

from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, create_async_engine
from sqlalchemy.util import await_only

from shardwright.errors import NotOwner, ServerUnavailable
from shardwright.psycopg.map_cache import MAX_AGE_S, MapCache
from shardwright.psycopg.server_connections import (
    NOT_OWNER_WAIT_S,
    PAUSE_S,
    is_fenced_async,
    open_checked_async,
)
from shardwright.sqlalchemy.events import SERVER, SHARD, listen
from shardwright.topology import Server, ShardMap

T = TypeVar("T")


class AsyncShardEngines:
    """An engine for every shard; open one with `AsyncShardEngines.open`."""

    def __init__(
        self, maps: MapCache, engine_args: Mapping[str, Any], *, not_owner_wait_s: float = NOT_OWNER_WAIT_S
    ) -> None:
        self.maps = maps
        self._connect_args = dict(engine_args.get("connect_args", {}))
        self._engine_args = {name: each for name, each in engine_args.items() if name != "connect_args"}
        self._not_owner_wait_s = not_owner_wait_s
        self._servers: dict[str, tuple[Server, AsyncEngine]] = {}
        self._shards: dict[int, AsyncEngine] = {}
        self._replaced: list[AsyncEngine] = []

    @classmethod
    async def open(
        cls,
        directory_dsn: str,
        *,
        dsns: Mapping[str, str] | None = None,
        max_age_s: float = MAX_AGE_S,
        not_owner_wait_s: float = NOT_OWNER_WAIT_S,
        **engine_args: Any,
    ) -> Self:
        """Load the shard map. Other arguments go to `create_async_engine`; `pool_size` is per server."""
        maps = MapCache(directory_dsn, dsns=dsns, max_age_s=max_age_s)
        await maps.refresh_async()
        return cls(maps, engine_args, not_owner_wait_s=not_owner_wait_s)

    @property
    def map(self) -> ShardMap:
        """The latest known map."""
        return self.maps.known()

    def owner(self, id: int) -> AsyncEngine:  # noqa: A002 - an id is called an id
        """The engine of the shard that an id belongs to."""
        return self.shard(self.map.layout.id_shard(id))

    def of(self, key: str | bytes) -> AsyncEngine:
        """The engine of a lookup key's shard, by hash; it never changes."""
        return self.shard(self.map.lookup_shard(key))

    def place(self) -> AsyncEngine:
        """The engine of a shard for a new tenant; `shard_of_engine` tells which it is."""
        return self.shard(self.maps.place())

    def shard(self, number: int) -> AsyncEngine:
        """The engine of a shard, on the server that owns it now: ask again rather than keeping it."""
        server = self.map.server_of(number)
        base = self._server_engine(server)
        engine = self._shards.get(number)
        if engine is None or engine.pool is not base.pool:
            engine = self._shards[number] = base.execution_options(**{SHARD: number, SERVER: server.name})
        return engine

    async def transact(
        self, find: Callable[[Self], AsyncEngine], body: Callable[[AsyncConnection], Awaitable[T]]
    ) -> T:
        """Run `body` in a transaction on the engine that `find` returns; repeated while its shard is being moved.

        A map that has grown old is loaded again first.
        """
        deadline = asyncio.get_running_loop().time() + self._not_owner_wait_s
        while True:
            await self.maps.current_async()
            try:
                async with find(self).begin() as conn:
                    return await body(conn)
            except NotOwner:
                if asyncio.get_running_loop().time() > deadline:
                    raise
                await asyncio.sleep(PAUSE_S)

    async def dispose(self) -> None:
        """Close the connections of all pools."""
        engines = [*(engine for _, engine in self._servers.values()), *self._replaced]
        self._servers, self._shards, self._replaced = {}, {}, []
        for engine in engines:
            await engine.dispose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.dispose()

    def _server_engine(self, server: Server) -> AsyncEngine:
        known = self._servers.get(server.name)
        if known is not None:
            if known[0].dsn == server.dsn:
                return known[1]
            self._replaced.append(known[1])  # its address has changed; its connections may be in use
        engine = create_async_engine(
            "postgresql+psycopg_async://",
            async_creator=partial(open_checked_async, server, None, **self._connect_args),
            **self._engine_args,
        )
        listen(engine.sync_engine, self._refresh, _is_fenced)
        self._servers[server.name] = (server, engine)
        return engine

    def _refresh(self) -> ShardMap:
        """Called by SQLAlchemy inside the greenlet in which it awaits the driver."""
        with contextlib.suppress(ServerUnavailable):  # the directory; its latest known map has to do
            await_only(self.maps.refresh_async())
        return self.map


def _is_fenced(server: Server, number: int) -> bool:
    """Likewise."""
    return await_only(is_fenced_async(server, number))
