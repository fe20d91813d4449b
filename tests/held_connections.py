"""Nobody waits for a second connection while they hold one: requests that did would wait for each other.

A pool that has handed out its last connection to callers who each need one more never gets any back: they all fail
after `acquire_timeout_s`. It takes load to see that, so every test fails at the first such call instead. The two
connections need not lead to the same server: one caller may hold the first and want the second, another the reverse.
Connections for gathers do not count: who holds one of those wants no other.
"""

import traceback
from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field

import pytest

from shardwright.routing.connection_pool import ConnectionPool
from shardwright.routing.pooled_connection import PooledConnection

SHOWN_FRAMES = 25


@dataclass(eq=False)
class _Held:
    """A connection in the hands of a task, and of the tasks that it has started since."""

    is_held: bool = True


_HELD: ContextVar[_Held | None] = ContextVar("held_connection", default=None)


@dataclass
class SecondConnections:
    """Stack traces of calls that asked for a connection while they held one."""

    traces: list[str] = field(default_factory=list[str])
    _held: dict[PooledConnection, _Held] = field(default_factory=dict[PooledConnection, _Held])

    def take(self) -> list[str]:
        """Return the traces and begin anew."""
        taken, self.traces = self.traces, []
        return taken

    def ask(self) -> None:
        """Note the call if the current task holds a connection."""
        held = _HELD.get()
        if held is not None and held.is_held:
            self.traces.append("".join(traceback.format_stack(limit=SHOWN_FRAMES)[:-2]))

    def hold(self, pooled: PooledConnection) -> None:
        """The current task has got a connection."""
        self._held[pooled] = held = _Held()
        _HELD.set(held)

    def give_back(self, pooled: PooledConnection) -> None:
        """The connection is the pool's again."""
        held = self._held.pop(pooled, None)
        if held is not None:
            held.is_held = False


@contextmanager
def watch_second_connections() -> Generator[SecondConnections]:
    """Note every call for a second connection, in this process and for the length of the block."""
    found = SecondConnections()
    acquire_nowait, acquire = ConnectionPool.acquire_nowait, ConnectionPool.acquire
    release, recover = ConnectionPool.release, ConnectionPool.recover

    def watched_acquire_nowait(self: ConnectionPool, number: int) -> PooledConnection | None:
        if self.is_for_gather:
            return acquire_nowait(self, number)
        found.ask()
        pooled = acquire_nowait(self, number)
        if pooled is not None:
            found.hold(pooled)
        return pooled

    async def watched_acquire(self: ConnectionPool, number: int, waited_s: float = 0.0) -> PooledConnection:
        pooled = await acquire(self, number, waited_s)
        if not self.is_for_gather:
            found.hold(pooled)
        return pooled

    def watched_release(self: ConnectionPool, pooled: PooledConnection) -> None:
        found.give_back(pooled)
        release(self, pooled)

    def watched_recover(self: ConnectionPool, pooled: PooledConnection) -> None:
        found.give_back(pooled)
        recover(self, pooled)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ConnectionPool, "acquire_nowait", watched_acquire_nowait)
        patch.setattr(ConnectionPool, "acquire", watched_acquire)
        patch.setattr(ConnectionPool, "release", watched_release)
        patch.setattr(ConnectionPool, "recover", watched_recover)
        yield found
