"""The client-side cache holds what Redis holds, for whoever has awaited a reply from Redis since."""

import asyncio
import random
import time
from collections.abc import AsyncIterator
from contextlib import closing

import pytest

from tintype.base.ids import AccountId, PostId
from tintype.redis.client import MultiplexedRedisClient, PipelinedRedisClient, RedisClient
from tintype.redis.client_cache import ClientCache, Region
from tintype.redis.tracked_read import TrackedRead
from tintype.redis.viewer_invalidation import (
    CHANGES_TTL_S,
    ENTRY,
    MAX_ENTRIES,
    PostChange,
    ViewerInvalidation,
    changes_since,
    last_entry,
)
from tintype.wiring import Rooms

PREFIX = "client-cache-test:"


@pytest.fixture
async def redis_client(rooms: Rooms) -> AsyncIterator[MultiplexedRedisClient]:
    made = MultiplexedRedisClient(rooms.redis)
    await made.execute(("PING",))
    yield made
    await made.close()


def region_of(redis_client: RedisClient, max_entries: int = 100) -> Region[int, bytes]:
    return redis_client.client_cache.region(PREFIX, int, max_entries)


async def read(redis_client: RedisClient, *ids: int) -> list[bytes | None]:
    region = region_of(redis_client)
    with closing(TrackedRead(redis_client)) as tracked:
        tracked.add(("MGET", *(f"{PREFIX}{each}" for each in ids)), region, ids)
        [values] = await tracked.execute()
        for each, value in zip(ids, values, strict=True):
            if value is not None:
                tracked.store(region, each, value)
    return values


async def test_a_value_is_cached_until_somebody_changes_it(
    rooms: Rooms, redis_client: MultiplexedRedisClient
) -> None:
    await rooms.redis.mset({f"{PREFIX}1": "a", f"{PREFIX}2": "b"})
    await read(redis_client, 1, 2)
    assert region_of(redis_client).values == {1: b"a", 2: b"b"}

    await rooms.redis.set(f"{PREFIX}1", "c")
    await redis_client.execute(("PING",))

    assert region_of(redis_client).values == {2: b"b"}


@pytest.mark.parametrize("change", ["delete", "expire", "flush"])
async def test_a_value_is_dropped_when_its_key_is_deleted_expired_or_flushed(
    rooms: Rooms, redis_client: MultiplexedRedisClient, change: str
) -> None:
    await rooms.redis.set(f"{PREFIX}1", "a")
    await read(redis_client, 1)

    if change == "delete":
        await rooms.redis.delete(f"{PREFIX}1")
    elif change == "expire":
        await rooms.redis.pexpire(f"{PREFIX}1", 1)
        await asyncio.sleep(0.01)
        await rooms.redis.get(f"{PREFIX}1")
    else:
        await rooms.redis.flushdb()
    await redis_client.execute(("PING",))

    assert region_of(redis_client).values == {}


async def test_a_reply_that_an_invalidation_has_overtaken_is_not_cached(
    rooms: Rooms, redis_client: MultiplexedRedisClient
) -> None:
    region = region_of(redis_client)
    await rooms.redis.set(f"{PREFIX}1", "old")
    with closing(TrackedRead(redis_client)) as tracked:
        tracked.add(("MGET", f"{PREFIX}1"), region, [1])
        [[value]] = await tracked.execute()
        await rooms.redis.set(f"{PREFIX}1", "new")
        await redis_client.execute(("PING",))  # the invalidation is here before the reply was stored

        tracked.store(region, 1, value)

    assert region.values == {}


async def test_everything_is_dropped_when_the_connection_is_lost(
    rooms: Rooms, redis_client: MultiplexedRedisClient
) -> None:
    await rooms.redis.set(f"{PREFIX}1", "a")
    await read(redis_client, 1)
    [number] = await redis_client.execute(("CLIENT", "ID"))

    await rooms.redis.execute_command("CLIENT", "KILL", "ID", number)
    await asyncio.sleep(0.05)

    assert region_of(redis_client).values == {}
    assert not redis_client.client_cache.is_tracking
    await redis_client.execute(("PING",))
    await read(redis_client, 1)
    assert region_of(redis_client).values == {1: b"a"}


async def test_a_client_without_tracking_caches_nothing(rooms: Rooms) -> None:
    redis_client = PipelinedRedisClient(rooms.redis)
    await rooms.redis.set(f"{PREFIX}1", "a")

    assert await read(redis_client, 1) == [b"a"]

    assert region_of(redis_client).values == {}


async def test_likes_and_saves_of_a_viewer_are_named_until_anything_else_changes(rooms: Rooms) -> None:
    redis_client = PipelinedRedisClient(rooms.redis)
    viewers, ana = ViewerInvalidation(redis_client, "client-cache-test"), AccountId(7)

    async def marker() -> bytes:
        [value] = await redis_client.execute(("GET", f"client-cache-test:ties:{ana}"))
        return value or b""

    await viewers.announce([(ana, PostChange(PostId(1), 5, is_liked=True))])
    first = await marker()
    await viewers.announce([(ana, PostChange(PostId(2))), (ana, PostChange(PostId(3), 6, is_liked=False))])
    second = await marker()
    await viewers.invalidate(ana)
    third = await marker()
    await viewers.announce([(ana, PostChange(PostId(1), 5, is_liked=True))])
    fourth = await marker()

    def changes(before: bytes, now: bytes) -> list[PostChange] | None:
        return changes_since(last_entry(before), now)

    assert changes(first, first) == []
    assert changes(first, second) == [(2, 0, None), (3, 6, False)]
    assert [changes(*pair) for pair in ((b"", first), (second, third), (first, fourth))] == [None] * 3


async def test_the_named_changes_of_a_viewer_are_forgotten_however_many_there_are(rooms: Rooms) -> None:
    redis_client = PipelinedRedisClient(rooms.redis)
    viewers, ana = ViewerInvalidation(redis_client, "client-cache-test"), AccountId(9)
    key = f"client-cache-test:ties:{ana}"
    await viewers.announce([(ana, PostChange(PostId(1), 5, is_liked=True))])
    first, ends_at = await redis_client.execute(("GET", key), ("EXPIRETIME", key))
    await viewers.announce((ana, PostChange(PostId(number))) for number in range(2, 100))
    many, then_ends_at = await redis_client.execute(("GET", key), ("EXPIRETIME", key))
    latest = many[-MAX_ENTRIES * ENTRY.size :]

    assert changes_since(last_entry(first), latest) is None
    assert changes_since(last_entry(many[: -3 * ENTRY.size]), latest) == [
        (each, 0, None) for each in (97, 98, 99)
    ]
    assert CHANGES_TTL_S <= ends_at - time.time() + 1 <= 2 * CHANGES_TTL_S + 1
    assert then_ends_at - ends_at in {0, CHANGES_TTL_S}


def test_the_oldest_value_is_evicted_when_the_region_is_full() -> None:
    region = ClientCache().region(PREFIX, int, 2)
    for each in (1, 2, 3):
        region.begin_read([each], region)
        region.store(each, b"", region)

    assert list(region.values) == [2, 3]


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.slow
async def test_readers_never_see_a_value_older_than_their_own_start(
    rooms: Rooms, redis_client: MultiplexedRedisClient, seed: int
) -> None:
    """Writers record a value once Redis has confirmed it; readers must never find an older one than that."""
    chance = random.Random(seed)  # noqa: S311 - not a secret
    confirmed, ids, is_over = dict.fromkeys(range(5), 0), range(5), False

    async def write(each: int) -> None:
        for number in range(1, 200):
            await rooms.redis.set(f"{PREFIX}{each}", number)
            confirmed[each] = number

    async def read_until_over() -> int:
        found = 0
        while not is_over:
            least = dict(confirmed)
            await redis_client.execute(("PING",))
            for each in chance.sample(ids, 3):
                value = region_of(redis_client).values.get(each)
                if value is None:
                    [value] = await read(redis_client, each)
                else:
                    found += 1
                assert int(value or 0) >= least[each]
        return found

    readers = [asyncio.create_task(read_until_over()) for _ in range(4)]
    await asyncio.gather(*(write(each) for each in ids))
    await asyncio.sleep(0.05)
    is_over = True

    assert sum(await asyncio.gather(*readers)) > 20
    await redis_client.execute(("PING",))
    await read(redis_client, *ids)
    assert region_of(redis_client).values == dict.fromkeys(ids, b"199")


@pytest.mark.parametrize("changed", [PREFIX, "client-cache-other:{3}:"])
async def test_a_value_made_of_several_keys_is_invalidated_by_each_of_them(
    rooms: Rooms, redis_client: MultiplexedRedisClient, changed: str
) -> None:
    other = "client-cache-other:{3}:"
    region: Region[int, list[bytes | None]] = redis_client.client_cache.region(PREFIX, int, 100, other)
    await rooms.redis.set(f"{PREFIX}7", "a")  # the other need not even exist
    with closing(TrackedRead(redis_client)) as tracked:
        tracked.add_group(region, 7, ("GET", f"{PREFIX}7"), ("GET", f"{other}7"))
        await tracked.execute()
        replies = tracked.group_replies(region, 7)
        assert (replies, tracked.group_replies(region, 8)) == ([b"a", None], None)
        tracked.store(region, 7, replies)
    assert region.values == {7: [b"a", None]}

    await rooms.redis.set(f"{changed}7", "b")
    await redis_client.execute(("PING",))

    assert region.values == {}


async def test_viewer_state_that_changed_in_another_process_is_invalidated(
    rooms: Rooms, redis_client: MultiplexedRedisClient
) -> None:
    here, elsewhere = (
        ViewerInvalidation(each, "client-cache-test")
        for each in (redis_client, PipelinedRedisClient(rooms.redis))
    )
    ana, bo = AccountId(7), AccountId(8)
    region = here.region(max_entries=10)
    with closing(TrackedRead(redis_client)) as tracked:
        for each in (ana, bo):
            here.track(each, tracked, region)
        await tracked.execute()
        for each in (ana, bo):
            tracked.store(region, each, "as it was")

    await elsewhere.invalidate(ana)
    await redis_client.execute(("PING",))

    assert region.values == {bo: "as it was"}
