"""Leased ids never collide with those of the database or of another process."""

import asyncio
import itertools
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import Self

import asyncpg
import pytest
from id_test_shard import IdShard, rises

from shardwright.ids import IdGenerator, IdLease, LeaseExhausted, lease_ids

# A tool: it leases again and again and prints what it drew.
TOOL = """
import asyncio, sys, asyncpg
from shardwright.ids import IdGenerator, Layout, lease_ids

async def main(dsn: str) -> None:
    conn = await asyncpg.connect(dsn)
    maker = IdGenerator(lambda: lease_ids(conn, 42, Layout(), 20))
    while True:
        print(*[await maker.next_id() for _ in range(7)], sep="\\n", flush=True)

asyncio.run(main(sys.argv[1]))
"""


async def test_a_lease_and_the_database_never_generate_the_same_id(id_shard: IdShard) -> None:
    before = await id_shard.draw(10)
    lease = await lease_ids(id_shard.conn, 42, id_shard.layout, 500)
    after = await id_shard.draw(10)
    leased = [lease.draw() for _ in range(500)]

    assert rises(before + leased)
    assert rises(before + after)
    assert not set(leased) & set(after)
    assert {id_shard.layout.id_shard(made) for made in leased} == {42}
    with pytest.raises(LeaseExhausted):
        lease.draw()


@pytest.mark.slow
async def test_threads_share_a_lease(id_shard: IdShard) -> None:
    lease = await lease_ids(id_shard.conn, 42, id_shard.layout, 8000)
    with ThreadPoolExecutor(8) as threads:
        drawn = [each.result() for each in [threads.submit(lease.draw) for _ in range(8000)]]
    assert len(set(drawn)) == 8000


async def test_tasks_renew_a_lease_together(id_shard: IdShard) -> None:
    taken: list[IdLease] = []

    async def take_out() -> IdLease:
        taken.append(await lease_ids(id_shard.conn, 42, id_shard.layout, 50))
        return taken[-1]

    maker = IdGenerator(take_out)
    drawn = await asyncio.gather(*(maker.next_id() for _ in range(500)))
    assert len(set(drawn)) == 500
    assert len(taken) == 10


async def test_a_stale_lease_is_renewed(id_shard: IdShard) -> None:
    maker = IdGenerator(lambda: lease_ids(id_shard.conn, 42, id_shard.layout, 1000), max_age_s=0.05)
    first = await maker.next_id()
    await asyncio.sleep(0.1)
    (between,) = await id_shard.draw(1)
    assert first < between < await maker.next_id()


@pytest.mark.slow
async def test_two_processes_one_of_which_dies_and_the_database_never_repeat_an_id(id_shard: IdShard) -> None:
    with Tool(id_shard.dsn) as doomed, Tool(id_shard.dsn) as second:
        drawn = doomed.read_ids(200)
        doomed.process.kill()
        with Tool(id_shard.dsn) as third:
            for tool in (second, third):
                drawn += await id_shard.draw(50)
                drawn += tool.read_ids(400)
    assert len(drawn) == 200 + 2 * 450
    assert len(set(drawn)) == len(drawn)


class Tool:
    """A process that uses leased ids until it is killed."""

    def __init__(self, dsn: str) -> None:
        self.process = subprocess.Popen([sys.executable, "-c", TOOL, dsn], stdout=subprocess.PIPE, text=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        with self.process:
            self.process.kill()

    def read_ids(self, count: int) -> list[int]:
        assert self.process.stdout is not None
        return [int(line) for line in itertools.islice(self.process.stdout, count)]


async def test_a_shard_that_is_not_there_leases_nothing(id_shard: IdShard) -> None:
    with pytest.raises(asyncpg.PostgresError, match="s0043"):
        await lease_ids(id_shard.conn, 43, id_shard.layout)
