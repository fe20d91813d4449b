"""Hot counters: changes that come seldom cost no round trip, changes that come fast are noticed by all processes."""

import time
from collections.abc import Callable

from tintype.redis.client import Command, PipelinedRedisClient
from tintype.redis.hot_counters import REPORTED_SHARE, WINDOW_S, HotCounters
from tintype.wiring import Rooms

HOT_PER_S = 20
THRESHOLD = HOT_PER_S * WINDOW_S


class Client(PipelinedRedisClient):
    """Counts its round trips."""

    round_trips = 0

    async def execute(self, *commands: Command) -> list[object]:
        self.round_trips += 1
        return await super().execute(*commands)


def counters(rooms: Rooms, client: Client, clock: Callable[[], float] = time.monotonic) -> HotCounters:
    return HotCounters(
        rooms.redis, "elsewhere", "thing", hot_per_s=HOT_PER_S, redis_client=client, clock=clock
    )


async def test_changes_that_come_seldom_are_counted_in_the_process(rooms: Rooms) -> None:
    client = Client(rooms.redis)
    counted = counters(rooms, client)
    for each in range(50):
        for _ in range(THRESHOLD // REPORTED_SHARE):
            assert not await counted.should_buffer(each)

    assert client.round_trips == 0


async def test_a_counter_is_hot_once_all_processes_together_have_seen_enough(rooms: Rooms) -> None:
    processes = [counters(rooms, Client(rooms.redis)) for _ in range(4)]
    answers = [await processes[number % 4].should_buffer(1) for number in range(THRESHOLD)]

    assert not any(answers[: THRESHOLD - 1 - 4 * (THRESHOLD // REPORTED_SHARE)])
    assert answers[-1]
    # What each process has seen before it asked is part of the sum: at most what another has not reported is missing.
    assert answers.index(True) >= THRESHOLD - 1


async def test_a_window_that_is_over_does_not_count(rooms: Rooms) -> None:
    client, now = Client(rooms.redis), [0.0]
    counted = counters(rooms, client, lambda: now[0])
    for _ in range(100):
        assert not await counted.should_buffer(1)
        now[0] += WINDOW_S / 4

    assert client.round_trips == 0
