"""Ids generated outside the database from a leased range, for tools that need ids before they insert rows.

A lease is a range of ticks reserved from the shard's own sequence, as `next_ids` does: the database never hands out
leased ticks nor leases them twice, so there is nothing to keep in sync. A process that dies only leaves a gap. Ids of
one lease increase; compared with ids that the database generated since, they are older, and their time is that of the
lease: `IdGenerator` renews it before it gets stale.
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


class LeaseExhausted(ShardwrightError):
    """Every id of the lease has been used: get another lease."""


class IdLease:
    """A range of one shard's ids, reserved for this process.

    Thread-safe.
    """

    def __init__(self, layout: Layout, shard: int, first_tick: int, count: int) -> None:
        self.shard = shard
        self.count = count
        self.leased_at = time.monotonic()
        self._layout = layout
        # Advancing a range's iterator is one step of the interpreter: two threads never get the same tick.
        self._ticks = iter(range(first_tick, first_tick + count))

    def draw(self) -> int:
        """Return the next id of the lease, larger than all before; raises `LeaseExhausted` at the end."""
        try:
            tick = next(self._ticks)
        except StopIteration:
            raise LeaseExhausted(f"All {self.count} ids leased from shard {self.shard} are used.") from None
        return self._layout.compose(tick >> SEQUENCE_BITS, self.shard, tick & ((1 << SEQUENCE_BITS) - 1))

    def age_s(self) -> float:
        """Return the age of the lease in seconds, which is how far its ids' times lag."""
        return time.monotonic() - self.leased_at


async def lease_ids(
    conn: asyncpg.Connection, number: int, layout: Layout, count: int = DEFAULT_LEASE
) -> IdLease:
    """Reserve this many ids of a shard for this process."""
    first_tick = cast("int", await conn.fetchval(f"SELECT {schema_name(number)}.reserve_ticks($1)", count))
    return IdLease(layout, number, first_tick, count)


class IdGenerator:
    """Generates ids from one lease after another; only a renewal queries the database.

    generator = IdGenerator(lambda: lease_ids(conn, 42, layout))
    id = await generator.next_id()
    """

    def __init__(
        self, lease: Callable[[], Awaitable[IdLease]], *, max_age_s: float = DEFAULT_MAX_AGE_S
    ) -> None:
        self._new_lease = lease
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
                except LeaseExhausted:
                    pass  # renewed below
            await self._renew(lease)

    async def _renew(self, seen: IdLease | None) -> None:
        async with self._renewing:
            if self._lease is seen:  # otherwise another task renewed it while this one waited
                self._lease = await self._new_lease()
