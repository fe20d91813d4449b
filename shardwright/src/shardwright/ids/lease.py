"""Ids made outside the database, for tools that need them before they talk to it.

A lease is a range of ticks taken from the shard's own sequence, in the way `next_ids` takes them: the
database will never hand out what it leased, nor lease it twice, so there is no second book to keep in step.
A process that dies leaves a gap and nothing else. Ids of one lease increase; beside ids that the database
made since, they are older, and their time is that of the lease: `IdMaker` renews before it gets stale.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Final, cast

import asyncpg

from shardwright.errors import ShardwrightError
from shardwright.ids.layout import SEQUENCE_BITS, Layout, schema_name

DEFAULT_LEASE: Final = 1_000
DEFAULT_MAX_AGE_S: Final = 10.0


class LeaseSpent(ShardwrightError):
    """Every id of the lease has been drawn: take out another."""


class IdLease:
    """A range of one shard's ids that belongs to this process alone.

    Draw from it in any thread.
    """

    def __init__(self, layout: Layout, shard: int, first_tick: int, count: int) -> None:
        self.shard = shard
        self.count = count
        self.leased_at = time.monotonic()
        self._layout = layout
        # Advancing a range's iterator is one step of the interpreter: two threads never get the same tick.
        self._ticks = iter(range(first_tick, first_tick + count))

    def draw(self) -> int:
        """Return the next id of the lease, larger than all before."""
        try:
            tick = next(self._ticks)
        except StopIteration:
            raise LeaseSpent(f"All {self.count} ids leased from shard {self.shard} are drawn.") from None
        return self._layout.compose(tick >> SEQUENCE_BITS, self.shard, tick & ((1 << SEQUENCE_BITS) - 1))

    def age_s(self) -> float:
        """Return for how many seconds the lease has been held, which is how far its ids' times lag."""
        return time.monotonic() - self.leased_at


async def lease_ids(
    conn: asyncpg.Connection, number: int, layout: Layout, count: int = DEFAULT_LEASE
) -> IdLease:
    """Take so many ids of a shard out of the database's hands, for this process to give out."""
    first_tick = cast("int", await conn.fetchval(f"SELECT {schema_name(number)}.reserve_ticks($1)", count))
    return IdLease(layout, number, first_tick, count)


class IdMaker:
    """Ids from one lease after another; only the renewal talks to the database.

    maker = IdMaker(lambda: lease_ids(conn, 42, layout))
    id = await maker.next_id()
    """

    def __init__(
        self, lease: Callable[[], Awaitable[IdLease]], *, max_age_s: float = DEFAULT_MAX_AGE_S
    ) -> None:
        self._take_out = lease
        self._max_age_s = max_age_s
        self._lease: IdLease | None = None
        self._renewing = asyncio.Lock()

    async def next_id(self) -> int:
        """Return an id, from a lease younger than `max_age_s`."""
        while True:
            lease = self._lease
            if lease is not None and lease.age_s() < self._max_age_s:
                try:
                    return lease.draw()
                except LeaseSpent:
                    pass  # as leases do: the next one is below
            await self._renew(lease)

    async def _renew(self, seen: IdLease | None) -> None:
        async with self._renewing:
            if self._lease is seen:  # otherwise another task renewed it while this one waited
                self._lease = await self._take_out()
