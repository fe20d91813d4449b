"""Thousands of reads while replicas lag by turns: none is older than its reader was promised."""

import asyncio
import random
from bisect import bisect_right
from time import monotonic

import pytest
from replica_test_cluster import QUERIES, SHARDS, OpenRouter, ReplicatedServer

from shardwright.routing import Session, Shards, bounded, session

READS = 3000
CALLERS = 12
BOUND_S = 0.25


def chance(seed: int) -> random.Random:
    return random.Random(seed)  # noqa: S311 - repeatable, not secret


class History:
    """What was written when, per counter: the values that a reader may still miss are known by it."""

    def __init__(self) -> None:
        self.acknowledged: dict[int, tuple[list[float], list[int]]] = {
            caller: ([], []) for caller in range(CALLERS)
        }
        self.session_reads = self.bounded_reads = 0

    def note_write(self, counter: int, value: int) -> None:
        times, values = self.acknowledged[counter]
        times.append(monotonic())
        values.append(value)

    def known_at(self, counter: int, time: float) -> int:
        """The last value whose writer had its answer at this time."""
        times, values = self.acknowledged[counter]
        before = bisect_right(times, time)
        return values[before - 1] if before else 0


async def write_and_read(routers: list[Shards], history: History, own: int, dice: random.Random) -> None:
    """Write to a counter of one's own, and read it and others' in one session, which moves between processes."""
    token, floor = "", dict.fromkeys(range(CALLERS), 0)
    while history.session_reads + history.bounded_reads < READS:
        shards = dice.choice(routers)
        with Session.parse(token) as caller:
            if dice.random() < 0.3:
                value = await shards.shard(own % SHARDS).fetch_value(QUERIES.increment, id=own)
                history.note_write(own, value)
                floor[own] = value
            for _ in range(dice.randint(1, 4)):
                await read(shards, history, dice.choice([own, dice.randrange(CALLERS)]), floor, dice)
            token = await caller.token()
        await asyncio.sleep(dice.random() * 0.02)


async def read(
    shards: Shards, history: History, counter: int, floor: dict[int, int], dice: random.Random
) -> None:
    if dice.random() < 0.3:
        bound_s = dice.choice([BOUND_S, BOUND_S / 5])
        expected = history.known_at(counter, monotonic() - bound_s)
        seen = (
            await shards.read(bounded(bound_s)).shard(counter % SHARDS).fetch_value(QUERIES.value, id=counter)
        )
        assert seen >= expected, "a bounded read was older than its bound"
        history.bounded_reads += 1
    else:
        seen = await shards.read(session()).shard(counter % SHARDS).fetch_value(QUERIES.value_hot, id=counter)
        assert seen >= floor[counter], "a session's read was older than its own write, or its last read"
        history.session_reads += 1
        floor[counter] = seen


async def make_lag(replicated: ReplicatedServer, dice: random.Random) -> None:
    while True:
        standby = dice.choice(replicated.standbys)
        await replicated.pause(standby)
        await asyncio.sleep(dice.random() * 0.4)
        await replicated.resume(standby)
        await asyncio.sleep(dice.random() * 0.2)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2])
async def test_no_read_is_older_than_promised(
    replicated: ReplicatedServer, open_router: OpenRouter, seed: int
) -> None:
    routers = [await open_router(replicated, replica_probe_s=0.1) for _ in range(2)]
    history = History()
    for counter in range(CALLERS):
        await routers[0].shard(counter % SHARDS).execute(QUERIES.put, id=counter, value=0)
    await replicated.caught_up()
    lagging = [asyncio.create_task(make_lag(replicated, chance(seed + turn))) for turn in (10, 20)]

    try:
        async with asyncio.TaskGroup() as callers:
            for own in range(CALLERS):
                callers.create_task(write_and_read(routers, history, own, chance(seed * 100 + own)))
    finally:
        for task in lagging:
            task.cancel()
        await asyncio.gather(*lagging, return_exceptions=True)

    sets = [replicas for shards in routers if (replicas := shards.server_for(0).replicas) is not None]
    assert sum(each.reads for each in sets) > 0  # replicas did answer
    assert sum(each.fallbacks for each in sets) > 0  # and were passed over
