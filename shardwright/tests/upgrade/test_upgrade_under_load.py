"""`shardwright upgrade` killed with SIGKILL at every level while routers of both releases write, and resumed."""

import asyncio
import os
import signal
import sys
from collections import defaultdict
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import cast

import pytest
from old_installation import (
    QUERIES,
    SHARDS,
    Installation,
    OldRouter,
    server_of,
    shards_behind,
    wait_until,
)

from shardwright.ids import lease_ids
from shardwright.migrations import LOCK_CLASS, read_library_status
from shardwright.routing import Shards
from shardwright.topology import open_connection

_COMMAND = "from shardwright.cli import main; main()"


class Load:
    """Writes rows and draws ids by both releases until it is stopped; every id it got, in order, per client."""

    def __init__(self, installation: Installation, shards: Shards) -> None:
        self._installation = installation
        self._shards = shards
        self._is_stopped = False
        self.rows = 0
        self.drawn: defaultdict[str, list[int]] = defaultdict(list)

    async def run_old(self, client: str) -> None:
        router = await OldRouter.open(self._installation.dsns)
        number = 0
        while not self._is_stopped:
            number = (number + 1) % SHARDS
            self.drawn[client].append(await router.add(number, client))
            self.drawn[client] += await router.add_many(number, 20)
            self.rows += 21
            self.drawn[client] += await router.draw(number)
        await router.close()

    async def run_new(self, client: str) -> None:
        conns = {name: await open_connection(dsn, name) for name, dsn in self._installation.dsns.items()}
        number = 0
        while not self._is_stopped:
            number = (number + 1) % SHARDS
            shard = self._shards.shard(number)
            async with shard.begin() as transaction:
                made = await transaction.fetch_value(QUERIES.add, author_id=2, caption=client)
            self.rows += 1
            lease = await lease_ids(conns[server_of(number)], number, self._shards.map.layout, 2)
            self.drawn[client] += [cast("int", made), lease.draw(), lease.draw()]
        for conn in conns.values():
            await conn.close()

    @asynccontextmanager
    async def running(self) -> AsyncGenerator[None]:
        async with asyncio.TaskGroup() as group:
            for number in range(2):
                group.create_task(self.run_old(f"old {number}"))
                group.create_task(self.run_new(f"new {number}"))
            yield
            self._is_stopped = True


async def start(installation: Installation) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        sys.executable,
        "-c",
        _COMMAND,
        "upgrade",
        env={**os.environ, "SHARDWRIGHT_DIRECTORY": installation.dsns["a"]},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )


async def kill_at(
    installation: Installation, server: str, lock: str, is_there: Callable[[], Awaitable[bool]]
) -> None:
    """Start the command, and kill it when it stands before a lock that we hold."""
    holder = await open_connection(installation.dsns[server], server)
    await holder.execute(f"SELECT pg_advisory_lock({lock})")
    process = await start(installation)
    await wait_until(is_there)
    process.send_signal(signal.SIGKILL)
    await process.communicate()
    assert process.returncode == -signal.SIGKILL
    await holder.close()


async def is_waiting(installation: Installation, server: str, lock: str) -> bool:
    sql = (
        "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'advisory' AND query LIKE '%' || $1 || '%'"
    )
    return await installation.value(server, sql, lock) != 0


@pytest.mark.slow
async def test_an_upgrade_killed_at_every_level_under_load_is_resumed_and_no_id_comes_twice(
    installation: Installation,
) -> None:
    directory_lock, server_lock = "hashtext('shardwright_directory')", "hashtext('shardwright')"

    async def upgraded(number: int) -> bool:
        return number not in await shards_behind(installation)

    async with await Shards.open(installation.dsns["a"], queries=[QUERIES]) as shards:
        load = Load(installation, shards)
        async with load.running():
            await kill_at(
                installation, "a", directory_lock, lambda: is_waiting(installation, "a", directory_lock)
            )
            assert (await read_library_status(installation.directory)).directory == 1
            await kill_at(installation, "b", server_lock, lambda: is_waiting(installation, "b", server_lock))
            status = await read_library_status(installation.directory)
            assert (status.is_directory_behind, status.servers[1].version) == (False, 1)
            await kill_at(installation, "a", f"{LOCK_CLASS}, 10", lambda: upgraded(8))
            behind = await shards_behind(installation)
            assert {10, 12, 14} <= behind
            before = load.rows
            resumed = await start(installation)
            _, stderr = await resumed.communicate()
            assert resumed.returncode == 0, stderr
            assert load.rows > before
            wanted = load.rows + 4 * SHARDS
            await wait_until(lambda: _has_written(load, wanted))

    assert (await read_library_status(installation.directory)).behind == 0
    drawn = [made for some in load.drawn.values() for made in some]
    assert len(drawn) == len(set(drawn))
    for client, some in load.drawn.items():
        for number in range(SHARDS):
            own = [made for made in some if made >> 10 & 8191 == number]
            assert own == sorted(own), f"{client} got ids of shard {number} out of order"
    assert await count_rows(installation) == load.rows


async def _has_written(load: Load, rows: int) -> bool:
    return load.rows >= rows


async def count_rows(installation: Installation) -> int:
    counts = [
        cast("int", await installation.shard_value(number, "SELECT count(*) FROM @.posts"))
        for number in range(SHARDS)
    ]
    return sum(counts)
