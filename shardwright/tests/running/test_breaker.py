"""The breaker alone, with its clock in our hands."""

import pytest

from shardwright.errors import ServerUnavailable
from shardwright.running import breaker as module
from shardwright.running.breaker import Breaker


class Clock:
    def __init__(self) -> None:
        self.now = 1_000.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(module, "time", clock)
    return clock


def fail(breaker: Breaker, times: int) -> None:
    for _ in range(times):
        breaker.failed()


def test_a_few_failures_change_nothing(clock: Clock) -> None:
    breaker = Breaker("a", allowed=3, rest_s=1.0)
    fail(breaker, 2)
    breaker.succeeded()
    fail(breaker, 2)

    assert clock.now
    assert not breaker.is_open
    breaker.check()


def test_after_too_many_failures_calls_are_refused_at_once(clock: Clock) -> None:
    breaker = Breaker("a", allowed=3, rest_s=1.0)
    fail(breaker, 3)

    with pytest.raises(ServerUnavailable, match="server a failed 3 times in a row"):
        breaker.check()
    assert clock.now < breaker.open_until


def test_after_the_rest_one_call_tries_and_its_success_closes_it(clock: Clock) -> None:
    breaker = Breaker("a", allowed=3, rest_s=1.0)
    fail(breaker, 3)
    clock.now += 1.1
    breaker.check()
    with pytest.raises(ServerUnavailable):
        breaker.check()
    breaker.succeeded()

    breaker.check()
    breaker.check()


def test_each_failed_trial_doubles_the_rest_up_to_a_limit(clock: Clock) -> None:
    breaker = Breaker("a", allowed=1, rest_s=1.0)
    breaker.failed()
    rests: list[float] = []
    for _ in range(6):
        clock.now = breaker.open_until
        breaker.check()
        breaker.failed()
        rests.append(breaker.open_until - clock.now)

    assert rests == [2.0, 4.0, 8.0, 15.0, 15.0, 15.0]


def test_failures_of_calls_already_under_way_do_not_lengthen_the_rest(clock: Clock) -> None:
    breaker = Breaker("a", allowed=2, rest_s=1.0)
    fail(breaker, 50)

    assert breaker.open_until == clock.now + 1.0
