"""The leased cache: what is invalidated after a commit is never read again, and losing Redis loses nothing."""

import msgspec
import pytest
from redis.exceptions import ConnectionError as RedisConnectionError

from tintype.redis.client import PipelinedRedisClient
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
    monkeypatch.setattr(rooms.redis, "delete", away)

    assert await cache.find(CARDS, 1, source.load) == Card("one")
    await cache.invalidate(CARDS, 1)
    assert await cache.find(CARDS, 1, source.load) == Card("one")
    assert source.loads == [[1], [1]]


class Numbered(msgspec.Struct, frozen=True):
    number: int


NUMBERED = CacheKind("numbered", Numbered, ttl_s=60)


async def test_replace_if_newer_replaces_only_an_older_object(rooms: Rooms) -> None:
    async def load(ids: list[int]) -> dict[int, Numbered]:
        return {each: Numbered(5) for each in ids}

    async def replace(number: int) -> Numbered | None:
        await rooms.cache.replace_if_newer(
            NUMBERED, 1, Numbered(number), is_newer=lambda cached: cached.number < number
        )
        return await rooms.cache.peek(NUMBERED, 1)

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

    assert await rooms.cache.peek(NUMBERED, 1) is None
