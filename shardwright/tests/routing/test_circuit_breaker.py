"""The circuit breaker in isolation, with a fake clock."""

import pytest

from shardwright.errors import ServerUnavailable
from shardwright.routing import circuit_breaker as module
from shardwright.routing.circuit_breaker import CircuitBreaker


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


def fail(breaker: CircuitBreaker, times: int) -> None:
    for _ in range(times):
        breaker.record_failure()


def test_a_few_failures_keep_the_breaker_closed(clock: Clock) -> None:
    breaker = CircuitBreaker("a", max_failures=3, cooldown_s=1.0)
    fail(breaker, 2)
    breaker.record_success()
    fail(breaker, 2)

    assert clock.now
    assert not breaker.is_open
    breaker.check()


def test_after_too_many_failures_the_breaker_opens(clock: Clock) -> None:
    breaker = CircuitBreaker("a", max_failures=3, cooldown_s=1.0)
    fail(breaker, 3)

    with pytest.raises(ServerUnavailable, match="server a failed 3 times in a row"):
        breaker.check()
    assert clock.now < breaker.open_until


def test_after_the_cooldown_one_call_passes_and_its_success_closes_it(clock: Clock) -> None:
    breaker = CircuitBreaker("a", max_failures=3, cooldown_s=1.0)
    fail(breaker, 3)
    clock.now += 1.1
    breaker.check()
    with pytest.raises(ServerUnavailable):
        breaker.check()
    breaker.record_success()

    breaker.check()
    breaker.check()


def test_each_failed_trial_doubles_the_cooldown_up_to_a_limit(clock: Clock) -> None:
    breaker = CircuitBreaker("a", max_failures=1, cooldown_s=1.0)
    breaker.record_failure()
    rests: list[float] = []
    for _ in range(6):
        clock.now = breaker.open_until
        breaker.check()
        breaker.record_failure()
        rests.append(breaker.open_until - clock.now)

    assert rests == [2.0, 4.0, 8.0, 15.0, 15.0, 15.0]


def test_failures_of_calls_in_flight_do_not_extend_the_cooldown(clock: Clock) -> None:
    breaker = CircuitBreaker("a", max_failures=2, cooldown_s=1.0)
    fail(breaker, 50)

    assert breaker.open_until == clock.now + 1.0
