"""Rate limits: a burst, then a steady trickle, for each key separately, with Redis or without."""

import pytest
from redis.exceptions import ConnectionError as RedisConnectionError

from tintype.base.errors import RateLimited
from tintype.base.rate_limits import FOLLOW, LimitOverrides, RateLimit
from tintype.redis.client import PipelinedRedisClient
from tintype.redis.rate_limits import RateLimiter
from tintype.wiring import Rooms

THREE_AN_HOUR = RateLimit("tries", 3, 3600)


async def test_a_burst_is_allowed_and_then_refused_with_a_time_to_wait(rooms: Rooms) -> None:
    for _ in range(3):
        await rooms.limiter.acquire(THREE_AN_HOUR, "ana")

    with pytest.raises(RateLimited) as refusal:
        await rooms.limiter.acquire(THREE_AN_HOUR, "ana")

    assert 1100 < refusal.value.retry_after_s <= 1200
    await rooms.limiter.acquire(THREE_AN_HOUR, "bo")


async def test_a_reset_key_has_its_full_burst_again(rooms: Rooms) -> None:
    for _ in range(3):
        await rooms.limiter.acquire(THREE_AN_HOUR, "ana")

    await rooms.limiter.reset(THREE_AN_HOUR, "ana")

    for _ in range(3):
        await rooms.limiter.acquire(THREE_AN_HOUR, "ana")
    with pytest.raises(RateLimited):
        await rooms.limiter.acquire(THREE_AN_HOUR, "ana")


async def test_without_redis_the_limit_still_holds(rooms: Rooms, monkeypatch: pytest.MonkeyPatch) -> None:
    async def away(*_args: object, **_options: object) -> None:
        raise RedisConnectionError

    limiter = RateLimiter(rooms.redis, "elsewhere")
    monkeypatch.setattr(PipelinedRedisClient, "execute", away)
    for _ in range(3):
        await limiter.acquire(THREE_AN_HOUR, "ana")

    with pytest.raises(RateLimited):
        await limiter.acquire(THREE_AN_HOUR, "ana")


async def test_settings_replace_a_limit_or_switch_it_off(rooms: Rooms) -> None:
    strict = RateLimiter(rooms.redis, "elsewhere", LimitOverrides(["follow=1/3600"]))
    lenient = RateLimiter(rooms.redis, "elsewhere", LimitOverrides(["all=off"]))

    await strict.acquire(FOLLOW, "ana")
    with pytest.raises(RateLimited) as refusal:
        await strict.acquire(FOLLOW, "ana")
    await lenient.acquire(FOLLOW, "ana")

    assert refusal.value.policy == '"follow";q=1;w=3600'
