"""The cache: what is forgotten after a commit is never read again, and losing Redis loses nothing."""

import msgspec
import pytest
from redis.exceptions import ConnectionError as RedisAway

from tintype.base.cache import Cache, Kind
from tintype.base.wire import PipelinedWire
from tintype.wiring import Rooms


class Card(msgspec.Struct, frozen=True):
    text: str


CARDS = Kind("card", Card, ttl_s=60)


class Source:
    """Stands for the database: what is true now, and how often it was asked."""

    def __init__(self) -> None:
        self.truth = {1: Card("one"), 2: Card("two")}
        self.asked: list[list[int]] = []

    async def load(self, ids: list[int]) -> dict[int, Card]:
        self.asked.append(ids)
        return {each: self.truth[each] for each in ids if each in self.truth}


async def test_what_was_read_once_is_not_loaded_again(rooms: Rooms) -> None:
    source = Source()

    first = await rooms.cache.get_many(CARDS, [1, 2, 3], source.load)
    second = await rooms.cache.get_many(CARDS, [2, 1], source.load)

    assert first == second == source.truth
    assert source.asked == [[1, 2, 3]]


async def test_what_was_forgotten_is_loaded_again(rooms: Rooms) -> None:
    source = Source()
    await rooms.cache.find(CARDS, 1, source.load)

    source.truth[1] = Card("changed")
    await rooms.cache.forget(CARDS, 1)

    assert await rooms.cache.find(CARDS, 1, source.load) == Card("changed")


async def test_a_slow_reader_cannot_store_what_was_changed_meanwhile(rooms: Rooms) -> None:
    source = Source()

    async def load_slowly(ids: list[int]) -> dict[int, Card]:
        found = await source.load(ids)
        source.truth[1] = Card("changed")  # somebody commits and forgets while we are on our way back
        await rooms.cache.forget(CARDS, 1)
        return found

    assert await rooms.cache.find(CARDS, 1, load_slowly) == Card("one")
    assert await rooms.cache.find(CARDS, 1, source.load) == Card("changed")


async def test_without_redis_everything_is_loaded(rooms: Rooms, monkeypatch: pytest.MonkeyPatch) -> None:
    async def away(*_args: object, **_options: object) -> None:
        raise RedisAway

    cache, source = Cache(rooms.redis, "elsewhere"), Source()
    monkeypatch.setattr(PipelinedWire, "ask", away)
    monkeypatch.setattr(rooms.redis, "delete", away)

    assert await cache.find(CARDS, 1, source.load) == Card("one")
    await cache.forget(CARDS, 1)
    assert await cache.find(CARDS, 1, source.load) == Card("one")
    assert source.asked == [[1], [1]]


class Numbered(msgspec.Struct, frozen=True):
    number: int


NUMBERED = Kind("numbered", Numbered, ttl_s=60)


async def test_a_renewed_value_takes_the_place_of_an_older_one_only(rooms: Rooms) -> None:
    async def load(ids: list[int]) -> dict[int, Numbered]:
        return {each: Numbered(5) for each in ids}

    async def renew(number: int) -> Numbered | None:
        await rooms.cache.renew(NUMBERED, 1, Numbered(number), is_newer=lambda there: there.number < number)
        return await rooms.cache.peek(NUMBERED, 1)

    assert await renew(9) is None  # what nobody reads is not kept
    await rooms.cache.find(NUMBERED, 1, load)
    assert [await renew(number) for number in (4, 7, 6)] == [Numbered(5), Numbered(7), Numbered(7)]


async def test_a_value_loaded_before_a_renewal_is_not_kept_after_it(rooms: Rooms) -> None:
    async def load_while_it_changes(ids: list[int]) -> dict[int, Numbered]:
        await rooms.cache.renew(NUMBERED, 1, Numbered(2), is_newer=lambda there: there.number < 2)
        return {each: Numbered(1) for each in ids}

    await rooms.cache.find(NUMBERED, 1, load_while_it_changes)

    assert await rooms.cache.peek(NUMBERED, 1) is None
