"""How fast posts reach timelines, compared with bare ZADDs; and how much memory a timeline takes.

Ours: posts of authors with 100, 1,000 and 10,000 followers, end to end: the event in the outbox, relay, JetStream, the
worker's handlers, followers from their shard, entries on timelines of 800. One worker process. Reference: ZADD into
sorted sets of 800, one per follower, packed beforehand and sent through a bare socket in windows of a thousand, never
trimmed: what a program gets out of Redis that does nothing else (`bench/raw_redis.py`). The ratio is entries per
second. `push alone` leaves out everything before Redis. CPU time is reported for every process, because on a busy
machine a rate says as much about the other programs.
"""

import asyncio
import statistics
import time
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

import psutil

from bench.harness import BenchResult, Ratio, main
from bench.populated_installation import installation
from bench.raw_redis import RawRedis, pack
from bench.site_processes import cpu_s, engines
from tintype.base.ids import AccountId, PostId
from tintype.base.outbox import Outbox
from tintype.feed.fan_out import entries as pushed
from tintype.feed.post_lists import PostLists
from tintype.media import QUERIES as MEDIA
from tintype.posts import PostPublished
from tintype.simulation import NEVER, BulkFill, SimulatedPerson
from tintype.simulation.population import HABITS
from tintype.wiring import Rooms
from tintype.worker import Worker

NAME = "feed-fan-out"
SIZES = (100, 1_000, 10_000)
TIMELINE_LENGTH = 800
PER_TRANSACTION = 250
MAX_CONCURRENT = 50
SORTED = "bench:sorted:"


@dataclass(frozen=True)
class Fixture:
    """Readers with full timelines, authors by the number of their followers, and sorted sets of the same shape."""

    rooms: Rooms
    readers: list[AccountId]
    authors: dict[int, list[tuple[AccountId, range]]]
    """By number of followers: authors, and the indexes of their followers among the readers."""
    lists: PostLists
    raw: RawRedis
    engines: dict[str, list[psutil.Process]]

    def cpu(self) -> dict[str, float]:
        """CPU time used so far, by server; ours is this process, which is worker and client at once."""
        return {"ours": time.process_time()} | {name: cpu_s(*some) for name, some in self.engines.items()}


@dataclass(frozen=True)
class Turn:
    """Entries per second, and CPU time per entry, which other programs disturb less."""

    rate: float
    us: dict[str, float]

    @property
    def all_us(self) -> float:
        """CPU time per entry of all processes together."""
        return sum(self.us.values())


Round = dict[str, Turn]
"""One measurement of each contender: end to end, push alone, and the bare command."""


def run(*, quick: bool = False) -> BenchResult:
    """Measure each number of followers, ours and the reference interleaved."""
    readers, entries, rounds = (1_000, 20_000, 2) if quick else (10_000, 100_000, 5)
    return asyncio.run(_measure(readers, entries, rounds))


async def _measure(readers: int, entries: int, rounds: int) -> BenchResult:
    found: dict[int, list[Round]] = {}
    async with _prepare(readers) as fixture, _running_worker(fixture.rooms):
        for number in range(-1, rounds):
            for size in fixture.authors:
                last = await _round(fixture, size, entries, number)
                if number < 0:
                    continue  # connections and statements are warm from here on
                found.setdefault(size, []).append(last)
                summary = ", ".join(
                    f"{name} {turn.rate:,.0f}/s {turn.all_us:.1f} µs" for name, turn in last.items()
                )
                print(f"{size:,} followers: {summary}")
        weights = await _measure_memory(fixture)
    ratios = {size: _rates(some, "whole") for size, some in found.items()}
    return BenchResult(
        name=NAME,
        ratio=statistics.geometric_mean(each.median for each in ratios.values()),
        against="bare pipelined ZADD, entries a second from the outbox to the last timeline",
        spread=(min(each.low for each in ratios.values()), max(each.high for each in ratios.values())),
        detail={
            "followers": {size: _detail(some) for size, some in found.items()},
            "bytes an entry": weights,
        },
    )


def _detail(some: Sequence[Round]) -> dict[str, str]:
    return {
        "ratio": str(_rates(some, "whole")),
        "push alone": str(_rates(some, "alone")),
        "processor time of all": str(_ratio([each["bare"].all_us / each["whole"].all_us for each in some])),
    } | {
        name: f"{statistics.median(each[name].rate for each in some):,.0f}/s, CPU-µs an entry: {_cpu(some, name)}"
        for name in some[0]
    }


def _cpu(some: Sequence[Round], name: str) -> str:
    medians = {each: statistics.median(turn[name].us[each] for turn in some) for each in some[0][name].us}
    return ", ".join(f"{each} {us:.2f}" for each, us in medians.items())


def _rates(some: Sequence[Round], name: str) -> Ratio:
    return _ratio([each[name].rate / each["bare"].rate for each in some])


def _ratio(ratios: Sequence[float]) -> Ratio:
    return Ratio(statistics.median(ratios), min(ratios), max(ratios))


async def _round(fixture: Fixture, size: int, entries: int, number: int) -> Round:
    chosen = fixture.authors[size]
    posts = [
        (chosen[each % len(chosen)], await _next_post_id(fixture, chosen[each % len(chosen)][0]))
        for each in range(entries // size)
    ]
    others = [(one, await _next_post_id(fixture, one[0])) for one, _ in posts]
    commands = [
        pack("ZADD", f"{SORTED}{place}", post_id, post_id)
        for (_, places), post_id in posts
        for place in places
    ]

    async def whole() -> float:
        return await _publish(fixture.rooms, [(author, post_id) for (author, _), post_id in posts], entries)

    async def alone() -> float:
        return await _push(fixture, others, entries)

    async def bare() -> float:
        return await asyncio.to_thread(fixture.raw.rate, commands)

    turns = [("whole", whole), ("bare", bare), ("alone", alone)]
    found: Round = {}
    for name, measure in turns[number % 3 :] + turns[: number % 3]:
        before = fixture.cpu()
        rate = await measure()
        found[name] = Turn(
            rate, {each: (now - before[each]) * 1e6 / entries for each, now in fixture.cpu().items()}
        )
    return {name: found[name] for name, _ in turns}


async def _publish(rooms: Rooms, posts: Sequence[tuple[AccountId, PostId]], entries: int) -> float:
    """Entries per second, from the first event in an outbox until the worker has counted the last entry."""

    async def poke(server: str) -> None:
        await rooms.nats.publish(f"{rooms.settings.namespace}.poke.{server}")

    outbox = Outbox(poke)
    wanted = _counted() + entries
    started = time.perf_counter()
    for start in range(0, len(posts), PER_TRANSACTION):
        some = posts[start : start + PER_TRANSACTION]
        async with rooms.shards.owner(some[0][0]).begin() as tx:
            await outbox.add(tx, *(PostPublished(post_id, author) for author, post_id in some))
    while _counted() < wanted:  # noqa: ASYNC110 - a counter raises no event
        await asyncio.sleep(0.005)
    return entries / (time.perf_counter() - started)


async def _push(
    fixture: Fixture, posts: Sequence[tuple[tuple[AccountId, range], PostId]], entries: int
) -> float:
    started = time.perf_counter()
    for (_, places), post_id in posts:
        await fixture.lists.push(post_id, fixture.readers[places.start : places.stop])
    return entries / (time.perf_counter() - started)


async def _measure_memory(fixture: Fixture) -> dict[str, float]:
    """Bytes per entry of a timeline of 800 and of a sorted set of 800, as Redis reports them."""
    redis, reader = fixture.rooms.redis, AccountId(1)  # somebody who is not among the readers
    ids = [await _next_post_id(fixture, fixture.readers[0]) for _ in range(TIMELINE_LENGTH)]
    await _fill(fixture.lists, [reader], ids[::-1])
    async with redis.pipeline(transaction=False) as pipe:
        for post_id in ids:
            pipe.zadd("bench:weight", {str(post_id): post_id})
        await pipe.execute()
    sizes = {
        "timeline": await redis.memory_usage(fixture.lists.key(reader), samples=0),
        "sorted set": await redis.memory_usage("bench:weight", samples=0),
    }
    return {name: round(float(size or 0) / TIMELINE_LENGTH, 2) for name, size in sizes.items()}


@asynccontextmanager
async def _prepare(readers: int) -> AsyncGenerator[Fixture]:
    async with engines(servers=2) as (found, parts), installation(found, "fan_out", threshold=NEVER) as rooms:
        people, places = _people(readers)
        ids = await BulkFill(rooms.shards).add_people(people)
        lists = rooms.feed._timelines  # noqa: SLF001  # pyright: ignore[reportPrivateUsage] - the lists that the worker pushes to
        raw = RawRedis(rooms.settings.redis)
        authors = {size: [(ids[number], some) for number, some in each] for size, each in places.items()}
        fixture = Fixture(rooms, ids[:readers], authors, lists, raw, parts)
        older = [await _next_post_id(fixture, ids[0]) for _ in range(TIMELINE_LENGTH)]
        await _fill(lists, fixture.readers, older[::-1])
        await asyncio.to_thread(raw.send, (_sorted_set(place, older) for place in range(readers)))
        yield fixture
        raw.close()


def _people(readers: int) -> tuple[list[SimulatedPerson], dict[int, list[tuple[int, range]]]]:
    """Readers first, then authors: of each size enough that every reader follows one of them."""
    places: dict[int, list[tuple[int, range]]] = {}
    followees: list[list[int]] = [[] for _ in range(readers)]
    number = readers
    for size in (each for each in SIZES if each <= readers):
        for start in range(0, readers, size):
            places.setdefault(size, []).append((number, range(start, start + size)))
            for place in range(start, start + size):
                followees[place].append(number)
            number += 1
    people = [SimulatedPerson(place, HABITS[1], 0.0, tuple(each)) for place, each in enumerate(followees)]
    return people + [SimulatedPerson(place, HABITS[1], 0.0, ()) for place in range(readers, number)], places


@asynccontextmanager
async def _running_worker(rooms: Rooms) -> AsyncGenerator[None]:
    worker = Worker(rooms.settings, rooms.shards, rooms.nats, handlers=rooms.feed.handlers(), schedules=[])
    running = asyncio.create_task(worker.run())
    await asyncio.sleep(2)  # consumers and relays are up
    yield
    worker.stop()
    await running


async def _fill(lists: PostLists, owners: Sequence[AccountId], ids: Sequence[int]) -> None:
    for start in range(0, len(owners), MAX_CONCURRENT):
        tokens = await lists.begin_build(*owners[start : start + MAX_CONCURRENT])
        await asyncio.gather(*(lists.fill(owner, token, ids) for owner, token in tokens.items()))


def _sorted_set(place: int, ids: Sequence[int]) -> bytes:
    return pack("ZADD", f"{SORTED}{place}", *(word for post_id in ids for word in (post_id, post_id)))


async def _next_post_id(fixture: Fixture, owner: AccountId) -> PostId:
    return PostId(await fixture.rooms.shards.owner(owner).fetch_value(MEDIA.draw_media_id))


def _counted() -> float:
    return next(sample.value for metric in pushed.collect() for sample in metric.samples)


if __name__ == "__main__":
    main(run, __doc__)
