"""A small fleet: two servers, eight shards, a directory, and a folder to put migrations in."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import sys
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import asyncpg
import pytest

from shardwright.migrations import Migrator, MigratorOptions
from shardwright.topology import Directory, ShardMap

SHARDS = 8
EXAMPLE = Path(__file__).with_name("example")
QUICK = MigratorOptions(lock_timeout_ms=50)


_CHILD = """
import asyncio, sys
from pathlib import Path
from shardwright.migrations import Migrator, MigratorOptions
from shardwright.topology import Directory

async def main():
    directory = await Directory.open(sys.argv[1])
    show = lambda progress: print(progress.what, progress.target, flush=True)
    await Migrator(directory, Path(sys.argv[2]), options=MigratorOptions(per_server=2)).apply(progress=show)

asyncio.run(main())
"""


@dataclass
class Fleet:
    """The servers, shards and migrations folder of a test."""

    directory: Directory
    directory_dsn: str
    folder: Path

    def put(self, name: str, sql: str) -> Path:
        path = self.folder / f"{name}.sql"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(sql)
        return path

    def put_example(self) -> None:
        shutil.copytree(EXAMPLE / "migrations", self.folder, dirs_exist_ok=True)

    def migrator(self, options: MigratorOptions = QUICK) -> Migrator:
        return Migrator(self.directory, self.folder, options=options)

    async def map(self) -> ShardMap:
        return await self.directory.load()

    @asynccontextmanager
    async def on(self, shard: int) -> AsyncGenerator[asyncpg.Connection]:
        """A connection to the owner of a shard, with the shard's search_path."""
        dsn = (await self.map()).server_of(shard).dsn
        connection = cast("asyncpg.Connection", await asyncpg.connect(dsn))
        try:
            await connection.execute(f"SET search_path = s{shard:04}, common, shardwright, public")
            yield connection
        finally:
            await connection.close()

    async def value(self, shard: int, query: str) -> object:
        async with self.on(shard) as connection:
            return cast("object", await connection.fetchval(query))

    async def run(self, shard: int, sql: str) -> None:
        async with self.on(shard) as connection:
            await connection.execute(sql)

    async def kill_migrator(self, after: int) -> None:
        """Start a migrator that cannot finish, and kill it after some steps."""
        async with self.on(SHARDS - 1) as holder, holder.transaction():
            await holder.execute("LOCK TABLE posts")
            child = await asyncio.create_subprocess_exec(
                sys.executable,
                "-c",
                _CHILD,
                self.directory_dsn,
                str(self.folder),
                stdout=asyncio.subprocess.PIPE,
            )
            assert child.stdout is not None
            for _ in range(after):
                assert await child.stdout.readline()
            os.kill(child.pid, signal.SIGKILL)
            await child.communicate()
        assert child.returncode == -signal.SIGKILL

    async def versions(self) -> dict[int, int]:
        """The last applied migration of every shard, 0 for none."""
        statuses = (await self.migrator().status(drift=False)).targets
        return {each.target.number: each.version for each in statuses if each.target.number is not None}


@pytest.fixture
async def fleet(
    prepared_directory: Callable[[int], Awaitable[dict[str, str]]], tmp_path: Path
) -> AsyncGenerator[Fleet]:
    dsns = await prepared_directory(SHARDS)
    directory = await Directory.open(dsns["a"])
    folder = tmp_path / "migrations"
    (folder / "shard").mkdir(parents=True)
    yield Fleet(directory, dsns["a"], folder)
    await directory.close()
