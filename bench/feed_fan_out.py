"""How fast posts reach timelines, beside bare ZADDs; and what a timeline weighs.

Ours: posts of authors with 100, 1,000 and 10,000 followers on the whole way: the event in the outbox, relay, JetStream,
the worker's handlers, followers from their shard, entries on timelines of 800. One worker process. Reference: ZADD into
sorted sets of 800, one for each follower, packed beforehand and sent through a bare socket in windows of a thousand,
never trimmed: what a program gets out of Redis that does nothing else (`bench/raw_redis.py`). The ratio is entries a
second. `push alone` leaves out everything before Redis.
"""

import asyncio
import statistics
import time
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

from prometheus_client import REGISTRY

from bench.raw_redis import RawRedis, pack
from bench.support import BenchResult, Ratio, main
from bench.towns import engines, installation
from tintype.base.ids import AccountId, PostId
from tintype.base.outbox import Outbox
from tintype.feed.lists import Lists
from tintype.media import QUERIES as MEDIA
from tintype.posts import PostPublished
from tintype.simulation import ENTRIES, NEVER, Person, Settler
from tintype.simulation.population import HABITS
from tintype.wiring import Rooms
from tintype.worker import Worker

NAME = "feed-fan-out"
SIZES = (100, 1_000, 10_000)
LONGEST = 800
PER_TRANSACTION = 10
AT_ONCE = 50
SORTED = "bench:sorted:"


@dataclass(frozen=True)
class Field:
    """Readers with full timelines, authors by the number of their followers, and sorted sets of the same shape."""

    rooms: Rooms
    readers: list[AccountId]
    authors: dict[int, list[tuple[AccountId, range]]]
    """By number of followers: authors, and the places of their followers among the readers."""
    lists: Lists
    raw: RawRedis


@dataclass(frozen=True)
class Round:
    """Entries a second of each contender, and processor time an entry, which other programs disturb less."""

    whole: float
    alone: float
    bare: float
    worker_us: float
    redis_us: float
    bare_us: float


def run(*, quick: bool = False) -> BenchResult:
    """Measure each number of followers, ours and the reference in turn."""
    readers, entries, rounds = (1_000, 20_000, 2) if quick else (10_000, 100_000, 5)
    return asyncio.run(_measure(readers, entries, rounds))


async def _measure(readers: int, entries: int, rounds: int) -> BenchResult:
    found: dict[int, list[Round]] = {}
    async with _prepared(readers) as field, _working(field.rooms):
        for number in range(rounds):
            for size in field.authors:
                found.setdefault(size, []).append(await _round(field, size, entries, number))
                last = found[size][-1]
                print(
                    f"{size:,} followers: {last.whole:,.0f}/s, push alone {last.alone:,.0f}/s, ZADD {last.bare:,.0f}/s"
                )
        weights = await _weigh(field)
    ratios = {size: _ratio([each.whole / each.bare for each in some]) for size, some in found.items()}
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
    def median(name: str) -> float:
        return statistics.median(getattr(each, name) for each in some)

    return {
        "ratio": str(_ratio([each.whole / each.bare for each in some])),
        "push alone": str(_ratio([each.alone / each.bare for each in some])),
        "entries/s": f"{median('whole'):,.0f}, push alone {median('alone'):,.0f}, ZADD {median('bare'):,.0f}",
        "CPU-µs an entry": (
            f"worker {median('worker_us'):.2f}, Redis {median('redis_us'):.2f}; ZADD: Redis {median('bare_us'):.2f}"
        ),
    }


def _ratio(ratios: Sequence[float]) -> Ratio:
    return Ratio(statistics.median(ratios), min(ratios), max(ratios))


async def _round(field: Field, size: int, entries: int, number: int) -> Round:
    chosen = field.authors[size]
    posts = [
        (chosen[each % len(chosen)], await _draw(field, chosen[each % len(chosen)][0]))
        for each in range(entries // size)
    ]
    others = [(one, await _draw(field, one[0])) for one, _ in posts]

    async def whole() -> float:
        return await _publish(field.rooms, [(author, post_id) for (author, _), post_id in posts], entries)

    async def alone() -> float:
        return await _push(field, others, entries)

    async def bare() -> float:
        commands = [
            pack("ZADD", f"{SORTED}{place}", post_id, post_id)
            for (_, places), post_id in posts
            for place in places
        ]
        return await asyncio.to_thread(field.raw.rate, commands)

    rates: dict[str, float] = {}
    own_us: dict[str, float] = {}
    redis_us: dict[str, float] = {}
    turns = [("whole", whole), ("bare", bare), ("alone", alone)]
    for name, measure in turns[number % 3 :] + turns[: number % 3]:
        before, started = await _redis_cpu_s(field.rooms), time.process_time()
        rates[name] = await measure()
        own_us[name] = (time.process_time() - started) * 1e6 / entries
        redis_us[name] = (await _redis_cpu_s(field.rooms) - before) * 1e6 / entries
    return Round(
        rates["whole"], rates["alone"], rates["bare"], own_us["whole"], redis_us["whole"], redis_us["bare"]
    )


async def _publish(rooms: Rooms, posts: Sequence[tuple[AccountId, PostId]], entries: int) -> float:
    """Entries a second, from the first event in an outbox until the worker has counted the last entry."""

    async def poke(server: str) -> None:
        await rooms.bus.publish(f"{rooms.settings.namespace}.poke.{server}")

    outbox = Outbox(poke)
    wanted = _counted() + entries
    started = time.perf_counter()
    for start in range(0, len(posts), PER_TRANSACTION):
        some = posts[start : start + PER_TRANSACTION]
        async with rooms.shards.owner(some[0][0]).begin() as tx:
            await outbox.add(tx, *(PostPublished(post_id, author) for author, post_id in some))
    while _counted() < wanted:  # noqa: ASYNC110 - a counter tells nobody
        await asyncio.sleep(0.005)
    return entries / (time.perf_counter() - started)


async def _push(field: Field, posts: Sequence[tuple[tuple[AccountId, range], PostId]], entries: int) -> float:
    started = time.perf_counter()
    for (_, places), post_id in posts:
        await field.lists.push(post_id, field.readers[places.start : places.stop])
    return entries / (time.perf_counter() - started)


async def _weigh(field: Field) -> dict[str, float]:
    """Bytes an entry of a timeline of 800 and of a sorted set of 800, as Redis tells."""
    redis, reader = field.rooms.redis, AccountId(field.readers[0] + 1)
    ids = [await _draw(field, field.readers[0]) for _ in range(LONGEST)]
    await _fill(field.lists, [reader], ids[::-1])
    async with redis.pipeline(transaction=False) as pipe:
        for post_id in ids:
            pipe.zadd("bench:weight", {str(post_id): post_id})
        await pipe.execute()
    sizes = {
        "timeline": await redis.memory_usage(field.lists.key(reader), samples=0),
        "sorted set": await redis.memory_usage("bench:weight", samples=0),
    }
    return {name: round(float(size or 0) / LONGEST, 2) for name, size in sizes.items()}


@asynccontextmanager
async def _prepared(readers: int) -> AsyncGenerator[Field]:
    async with engines() as (found, _), installation(found, "fan_out", threshold=NEVER) as rooms:
        people, places = _people(readers)
        ids = await Settler(rooms.shards).settle(people)
        lists = rooms.feed._lists  # noqa: SLF001  # pyright: ignore[reportPrivateUsage] - the ones that are pushed to
        raw = RawRedis(rooms.settings.redis)
        authors = {size: [(ids[number], some) for number, some in each] for size, each in places.items()}
        field = Field(rooms, ids[:readers], authors, lists, raw)
        older = [await _draw(field, ids[0]) for _ in range(LONGEST)]
        await _fill(lists, field.readers, older[::-1])
        await asyncio.to_thread(raw.send, (_sorted_set(place, older) for place in range(readers)))
        yield field
        raw.close()


def _people(readers: int) -> tuple[list[Person], dict[int, list[tuple[int, range]]]]:
    """Readers first, then authors: of each size so many that every reader follows one of them."""
    places: dict[int, list[tuple[int, range]]] = {}
    followees: list[list[int]] = [[] for _ in range(readers)]
    number = readers
    for size in (each for each in SIZES if each <= readers):
        for start in range(0, readers, size):
            places.setdefault(size, []).append((number, range(start, start + size)))
            for place in range(start, start + size):
                followees[place].append(number)
            number += 1
    people = [Person(place, HABITS[1], 0.0, tuple(each)) for place, each in enumerate(followees)]
    return people + [Person(place, HABITS[1], 0.0, ()) for place in range(readers, number)], places


@asynccontextmanager
async def _working(rooms: Rooms) -> AsyncGenerator[None]:
    worker = Worker(rooms.settings, rooms.shards, rooms.bus, handlers=rooms.feed.handlers(), schedules=[])
    running = asyncio.create_task(worker.run())
    await asyncio.sleep(2)  # consumers and relays are up
    yield
    worker.stop()
    await running


async def _fill(lists: Lists, owners: Sequence[AccountId], ids: Sequence[int]) -> None:
    for start in range(0, len(owners), AT_ONCE):
        tokens = await lists.open(*owners[start : start + AT_ONCE])
        await asyncio.gather(*(lists.fill(owner, token, ids) for owner, token in tokens.items()))


def _sorted_set(place: int, ids: Sequence[int]) -> bytes:
    return pack("ZADD", f"{SORTED}{place}", *(word for post_id in ids for word in (post_id, post_id)))


async def _draw(field: Field, owner: AccountId) -> PostId:
    return PostId(await field.rooms.shards.owner(owner).fetch_value(MEDIA.draw_media_id))


async def _redis_cpu_s(rooms: Rooms) -> float:
    found = await rooms.redis.info("cpu")
    return float(found["used_cpu_user"]) + float(found["used_cpu_sys"])


def _counted() -> float:
    return REGISTRY.get_sample_value(ENTRIES) or 0.0


if __name__ == "__main__":
    main(run, __doc__)
