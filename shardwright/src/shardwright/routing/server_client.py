"""Client of one server: its connection pools, circuit breaker, dispatch functions and counters."""

import asyncio
import contextlib
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable
from typing import TYPE_CHECKING, TypeVar

import asyncpg

from shardwright.errors import ServerUnavailable
from shardwright.ids import schema_name
from shardwright.routing.circuit_breaker import CircuitBreaker
from shardwright.routing.connection_pool import ConnectionPool
from shardwright.routing.deadlines import Deadline
from shardwright.routing.dispatch_functions import FunctionKey, FunctionKind
from shardwright.routing.function_installer import FunctionInstaller, InstalledFunction, drop_unused
from shardwright.routing.hot_statements import CountingStatement
from shardwright.routing.metrics import ServerCounts
from shardwright.routing.options import OVERDUE_AFTER_S, PoolOptions
from shardwright.routing.plain_statements import EVERYWHERE, PlainStatement
from shardwright.routing.pooled_connection import Connector, PooledConnection, Statement, local_settings
from shardwright.routing.primary_watch import PrimaryWatch
from shardwright.routing.queries import Query
from shardwright.routing.query_fit import QueryFit
from shardwright.routing.schema_mismatch import read_version
from shardwright.routing.server_functions import ServerFunctions
from shardwright.routing.shard_connection import ShardConnection
from shardwright.topology import PrimaryAddress, Server, fenced_shards, is_read_only

if TYPE_CHECKING:
    from shardwright.routing.replica_set import ReplicaSet

T = TypeVar("T")

FIRST_REFRESH_S = 600.0
REFRESH_S = 86_400.0
# The server or the network failed; whether the statement happened depends on when.
CONNECTION_LOST = (
    OSError,
    asyncpg.PostgresConnectionError,
    asyncpg.AdminShutdownError,
    asyncpg.CrashShutdownError,
)


class ServerClient:
    """Sends statements to one server and tracks its dispatch functions."""

    def __init__(self, server: Server, options: PoolOptions, connector: Connector | None = None) -> None:
        self.server = server
        connector = connector or Connector(server, options, PrimaryAddress(server))
        self.primary = connector.primary
        self.primary.on_promotion.append(self.drop_former_primary)
        self.replicas: ReplicaSet | None = None  # where the map names any
        self.replicated_map_version = 0
        """The version of the map, if it names replicas of any server: sessions then note it."""
        self.breaker = CircuitBreaker(
            server.name, max_failures=options.breaker_failures, cooldown_s=options.breaker_cooldown_s
        )
        self.point_pool = ConnectionPool(connector, options, self.breaker, for_gather=False)
        self.gather_pool = ConnectionPool(connector, options, self.breaker, for_gather=True)
        self.watch = PrimaryWatch(self, connector)
        self.counts = ServerCounts()
        self.functions = ServerFunctions(server.name)
        self.fit = QueryFit()
        self._installing = asyncio.Lock()
        self._refresh_at = time.monotonic() + FIRST_REFRESH_S
        self.local_settings = local_settings(options)
        self.answer = f"the answer of server {server.name}"  # what a call waits for, in its error
        self.statement_timeout_s = (
            options.statement_timeout_s + OVERDUE_AFTER_S
        )  # the server's own limit comes first

    def assign_shards(self, numbers: list[int]) -> None:
        """Set the shards that the server owns now."""
        self.functions.numbers = numbers
        self.point_pool.assign_shards(numbers)
        self.gather_pool.assign_shards(numbers)

    async def install(self, wanted: Iterable[FunctionKey]) -> None:
        """Install the dispatch functions of these queries on the server, as far as their tables exist."""
        missing = [each for each in wanted if each not in self.functions.installed]
        if not missing or not self.functions.numbers:
            return
        async with self._installing, self._any_connection() as conn:
            await self.functions.install(conn, missing)

    async def ping(self, deadline: Deadline) -> None:
        """Raise unless the server answers; a server without shards is skipped, since nothing depends on it."""
        if not self.functions.numbers:
            return
        async with self._any_connection(deadline) as conn:
            deadline.wait_for(self.answer, self)
            await conn.execute("SELECT 1")

    async def ask(self, question: "Callable[[ShardConnection], Awaitable[T]]") -> T:
        """The answer of the server to a question of the router's own."""
        if not self.functions.numbers:
            raise ServerUnavailable(f"server {self.server.name} holds no shards")
        async with self._any_connection() as conn:
            return await question(conn)

    async def install_wanted(self) -> None:
        """Install the functions that transactions have missed."""
        for wanted in self.functions.take_wanted() if self.functions.numbers else ():
            async with self._any_connection() as conn:
                await self.functions.install_wanted(conn, wanted)

    async def refresh_functions(self) -> None:
        """Once a day: mark our functions as used, and drop those that no router uses."""
        if time.monotonic() < self._refresh_at or not self.functions.numbers:
            return
        self._refresh_at = time.monotonic() + REFRESH_S
        self.fit.clear()
        async with self._any_connection() as conn:
            await FunctionInstaller(self.functions.numbers[0]).install(conn, list(self.functions.installed))
            await drop_unused(conn)

    def discard_statements(self, queries: Iterable[Query]) -> None:
        """Discard the prepared statements of these queries, so that their functions are looked up again."""
        gone = set(queries)
        self.functions.discard(gone)
        self.fit.forget(gone)
        for pooled in [*self.point_pool.connections, *self.gather_pool.connections]:
            pooled.statements = {key: value for key, value in pooled.statements.items() if key[0] not in gone}
            pooled.hot.discard(gone)

    def function_in_transaction(self, query: Query, number: int) -> InstalledFunction | None:
        """The query's function, unless it is known to misfit this shard.

        One that is missing is installed in the background: here that would commit what the transaction has done.
        """
        if self.fit.misfits and self.fit.is_misfit(query, number):
            return None
        return self.functions.get(FunctionKey(query, FunctionKind.POINT))

    def plain(self, pooled: PooledConnection, query: Query, form: str) -> PlainStatement:
        """The query without its function."""
        settings = self.local_settings if pooled.is_behind_pooler else ""
        return PlainStatement(pooled.conn, query, form, settings)

    async def shard_version(self, number: int) -> str | None:
        """The last migration of a shard."""
        async with self._any_connection(number=number) as conn:
            return await read_version(conn, number)

    async def is_fenced(self, number: int) -> bool:
        """Whether the server has a copy of the shard that it does not own."""
        async with self._any_connection(number=number) as conn:
            return bool(await fenced_shards(conn, [number]))

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
        try:
            installed = await self._find_function(FunctionKey(query, FunctionKind.POINT), pooled, number)
            if installed is None:
                return PlainStatement(pooled.conn, query, FunctionKind.POINT, "", number)
            return await self.prepare_text(pooled, query, number, installed)
        except CONNECTION_LOST as error:
            raise ServerUnavailable(f"server {self.server.name} was lost: {error!r}") from error

    async def prepare_text(
        self,
        pooled: PooledConnection,
        query: Query,
        number: int,
        installed: InstalledFunction,
        timeout_s: float | None = None,
    ) -> Statement:
        """Prepare the query with the names of one shard, and keep it."""
        text = installed.text(schema_name(number))
        prepared = await pooled.conn.prepare_qualified(text, timeout_s)
        counts = query.writes and not prepared.get_attributes()
        statement: Statement = CountingStatement(prepared) if counts else prepared
        pooled.hot.add(query, number, statement, text)
        return statement

    async def prepare_in_transaction(
        self,
        pooled: PooledConnection,
        query: Query,
        number: int,
        installed: InstalledFunction,
        timeout_s: float,
    ) -> tuple[Statement, bool]:
        """The statement for a query, and whether it is the shard's own or takes the shard's number."""
        found = pooled.hot.get(query, number)
        if found is None and pooled.hot.admits(query, number):
            found = await self.prepare_text(pooled, query, number, installed, timeout_s)
        if found is not None:
            return found, True
        statement = pooled.statements.get((query, FunctionKind.POINT))
        if statement is None:
            sql = installed.call(FunctionKey(query, FunctionKind.POINT))
            statement = await pooled.conn.prepare_qualified(sql, timeout_s)
            pooled.statements[query, FunctionKind.POINT] = statement
        return statement, False

    async def _prepare(self, pooled: PooledConnection, query: Query, form: str, number: int) -> Statement:
        wanted = FunctionKey(
            query, FunctionKind.GATHER if form == FunctionKind.GATHER else FunctionKind.POINT
        )
        try:
            installed = await self._find_function(wanted, pooled, number)
            if installed is None:
                return self.plain(pooled, query, form)
            sql = installed.call_everywhere(query) if form == EVERYWHERE else installed.call(wanted)
            return await pooled.conn.prepare_qualified(sql)
        except CONNECTION_LOST as error:
            raise ServerUnavailable(f"server {self.server.name} was lost: {error!r}") from error

    async def _find_function(
        self, wanted: FunctionKey, pooled: PooledConnection, number: int
    ) -> InstalledFunction | None:
        return self.functions.installed.get(wanted) or await self.functions.find(pooled.conn, wanted, number)

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

    def leave_standby(self, pooled: PooledConnection) -> bool:
        """After SQLSTATE 25006: drop the connection and look for the primary, if the server takes no writes at all.

        Whether it does so, it has said; behind a pooler that is not passed on.
        """
        if not (pooled.is_behind_pooler or is_read_only(pooled.conn)):
            return False
        self.primary.doubt()
        pooled.conn.terminate()
        return True

    def is_silent(self, since: float) -> bool:
        """Whether a statement sent before this time waits for an answer, and nobody has had one since."""
        pools = (self.point_pool, self.gather_pool)
        is_waiting = any(pool.has_waited_since(since) for pool in pools)
        return is_waiting and not any(pool.has_answered_since(since) for pool in pools)

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
        if isinstance(error, asyncpg.ReadOnlySQLTransactionError):
            self.leave_standby(pooled)
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
        if self.replicas is not None:
            await self.replicas.close()
        await self.watch.close()
        await self.primary.close()
        await asyncio.gather(self.point_pool.close(), self.gather_pool.close())

    def drop_former_primary(self) -> None:
        """Terminate the connections to a primary of an older timeline than the one that was found."""
        for pool in (self.point_pool, self.gather_pool):
            pool.drop_connections(self.primary.timeline)
        self.breaker.record_success()

    @contextlib.asynccontextmanager
    async def _any_connection(
        self, deadline: Deadline | None = None, number: int | None = None
    ) -> AsyncGenerator[ShardConnection]:
        """A connection for the router's own statements."""
        pool = self.point_pool
        number = self.functions.numbers[0] if number is None else number
        pooled = await self.finish_acquire(pool, pool.acquire_nowait(number), number, deadline)
        try:
            yield pooled.conn
        except BaseException as error:
            self.handle_failure(pool, pooled, error)
            raise
        pool.release(pooled)


def _is_unusable(error: BaseException) -> bool:
    """Whether asyncpg refused to send: the server's shutdown message was read, the closed socket not yet noticed."""
    return isinstance(error, asyncpg.InternalClientError) and "cannot switch to state" in str(error)
