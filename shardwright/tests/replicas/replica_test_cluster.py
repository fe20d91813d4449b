"""A server with streaming replicas for tests: four shards of counters, whose replay can be held back."""

import asyncio
import contextlib
import itertools
import shutil
import subprocess
import tempfile
from collections.abc import Awaitable, Callable, Generator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import asyncpg
from typer.testing import CliRunner

from shardwright.cli import app
from shardwright.errors import ServerUnavailable
from shardwright.local import LocalServer, make_standby
from shardwright.routing import ANY, Queries, Shards
from shardwright.topology import ANY_HOST, Directory, guard_tables, open_connection

SETTINGS = {"shared_buffers": "32MB", "autovacuum": "off", "max_wal_senders": "10", "max_connections": "200"}
SHARDS = 4
OpenRouter = Callable[..., Awaitable[Shards]]

QUERIES = Queries.parse("""
-- name: put
INSERT INTO counters (id, value) VALUES (:id, :value)
ON CONFLICT (id) DO UPDATE SET value = excluded.value WHERE counters.value < excluded.value;

-- name: increment
UPDATE counters SET value = value + 1 WHERE id = :id RETURNING value;

-- name: value
SELECT value FROM counters WHERE id = :id;

-- name: value_hot hot
SELECT value FROM counters WHERE id = :id;

-- name: values
SELECT id, value FROM counters WHERE id = ANY(:ids);

-- name: all_values
SELECT id, value FROM counters;

-- name: is_replica
SELECT pg_is_in_recovery() AS is_replica;

-- name: answered_by
SELECT current_setting('port')::integer AS port;
""")
_databases = itertools.count(1)


async def make_counters(conn: asyncpg.Connection, number: int) -> None:
    await conn.execute(
        f"CREATE TABLE IF NOT EXISTS s{number:04d}.counters (id bigint PRIMARY KEY, value bigint NOT NULL)"
    )
    await guard_tables(conn, number)


@dataclass
class ReplicatedServer:
    """A primary, its standbys, and an installation of which it is server `a`."""

    primary: LocalServer
    standbys: list[LocalServer]
    database: str = "postgres"

    @property
    def dsn(self) -> str:
        return self.primary.dsn(self.database)

    async def install(self) -> None:
        """A fresh database with a directory and shards, and both standbys in the map."""
        self.database = f"replicated_{next(_databases)}"
        await self.run(self.primary, f"CREATE DATABASE {self.database}", database="postgres")
        directory = await Directory.open(self.dsn)
        await directory.create()
        await directory.add_server("a", self.dsn)
        await directory.add_shards(SHARDS, prepare=make_counters)
        for standby in self.standbys:
            await self.wait_until(standby, "SELECT EXISTS (SELECT FROM shardwright.identity)")
            await directory.add_replica("a", f"127.0.0.1:{standby.port}")
        await directory.close()

    async def run(self, server: LocalServer, sql: str, *, database: str | None = None) -> Any:
        conn: Any = await open_connection(server.dsn(database or self.database), "a", target=ANY_HOST)
        try:
            return await conn.fetchval(sql) if sql.startswith("SELECT") else await conn.execute(sql)
        finally:
            await conn.close()

    async def wait_until(self, server: LocalServer, sql: str, limit_s: float = 20.0) -> None:
        """Return once the statement is true on a server."""
        async with asyncio.timeout(limit_s):
            while True:
                with contextlib.suppress(asyncpg.PostgresError, OSError, ServerUnavailable):
                    if await self.run(server, sql):
                        return
                await asyncio.sleep(0.02)

    async def caught_up(self) -> None:
        """Return once every standby has replayed what the primary has flushed by now."""
        lsn = await self.run(self.primary, "SELECT pg_current_wal_flush_lsn()::text")
        for standby in self.standbys:
            await self.wait_until(standby, f"SELECT pg_last_wal_replay_lsn() >= '{lsn}'::pg_lsn")

    async def pause(self, standby: LocalServer) -> None:
        """Hold the replay of a standby back; it goes on receiving."""
        await self.run(standby, "SELECT pg_wal_replay_pause()::text")
        await self.wait_until(standby, "SELECT pg_get_wal_replay_pause_state() = 'paused'")

    async def pause_all(self) -> None:
        """Hold the replay of every standby back, once they have everything."""
        await self.caught_up()
        for standby in self.standbys:
            await self.pause(standby)

    async def resume(self, standby: LocalServer) -> None:
        await self.run(standby, "SELECT pg_wal_replay_resume()::text")

    async def resume_all(self) -> None:
        for standby in self.standbys:
            await self.resume(standby)

    async def wait_for_replicas(self, shards: Shards, count: int, limit_s: float = 20.0) -> None:
        """Return once so many replicas answer reads."""
        seen: set[int] = set()
        async with asyncio.timeout(limit_s):
            while len(seen) < count:
                port = await shards.read(ANY).shard(0).fetch_value(QUERIES.answered_by)
                if port != self.primary.port:
                    seen.add(port)
                else:
                    await asyncio.sleep(0.01)


async def run_command(directory_dsn: str, *arguments: str) -> tuple[int, str]:
    """The exit code and the output of `shardwright …`."""
    runner = CliRunner(env={"COLUMNS": "200", "NO_COLOR": "1", "SHARDWRIGHT_DIRECTORY": directory_dsn})
    result = await asyncio.to_thread(runner.invoke, app, list(arguments))
    return result.exit_code, result.output


@contextlib.contextmanager
def start_replicated(parent: Path, copy_of: Path, standbys: int = 2) -> Generator[ReplicatedServer]:
    """A primary, a copy of an initialized server, and its standbys, in a folder of their own; gone afterwards."""
    directory = Path(tempfile.mkdtemp(prefix="replicated-", dir=parent))
    directory.chmod(0o711)
    subprocess.run(["/bin/cp", "-a", copy_of, directory / "primary"], check=True)
    primary = LocalServer(directory / "primary", durable=False, settings=SETTINGS)
    started = [primary]
    try:
        primary.start()
        for number in range(standbys):
            started.append(make_standby(primary, directory / f"standby{number}"))  # noqa: PERF401 - each is ended
        yield ReplicatedServer(primary, started[1:])
    finally:
        for server in reversed(started):
            server.stop(mode="immediate")
        shutil.rmtree(directory, ignore_errors=True)
