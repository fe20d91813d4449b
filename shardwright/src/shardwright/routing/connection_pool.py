"""Connection pool of one server.

Acquiring and releasing an idle connection is plain list work without a task switch: it happens for every statement.
Waiting, opening, replacing and recovering connections are the exceptions and live in the slow half.
"""

import asyncio
import contextlib
import logging
import math
from collections.abc import Coroutine, Iterable
from time import monotonic
from typing import Any

import asyncpg

from shardwright.errors import ServerUnavailable
from shardwright.routing.backend_size import BackendSizes
from shardwright.routing.circuit_breaker import CircuitBreaker
from shardwright.routing.connection_groups import ConnectionGroup, ConnectionGroups, Waiter
from shardwright.routing.errors import PoolExhausted
from shardwright.routing.options import OVERDUE_AFTER_S, PoolOptions
from shardwright.routing.pooled_connection import Connector, PooledConnection

log = logging.getLogger(__name__)

RECOVER_TIMEOUT_S = 5.0
RESTED_S = 5.0  # without use, after which a connection may lead to a primary that was replaced while it hung
CLOSE_TIMEOUT_S = 5.0
MEASURE_EVERY_S = 30.0  # of a connection in use: its backend is asked how large it is
KEEP_SPARE_S = (
    0.5  # that a spare connection stays with its group after its last use: opening one costs a hundred reads
)
SPARE_IDLE_S = 30.0  # after which one that nobody needs is closed, for the memory of its backend
OPEN_SPARE_AFTER_S = 0.05  # a busy connection is usually released sooner than a new one is open


class ConnectionPool:
    """Connections to one server, partitioned into groups by shard."""

    def __init__(
        self, connector: Connector, options: PoolOptions, breaker: CircuitBreaker, *, for_gather: bool
    ) -> None:
        self.server = connector.server
        self.breaker = breaker
        self.is_for_gather = for_gather
        self._options = options
        self._connector = connector
        self._max_connections = options.gather_connections if for_gather else options.max_connections
        self._max_spare = 0 if for_gather else options.spare_connections
        self.groups = ConnectionGroups(
            shards_per_group=options.shards_per_gather_connection
            if for_gather
            else options.shards_per_connection,
            max_groups=max(1, self._max_connections),
            wanted_groups=1 if for_gather else self._max_connections // options.connections_per_group,
        )
        self.connections: set[PooledConnection] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._waiter_timer: asyncio.TimerHandle | None = None
        self._recovering = 0
        self._sizes = BackendSizes()
        self.recycled = 0
        """How many connections were replaced because their backends had grown too large."""
        self._is_closed = False

    def acquire_nowait(self, number: int) -> PooledConnection | None:
        """Return an idle connection for a shard, or None when there is none."""
        if self.breaker.open_until:
            self.breaker.check()
        group = self.groups.for_shard(number)
        while group.idle:
            pooled = group.idle.pop()
            if not pooled.conn.is_closed():
                now = monotonic()
                if now - pooled.used_at > RESTED_S and self._connector.primary.is_unconfirmed(now):
                    group.idle.append(pooled)
                    return None  # `acquire` finds out first whether the server is still the primary
                pooled.shards_touched.add(number)
                pooled.busy_since = now
                return pooled
            self._remove(pooled)
        return None

    def release(self, pooled: PooledConnection) -> None:
        """Make a connection available again; it must have no transaction open."""
        group = pooled.group
        if self.breaker.failures:
            self.breaker.record_success()
        pooled.busy_since = None
        pooled.used_at = now = monotonic()
        if self._is_closed or now > pooled.check_at or group.is_full(pooled):
            self._drop_or_measure(pooled, now)
        elif group.waiters:
            group.hand_over(pooled)
        else:
            group.idle.append(pooled)

    async def acquire(self, number: int, waited_s: float = 0.0) -> PooledConnection:
        """Return a connection for a shard, waiting for one or opening one.

        `waited_s` is what earlier attempts of the same call have used of `acquire_timeout_s`.
        """
        since = monotonic() - waited_s
        group = self.groups.for_shard(number)
        pooled = None
        if group.idle:
            await self._confirm_primary()
            pooled = self.acquire_nowait(number)
        if pooled is None:
            pooled = await self._wait(group, since)
        pooled.shards_touched.add(number)
        pooled.busy_since = monotonic()
        return pooled

    async def _confirm_primary(self) -> None:
        """Find out whether the server is still the primary: its connections have rested, and it may have hung."""
        if self._connector.primary.is_unconfirmed(monotonic()):
            try:
                await self._connector.primary.confirm()
            except ServerUnavailable:
                self.breaker.record_failure()
                raise

    def recover(self, pooled: PooledConnection) -> None:
        """Make a connection usable again in the background after an interrupted statement, or replace it."""
        self._recovering += 1
        self._spawn(self._recover(pooled))

    def assign_shards(self, numbers: Iterable[int]) -> None:
        """Set the shards that the server owns now."""
        self.groups.assign_shards(numbers)
        if any(len(group.shards) > group.max_shards_touched for group in self.groups.all):
            log.warning(
                "pool.too_small: server %s has more shards than %s connections of %s shards each: connections will be "
                "replaced often; raise max_connections or shards_per_connection",
                self.server.name,
                len(self.groups.all),
                self.groups.all[0].max_shards_touched,
            )

    def terminate_overdue(self) -> None:
        """Terminate connections whose statement has outlived the server's own statement_timeout."""
        started_before = monotonic() - self._options.statement_timeout_s - OVERDUE_AFTER_S
        for pooled in list(self.connections):
            if pooled.busy_since is not None and pooled.busy_since < started_before:
                pooled.is_overdue = True
                pooled.conn.terminate()

    def drop_connections(self, before_timeline: float = math.inf) -> None:
        """Terminate the connections to a server that is not the primary any more, or does not answer."""
        for pooled in list(self.connections):
            if pooled.conn.timeline < before_timeline:
                pooled.conn.terminate()

    def close_idle(self) -> None:
        """Close connections that have been idle for long, spare ones sooner than others."""
        now = monotonic()
        for group in self.groups.all:
            for pooled in list(group.idle):  # the longest idle first
                is_spare = group.size > self._connections_per_group
                limit_s = min(SPARE_IDLE_S, self._options.idle_s) if is_spare else self._options.idle_s
                if now - pooled.used_at > limit_s:
                    group.idle.remove(pooled)
                    self._drop(pooled)

    async def close(self) -> None:
        """Close every connection: idle ones now, those in use when released, at the latest after a few seconds."""
        self._is_closed = True
        if self._waiter_timer is not None:
            self._waiter_timer.cancel()
        for group in self.groups.all:
            group.fail_all(ServerUnavailable("the router is closed"))
            while group.idle:
                self._drop(group.idle.pop())
        deadline = monotonic() + CLOSE_TIMEOUT_S
        while (self._tasks or self.connections) and monotonic() < deadline:  # noqa: ASYNC110  # once in a router's life
            await asyncio.sleep(0.01)  # an event would have to be checked in `release`, on the hot path
        for pooled in list(self.connections):
            pooled.conn.terminate()
        for task in list(self._tasks):
            task.cancel()

    def has_answered_since(self, since: float) -> bool:
        """Whether a connection was opened or finished a statement since then."""
        return any(pooled.used_at >= since for pooled in self.connections)

    def has_waited_since(self, since: float) -> bool:
        """Whether a statement that was sent before then has not been answered."""
        return any(pooled.busy_since is not None and pooled.busy_since < since for pooled in self.connections)

    @property
    def awaits_server(self) -> bool:
        """Whether a connection is being opened or recovered: callers may be waiting for the server, not for others."""
        return self._recovering > 0 or any(group.opening for group in self.groups.all)

    @property
    def waiting(self) -> int:
        """How many callers are waiting for a connection."""
        return sum(len(group.waiters) for group in self.groups.all)

    @property
    def idle(self) -> int:
        """How many connections are idle."""
        return sum(len(group.idle) for group in self.groups.all)

    async def _wait(self, group: ConnectionGroup, since: float) -> PooledConnection:
        while True:
            if self._is_closed:
                raise ServerUnavailable("the router is closed")
            waiter = Waiter(since)
            group.waiters.append(waiter)
            if group.size < self._connections_per_group:
                self._start_opening(group)
            self._schedule_waiter_check()
            try:
                pooled = await waiter.future
            except asyncio.CancelledError:
                self._abandon(group, waiter)
                raise
            if pooled is not None and not pooled.conn.is_closed():
                return pooled
            if pooled is not None:
                self._remove(pooled)

    def _schedule_waiter_check(self) -> None:
        """One timer for all waiting callers, none while there are none: one each would cost as much as a read."""
        if self._waiter_timer is None:
            self._waiter_timer = asyncio.get_running_loop().call_later(
                OPEN_SPARE_AFTER_S, self._check_waiters
            )

    def _check_waiters(self) -> None:
        """Open a spare connection for callers that have waited long; fail those that have waited too long."""
        self._waiter_timer = None
        now = monotonic()
        for group in self.groups.all:
            group.fail_waiters(now - self._options.acquire_timeout_s, self._acquire_timed_out)
            if group.waiters:
                self._schedule_waiter_check()
                if group.has_waited_since(now - OPEN_SPARE_AFTER_S) and self._has_spare(group):
                    self._start_opening(group)

    def _acquire_timed_out(self) -> PoolExhausted:
        return PoolExhausted(
            f"no connection to server {self.server.name} became free within {self._options.acquire_timeout_s} s"
        )

    def _abandon(self, group: ConnectionGroup, waiter: Waiter) -> None:
        """A waiting caller was cancelled: pass a connection that it was just given to the next one."""
        with contextlib.suppress(ValueError):
            group.waiters.remove(waiter)
        future = waiter.future
        if future.done() and not future.cancelled() and future.exception() is None:
            pooled = future.result()
            if pooled is None:
                group.wake_next()
            else:
                self.release(pooled)

    def _start_opening(self, group: ConnectionGroup) -> None:
        group.size += 1
        group.opening += 1
        self._spawn(self._open(group))

    def _has_spare(self, group: ConnectionGroup) -> bool:
        """Whether a spare connection may be opened, if necessary by closing an idle one of another group."""
        share = self._connections_per_group
        spare = self._max_connections - share * len(self.groups.all) + self._max_spare
        used = sum(max(0, other.size - share) for other in self.groups.all)
        if used < spare:
            return True
        unused_since = monotonic() - KEEP_SPARE_S
        for other in self.groups.all:
            is_over = other is not group and other.idle and other.size > share
            if is_over and other.idle[0].used_at < unused_since:
                self._drop(other.idle.pop(0))
                return True
        return False

    @property
    def _connections_per_group(self) -> int:
        return max(1, self._max_connections // len(self.groups.all))

    async def _open(self, group: ConnectionGroup) -> None:
        try:
            conn, is_behind_pooler = await self._connector.connect()
        except Exception as error:  # noqa: BLE001  # whatever it is, the waiting callers must get it
            group.size -= 1
            self.breaker.record_failure()
            if not group.size:  # otherwise a connection of the group may still come back
                group.fail_all(error)
            return
        except BaseException:
            group.size -= 1
            raise
        finally:
            group.opening -= 1
        self.breaker.record_success()
        pooled = PooledConnection(conn, group, self._options, is_behind_pooler=is_behind_pooler)
        self.connections.add(pooled)
        self._schedule_check(pooled)
        if self._is_closed:
            self._drop(pooled)
        else:
            group.hand_over(pooled)

    async def _recover(self, pooled: PooledConnection) -> None:
        try:
            await self._roll_back(pooled)
        finally:
            self._recovering -= 1

    async def _roll_back(self, pooled: PooledConnection) -> None:
        conn = pooled.conn
        pooled.busy_since = None
        if conn.is_closed():
            self._remove(pooled)
            return
        try:
            # asyncpg waits here until a pending cancellation has been answered.
            rollback = pooled.with_reset("ROLLBACK")
            await conn.execute(
                rollback if conn.is_in_transaction() else "SELECT 1", timeout=RECOVER_TIMEOUT_S
            )
            if conn.is_in_transaction():
                await conn.execute(rollback, timeout=RECOVER_TIMEOUT_S)
        except (OSError, TimeoutError, asyncpg.PostgresError, asyncpg.InterfaceError) as error:
            log.info("connection.replaced: %r", error)
            self.breaker.record_failure()
            conn.terminate()
            self._remove(pooled)
            return
        self.release(pooled)

    def _drop_or_measure(self, pooled: PooledConnection, now: float) -> None:
        """Close a released connection that has served its time, or find out how large its backend has become."""
        if self._is_closed or now > pooled.retire_at or pooled.group.is_full(pooled):
            self._drop(pooled)
            return
        self._schedule_check(pooled)
        pooled.busy_since = now
        self._spawn(self._measure(pooled))

    def _schedule_check(self, pooled: PooledConnection) -> None:
        """Say when the connection retires or is measured next; behind a pooler its backend is not its own."""
        is_measured = self._options.max_backend_bytes and not pooled.is_behind_pooler
        measure_at = pooled.used_at + MEASURE_EVERY_S
        pooled.check_at = min(pooled.retire_at, measure_at) if is_measured else pooled.retire_at

    async def _measure(self, pooled: PooledConnection) -> None:
        """Replace a connection whose backend has grown too large: PostgreSQL never shrinks one."""
        try:
            size_bytes = await self._sizes.read(pooled)
        except (OSError, TimeoutError, asyncpg.PostgresError, asyncpg.InterfaceError):
            self.recover(pooled)
            return
        if size_bytes > self._options.max_backend_bytes:
            self.recycled += 1
            log.info("connection.recycled: its backend had grown to %.0f MB", size_bytes / 2**20)
            self._drop(pooled)
        elif self._is_closed:
            self._drop(pooled)
        else:
            pooled.busy_since = None
            pooled.group.hand_over(pooled)

    def _drop(self, pooled: PooledConnection) -> None:
        self._remove(pooled)
        if not pooled.conn.is_closed():
            self._spawn(_close(pooled))

    def _remove(self, pooled: PooledConnection) -> None:
        if pooled in self.connections:
            self.connections.remove(pooled)
            pooled.group.size -= 1
            pooled.group.wake_next()

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


async def _close(pooled: PooledConnection) -> None:
    try:
        await pooled.conn.close(timeout=CLOSE_TIMEOUT_S)
    except (OSError, TimeoutError, asyncpg.PostgresError, asyncpg.InterfaceError):
        pooled.conn.terminate()  # it was broken already
