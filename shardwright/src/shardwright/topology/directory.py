"""The directory: an ordinary PostgreSQL database that holds the shard map.

It may be a server of its own or share one with shards. The map changes by compare-and-set alone: whoever
changes it says which version the decision was made on, and is refused when that is no longer the latest.
Routers keep a copy and work on while the directory is away.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Self

import asyncpg

from shardwright.errors import MapChanged, SetupInvalid
from shardwright.ids import DEFAULT_EPOCH_MS, Layout
from shardwright.topology import creating
from shardwright.topology.connections import CONNECT_TIMEOUT_S, fetch_value, open_connection
from shardwright.topology.creating import Prepare, Progress
from shardwright.topology.maps import Server, ShardMap, check_map
from shardwright.topology.tables import CREATE, SCHEMA, read_map, write_map
from shardwright.topology.watching import Watch

if TYPE_CHECKING:
    from asyncpg import Connection

NO_DSNS: Mapping[str, str] = MappingProxyType({})
DEFAULT_POLL_S = 30.0


class Directory:
    """The shard map in its database; open one with `Directory.open`."""

    def __init__(self, dsn: str, dsns: Mapping[str, str] = NO_DSNS) -> None:
        self._dsn = dsn
        self._dsns = dsns
        self._watches: list[Watch] = []

    @classmethod
    async def open(cls, dsn: str, *, dsns: Mapping[str, str] = NO_DSNS) -> Self:
        """A directory that answers.

        `dsns` reaches servers by other addresses than those in the map, by name: passwords can then stay with
        the caller instead of in the directory.
        """
        directory = cls(dsn, dsns)
        async with directory.connect():
            pass
        return directory

    async def close(self) -> None:
        """No watch of this directory runs any more."""
        watches, self._watches = self._watches, []
        for watch in watches:
            await watch.close()

    async def create(self, *, layout: Layout | None = None, lookup_shards: int | None = None) -> ShardMap:
        """The directory has its tables and a first map without servers; doing it again changes nothing.

        `lookup_shards` shards will share the lookup tables; left out, it becomes the number of shards in the
        first batch.
        """
        wanted = layout or Layout(DEFAULT_EPOCH_MS)
        async with self.connect() as conn, conn.transaction():
            await conn.execute(CREATE)
            await conn.execute(
                f"INSERT INTO {SCHEMA}.settings (epoch_ms, lookup_shards) VALUES ($1, $2) "  # noqa: S608
                "ON CONFLICT DO NOTHING",
                wanted.epoch_ms,
                lookup_shards,
            )
            found = await read_map(conn)
        if layout is not None and found.layout != layout:
            raise SetupInvalid(f"the directory exists with epoch {found.layout.epoch_ms} ms: use that")
        if lookup_shards not in (None, found.lookup_shards):
            raise SetupInvalid(f"the directory exists with {found.lookup_shards} lookup shards: use that")
        return found.with_dsns(self._dsns)

    async def load(self) -> ShardMap:
        """The latest map."""
        async with self.connect() as conn:
            return (await read_map(conn)).with_dsns(self._dsns)

    async def version(self) -> int:
        """The latest map's version, without the map."""
        async with self.connect() as conn:
            return await fetch_value(conn, f"SELECT map_version FROM {SCHEMA}.settings")  # noqa: S608

    async def change(self, expected_version: int, change: Callable[[ShardMap], ShardMap]) -> ShardMap:
        """The map that `change` makes of version `expected_version` is the latest.

        `MapChanged` when another version is: load, decide anew, and come back.
        """
        async with self.connect() as conn, conn.transaction():
            await conn.execute(f"SELECT FROM {SCHEMA}.settings FOR UPDATE")
            old = await read_map(conn)
            if old.version != expected_version:
                raise MapChanged(f"the map is at version {old.version}, not {expected_version}")
            new = replace(change(old), version=old.version + 1)
            check_map(new, old)
            await write_map(conn, new, old)
        return new.with_dsns(self._dsns)

    async def add_server(
        self, name: str, dsn: str, *, weight: float = 1.0, accepts_new: bool = True
    ) -> ShardMap:
        """A server is in the map, prepared to hold shards; a known name gets its new address and weight."""
        server = Server(name, dsn, weight, accepts_new)
        reached = replace(server, dsn=self._dsns.get(name, dsn))
        async with self.connect() as conn:
            directory_id = await fetch_value(conn, f"SELECT directory_id FROM {SCHEMA}.settings")  # noqa: S608
        await creating.prepare_server(reached, str(directory_id), (await self.load()).layout)
        return await self._change_until_done(lambda old: old.with_server(server))

    async def add_shards(
        self, count: int, *, prepare: Prepare | None = None, progress: Progress | None = None
    ) -> ShardMap:
        """`count` more shards exist, spread over the servers by weight, and are in the map.

        `prepare` is called with a connection for each new shard before any router can see it: the place to
        apply migrations. It may be called again for the same shard after an interruption.
        """
        async with self.connect() as conn:
            await creating.plan_shards(conn, count)
        return await self.finish_shards(prepare=prepare, progress=progress)

    async def ensure_shards(
        self, total: int, *, prepare: Prepare | None = None, progress: Progress | None = None
    ) -> ShardMap:
        """At least `total` shards exist; safe to repeat, and goes on where an interrupted call stopped."""
        async with self.connect() as conn:
            await creating.plan_shards(conn, total, in_all=True)
        return await self.finish_shards(prepare=prepare, progress=progress)

    async def finish_shards(
        self, *, prepare: Prepare | None = None, progress: Progress | None = None
    ) -> ShardMap:
        """Every shard that was planned exists and is in the map, those of interrupted calls too."""
        current = await self.load()
        async with self.connect() as conn:
            planned = await creating.planned_shards(conn)
        if not planned:
            return current
        await creating.create_shards(current, planned, prepare=prepare, progress=progress)
        return await self._change_until_done(lambda old: creating.with_planned(old, planned))

    def watch(self, callback: Callable[[ShardMap], None], *, poll_s: float = DEFAULT_POLL_S) -> Watch:
        """`callback` learns of every newer map, at once where notifications pass and by a slow poll if not."""
        watch = Watch(self, callback, poll_s=poll_s)
        self._watches.append(watch)
        return watch

    async def connection(self) -> "Connection":
        """A connection of the caller's own; the caller closes it."""
        return await open_connection(self._dsn, "the directory")

    @asynccontextmanager
    async def connect(self) -> AsyncGenerator["Connection"]:
        """A connection for a moment: the directory is asked seldom, so none is kept."""
        conn = await self.connection()
        try:
            yield conn
        finally:
            await _close(conn)

    async def _change_until_done(self, change: Callable[[ShardMap], ShardMap]) -> ShardMap:
        """Apply a change that is right on any version."""
        while True:
            async with self.connect() as conn:
                current = await read_map(conn)
            if change(current) == current:
                return current.with_dsns(self._dsns)
            try:
                return await self.change(current.version, change)
            except MapChanged:
                await asyncio.sleep(0)


async def _close(conn: "Connection") -> None:
    try:
        await asyncio.shield(conn.close(timeout=CONNECT_TIMEOUT_S))
    except (OSError, TimeoutError, asyncpg.PostgresError, asyncpg.InterfaceError):
        conn.terminate()  # it was broken already; what mattered has been raised by the work itself
