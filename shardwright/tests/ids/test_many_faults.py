"""Many clients draw while servers crash, a shard moves to and fro, a standby takes over and clocks step.

A quick run by default. The whole proof, with ten million ids: `SHARDWRIGHT_PROOF_IDS=10000000 pytest` on this file.
"""

import asyncio
import os
import random
from array import array
from dataclasses import dataclass, field

import asyncpg
import pytest
from id_test_shard import add_shard, connect, ids, move
from test_recovery import LAYOUT, standby, until

from shardwright.ids import lease_ids
from shardwright.local import LocalServer
from shardwright.topology import guard_sql, set_owned

assert standby  # a fixture
CLIENTS = 32
PROOF_IDS = int(os.environ.get("SHARDWRIGHT_PROOF_IDS", "400000"))
GONE = (asyncpg.PostgresError, asyncpg.InterfaceError, asyncpg.InternalClientError, OSError)
"""What a client may get while its server crashes, or no longer owns the shard."""


@dataclass
class Drawn:
    """What the clients drew, and from which server."""

    owner: LocalServer
    by_client: "list[array[int]]" = field(default_factory=lambda: [array("q") for _ in range(CLIENTS)])
    leased: "array[int]" = field(default_factory=lambda: array("q"))
    wanted: int = 0
    is_over: bool = False

    @property
    def count(self) -> int:
        return sum(map(len, self.by_client)) + len(self.leased)

    async def until(self, share: float) -> None:
        """Wait until this share of the ids is drawn."""
        while self.count < self.wanted * share:  # noqa: ASYNC110 - thirty-two clients ring no bell
            await asyncio.sleep(0.02)


async def draw(drawn: Drawn, number: int) -> None:
    """One client: singles, batches and leases, from whoever owns the shard, with a clock that steps."""
    chance = random.Random(number)  # noqa: S311 - picks test cases
    own = drawn.by_client[number]
    while not drawn.is_over:
        try:
            conn = await connect(drawn.owner.dsn())
            try:
                await conn.execute(f"SET clock.skew_s = '{chance.choice((-2, -0.5, 0, 0, 0, 0.5))}'")
                for _ in range(20):
                    await draw_some(conn, drawn, own, chance)
            finally:
                conn.terminate()
        except GONE:
            await asyncio.sleep(0.05)


async def draw_some(conn: asyncpg.Connection, drawn: Drawn, own: "array[int]", chance: random.Random) -> None:
    kind = chance.random()
    if kind < 0.5:
        own.extend(await ids(conn, "SELECT s0042.next_id() FROM generate_series(1, 500)"))
    elif kind < 0.9:
        own.extend(await ids(conn, "SELECT s0042.next_ids(2000)"))
    else:
        lease = await lease_ids(conn, 42, LAYOUT, 1000)
        drawn.leased.extend(lease.draw() for _ in range(1000))


async def crash(server: LocalServer) -> None:
    await asyncio.to_thread(server.crash)
    await asyncio.to_thread(server.start)


async def hand_over(drawn: Drawn, target: LocalServer) -> None:
    """Move the shard while the clients draw."""
    source, other = await connect(drawn.owner.dsn()), await connect(target.dsn())
    await move(source, other)
    drawn.owner = target
    await source.close()
    await other.close()


async def promote(primary: LocalServer, standby: LocalServer, drawn: Drawn) -> None:
    """Cut the standby off, let the clients draw on, crash the primary, and let the standby take over."""
    conn, follower = await connect(primary.dsn()), await connect(standby.dsn())
    await follower.execute("ALTER SYSTEM SET primary_conninfo = ''")
    await follower.fetchval("SELECT pg_reload_conf()")
    await until(conn, "SELECT count(*) = 0 FROM pg_stat_replication")
    await drawn.until(0.9)
    await asyncio.to_thread(primary.crash)
    conn.terminate()
    await follower.close()
    await asyncio.to_thread(standby.promote)
    drawn.owner = standby


@pytest.mark.slow
@pytest.mark.timeout(1800)
async def test_no_id_repeats_and_none_is_lower_than_an_earlier_one_of_its_client(
    own_server: LocalServer, another_server: LocalServer, standby: LocalServer
) -> None:
    for server, owned in ((own_server, True), (another_server, False)):
        conn = await connect(server.dsn())
        await add_shard(conn, LAYOUT, "clock.skewed()")
        await conn.execute(guard_sql(42, owned=True))
        await set_owned(conn, 42, owned=owned)
        await conn.close()
    drawn = Drawn(own_server, wanted=PROOF_IDS)
    clients = [asyncio.create_task(draw(drawn, number)) for number in range(CLIENTS)]

    await drawn.until(0.15)
    await crash(own_server)
    await drawn.until(0.3)
    await hand_over(drawn, another_server)
    await drawn.until(0.45)
    await crash(another_server)
    await drawn.until(0.6)
    await hand_over(drawn, own_server)
    await drawn.until(0.75)
    await promote(own_server, standby, drawn)
    await drawn.until(1)
    drawn.is_over = True
    await asyncio.gather(*clients)

    every = [made for own in (*drawn.by_client, drawn.leased) for made in own]
    assert len(every) >= PROOF_IDS
    assert len(set(every)) == len(every)
    for own in drawn.by_client:
        assert all(own[at] < own[at + 1] for at in range(len(own) - 1))
