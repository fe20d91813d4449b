"""Deadlines: one limit for everything that a call waits for.

Acquiring a connection, opening one, loading the map, following a moved shard, repeating a statement and the statement
itself share it. An ordinary call has no timer, which would cost as much as a fifth of a read: the pool limits how long
it waits for a connection and the server how long its statement runs, and the deadline of the options is longer than
both together. A timer is set for whatever goes on after that, and for every call with a shorter deadline of its own.
"""

import asyncio
from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager
from contextvars import ContextVar
from time import monotonic
from typing import Protocol, TypeVar

from shardwright.routing.errors import DeadlineExceeded, WriteDeadlineExceeded

T = TypeVar("T")


class Awaited(Protocol):
    """A server that may miss a deadline."""

    def miss_deadline(self, since: float, *, is_sent: bool) -> None:
        """Count a deadline that passed while waiting for this server since then."""
        ...


class Deadline:
    """The deadline of one call, and what it is waiting for at the moment."""

    __slots__ = ("_awaited", "_since", "acquiring_s", "is_sent", "limit_s", "started_at", "waits_for")

    def __init__(self, limit_s: float, started_at: float | None = None) -> None:
        self.started_at = monotonic() if started_at is None else started_at
        self.limit_s = limit_s
        self.acquiring_s = 0.0  # spent waiting for connections, in all attempts
        self.waits_for = "nothing, since the time was over before it began"
        self.is_sent = False  # a statement, whose outcome is not known yet
        self._awaited: Awaited | None = None
        self._since = self.started_at

    @property
    def left_s(self) -> float:
        """The seconds that are left; negative once it has passed."""
        return self.started_at + self.limit_s - monotonic()

    def wait_for(self, what: str, awaited: Awaited | None = None) -> None:
        """Record what the call waits for from now on, for its error and for the server's circuit breaker."""
        self.waits_for, self._awaited, self.is_sent = what, awaited, False
        self._since = monotonic()

    async def run(self, work: Callable[[], Awaitable[T]], name: str, *, writes: bool = False) -> T:
        """Return the result of the work, or cancel it and raise `DeadlineExceeded` when the time is over."""
        timer = asyncio.timeout(max(0.0, self.left_s))
        try:
            async with timer:
                return await work()
        except TimeoutError as error:
            if not timer.expired() or isinstance(error, DeadlineExceeded):
                raise
            self.count_miss()
            raise self.exceeded(name, is_unknown=writes and self.is_sent) from error

    def count_miss(self) -> None:
        """Count the miss against the server that was awaited, if any."""
        if self._awaited is not None:
            self._awaited.miss_deadline(self._since, is_sent=self.is_sent)

    def exceeded(
        self, name: str, limit_s: float | None = None, *, is_unknown: bool = False
    ) -> DeadlineExceeded:
        """The error of a call that was not done within its deadline, or within another limit."""
        kind = WriteDeadlineExceeded if is_unknown else DeadlineExceeded
        waited_s = monotonic() - self.started_at
        limit_s = max(0.0, self.limit_s if limit_s is None else limit_s)
        unknown = "; whether it was written is unknown" if is_unknown else ""
        return kind(
            f"{name} exceeded its deadline of {limit_s:.3g} s: after {waited_s:.3g} s it was waiting for "
            f"{self.waits_for}{unknown}",
            waited_for=self.waits_for,
            waited_s=waited_s,
            limit_s=limit_s,
        )


SCOPE: ContextVar[Deadline | None] = ContextVar("shardwright_deadline", default=None)
"""The deadline of the `deadline` block that is around the call; None outside of one."""


@contextmanager
def deadline(seconds: float) -> Generator[None]:
    """Give every call of a router in this block, and in tasks it starts, one deadline together.

    It replaces the options' default; of nested blocks and arguments, the earliest applies. Only calls of the router
    are interrupted, not the block itself.
    """
    own, outer = Deadline(seconds), SCOPE.get()
    token = SCOPE.set(own if outer is None or own.left_s < outer.left_s else outer)
    try:
        yield
    finally:
        SCOPE.reset(token)


def seconds_left(deadline_s: float | None) -> float | None:
    """The seconds that an argument and the block around the call allow; None without either."""
    scope = SCOPE.get()
    if scope is None:
        return deadline_s
    return scope.left_s if deadline_s is None else min(deadline_s, scope.left_s)


def earliest(own: Deadline | None) -> Deadline | None:
    """Of a transaction's deadline and that of the block around the call, the one that ends first."""
    scope = SCOPE.get()
    if own is None or scope is None:
        return own or scope
    return own if own.left_s < scope.left_s else scope
