"""The shared connection to Redis: answers reach those who asked, whatever happens to the connection or to them."""

import asyncio
import contextlib
from collections.abc import AsyncIterator

import pytest
from redis.asyncio import Redis
from redis.exceptions import AuthenticationError, ResponseError
from redis.exceptions import ConnectionError as RedisAway
from redis.exceptions import TimeoutError as RedisLate

from tintype.base.wire import SharedWire
from tintype.wiring import Rooms


@pytest.fixture
async def wire(rooms: Rooms) -> AsyncIterator[SharedWire]:
    made = SharedWire(rooms.redis)
    yield made
    await made.close()


async def _id_of(wire: SharedWire) -> int:
    return (await wire.ask(("CLIENT", "ID")))[0]


async def test_two_hundred_callers_at_once_each_get_their_own_answers(wire: SharedWire) -> None:
    async def echo(number: int) -> None:
        for turn in range(20):
            words = [f"{number}-{turn}-{each}".encode() for each in range(number % 5 + 1)]
            assert await wire.ask(*(("ECHO", word) for word in words)) == words
            if number % 7 == 0:
                await asyncio.sleep(0)

    await asyncio.gather(*(echo(number) for number in range(200)))


async def test_all_callers_share_one_connection_to_the_database_of_the_settings(
    rooms: Rooms, wire: SharedWire
) -> None:
    await rooms.redis.set("here", "yes")

    ids = await asyncio.gather(*(_id_of(wire) for _ in range(20)))

    assert len(set(ids)) == 1
    assert await wire.ask(("GET", "here")) == [b"yes"]


async def test_a_cancelled_caller_does_not_shift_the_answers_of_others(wire: SharedWire) -> None:
    await wire.ask(("PING",))
    slow = asyncio.create_task(wire.ask(("BLPOP", "nothing-here", "0.2"), ("ECHO", "slow")))
    others = [asyncio.create_task(wire.ask(("ECHO", f"{each}"))) for each in range(10)]
    await asyncio.sleep(0.02)

    slow.cancel()
    others[3].cancel()

    with pytest.raises(asyncio.CancelledError):
        await slow
    left = [task for task in others if task is not others[3]]
    assert [answer for [answer] in await asyncio.gather(*left)] == [b"%d" % n for n in range(10) if n != 3]


async def test_whoever_waits_when_the_connection_is_killed_is_told_and_the_next_gets_a_new_one(
    rooms: Rooms, wire: SharedWire
) -> None:
    first = await _id_of(wire)
    waiting = [asyncio.create_task(wire.ask(("BLPOP", "nothing-here", 0))) for _ in range(5)]
    await asyncio.sleep(0.02)

    await rooms.redis.execute_command("CLIENT", "KILL", "ID", first)

    told = await asyncio.gather(*waiting, return_exceptions=True)
    assert all(isinstance(each, RedisAway) for each in told)
    assert await _id_of(wire) != first


async def test_callers_survive_a_connection_that_is_killed_over_and_over(
    rooms: Rooms, wire: SharedWire
) -> None:
    lost = 0

    async def echo(number: int) -> None:
        nonlocal lost
        for turn in range(100):
            word = f"{number}-{turn}".encode()
            try:
                assert await wire.ask(("ECHO", word)) == [word]
            except RedisAway:
                lost += 1
            await asyncio.sleep(0.001)

    async def kill() -> None:
        for _ in range(5):
            await asyncio.sleep(0.02)
            with contextlib.suppress(RedisAway, ResponseError):
                await rooms.redis.execute_command("CLIENT", "KILL", "ID", await _id_of(wire))

    await asyncio.gather(kill(), *(echo(number) for number in range(20)))
    assert lost < 20 * 100
    assert await wire.ask(("ECHO", "still here")) == [b"still here"]


async def test_an_answer_of_many_megabytes_arrives_whole(wire: SharedWire) -> None:
    big = b"x" * (20 * 1024 * 1024)

    await wire.ask(("SET", "big", big))
    answers = await wire.ask(("GET", "big"), ("ECHO", "after"), ("STRLEN", "big"))

    assert answers == [big, b"after", len(big)]


async def test_a_refused_command_raises_for_its_caller_alone(wire: SharedWire) -> None:
    await wire.ask(("SET", "word", "a"))
    wrong = asyncio.create_task(wire.ask(("ECHO", "before"), ("LPUSH", "word", "b"), ("ECHO", "after")))
    right = asyncio.create_task(wire.ask(("GET", "word")))

    with pytest.raises(ResponseError, match="wrong kind"):
        await wrong
    assert await right == [b"a"]


async def test_what_cannot_be_written_is_refused_and_leaves_no_gap(wire: SharedWire) -> None:
    with pytest.raises(UnicodeEncodeError):
        await wire.ask(("ECHO", "fine"), ("ECHO", "\ud800"))

    assert await wire.ask(("ECHO", "next")) == [b"next"]


async def test_a_server_that_does_not_answer_is_given_up_for_all(rooms: Rooms) -> None:
    hasty = SharedWire(rooms.redis, timeout_s=0.2)
    asked = [asyncio.create_task(hasty.ask(("BLPOP", "nothing-here", 3))) for _ in range(3)]

    told = await asyncio.gather(*asked, return_exceptions=True)

    assert all(isinstance(each, RedisLate) for each in told)
    assert await hasty.ask(("PING",)) == [b"PONG"]
    await hasty.close()


async def test_a_wrong_password_and_an_empty_port_say_so(rooms: Rooms) -> None:
    kwargs = rooms.redis.connection_pool.connection_kwargs
    address = f"{kwargs['host']}:{kwargs['port']}"
    wrong = SharedWire(Redis.from_url(f"redis://:wrong@{address}/0"))
    nobody = SharedWire(Redis.from_url("redis://127.0.0.1:1/0"))

    with pytest.raises((AuthenticationError, ResponseError)):
        await wrong.ask(("PING",))
    with pytest.raises(RedisAway):
        await nobody.ask(("PING",))
    await wrong.close()
    await nobody.close()


async def test_closing_tells_those_who_wait_and_those_who_come_later(wire: SharedWire) -> None:
    waiting = asyncio.create_task(wire.ask(("BLPOP", "nothing-here", 0)))
    await asyncio.sleep(0.05)

    await wire.close()

    with pytest.raises(RedisAway):
        await waiting
    with pytest.raises(RedisAway):
        await wire.ask(("PING",))


def test_a_second_event_loop_gets_a_connection_of_its_own(engines: dict[str, str]) -> None:
    wire = SharedWire(Redis.from_url(engines["redis"]))

    async def ping() -> None:
        assert await wire.ask(("PING",)) == [b"PONG"]

    with asyncio.Runner() as one, asyncio.Runner() as other:
        one.run(ping())
        other.run(ping())
        one.run(ping())
        one.run(wire.close())
        other.run(asyncio.sleep(0))
