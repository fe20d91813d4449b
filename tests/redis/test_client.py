"""The multiplexed client: replies reach their callers, whatever happens to the connection or to other callers."""

import asyncio
import contextlib
from collections.abc import AsyncIterator

import pytest
from redis.asyncio import Redis
from redis.exceptions import AuthenticationError, ResponseError
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import TimeoutError as RedisTimeoutError

from tintype.redis.client import MultiplexedRedisClient
from tintype.wiring import Rooms


@pytest.fixture
async def redis_client(rooms: Rooms) -> AsyncIterator[MultiplexedRedisClient]:
    made = MultiplexedRedisClient(rooms.redis)
    yield made
    await made.close()


async def _id_of(redis_client: MultiplexedRedisClient) -> int:
    return (await redis_client.execute(("CLIENT", "ID")))[0]


async def test_two_hundred_callers_at_once_each_get_their_own_replies(
    redis_client: MultiplexedRedisClient,
) -> None:
    async def echo(number: int) -> None:
        for turn in range(20):
            words = [f"{number}-{turn}-{each}".encode() for each in range(number % 5 + 1)]
            assert await redis_client.execute(*(("ECHO", word) for word in words)) == words
            if number % 7 == 0:
                await asyncio.sleep(0)

    await asyncio.gather(*(echo(number) for number in range(200)))


async def test_all_callers_share_one_connection_to_the_database_of_the_settings(
    rooms: Rooms, redis_client: MultiplexedRedisClient
) -> None:
    await rooms.redis.set("here", "yes")

    ids = await asyncio.gather(*(_id_of(redis_client) for _ in range(20)))

    assert len(set(ids)) == 1
    assert await redis_client.execute(("GET", "here")) == [b"yes"]


@pytest.mark.slow
async def test_a_cancelled_caller_does_not_shift_the_replies_of_others(
    redis_client: MultiplexedRedisClient,
) -> None:
    await redis_client.execute(("PING",))
    slow = asyncio.create_task(redis_client.execute(("BLPOP", "nothing-here", "0.2"), ("ECHO", "slow")))
    others = [asyncio.create_task(redis_client.execute(("ECHO", f"{each}"))) for each in range(10)]
    await asyncio.sleep(0.02)

    slow.cancel()
    others[3].cancel()

    with pytest.raises(asyncio.CancelledError):
        await slow
    left = [task for task in others if task is not others[3]]
    assert [reply for [reply] in await asyncio.gather(*left)] == [b"%d" % n for n in range(10) if n != 3]


async def test_callers_of_a_killed_connection_get_an_error_and_the_next_opens_a_new_one(
    rooms: Rooms, redis_client: MultiplexedRedisClient
) -> None:
    first = await _id_of(redis_client)
    waiting = [asyncio.create_task(redis_client.execute(("BLPOP", "nothing-here", 0))) for _ in range(5)]
    await asyncio.sleep(0.02)

    await rooms.redis.execute_command("CLIENT", "KILL", "ID", first)

    outcomes = await asyncio.gather(*waiting, return_exceptions=True)
    assert all(isinstance(each, RedisConnectionError) for each in outcomes)
    assert await _id_of(redis_client) != first


async def test_callers_survive_a_connection_that_is_killed_over_and_over(
    rooms: Rooms, redis_client: MultiplexedRedisClient
) -> None:
    lost = 0

    async def echo(number: int) -> None:
        nonlocal lost
        for turn in range(100):
            word = f"{number}-{turn}".encode()
            try:
                assert await redis_client.execute(("ECHO", word)) == [word]
            except RedisConnectionError:
                lost += 1
            await asyncio.sleep(0.001)

    async def kill() -> None:
        for _ in range(5):
            await asyncio.sleep(0.02)
            with contextlib.suppress(RedisConnectionError, ResponseError):
                await rooms.redis.execute_command("CLIENT", "KILL", "ID", await _id_of(redis_client))

    await asyncio.gather(kill(), *(echo(number) for number in range(20)))
    assert lost < 20 * 100
    assert await redis_client.execute(("ECHO", "still here")) == [b"still here"]


async def test_a_reply_of_many_megabytes_arrives_whole(redis_client: MultiplexedRedisClient) -> None:
    big = b"x" * (20 * 1024 * 1024)

    await redis_client.execute(("SET", "big", big))
    replies = await redis_client.execute(("GET", "big"), ("ECHO", "after"), ("STRLEN", "big"))

    assert replies == [big, b"after", len(big)]


async def test_a_refused_command_raises_for_its_caller_alone(redis_client: MultiplexedRedisClient) -> None:
    await redis_client.execute(("SET", "word", "a"))
    wrong = asyncio.create_task(
        redis_client.execute(("ECHO", "before"), ("LPUSH", "word", "b"), ("ECHO", "after"))
    )
    right = asyncio.create_task(redis_client.execute(("GET", "word")))

    with pytest.raises(ResponseError, match="wrong kind"):
        await wrong
    assert await right == [b"a"]


async def test_a_command_that_cannot_be_encoded_is_refused_and_leaves_no_gap(
    redis_client: MultiplexedRedisClient,
) -> None:
    with pytest.raises(UnicodeEncodeError):
        await redis_client.execute(("ECHO", "fine"), ("ECHO", "\ud800"))

    assert await redis_client.execute(("ECHO", "next")) == [b"next"]


@pytest.mark.slow
async def test_a_timeout_raises_in_every_caller(rooms: Rooms) -> None:
    hasty = MultiplexedRedisClient(rooms.redis, timeout_s=0.2)
    calls = [asyncio.create_task(hasty.execute(("BLPOP", "nothing-here", 3))) for _ in range(3)]

    outcomes = await asyncio.gather(*calls, return_exceptions=True)

    assert all(isinstance(each, RedisTimeoutError) for each in outcomes)
    assert await hasty.execute(("PING",)) == [b"PONG"]
    await hasty.close()


async def test_a_wrong_password_and_a_closed_port_raise(rooms: Rooms) -> None:
    kwargs = rooms.redis.connection_pool.connection_kwargs
    address = f"{kwargs['host']}:{kwargs['port']}"
    wrong = MultiplexedRedisClient(Redis.from_url(f"redis://:wrong@{address}/0"))
    nobody = MultiplexedRedisClient(Redis.from_url("redis://127.0.0.1:1/0"))

    with pytest.raises((AuthenticationError, ResponseError)):
        await wrong.execute(("PING",))
    with pytest.raises(RedisConnectionError):
        await nobody.execute(("PING",))
    await wrong.close()
    await nobody.close()


async def test_closing_raises_in_waiting_and_later_callers(redis_client: MultiplexedRedisClient) -> None:
    waiting = asyncio.create_task(redis_client.execute(("BLPOP", "nothing-here", 0)))
    await asyncio.sleep(0.05)

    await redis_client.close()

    with pytest.raises(RedisConnectionError):
        await waiting
    with pytest.raises(RedisConnectionError):
        await redis_client.execute(("PING",))


def test_a_second_event_loop_gets_a_connection_of_its_own(engines: dict[str, str]) -> None:
    redis_client = MultiplexedRedisClient(Redis.from_url(engines["redis"]))

    async def ping() -> None:
        assert await redis_client.execute(("PING",)) == [b"PONG"]

    with asyncio.Runner() as one, asyncio.Runner() as other:
        one.run(ping())
        other.run(ping())
        one.run(ping())
        one.run(redis_client.close())
        other.run(asyncio.sleep(0))
