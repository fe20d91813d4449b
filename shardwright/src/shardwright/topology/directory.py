"""The directory: an ordinary PostgreSQL database that holds the shard map.

It may have its own server or share one with shards. The map is only changed by compare-and-set: a change names the
version it is based on, and is refused when that is no longer the latest. Routers cache the map and keep working while
the directory is down.
"""

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from time import monotonic
from types import MappingProxyType
from typing import TYPE_CHECKING, Self

import asyncpg

from shardwright.errors import MapChanged, ServerUnavailable, SetupInvalid
from shardwright.ids import DEFAULT_EPOCH_MS, Layout
from shardwright.topology import shard_creation
from shardwright.topology.connections import (
    CONNECT_TIMEOUT_S,
    UNREACHABLE,
    fetch_rows,
    fetch_value,
    open_connection,
)
from shardwright.topology.directory_tables import SCHEMA, create_tables, read_map, write_map
from shardwright.topology.map_file import MapFile
from shardwright.topology.map_watcher import MapWatcher
from shardwright.topology.primary_address import PrimaryAddress
from shardwright.topology.replica_addresses import check_replica
from shardwright.topology.server_removal import (
    REMOVED_SERVERS,
    release_server,
    remove_from_map,
    server_obstacles,
)
from shardwright.topology.shard_creation import Prepare, Progress
from shardwright.topology.shard_map import Server, ShardMap, check_map, choose_dsn

if TYPE_CHECKING:
    from asyncpg import Connection

log = logging.getLogger(__name__)

NO_DSNS: Mapping[str, str] = MappingProxyType({})
DEFAULT_POLL_S = 30.0
LOAD_TIMEOUT_S = 10.0


class Directory:
    """The shard map in its database; open one with `Directory.open`."""

    def __init__(self, dsn: str, dsns: Mapping[str, str] = NO_DSNS, map_file: MapFile | None = None) -> None:
        self._primary = PrimaryAddress(Server("directory", dsn), is_directory=True)
        self._primary.on_promotion.append(self._leave_former_primary)
        self._dsns = dsns
        self._map_file = map_file
        self._written_version = 0
        self._unwritten: ShardMap | None = None
        self._writing: asyncio.Task[None] | None = None
        self._watchers: list[MapWatcher] = []

    @classmethod
    async def open(cls, dsn: str, *, dsns: Mapping[str, str] = NO_DSNS) -> Self:
        """Open the directory; raises when it does not answer.

        `dsns` overrides the map's server addresses, by server name: passwords can then stay with the caller instead
        of in the directory. The user and password of its entry `*` are used for servers that it does not name.
        """
        directory = cls(dsn, dsns)
        async with directory.connect():
            pass
        return directory

    async def close(self) -> None:
        """Stop all watchers of this directory."""
        watchers, self._watchers = self._watchers, []
        for watch in watchers:
            await watch.close()
        await self._primary.close()
        if self._writing is not None:
            await self._writing

    async def create(self, *, layout: Layout | None = None, lookup_shards: int | None = None) -> ShardMap:
        """Create the tables and a first map without servers; safe to repeat.

        `lookup_shards` shards will share the lookup tables; left out, it becomes the number of shards in the
        first batch.
        """
        wanted = layout or Layout(DEFAULT_EPOCH_MS)
        async with self.connect() as conn, conn.transaction():
            await create_tables(conn)
            await conn.execute(
                f"INSERT INTO {SCHEMA}.settings (epoch_ms, lookup_shards) VALUES ($1, $2) "  # noqa: S608 - names come from the library, values are parameters
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
        """The latest map; `ServerUnavailable` when the directory does not answer."""
        try:
            async with asyncio.timeout(LOAD_TIMEOUT_S), self.connect() as conn:
                return await self.read(conn)
        except UNREACHABLE as error:  # lost, or hanging, since the connection was opened
            raise ServerUnavailable(f"the directory does not answer: {error!r}") from error

    async def read(self, conn: "Connection") -> ShardMap:
        """The latest map, over an open connection to the directory."""
        async with asyncio.timeout(LOAD_TIMEOUT_S):
            found = await read_map(conn)
        self._write_later(found)
        if self._primary.is_unconfirmed(monotonic()):
            self._primary.confirm_later()  # a watcher's connection may be an old one
        return found.with_dsns(self._dsns)

    async def load_or_recall(self) -> ShardMap:
        """The latest map, or the one in the file of this directory while it does not answer."""
        try:
            return await self.load()
        except ServerUnavailable as error:
            found = self._map_file.read() if self._map_file is not None else None
            if found is None:
                raise
            log.warning("map.recalled: version %s, from the file: %s", found.version, error)
            return found.with_dsns(self._dsns)

    async def version(self) -> int:
        """The latest map's version, without the map."""
        async with self.connect() as conn:
            return await fetch_value(conn, f"SELECT map_version FROM {SCHEMA}.settings")  # noqa: S608 - names come from the library, values are parameters

    async def change(self, expected_version: int, change: Callable[[ShardMap], ShardMap]) -> ShardMap:
        """Compare-and-set: store the map that `change` returns, if the latest version is `expected_version`.

        Raises `MapChanged` when it is not: load the map and try again.
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

    async def set_owner(self, server: str, numbers: Iterable[int], conn: "Connection") -> None:
        """Record that these shards are on this server, whose guards say so already; safe to repeat.

        Over an open connection to the directory: their writers wait for it.
        """
        async with conn.transaction():
            await conn.execute(f"SELECT FROM {SCHEMA}.settings FOR UPDATE")
            old = await read_map(conn)
            new = old.with_owner(server, *numbers)
            if new != old:
                check_map(new, old)
                await write_map(conn, replace(new, version=old.version + 1), old)

    async def moving_shards(self) -> dict[int, int]:
        """The shards of moves that have not ended, each with the number of its move."""
        async with self.connect() as conn:
            try:
                rows = await fetch_rows(
                    conn,
                    f"SELECT unnest(shards) AS shard, id FROM {SCHEMA}.moves WHERE ended_at IS NULL",  # noqa: S608 - names come from the library
                )
            except asyncpg.UndefinedTableError:
                return {}  # of an earlier release, which could not move any
        return {row["shard"]: row["id"] for row in rows}

    async def add_server(
        self, name: str, dsn: str, *, weight: float | None = None, accepts_new: bool | None = None
    ) -> ShardMap:
        """Add a server to the map and prepare it for shards.

        An existing name gets the new address; its weight, and whether it accepts new shards, stay where they are left
        out. A new server has weight 1 and accepts them.
        """
        async with self.connect() as conn:
            directory_id = await fetch_value(conn, f"SELECT directory_id FROM {SCHEMA}.settings")  # noqa: S608 - names come from the library, values are parameters
        current = await self.load()
        reached = replace(current.servers.get(name, Server(name, dsn)), dsn=choose_dsn(name, dsn, self._dsns))
        await shard_creation.prepare_server(reached, str(directory_id), current.layout)

        def add(old: ShardMap) -> ShardMap:
            known = old.servers.get(name, Server(name, dsn))
            return old.with_server(_changed(replace(known, dsn=dsn), weight, accepts_new))

        return await self._change_with_retry(add)

    async def set_server(
        self, name: str, *, weight: float | None = None, accepts_new: bool | None = None
    ) -> ShardMap:
        """Change a server's weight, or whether new shards and tenants are placed on it."""
        if weight is not None and weight < 0:
            raise SetupInvalid("a weight is 0 or more")

        def change(old: ShardMap) -> ShardMap:
            return old.with_server(_changed(old.get_server(name), weight, accepts_new))

        return await self._change_with_retry(change)

    async def remove_server(self, name: str, *, is_lost: bool = False) -> ShardMap:
        """Make every router forget a server that holds nothing any more, and free its database for another name.

        Raises with everything that is in the way. A lost server is not asked whether copies of shards are left on it.
        """
        found = await self.load()
        server = found.get_server(name)
        known = {*found.shards_on(name), *await self.moving_shards()}
        on_server = [] if is_lost else await server_obstacles(server, known)
        async with self.connect() as conn, conn.transaction():
            new = await remove_from_map(conn, name, on_server)
        if not is_lost:
            await release_server(server)
        return new.with_dsns(self._dsns)

    async def removed_servers(self) -> frozenset[str]:
        """The names of servers that were removed, and not added again since."""
        async with self.connect() as conn:
            return frozenset(await fetch_value(conn, REMOVED_SERVERS))

    async def add_replica(self, server: str, address: str) -> ShardMap:
        """Tell every router of a streaming replica of a server; safe to repeat.

        The address is a DSN, or `host:port`: then user, password and database are those of the server's own address.
        Raises when what answers there is not a copy of that server.
        """
        found = await self.load()
        if server not in found.servers:
            raise SetupInvalid(
                f"there is no server {server}: the map has {', '.join(found.servers) or 'none'}"
            )
        await check_replica(found.servers[server], address)
        return await self._change_with_retry(
            lambda old: old.with_replicas(server, *dict.fromkeys((*old.servers[server].replicas, address)))
        )

    async def remove_replica(self, server: str, address: str) -> ShardMap:
        """Make every router forget a replica of a server, by the address it was added with."""
        found = (await self.load()).servers.get(server)
        if found is None or address not in found.replicas:
            known = ", ".join(found.replicas) if found is not None else ""
            raise SetupInvalid(f"server {server} has no replica at that address: it has {known or 'none'}")
        return await self._change_with_retry(
            lambda old: old.with_replicas(
                server, *(each for each in old.servers[server].replicas if each != address)
            )
        )

    async def add_shards(
        self, count: int, *, prepare: Prepare | None = None, progress: Progress | None = None
    ) -> ShardMap:
        """Create `count` more shards, spread over the servers by weight, and add them to the map.

        `prepare` is called with a connection for each new shard before any router can see it, to apply migrations for
        example. It may be called again for the same shard after an interruption.
        """
        async with self.connect() as conn:
            await shard_creation.plan_shards(conn, count)
        return await self.finish_shards(prepare=prepare, progress=progress)

    async def ensure_shards(
        self, total: int, *, prepare: Prepare | None = None, progress: Progress | None = None
    ) -> ShardMap:
        """Create shards up to `total`; safe to repeat, and continues where an interrupted call stopped."""
        async with self.connect() as conn:
            await shard_creation.plan_shards(conn, total, in_all=True)
        return await self.finish_shards(prepare=prepare, progress=progress)

    async def finish_shards(
        self, *, prepare: Prepare | None = None, progress: Progress | None = None
    ) -> ShardMap:
        """Create every planned shard and add it to the map, including those of interrupted calls."""
        current = await self.load()
        async with self.connect() as conn:
            planned = await shard_creation.planned_shards(conn)
        if not planned:
            return current
        await shard_creation.create_shards(current, planned, prepare=prepare, progress=progress)
        return await self._change_with_retry(lambda old: shard_creation.with_planned(old, planned))

    def watch(self, callback: Callable[[ShardMap], None], *, poll_s: float = DEFAULT_POLL_S) -> MapWatcher:
        """Call `callback` with every newer map: immediately by notification, otherwise by a slow poll."""
        watch = MapWatcher(self, callback, poll_s=poll_s)
        self._watchers.append(watch)
        return watch

    async def connection(self) -> "Connection":
        """Open a connection to the primary of the directory's database; the caller closes it."""
        try:
            return await self._open_connection()
        except ServerUnavailable:
            if not self._primary.has_several:
                raise
        self._primary.doubt()  # the remembered primary hangs, or is none any more
        return await self._open_connection()

    async def _open_connection(self) -> "Connection":
        limit_s = await self._primary.find_to_connect(CONNECT_TIMEOUT_S)
        return await open_connection(self._primary.dsn, "the directory", timeout_s=limit_s)

    @asynccontextmanager
    async def connect(self) -> AsyncGenerator["Connection"]:
        """A short-lived connection: the directory is used seldom, so none is kept open."""
        conn = await self.connection()
        try:
            yield conn
        except BaseException:
            conn.terminate()  # a statement may still be running there, and a graceful close would wait for it
            raise
        await _close(conn)

    def _leave_former_primary(self) -> None:
        for watch in self._watchers:
            watch.reconnect()

    def _write_later(self, latest: ShardMap) -> None:
        """Write the map to its file in the background: writers of a moved shard wait for the map itself."""
        if self._map_file is None or latest.version == self._written_version:
            return
        self._written_version, self._unwritten = latest.version, latest
        if self._writing is None or self._writing.done():
            self._writing = asyncio.create_task(self._write(self._map_file))

    async def _write(self, file: MapFile) -> None:
        while (latest := self._unwritten) is not None:
            self._unwritten = None
            await asyncio.to_thread(file.write, latest)

    async def _change_with_retry(self, change: Callable[[ShardMap], ShardMap]) -> ShardMap:
        """Apply a change that is valid on any version, retrying on conflicts."""
        while True:
            async with self.connect() as conn:
                current = await read_map(conn)
            if change(current) == current:
                return current.with_dsns(self._dsns)
            try:
                return await self.change(current.version, change)
            except MapChanged:
                await asyncio.sleep(0)


def _changed(server: Server, weight: float | None, accepts_new: bool | None) -> Server:
    return replace(
        server,
        weight=server.weight if weight is None else weight,
        accepts_new=server.accepts_new if accepts_new is None else accepts_new,
    )


async def _close(conn: "Connection") -> None:
    try:
        await asyncio.shield(conn.close(timeout=CONNECT_TIMEOUT_S))
    except (OSError, TimeoutError, asyncpg.PostgresError, asyncpg.InterfaceError):
        conn.terminate()  # it was broken already; the work itself has raised the error
