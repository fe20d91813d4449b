"""Client of one server: its connection pools, circuit breaker, dispatch functions and counters."""

import asyncio
import logging
import time
from collections.abc import Iterable

import asyncpg

from shardwright.errors import ServerUnavailable
from shardwright.ids import schema_name
from shardwright.routing.circuit_breaker import CircuitBreaker
from shardwright.routing.connection_pool import ConnectionPool
from shardwright.routing.deadlines import Deadline
from shardwright.routing.dispatch_functions import FunctionKey, FunctionKind
from shardwright.routing.function_installer import FunctionInstaller, InstalledFunction, drop_unused
from shardwright.routing.metrics import ServerCounts
from shardwright.routing.options import OVERDUE_AFTER_S, PoolOptions
from shardwright.routing.plain_statements import EVERYWHERE, PlainStatement
from shardwright.routing.pooled_connection import PooledConnection, Statement, local_settings
from shardwright.routing.queries import Query
from shardwright.routing.schema_mismatch import read_version
from shardwright.topology import Server

log = logging.getLogger(__name__)

FIRST_REFRESH_S = 600.0
REFRESH_S = 86_400.0
LOOK_AGAIN_S = 10.0  # how often to look for a function that was not there, while its query runs without one
MISFIT_S = 10.0  # how long a query runs without its function on a shard that the function does not fit
# The server or the network failed; whether the statement happened depends on when.
CONNECTION_LOST = (
    OSError,
    asyncpg.PostgresConnectionError,
    asyncpg.AdminShutdownError,
    asyncpg.CrashShutdownError,
)


class ServerClient:
    """Sends statements to one server and tracks its dispatch functions."""

    def __init__(self, server: Server, options: PoolOptions) -> None:
        self.server = server
        self.breaker = CircuitBreaker(
            server.name, max_failures=options.breaker_failures, cooldown_s=options.breaker_cooldown_s
        )
        self.point_pool = ConnectionPool(server, options, self.breaker, for_gather=False)
        self.gather_pool = ConnectionPool(server, options, self.breaker, for_gather=True)
        self.counts = ServerCounts()
        self._numbers: list[int] = []
        self._installed: dict[FunctionKey, InstalledFunction] = {}
        self._installing = asyncio.Lock()
        self._missing: dict[FunctionKey, float] = {}  # by when to look again
        self._outdated: set[Query] = set()
        self.misfits: dict[tuple[Query, int], float] = {}
        """Queries whose function does not fit a shard, by when to try it again."""
        self.varying: set[Query] = set()
        """Queries whose result types differ between shards: prepared for each shard apart in transactions."""
        self._refresh_at = time.monotonic() + FIRST_REFRESH_S
        self.local_settings = local_settings(options)
        self.answer = f"the answer of server {server.name}"  # what a call waits for, in its error
        self.statement_timeout_s = (
            options.statement_timeout_s + OVERDUE_AFTER_S
        )  # the server's own limit comes first

    def assign_shards(self, numbers: list[int]) -> None:
        """Set the shards that the server owns now."""
        self._numbers = numbers
        self.point_pool.assign_shards(numbers)
        self.gather_pool.assign_shards(numbers)

    async def install(self, wanted: Iterable[FunctionKey]) -> None:
        """Install the dispatch functions of these queries on the server, as far as their tables exist."""
        missing = [each for each in wanted if each not in self._installed]
        if not missing or not self._numbers:
            return
        async with self._installing:
            pooled = await self.acquire(self.point_pool, self._numbers[0])
            try:
                installer = FunctionInstaller(self._numbers[0])
                self._installed |= await installer.install(pooled.conn, missing)
            except BaseException as error:
                self.handle_failure(self.point_pool, pooled, error)
                raise
            self.point_pool.release(pooled)

    async def ping(self, deadline: Deadline) -> None:
        """Raise unless the server answers; a server without shards is skipped, since nothing depends on it."""
        if not self._numbers:
            return
        number, pool = self._numbers[0], self.point_pool
        pooled = await self.finish_acquire(pool, pool.acquire_nowait(number), number, deadline)
        deadline.wait_for(self.answer, self)
        try:
            await pooled.conn.execute("SELECT 1")
        except BaseException as error:
            self.handle_failure(self.point_pool, pooled, error)
            raise
        self.point_pool.release(pooled)

    async def refresh_functions(self) -> None:
        """Once a day: mark our functions as used, and drop those that no router uses."""
        if time.monotonic() < self._refresh_at or not self._numbers:
            return
        self._refresh_at = time.monotonic() + REFRESH_S
        self.misfits.clear()
        self.varying.clear()
        pooled = await self.acquire(self.point_pool, self._numbers[0])
        try:
            installer = FunctionInstaller(self._numbers[0])
            await installer.install(pooled.conn, list(self._installed))
            await drop_unused(pooled.conn)
        except BaseException as error:
            self.handle_failure(self.point_pool, pooled, error)
            raise
        self.point_pool.release(pooled)

    def discard_statements(self, queries: Iterable[Query]) -> None:
        """Discard the prepared statements of these queries, so that their functions are looked up again."""
        gone = set(queries)
        self._outdated |= gone
        self._installed = {key: value for key, value in self._installed.items() if key[0] not in gone}
        for pooled in [*self.point_pool.connections, *self.gather_pool.connections]:
            pooled.statements = {key: value for key, value in pooled.statements.items() if key[0] not in gone}

    def is_misfit(self, query: Query, number: int) -> bool:
        """Whether the query's function was found not to fit this shard, so that the query runs without it."""
        until = self.misfits.get((query, number))
        if until is not None and until < time.monotonic():
            del self.misfits[query, number]
            return False
        return until is not None

    def misfits_among(self, query: Query, numbers: Iterable[int]) -> list[int]:
        """Those of these shards that the query's function does not fit."""
        return [number for number in numbers if self.is_misfit(query, number)] if self.misfits else []

    def mark_misfit(self, query: Query, number: int) -> None:
        """Execute the query itself on this shard, until the function is tried again."""
        self.misfits[query, number] = time.monotonic() + MISFIT_S

    def plain(self, pooled: PooledConnection, query: Query, form: str) -> PlainStatement:
        """The query without its function."""
        settings = self.local_settings if pooled.is_behind_pooler else ""
        return PlainStatement(pooled.conn, query, form, settings)

    async def shard_version(self, number: int) -> str | None:
        """The last migration of a shard."""
        pooled = await self.acquire(self.point_pool, number)
        try:
            version = await read_version(pooled.conn, number)
        except BaseException as error:
            self.handle_failure(self.point_pool, pooled, error)
            raise
        self.point_pool.release(pooled)
        return version

    async def prepare(self, pooled: PooledConnection, query: Query, form: str, number: int) -> Statement:
        """Prepare the statement that calls the query's dispatch function on this connection.

        `number` is a shard that will be queried: the function is created from its columns if those of the first shard
        do not fit.
        """
        statement = await self._prepare(pooled, query, form, number)
        if not isinstance(statement, PlainStatement):
            pooled.statements[query, form] = statement
        return statement

    async def prepare_hot(self, pooled: PooledConnection, query: Query, number: int) -> Statement:
        """Prepare the query itself on this connection, for one shard."""
        statement = await self._prepare(pooled, query, FunctionKind.POINT, number, is_hot=True)
        if not isinstance(statement, PlainStatement):
            pooled.statements[query, number] = statement
        return statement

    async def _prepare(
        self, pooled: PooledConnection, query: Query, form: str, number: int, *, is_hot: bool = False
    ) -> Statement:
        wanted = FunctionKey(
            query, FunctionKind.GATHER if form == FunctionKind.GATHER else FunctionKind.POINT
        )
        try:
            installed = self._installed.get(wanted) or await self._install_one(wanted, pooled, number)
            if installed is None:
                settings = self.local_settings if pooled.is_behind_pooler else ""
                return PlainStatement(pooled.conn, query, form, settings, number if is_hot else None)
            if is_hot:
                return await pooled.conn.prepare(installed.text(schema_name(number)))
            sql = installed.call_everywhere(query) if form == EVERYWHERE else installed.call(wanted)
            return await pooled.conn.prepare(sql)
        except CONNECTION_LOST as error:
            raise ServerUnavailable(f"server {self.server.name} was lost: {error!r}") from error

    async def acquire(self, pool: ConnectionPool, number: int) -> PooledConnection:
        """Acquire a connection for a shard, reset if its raw connection was exposed."""
        return await self.finish_acquire(pool, pool.acquire_nowait(number), number)

    async def finish_acquire(
        self,
        pool: ConnectionPool,
        pooled: PooledConnection | None,
        number: int,
        deadline: Deadline | None = None,
    ) -> PooledConnection:
        """The slow half of acquiring: wait for a connection, or reset the one found."""
        if pooled is None:
            pooled = await self.wait_for_connection(pool, number, deadline)
        if pooled.is_dirty:
            try:
                await pooled.reset()
            except BaseException as error:
                self.handle_failure(pool, pooled, error)
                raise
        return pooled

    async def wait_for_connection(
        self, pool: ConnectionPool, number: int, deadline: Deadline | None
    ) -> PooledConnection:
        """Acquire with what earlier attempts of the call have left of `acquire_timeout_s`."""
        if deadline is None:
            return await pool.acquire(number)
        deadline.wait_for(f"a connection to server {self.server.name}", self)
        since = time.monotonic()
        try:
            return await pool.acquire(number, deadline.acquiring_s)
        finally:
            deadline.acquiring_s += time.monotonic() - since

    def miss_deadline(self, since: float, *, is_sent: bool) -> None:
        """Count a deadline that passed while waiting for this server, unless it answered somebody meanwhile.

        A statement that is slow on a healthy server does not keep the breaker open: it is cancelled there, and the
        answer to that closes it. With nothing sent yet, the miss counts while a connection is being opened or
        recovered: a pool whose connections are all busy says nothing about the server.
        """
        pools = (self.point_pool, self.gather_pool)
        if any(pool.has_answered_since(since) for pool in pools):
            return
        if is_sent or any(pool.awaits_server for pool in pools):
            self.breaker.record_failure()

    def handle_failure(self, pool: ConnectionPool, pooled: PooledConnection, error: BaseException) -> None:
        """Release, recover or replace the connection after a failed statement, and count the failure.

        Raises `ServerUnavailable` when the statement was provably never sent, `TimeoutError` when the pool
        terminated the connection because the statement was overdue.
        """
        self.counts.calls += 1
        self.counts.errors[getattr(error, "sqlstate", None) or type(error).__name__] += 1
        if isinstance(
            error, (*CONNECTION_LOST, TimeoutError)
        ):  # an overdue connection is terminated, so it counts as lost
            self.breaker.record_failure()
        elif isinstance(error, asyncpg.PostgresError):
            self.breaker.record_success()
        was_closed = pooled.conn.is_closed() or _is_unusable(error)
        if was_closed:
            pooled.conn.terminate()
        if (
            was_closed
            or pooled.conn.is_in_transaction()
            or not isinstance(error, asyncpg.PostgresError | ValueError)
        ):
            pool.recover(pooled)
        else:
            pool.release(pooled)
        if pooled.is_overdue and isinstance(error, Exception):
            raise TimeoutError(f"server {self.server.name} did not answer in time") from error
        if was_closed and isinstance(error, asyncpg.InterfaceError | asyncpg.InternalClientError):
            raise ServerUnavailable(f"a connection to server {self.server.name} was closed") from error

    async def close(self) -> None:
        """Close all connections to the server."""
        await asyncio.gather(self.point_pool.close(), self.gather_pool.close())

    async def _install_one(
        self, wanted: FunctionKey, pooled: PooledConnection, number: int
    ) -> InstalledFunction | None:
        """Install over the caller's own connection: waiting for a second one could deadlock.

        None when there is no function that fits, and none can be created: the query then runs without one.
        """
        if not self._numbers:
            raise ServerUnavailable(f"server {self.server.name} holds no shards")
        if self._missing.get(wanted, 0.0) > time.monotonic():
            return None
        installer = FunctionInstaller(self._numbers[0])
        may_create = await installer.may_create(pooled.conn)
        found = (await installer.install(pooled.conn, [wanted])).get(wanted)
        if found is None and may_create and number != self._numbers[0]:
            # The first shard may be behind the one that is asked.
            found = (await FunctionInstaller(number).install(pooled.conn, [wanted])).get(wanted)
        if found is None and may_create and wanted.query not in self._outdated:
            found = await installer.find_older(pooled.conn, wanted)
        if found is not None and (found.is_exact or wanted.query not in self._outdated):
            self._missing.pop(wanted, None)
            self._outdated.discard(wanted.query)
            self._installed[wanted] = found
            return found
        self._note_missing(wanted, may_create=may_create)
        return None

    def _note_missing(self, wanted: FunctionKey, *, may_create: bool) -> None:
        if wanted not in self._missing:
            cure = (
                "it does not fit the tables of the shard asked"
                if may_create
                else "run `shardwright install` for its file, as the migrator"
            )
            log.warning(
                "query.not_installed: %s has no dispatch function on server %s and runs without one, slower: %s",
                wanted.query.name,
                self.server.name,
                cure,
            )
        self._missing[wanted] = time.monotonic() + LOOK_AGAIN_S


def _is_unusable(error: BaseException) -> bool:
    """Whether asyncpg refused to send: the server's shutdown message was read, the closed socket not yet noticed."""
    return isinstance(error, asyncpg.InternalClientError) and "cannot switch to state" in str(error)
