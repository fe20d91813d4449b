"""Rate limits: a burst, then a steady trickle, for each key apart, with Redis or without."""

import pytest
from redis.exceptions import ConnectionError as RedisAway

from tintype.base.errors import RateLimited
from tintype.base.limits import Limiter, Rule
from tintype.wiring import Rooms

THREE_AN_HOUR = Rule("tries", 3, 3600)


async def test_a_burst_is_allowed_and_then_refused_with_a_time_to_wait(rooms: Rooms) -> None:
    for _ in range(3):
        await rooms.limiter.take(THREE_AN_HOUR, "ana")

    with pytest.raises(RateLimited) as refusal:
        await rooms.limiter.take(THREE_AN_HOUR, "ana")

    assert 1100 < refusal.value.retry_after_s <= 1200
    await rooms.limiter.take(THREE_AN_HOUR, "bo")


async def test_who_is_forgiven_starts_afresh(rooms: Rooms) -> None:
    for _ in range(3):
        await rooms.limiter.take(THREE_AN_HOUR, "ana")

    await rooms.limiter.forgive(THREE_AN_HOUR, "ana")

    await rooms.limiter.take(THREE_AN_HOUR, "ana")


async def test_losing_redis_does_not_open_the_door(rooms: Rooms, monkeypatch: pytest.MonkeyPatch) -> None:
    async def away(*_args: object, **_options: object) -> None:
        raise RedisAway

    limiter = Limiter(rooms.redis, "elsewhere")
    monkeypatch.setattr(rooms.redis, "evalsha", away)
    for _ in range(3):
        await limiter.take(THREE_AN_HOUR, "ana")

    with pytest.raises(RateLimited):
        await limiter.take(THREE_AN_HOUR, "ana")
