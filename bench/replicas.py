"""How many reads replicas answer when callers see their own writes: a session's token over 2 seconds of stickiness.

Callers write now and then, and read what they and others wrote. Stickiness reads from the primary for two seconds
after a write of the caller's, and from a replica otherwise, whatever its lag. A session reads from a replica that has
what the caller has written and read, and from the primary otherwise. Both take turns on one primary with two replicas,
whose replay is held back by turns: mostly for milliseconds, at times for seconds. The ratio is the share of reads that
replicas answered, ours over stickiness'; printed beside it are both shares, and stale reads: those older than the
caller's own last write, or than what the caller had read before.

Replicas lag for reasons of their own (a long query, a checkpoint, their network), so each is held back apart from the
other: that is the ratio. What they have in common (a bulk load at the primary) holds both back at once, and then only
the primary has what was just written: that share is printed too.
"""

import asyncio
import random
import shutil
from collections.abc import AsyncGenerator, Callable, Coroutine
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from time import monotonic
from typing import Any, cast

import asyncpg

from bench.harness import BenchResult, Rounds, main
from shardwright.errors import SetupInvalid
from shardwright.local import LocalServer, make_memory_folder, make_standby
from shardwright.routing import ANY, STRONG, Queries, Session, Shards, session
from shardwright.topology import Directory, guard_tables

NAME = "replicas"
SHARDS, CALLERS = 8, 24
ROUND_S, PAUSE_S = 20.0, 0.2
"""How long a contender reads in a round, and how long a caller pauses between requests, on average."""
WRITES = 0.1
"""The share of requests that write."""
READS = 4
"""Reads of a request."""
STICKY_S = 2.0
LONG_LAG = 0.02, 3.0
"""How often replay is held back for long, and how long."""
SHORT_LAG_S = 0.03
QUERIES = Queries.parse("""
-- name: increment
INSERT INTO counters (id, value) VALUES (:id, 1)
ON CONFLICT (id) DO UPDATE SET value = counters.value + 1 RETURNING value;

-- name: read hot
SELECT coalesce((SELECT value FROM counters WHERE id = :id), 0) AS value, pg_is_in_recovery() AS is_replica;
""")


@dataclass
class Counts:
    """What one contender's reads came to."""

    reads: int = 0
    on_replicas: int = 0
    stale: int = 0
    floors: dict[tuple[int, int], int] = field(default_factory=dict[tuple[int, int], int])

    def note(self, caller: int, counter: int, row: Any) -> None:
        """Count a read, and whether it is older than what this caller knows."""
        self.reads += 1
        self.on_replicas += row["is_replica"]
        floor = self.floors.get((caller, counter), 0)
        self.stale += row["value"] < floor
        self.floors[caller, counter] = max(floor, row["value"])


Contender = Callable[[Shards, Counts, int, float], Coroutine[Any, Any, None]]
"""One caller, who reads until a time."""


def run(*, quick: bool = False) -> BenchResult:
    """Measure with alternating rounds."""
    return asyncio.run(_run(rounds=1 if quick else 4, round_s=4.0 if quick else ROUND_S))


async def _run(rounds: int, round_s: float) -> BenchResult:
    async with _replicated() as (shards, standbys):
        apart, stale = await _compare(shards, standbys, rounds, round_s, together=False)
        together, others = await _compare(shards, standbys, (rounds + 1) // 2, round_s, together=True)
    rates = Rounds(apart)
    ratio = rates.ratio("session", "sticky")
    share = {name: round(rates.median(name), 3) for name in apart}
    at_once = {name: round(Rounds(together).median(name), 3) for name in together}
    stale = {name: count + others[name] for name, count in stale.items()}
    against = f"of the share that stickiness gives to replicas ({share['session']} against {share['sticky']})"
    print(f"both held back at once: replicas answered {at_once['session']} against {at_once['sticky']}")
    print(f"stale reads: session {stale['session']}, sticky {stale['sticky']}")
    detail = {"share": share, "share_lagging_together": at_once, "stale": stale}
    return BenchResult(NAME, ratio.median, against, (ratio.low, ratio.high), detail)


async def _compare(
    shards: Shards, standbys: list[LocalServer], rounds: int, round_s: float, *, together: bool
) -> tuple[dict[str, list[float]], dict[str, int]]:
    """Shares that replicas answered in each round, and stale reads of all rounds, by contender."""
    shares: dict[str, list[float]] = {"session": [], "sticky": []}
    stale = dict.fromkeys(shares, 0)
    for number in range(rounds):
        contenders = [("session", _session_caller), ("sticky", _sticky_caller)]
        for name, contender in contenders if number % 2 else reversed(contenders):
            seeds = [10 * number + (0 if together else each) for each in range(len(standbys))]
            counts = await _measure(shards, list(zip(standbys, seeds, strict=True)), contender, round_s)
            shares[name].append(counts.on_replicas / counts.reads)
            stale[name] += counts.stale
            print(f"{name}: {counts.on_replicas} of {counts.reads} reads on replicas, {counts.stale} stale")
    return shares, stale


async def _measure(
    shards: Shards, seeded: list[tuple[LocalServer, int]], contender: Contender, round_s: float
) -> Counts:
    counts, until = Counts(), monotonic() + round_s
    lagging = [asyncio.create_task(_lag(standby, _dice(seed))) for standby, seed in seeded]
    async with asyncio.TaskGroup() as callers:
        for caller in range(CALLERS):
            callers.create_task(contender(shards, counts, caller, until))
    for task in lagging:
        task.cancel()
    await asyncio.gather(*lagging, return_exceptions=True)
    return counts


async def _session_caller(shards: Shards, counts: Counts, caller: int, until: float) -> None:
    """Every request continues the session of the one before, by its token."""
    token, dice = "", _dice(caller)
    while monotonic() < until:
        with Session.parse(token) as own:
            if dice.random() < WRITES:
                counts.floors[caller, caller] = await _write(shards, caller)
            for counter in _wanted(caller, dice):
                row = await shards.read(session()).shard(counter % SHARDS).fetch_one(QUERIES.read, id=counter)
                counts.note(caller, counter, row)
            token = await own.token()
        await asyncio.sleep(dice.random() * 2 * PAUSE_S)


async def _sticky_caller(shards: Shards, counts: Counts, caller: int, until: float) -> None:
    """After a write, the primary answers for two seconds."""
    wrote_at, dice = float("-inf"), _dice(caller)
    while monotonic() < until:
        if dice.random() < WRITES:
            counts.floors[caller, caller] = await _write(shards, caller)
            wrote_at = monotonic()
        consistency = STRONG if monotonic() - wrote_at < STICKY_S else ANY
        for counter in _wanted(caller, dice):
            row = await shards.read(consistency).shard(counter % SHARDS).fetch_one(QUERIES.read, id=counter)
            counts.note(caller, counter, row)
        await asyncio.sleep(dice.random() * 2 * PAUSE_S)


async def _write(shards: Shards, caller: int) -> int:
    return await shards.shard(caller % SHARDS).fetch_value(QUERIES.increment, id=caller)


def _wanted(caller: int, dice: random.Random) -> list[int]:
    """The caller's own counter, and some of others."""
    return [caller, *(dice.randrange(CALLERS) for _ in range(READS - 1))]


def _dice(seed: int) -> random.Random:
    return random.Random(seed)  # repeatable


async def _lag(standby: LocalServer, dice: random.Random) -> None:
    """Hold a replica's replay back by turns."""
    conn = cast("Any", await asyncpg.connect(standby.dsn()))  # asyncpg ships without types
    try:
        while True:
            chance, long_s = LONG_LAG
            await conn.execute("SELECT pg_wal_replay_pause()")
            await asyncio.sleep(long_s if dice.random() < chance else dice.random() * SHORT_LAG_S)
            await conn.execute("SELECT pg_wal_replay_resume()")
            await asyncio.sleep(dice.random() * 0.5)
    finally:
        conn.terminate()
        again = cast("Any", await asyncpg.connect(standby.dsn()))
        await again.execute("SELECT pg_wal_replay_resume()")
        await again.close()


async def _is_read_on_a_replica(shards: Shards) -> bool:
    row = await shards.read(ANY).shard(0).fetch_one(QUERIES.read, id=0)
    return row is not None and bool(row["is_replica"])


@asynccontextmanager
async def _replicated() -> AsyncGenerator[tuple[Shards, list[LocalServer]]]:
    """A router onto one primary with two replicas, once both answer."""
    folder = make_memory_folder("tintype-bench-")
    folder.chmod(0o711)
    servers = [LocalServer(folder / "primary", durable=False)]
    try:
        servers[0].start()
        servers += [make_standby(servers[0], folder / f"standby{number}") for number in range(2)]
        await _install(servers)
        async with await Shards.open(servers[0].dsn(), queries=[QUERIES]) as shards:
            while not await _is_read_on_a_replica(shards):  # noqa: ASYNC110 - another process
                await asyncio.sleep(0.05)
            yield shards, servers[1:]
    finally:
        for server in reversed(servers):
            server.stop(mode="immediate")
        shutil.rmtree(folder, ignore_errors=True)


async def _install(servers: list[LocalServer]) -> None:
    directory = await Directory.open(servers[0].dsn())
    await directory.create()
    await directory.add_server("a", servers[0].dsn())
    await directory.add_shards(SHARDS, prepare=_make_counters)
    for standby in servers[1:]:
        address = f"127.0.0.1:{standby.port}"
        async with asyncio.timeout(30):
            while not await _is_added(directory, address):  # noqa: ASYNC110 - likewise
                await asyncio.sleep(0.05)
    await directory.close()


async def _is_added(directory: Directory, address: str) -> bool:
    """Add a replica; not yet, if it has not replayed what it is recognized by."""
    try:
        await directory.add_replica("a", address)
    except (asyncpg.InvalidCatalogNameError, SetupInvalid):
        return False
    return True


async def _make_counters(conn: Any, number: int) -> None:
    await conn.execute(f"CREATE TABLE s{number:04d}.counters (id bigint PRIMARY KEY, value bigint NOT NULL)")
    await guard_tables(conn, number)


if __name__ == "__main__":
    main(run, __doc__)
