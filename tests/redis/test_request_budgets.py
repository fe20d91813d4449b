"""Budgets of requests: exact within a process, shared between processes through Redis, held without it."""

import pytest
from redis.exceptions import ConnectionError as RedisConnectionError

from tintype.base.rate_limits import RateLimit
from tintype.redis import request_budgets
from tintype.redis.request_budgets import RequestBudgets
from tintype.wiring import Rooms

FOUR_A_MINUTE = RateLimit("looks", 4, 60)


class Clock:
    """A clock that the test sets."""

    now = 1_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


def budgets_of(rooms: Rooms, clock: Clock) -> RequestBudgets:
    return RequestBudgets(rooms.redis, rooms.settings.namespace, clock)


async def test_a_budget_is_used_up_and_grows_again(rooms: Rooms, clock: Clock) -> None:
    budgets = budgets_of(rooms, clock)

    taken = [budgets.take(FOUR_A_MINUTE, "ana") for _ in range(5)]

    assert [each.remaining for each in taken] == [3, 2, 1, 0, 0]
    assert [each.wait_s for each in taken] == [0, 0, 0, 0, pytest.approx(15)]
    assert budgets.take(FOUR_A_MINUTE, "bo").remaining == 3
    clock.now += 15
    assert budgets.take(FOUR_A_MINUTE, "ana").wait_s == 0
    assert budgets.take(FOUR_A_MINUTE, "ana").wait_s > 0
    clock.now += 60
    assert budgets.take(FOUR_A_MINUTE, "ana").remaining == 3


async def test_processes_share_one_budget(rooms: Rooms, clock: Clock) -> None:
    one, other = budgets_of(rooms, clock), budgets_of(rooms, clock)
    for _ in range(2):
        one.take(FOUR_A_MINUTE, "ana")
        other.take(FOUR_A_MINUTE, "ana")

    await one.share()
    await other.share()

    assert other.take(FOUR_A_MINUTE, "ana").wait_s > 0
    one.take(FOUR_A_MINUTE, "ana")  # it has not heard of the other's yet
    await one.share()
    assert one.take(FOUR_A_MINUTE, "ana").wait_s > 0


async def test_what_came_in_while_sharing_still_counts(rooms: Rooms, clock: Clock) -> None:
    budgets = budgets_of(rooms, clock)
    budgets.take(FOUR_A_MINUTE, "ana")
    await budgets.share()

    left = [budgets.take(FOUR_A_MINUTE, "ana").remaining for _ in range(3)]

    assert left == [2, 1, 0]


async def test_somebody_who_asks_little_costs_redis_nothing(rooms: Rooms, clock: Clock) -> None:
    budgets = budgets_of(rooms, clock)
    for _ in range(99):
        budgets.take(RateLimit("looks", 1_600, 60), "ana")

    await budgets.share()

    assert not await rooms.redis.exists(f"{rooms.settings.namespace}:budget:looks:ana")


async def test_without_redis_each_process_counts_for_itself(
    rooms: Rooms, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def away(*_args: object, **_options: object) -> None:
        raise RedisConnectionError

    budgets = budgets_of(rooms, clock)
    monkeypatch.setattr("redis.asyncio.client.Pipeline.execute", away)
    for _ in range(4):
        assert budgets.take(FOUR_A_MINUTE, "ana").wait_s == 0

    await budgets.share()

    assert budgets.take(FOUR_A_MINUTE, "ana").wait_s > 0
    monkeypatch.undo()
    await budgets.share()
    assert await rooms.redis.exists(f"{rooms.settings.namespace}:budget:looks:ana")


async def test_made_up_addresses_do_not_fill_the_memory(
    rooms: Rooms, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(request_budgets, "MAX_KEYS", 10)
    budgets = budgets_of(rooms, clock)

    for number in range(100):
        budgets.take(FOUR_A_MINUTE, f"203.0.113.{number}")

    assert len(budgets._buckets) <= 10
    await budgets.share()
