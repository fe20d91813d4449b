"""The leased cache: what is invalidated after a commit is never read again, and losing Redis loses nothing."""

from collections.abc import AsyncIterator, Generator
from contextlib import contextmanager
from typing import Any

import msgspec
import pytest
from redis.exceptions import ConnectionError as RedisConnectionError

from tintype.redis.cache_kinds import CacheSource
from tintype.redis.client import Command, MultiplexedRedisClient, PipelinedRedisClient
from tintype.redis.client_cache import forbid_reads
from tintype.redis.leased_cache import CacheKind, LeasedCache
from tintype.wiring import Rooms


class Card(msgspec.Struct, frozen=True):
    text: str


CARDS = CacheKind("card", Card, ttl_s=60)


class Source:
    """Stands for the database: the current objects, and the batches that were loaded."""

    def __init__(self) -> None:
        self.objects = {1: Card("one"), 2: Card("two")}
        self.loads: list[list[int]] = []

    async def load(self, ids: list[int]) -> dict[int, Card]:
        self.loads.append(ids)
        return {each: self.objects[each] for each in ids if each in self.objects}


async def test_a_cached_object_is_not_loaded_again(rooms: Rooms) -> None:
    source = Source()

    first = await rooms.cache.get_many(CARDS, [1, 2, 3], source.load)
    second = await rooms.cache.get_many(CARDS, [2, 1], source.load)

    assert first == second == source.objects
    assert source.loads == [[1, 2, 3]]


async def test_an_invalidated_object_is_loaded_again(rooms: Rooms) -> None:
    source = Source()
    await rooms.cache.find(CARDS, 1, source.load)

    source.objects[1] = Card("changed")
    await rooms.cache.invalidate(CARDS, 1)

    assert await rooms.cache.find(CARDS, 1, source.load) == Card("changed")


async def test_a_slow_loader_cannot_store_an_object_that_was_changed_meanwhile(rooms: Rooms) -> None:
    source = Source()

    async def load_slowly(ids: list[int]) -> dict[int, Card]:
        found = await source.load(ids)
        source.objects[1] = Card("changed")  # somebody commits and invalidates before the load returns
        await rooms.cache.invalidate(CARDS, 1)
        return found

    assert await rooms.cache.find(CARDS, 1, load_slowly) == Card("one")
    assert await rooms.cache.find(CARDS, 1, source.load) == Card("changed")


async def test_without_redis_everything_is_loaded(rooms: Rooms, monkeypatch: pytest.MonkeyPatch) -> None:
    async def away(*_args: object, **_options: object) -> None:
        raise RedisConnectionError

    cache, source = LeasedCache(rooms.redis, "elsewhere"), Source()
    monkeypatch.setattr(PipelinedRedisClient, "execute", away)

    assert await cache.find(CARDS, 1, source.load) == Card("one")
    await cache.invalidate(CARDS, 1)
    assert await cache.find(CARDS, 1, source.load) == Card("one")
    assert source.loads == [[1], [1]]


class Numbered(msgspec.Struct, frozen=True):
    number: int


NUMBERED = CacheKind("numbered", Numbered, ttl_s=60)


async def cached_number(cache: LeasedCache, kind: CacheKind[Numbered] = NUMBERED) -> Numbered | None:
    [[value]] = await cache.redis_client.execute(cache.read_command(kind, [1]))
    return None if value is None else msgspec.msgpack.decode(value, type=Numbered)


async def test_replace_if_newer_replaces_only_an_older_object(rooms: Rooms) -> None:
    async def load(ids: list[int]) -> dict[int, Numbered]:
        return {each: Numbered(5) for each in ids}

    async def replace(number: int) -> Numbered | None:
        await rooms.cache.replace_if_newer(
            NUMBERED, 1, Numbered(number), is_newer=lambda cached: cached.number < number
        )
        return await cached_number(rooms.cache)

    assert await replace(9) is None  # what nobody has read is not cached
    await rooms.cache.find(NUMBERED, 1, load)
    assert [await replace(number) for number in (4, 7, 6)] == [Numbered(5), Numbered(7), Numbered(7)]


async def test_an_object_loaded_before_a_replacement_is_not_cached_after_it(rooms: Rooms) -> None:
    async def load_while_it_changes(ids: list[int]) -> dict[int, Numbered]:
        await rooms.cache.replace_if_newer(
            NUMBERED, 1, Numbered(2), is_newer=lambda cached: cached.number < 2
        )
        return {each: Numbered(1) for each in ids}

    await rooms.cache.find(NUMBERED, 1, load_while_it_changes)

    assert await cached_number(rooms.cache) is None


KEPT_CARDS = CacheKind("kept_card", Card, ttl_s=60, max_decoded=10, absent_ttl_s=60)


@pytest.fixture
async def cache(rooms: Rooms) -> AsyncIterator[LeasedCache]:
    """A cache with a client-side cache of its own."""
    client = MultiplexedRedisClient(rooms.redis)
    await client.execute(("PING",))
    yield LeasedCache(rooms.redis, rooms.settings.namespace, client)
    await client.close()


@pytest.fixture
def sent(cache: LeasedCache, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of all commands that the cache has sent."""
    sent, execute = list[str](), cache.redis_client.execute

    async def record(*commands: Command) -> list[Any]:
        sent.extend(str(command[0]) for command in commands)
        return await execute(*commands)

    monkeypatch.setattr(cache.redis_client, "execute", record)
    return sent


@contextmanager
def request_that_awaited_a_reply(cache: LeasedCache) -> Generator[None]:
    cache.redis_client.client_cache.allow_reads()
    yield
    forbid_reads()


async def test_a_request_that_awaited_a_reply_reads_cached_objects_without_a_round_trip(
    cache: LeasedCache, sent: list[str]
) -> None:
    source, found = Source(), dict[int, Card]()
    with request_that_awaited_a_reply(cache):
        for _ in range(3):  # loaded, cached by the second read, read by the third
            sent.clear()
            found = await cache.get_many(KEPT_CARDS, [1, 2, 3], source.load)

    assert found == source.objects
    assert sent == []
    assert source.loads == [[1, 2, 3]]
    assert await cache.get_many(KEPT_CARDS, [1], source.load) == {1: Card("one")}
    assert sent == ["MGET"]


async def test_a_request_sees_what_it_has_invalidated_itself(cache: LeasedCache) -> None:
    source = Source()
    with request_that_awaited_a_reply(cache):
        for number in range(20):
            for _ in range(2):
                await cache.find(KEPT_CARDS, 1, source.load)
            source.objects[1] = Card(str(number))
            await cache.invalidate(KEPT_CARDS, 1)

            assert await cache.find(KEPT_CARDS, 1, source.load) == Card(str(number))


async def test_a_request_sees_what_another_process_invalidated_before_it_began(
    rooms: Rooms, cache: LeasedCache
) -> None:
    source, elsewhere = Source(), LeasedCache(rooms.redis, rooms.settings.namespace)
    wanted = (CacheSource(KEPT_CARDS, source.load), [1])
    for number in range(20):
        for _ in range(2):
            await cache.get_current(wanted)
        source.objects[1] = Card(str(number))
        await elsewhere.invalidate(KEPT_CARDS, 1)

        assert await cache.get_current(wanted) == [{1: Card(str(number))}]
        with request_that_awaited_a_reply(cache):
            assert await cache.find(KEPT_CARDS, 1, source.load) == Card(str(number))


async def test_what_is_current_costs_one_round_trip_however_much_is_cached(
    cache: LeasedCache, sent: list[str]
) -> None:
    source = Source()
    wanted = (CacheSource(KEPT_CARDS, source.load), [1, 2])
    for _ in range(2):
        await cache.get_current(wanted)
    sent.clear()

    assert await cache.get_current(wanted) == [source.objects]
    assert sent == ["PING"]


async def test_a_lost_connection_leaves_nothing_that_may_be_read(rooms: Rooms, cache: LeasedCache) -> None:
    source = Source()
    with request_that_awaited_a_reply(cache):
        for _ in range(2):
            await cache.find(KEPT_CARDS, 1, source.load)
        source.objects[1] = Card("changed")
        client = cache.redis_client
        assert isinstance(client, MultiplexedRedisClient)
        await client.close()

        assert await cache.find(KEPT_CARDS, 1, source.load) == Card("changed")


KEPT_NUMBERS = CacheKind("kept_number", Numbered, ttl_s=60, max_decoded=10)


async def test_a_value_that_this_process_knows_is_replaced_in_one_round_trip(
    cache: LeasedCache, sent: list[str]
) -> None:
    async def load(ids: list[int]) -> dict[int, Numbered]:
        return {each: Numbered(0) for each in ids}

    for _ in range(2):
        await cache.find(KEPT_NUMBERS, 1, load)
    for number in (1, 2, 3):
        sent.clear()
        await cache.replace_if_newer(
            KEPT_NUMBERS, 1, Numbered(number), is_newer=lambda cached, new=number: cached.number < new
        )
        is_loaded = "SCRIPT" in sent
        assert len(sent) == (3 if is_loaded else 1)

    assert await cached_number(cache, KEPT_NUMBERS) == Numbered(3)


async def test_a_value_that_another_process_replaced_is_replaced_all_the_same(
    rooms: Rooms, cache: LeasedCache
) -> None:
    async def load(ids: list[int]) -> dict[int, Numbered]:
        return {each: Numbered(0) for each in ids}

    elsewhere = LeasedCache(rooms.redis, rooms.settings.namespace)
    for _ in range(2):
        await cache.find(KEPT_NUMBERS, 1, load)
    for each, number in ((elsewhere, 5), (cache, 7), (elsewhere, 6), (elsewhere, 9), (cache, 8)):
        await each.replace_if_newer(
            KEPT_NUMBERS, 1, Numbered(number), is_newer=lambda cached, new=number: cached.number < new
        )

    assert await cached_number(cache, KEPT_NUMBERS) == Numbered(9)


async def test_only_what_is_not_current_or_is_being_loaded_counts_as_outdated(rooms: Rooms) -> None:
    async def outdated() -> list[int]:
        return await rooms.cache.find_outdated(
            NUMBERED, [1, 2, 3], is_current=lambda each, cached: cached.number == each
        )

    seen: list[list[int]] = []

    async def load(ids: list[int]) -> dict[int, Numbered]:
        seen.append(await outdated())
        return {each: Numbered(1) for each in ids}

    assert await outdated() == []
    await rooms.cache.get_many(NUMBERED, [1, 2], load)

    assert seen == [[1, 2]]
    assert await outdated() == [2]
