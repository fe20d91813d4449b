"""An installation whose only server has one address that names all hosts, and a ledger of acknowledged writes."""

import asyncio
import contextlib
from collections.abc import AsyncGenerator
from dataclasses import dataclass, field
from typing import Any

from replica_test_cluster import QUERIES, SHARDS, ReplicatedServer, make_counters

from shardwright.errors import ServerUnavailable
from shardwright.local import LocalServer
from shardwright.routing import DeadlineExceeded, OutcomeUnknown, PoolOptions, Shards
from shardwright.topology import Directory

DATABASE = "named_by_hosts"


def hosts_dsn(server: ReplicatedServer, *ports: int) -> str:
    """The address of the installation that names these ports of this machine, in this order."""
    login, _, rest = server.dsn.rpartition("@")
    hosts = ",".join(f"127.0.0.1:{port}" for port in ports)
    return f"{login}@{hosts}/{rest.partition('/')[2]}"


async def install(server: ReplicatedServer) -> str:
    """A directory and shards on the server, and no replicas in the map; returns the address with all hosts."""
    server.database = DATABASE
    await server.run(server.primary, f"CREATE DATABASE {DATABASE}", database="postgres")
    dsn = hosts_dsn(server, *(each.port for each in (server.primary, *server.standbys)))
    directory = await Directory.open(dsn)
    await directory.create()
    await directory.add_server("a", dsn)
    await directory.add_shards(SHARDS, prepare=make_counters)
    await directory.close()
    await server.caught_up()
    return dsn


async def make_synchronous(server: ReplicatedServer) -> None:
    """Every commit waits for one of the standbys from now on."""
    await server.run(server.primary, "ALTER SYSTEM SET synchronous_standby_names = 'ANY 1 (*)'")
    await server.run(server.primary, "SELECT pg_reload_conf()::text")
    await server.wait_until(
        server.primary, "SELECT count(*) > 0 FROM pg_stat_replication WHERE sync_state = 'quorum'"
    )


@contextlib.asynccontextmanager
async def open_router(dsn: str, **options: Any) -> AsyncGenerator[Shards]:
    async with await Shards.open(dsn, queries=[QUERIES], options=PoolOptions(**options)) as shards:
        yield shards


@dataclass
class Ledger:
    """Writers that note what was acknowledged; each write is a row of its own."""

    shards: Shards
    acknowledged: dict[int, int] = field(default_factory=dict[int, int])
    """The number of each row that was acknowledged, and its shard."""
    next_id: int = 0

    async def write_until(self, is_over: asyncio.Event) -> None:
        while not is_over.is_set():
            self.next_id += 1
            id_, number = self.next_id, self.next_id % SHARDS
            try:
                await self.shards.shard(number).execute(QUERIES.put, id=id_, value=1, deadline_s=2.0)
                self.acknowledged[id_] = number
            except (ServerUnavailable, OutcomeUnknown, DeadlineExceeded):
                await asyncio.sleep(0.02)
            await asyncio.sleep(0.001)

    async def wait_for_more(self, count: int = 20, limit_s: float = 30.0) -> None:
        """Return once so many more writes are acknowledged."""
        wanted = len(self.acknowledged) + count
        async with asyncio.timeout(limit_s):
            while len(self.acknowledged) < wanted:  # noqa: ASYNC110 - other tasks and processes
                await asyncio.sleep(0.01)


async def rows_at(server: ReplicatedServer, which: LocalServer) -> set[int]:
    """The rows that one of the hosts has."""
    parts = " UNION ALL ".join(f"SELECT id FROM s{number:04d}.counters" for number in range(SHARDS))
    return set(
        await server.run(which, f"SELECT coalesce(array_agg(id), '{{}}') FROM ({parts}) AS rows") or ()
    )
