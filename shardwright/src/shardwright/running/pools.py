"""The connections to one server.

Taking and giving back a connection is plain list work without a task switch: it happens for every statement.
Waiting, opening, replacing and healing are the exceptions and live in the slow half.
"""

import asyncio
import contextlib
import logging
from collections.abc import Coroutine, Iterable
from time import monotonic
from typing import Any

import asyncpg

from shardwright.errors import ServerUnavailable
from shardwright.running.breaker import Breaker
from shardwright.running.lanes import Lane, Lanes, Waiter
from shardwright.running.links import Connector, Link
from shardwright.running.options import PoolOptions
from shardwright.topology import Server

log = logging.getLogger(__name__)

HEAL_TIMEOUT_S = 5.0
CLOSE_TIMEOUT_S = 5.0
GRACE_S = 1.0
PATIENCE_S = 0.05  # a connection that is merely busy is back sooner than a new one is open


class Pool:
    """Connections to one server, dealt out to lanes of shards."""

    def __init__(self, server: Server, options: PoolOptions, breaker: Breaker, *, for_gather: bool) -> None:
        self.server = server
        self.breaker = breaker
        self._options = options
        self._connector = Connector(server, options)
        self._most = options.gather_connections if for_gather else options.max_connections
        self._spare = 0 if for_gather else options.spare_connections
        per_lane = options.shards_per_gather_connection if for_gather else options.shards_per_connection
        self.lanes = Lanes(shards_per_lane=per_lane, max_lanes=max(1, self._most))
        self.links: set[Link] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._ticking: asyncio.TimerHandle | None = None
        self._is_closed = False

    def take(self, number: int) -> Link | None:
        """A free connection for a shard, if there is one at once."""
        if self.breaker.open_until:
            self.breaker.check()
        lane = self.lanes.of(number)
        while lane.idle:
            link = lane.idle.pop()
            if not link.conn.is_closed():
                link.touched.add(number)
                link.busy_since = monotonic()
                return link
            self._forget(link)
        return None

    def give(self, link: Link) -> None:
        """A connection is free again; it has no transaction open. Whether it still lives is seen when taken."""
        lane = link.lane
        if self.breaker.failures:
            self.breaker.succeeded()
        link.busy_since = None
        link.used_at = now = monotonic()
        if self._is_closed or now > link.retire_at or lane.is_full(link):
            self._drop(link)
        elif lane.waiters:
            lane.hand_over(link)
        else:
            lane.idle.append(link)

    async def wait(self, number: int) -> Link:
        """A connection for a shard, opened or waited for."""
        link = await self._wait(self.lanes.of(number))
        link.touched.add(number)
        link.busy_since = monotonic()
        return link

    def heal(self, link: Link) -> None:
        """A statement on this connection was interrupted: make it usable again, or replace it, behind the scenes."""
        self._spawn(self._heal(link))

    def deal(self, numbers: Iterable[int]) -> None:
        """The server holds these shards now."""
        self.lanes.deal(numbers)
        if any(len(lane.shards) > lane.touch_limit for lane in self.lanes.all):
            log.warning(
                "pool.narrow: server %s holds more shards than %s connections of %s may touch: they will be "
                "replaced often; raise one of the two",
                self.server.name,
                len(self.lanes.all),
                self.lanes.all[0].touch_limit,
            )

    def end_overdue(self) -> None:
        """A connection whose server does not even keep its own time limit is cut, and its caller told."""
        started_before = monotonic() - self._options.statement_timeout_s - GRACE_S
        for link in list(self.links):
            if link.busy_since is not None and link.busy_since < started_before:
                link.is_overdue = True
                link.conn.terminate()

    def tidy(self) -> None:
        """Connections idle for long are closed."""
        now = monotonic()
        for lane in self.lanes.all:
            old = [link for link in lane.idle if now - link.used_at > self._options.idle_s]
            for link in old:
                lane.idle.remove(link)
                self._drop(link)

    async def close(self) -> None:
        """Every connection is closed, those in use as soon as they come back, at the latest in a few seconds."""
        self._is_closed = True
        if self._ticking is not None:
            self._ticking.cancel()
        for lane in self.lanes.all:
            lane.fail(ServerUnavailable("the router is closed"))
            while lane.idle:
                self._drop(lane.idle.pop())
        deadline = monotonic() + CLOSE_TIMEOUT_S
        while (self._tasks or self.links) and monotonic() < deadline:  # noqa: ASYNC110  # once in a router's life
            await asyncio.sleep(0.01)  # once in a router's life; an event would live in `give`
        for link in list(self.links):
            link.conn.terminate()
        for task in list(self._tasks):
            task.cancel()

    @property
    def waiting(self) -> int:
        """How many callers wait for a connection."""
        return sum(len(lane.waiters) for lane in self.lanes.all)

    @property
    def idle(self) -> int:
        """How many connections are free."""
        return sum(len(lane.idle) for lane in self.lanes.all)

    async def _wait(self, lane: Lane) -> Link:
        since = monotonic()
        while True:
            if self._is_closed:
                raise ServerUnavailable("the router is closed")
            waiter = Waiter(since)
            lane.waiters.append(waiter)
            if lane.size < self._share:
                self._start_opening(lane)
            self._tick_later()
            try:
                link = await waiter.future
            except asyncio.CancelledError:
                self._abandon(lane, waiter)
                raise
            if link is not None and not link.conn.is_closed():
                return link
            if link is not None:
                self._forget(link)

    def _tick_later(self) -> None:
        """One timer for all who wait, and none while nobody does: a timer each would cost as much as a read."""
        if self._ticking is None:
            self._ticking = asyncio.get_running_loop().call_later(PATIENCE_S, self._tick)

    def _tick(self) -> None:
        """Who waited long gets a spare connection, who waited too long an answer."""
        self._ticking = None
        now = monotonic()
        for lane in self.lanes.all:
            lane.give_up(now - self._options.acquire_timeout_s, self._too_late)
            if lane.waiters:
                self._tick_later()
                if now - lane.waiters[0].since > PATIENCE_S and self._has_spare(lane):
                    self._start_opening(lane)

    def _too_late(self) -> ServerUnavailable:
        return ServerUnavailable(
            f"no connection to server {self.server.name} became free within {self._options.acquire_timeout_s} s"
        )

    def _abandon(self, lane: Lane, waiter: Waiter) -> None:
        """Whoever waited is gone; what was handed over in the same moment goes to the next."""
        with contextlib.suppress(ValueError):
            lane.waiters.remove(waiter)
        future = waiter.future
        if future.done() and not future.cancelled() and future.exception() is None:
            link = future.result()
            if link is None:
                lane.wake()
            else:
                self.give(link)

    def _start_opening(self, lane: Lane) -> None:
        lane.size += 1
        self._spawn(self._open(lane))

    def _has_spare(self, lane: Lane) -> bool:
        """Beyond the lanes' shares there are spare places, taken back from lanes that idle."""
        share = self._share
        spare = self._most - share * len(self.lanes.all) + self._spare
        used = sum(max(0, other.size - share) for other in self.lanes.all)
        if used < spare:
            return True
        for other in self.lanes.all:
            if other is not lane and other.idle and other.size > share:
                self._drop(other.idle.pop(0))
                return True
        return False

    @property
    def _share(self) -> int:
        return max(1, self._most // len(self.lanes.all))

    async def _open(self, lane: Lane) -> None:
        try:
            conn, is_pooled = await self._connector.connect()
        except Exception as error:  # noqa: BLE001  # whatever it is, those who wait must learn of it
            lane.size -= 1
            self.breaker.failed()
            if not lane.size:  # otherwise a connection of the lane may still come back
                lane.fail(error)
            return
        except BaseException:
            lane.size -= 1
            raise
        self.breaker.succeeded()
        link = Link(conn, lane, is_pooled=is_pooled, max_age_s=self._options.max_age_s)
        self.links.add(link)
        if self._is_closed:
            self._drop(link)
        else:
            lane.hand_over(link)

    async def _heal(self, link: Link) -> None:
        conn = link.conn
        link.busy_since = None
        if conn.is_closed():
            self._forget(link)
            return
        try:
            # asyncpg waits here until a cancellation under way has been answered.
            await conn.execute("ROLLBACK" if conn.is_in_transaction() else "SELECT 1", timeout=HEAL_TIMEOUT_S)
            if conn.is_in_transaction():
                await conn.execute("ROLLBACK", timeout=HEAL_TIMEOUT_S)
        except (OSError, TimeoutError, asyncpg.PostgresError, asyncpg.InterfaceError) as error:
            log.info("connection.replaced: %r", error)
            self.breaker.failed()
            conn.terminate()
            self._forget(link)
            return
        self.give(link)

    def _drop(self, link: Link) -> None:
        self._forget(link)
        if not link.conn.is_closed():
            self._spawn(_close(link))

    def _forget(self, link: Link) -> None:
        if link in self.links:
            self.links.remove(link)
            link.lane.size -= 1
            link.lane.wake()

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


async def _close(link: Link) -> None:
    try:
        await link.conn.close(timeout=CLOSE_TIMEOUT_S)
    except (OSError, TimeoutError, asyncpg.PostgresError, asyncpg.InterfaceError):
        link.conn.terminate()  # it was broken already
