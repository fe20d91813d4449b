"""A transaction on one shard.

It opens in one round trip, BEGIN and search_path together, and search_path is local to the transaction, so no session
state outlives it, also behind a transaction pooler.
"""

import asyncio
import contextlib
import itertools
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable
from time import monotonic
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, cast

import asyncpg

from shardwright.errors import InvalidId, NotOwner, ServerUnavailable
from shardwright.ids import schema_name
from shardwright.routing.deadlines import SCOPE, Deadline, earliest, seconds_left
from shardwright.routing.errors import DeadlineExceeded, OutcomeUnknown, PoolExhausted, TransactionLost
from shardwright.routing.execute import CLOCK_DIFFERENCE_S, MAX_ATTEMPTS, Router
from shardwright.routing.pooled_connection import RESET_SESSION_SQL, PooledConnection, milliseconds
from shardwright.routing.queries import Query
from shardwright.routing.raw_sql import RawSql
from shardwright.routing.schema_mismatch import SCHEMA_MISFIT, schema_mismatch
from shardwright.routing.server_client import CONNECTION_LOST, ServerClient
from shardwright.topology import SQLSTATE_NOT_OWNER

if TYPE_CHECKING:
    from asyncpg import Connection, Record

log = logging.getLogger(__name__)

Isolation = Literal["read committed", "repeatable read", "serializable"]
# asyncpg did not send the statement, because the connection is closed or the server has announced its shutdown on it.
_REFUSED_TO_SEND = (asyncpg.InterfaceError, asyncpg.InternalClientError)
# The client's timer or the server's own limit ended the statement.
LATE = (TimeoutError, asyncpg.QueryCanceledError)
# BEGIN did not happen; the shard may be unknown because it is new.
_NOT_BEGUN = (InvalidId, ServerUnavailable, *CONNECTION_LOST)
AfterCommit = Callable[[str], Awaitable[None]]


class Transaction:
    """A transaction on one shard."""

    __slots__ = (
        "_deadline",
        "_is_untouched",
        "_opening",
        "_pooled",
        "_savepoints",
        "_server",
        "hooks",
        "misfit",
        "shard_number",
    )

    def __init__(
        self,
        pooled: PooledConnection,
        server: ServerClient,
        shard_number: int,
        opening: str,
        deadline: Deadline | None = None,
    ) -> None:
        self._pooled = pooled
        self._server = server
        self._opening = opening
        self._deadline = deadline
        self._is_untouched = True
        self._savepoints = itertools.count(1)
        self.misfit: tuple[Query, asyncpg.PostgresError] | None = None
        """The query that did not fit the shard's tables, and the error."""
        self.hooks: list[AfterCommit] = []
        self.shard_number = shard_number

    def after_commit(self, hook: "AfterCommit") -> None:
        """Call `hook` after the commit, with the name of the server.

        The commit stands whatever the hook does, so an exception in a hook is only logged.
        """
        self.hooks.append(hook)

    @property
    def connection(self) -> "Connection":
        """The raw asyncpg connection, for this block only; its search_path leads to the shard's tables.

        Session state (settings, locks, listeners, temporary tables) is reset before the connection's next use.
        For a part that may fail use `savepoint`: asyncpg refuses its own `transaction()` in one it did not begin.
        """
        self._pooled.is_dirty = True
        self._is_untouched = False
        return self._pooled.conn

    @property
    def raw(self) -> RawSql:
        """SQL of your own in this transaction: statements, executemany and COPY."""
        return RawSql(self.connection, self.shard_number, lambda: self._timeout_s)

    async def fetch(self, query: Query, /, **params: Any) -> "list[Record]":
        """All rows."""
        rows = cast("list[Record]", await self._run("fetch", query, params))
        self._count(len(rows))
        return rows

    async def fetch_one(self, query: Query, /, **params: Any) -> "Record | None":
        """The first row, if there is one."""
        row = cast("Record | None", await self._run("fetchrow", query, params))
        self._count(row is not None)
        return row

    async def fetch_value(self, query: Query, /, **params: Any) -> Any:
        """The first column of the first row, or None."""
        row = await self.fetch_one(query, **params)
        return None if row is None else row[0]

    async def execute(self, query: Query, /, **params: Any) -> int:
        """Execute a statement; returns how many rows it changed or found."""
        status = cast("str", await self._run("execute", query, params))
        self._count(0)
        return rows_in_status(status)

    async def _run(self, method: str, query: Query, params: dict[str, Any]) -> Any:
        """Call a method of asyncpg's connection with the query."""
        args = query.bind(params)
        try:
            return await self._call(method, query, args)
        except asyncpg.InvalidCachedStatementError:
            # The connection has it prepared for a shard whose columns are of other types.
            self._server.varying.add(query)
            if not self._is_untouched:
                raise
            await self._pooled.conn.execute(f"ROLLBACK; {self._opening}", timeout=self._timeout_s)
            return await self._call(method, query, args)
        except SCHEMA_MISFIT as error:
            self.misfit = query, error
            raise
        except LATE as error:
            self._raise_if_exceeded(query.name, error)
            raise
        finally:
            self._is_untouched = False

    async def _call(self, method: str, query: Query, args: tuple[Any, ...]) -> Any:
        sql = f"{query.sql}\n-- {self.shard_number}" if query in self._server.varying else query.sql
        return await getattr(self._pooled.conn, method)(sql, *args, timeout=self._timeout_s)

    @contextlib.asynccontextmanager
    async def savepoint(self) -> AsyncGenerator[None]:
        """A savepoint: an error inside rolls this block back and is raised."""
        self._is_untouched = False
        name = f"shardwright_{next(self._savepoints)}"
        conn = self._pooled.conn
        await conn.execute(f"SAVEPOINT {name}", timeout=self._timeout_s)
        try:
            yield
        except DeadlineExceeded:
            raise  # the whole transaction is over
        except Exception:
            undo = f"ROLLBACK TO SAVEPOINT {name}; RELEASE SAVEPOINT {name}"
            await conn.execute(undo, timeout=self._timeout_s)
            raise
        await conn.execute(f"RELEASE SAVEPOINT {name}", timeout=self._timeout_s)

    @property
    def _timeout_s(self) -> float:
        deadline = earliest(self._deadline)
        if deadline is None:
            return self._server.statement_timeout_s
        return min(self._server.statement_timeout_s, deadline.left_s)

    def _raise_if_exceeded(self, name: str, error: Exception) -> None:
        """Raise `DeadlineExceeded` after a statement that the client or the server gave up in this transaction."""
        deadline = earliest(self._deadline)
        if deadline is None or deadline.left_s > CLOCK_DIFFERENCE_S:
            if not isinstance(error, TimeoutError):
                return  # the server's own statement_timeout, or somebody cancelled it
            limit_s = self._server.statement_timeout_s
            deadline = Deadline(limit_s, monotonic() - limit_s)
        missed = Deadline(deadline.limit_s, deadline.started_at)
        missed.wait_for(self._server.answer)
        if isinstance(error, TimeoutError):
            self._server.miss_deadline(deadline.started_at, is_sent=True)
        raise missed.exceeded(f"{name} in a transaction on shard {self.shard_number}") from error

    def _count(self, rows: int) -> None:
        self._server.counts.calls += 1
        self._server.counts.rows += rows


class TransactionScope:
    """`async with` opens the transaction, commits at the end, and rolls back when the block raises."""

    __slots__ = (
        "_deadline_s",
        "_limit",
        "_number",
        "_opening",
        "_pooled",
        "_router",
        "_server",
        "_transaction",
    )

    def __init__(
        self,
        router: Router,
        number: int,
        isolation: Isolation | None,
        *,
        read_only: bool,
        deadline_s: float | None = None,
    ) -> None:
        self._router = router
        self._number = number
        self._opening = _opening(number, isolation, read_only=read_only)
        self._deadline_s = deadline_s
        self._limit: Deadline | None = None  # of the whole transaction, where the caller has set one
        self._server: ServerClient | None = None
        self._pooled: PooledConnection | None = None
        self._transaction: Transaction | None = None

    async def __aenter__(self) -> Transaction:
        if self._deadline_s is not None or self._router.timer_s is not None or SCOPE.get() is not None:
            return await self._open_within(seconds_left(self._deadline_s))
        started_at = monotonic()
        try:
            return await self._begin(None)
        except _NOT_BEGUN as error:
            deadline = Deadline(self._router.options.deadline_s, started_at)
            if isinstance(error, ServerUnavailable):  # nothing was sent: all that time was spent acquiring
                deadline.acquiring_s = monotonic() - started_at
            self._raise_unless_useful(error, deadline, 1)
        return await deadline.run(lambda: self._open(deadline, 2), self._name)

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        server, pooled = self._server, self._pooled
        if server is None or pooled is None:
            raise AssertionError("the transaction was never opened")
        if error is None:
            await self._commit(server, pooled)
            await self._run_after_commit_hooks(server)
        elif isinstance(error, Exception) and not self._is_over(error):
            await self._roll_back(server, pooled)
            await self._raise_if_not_owner(error)
            await self._raise_if_misfit(error, server)
            if isinstance(error, _REFUSED_TO_SEND) and pooled.conn.is_closed():
                raise self._connection_lost() from error
        else:
            # Cancelled, or out of time: the task must not wait any longer, recovery rolls back.
            server.point_pool.recover(pooled)

    @property
    def _name(self) -> str:
        return f"a transaction on shard {self._number}"

    def _is_over(self, error: Exception) -> bool:
        return isinstance(error, DeadlineExceeded) or (self._limit is not None and self._limit.left_s <= 0)

    async def _open_within(self, limit_s: float | None) -> Transaction:
        """Open under a timer: for the caller's limit, which is then that of the whole transaction, or the default."""
        deadline = Deadline(self._router.options.deadline_s if limit_s is None else limit_s)
        if limit_s is not None:
            self._limit = deadline
        if deadline.left_s <= 0:
            raise deadline.exceeded(self._name)
        return await deadline.run(lambda: self._open(deadline), self._name)

    async def _open(self, deadline: Deadline, first: int = 1) -> Transaction:
        for attempt in itertools.count(first):
            try:
                if self._number not in self._router.map.owners:
                    deadline.wait_for("the shard map")
                    await self._router.locate(self._number)
                return await self._begin(deadline)
            except _NOT_BEGUN as error:
                self._raise_unless_useful(error, deadline, attempt)
        raise AssertionError("unreachable")

    def _raise_unless_useful(self, error: Exception, deadline: Deadline, attempt: int) -> None:
        """Return when another attempt is useful: no statement was executed, so a broken connection is replaced."""
        is_acquiring_over = deadline.acquiring_s >= self._router.options.acquire_timeout_s
        is_unknown = isinstance(error, InvalidId) and attempt > 1
        if is_acquiring_over or is_unknown or isinstance(error, PoolExhausted) or attempt >= MAX_ATTEMPTS:
            raise error

    async def _begin(self, deadline: Deadline | None) -> Transaction:
        server = self._router.server_for(self._number)
        pool = server.point_pool
        pooled = pool.acquire_nowait(self._number)
        if pooled is None:
            pooled = await server.wait_for_connection(pool, self._number, deadline)
        pooled.busy_since = (
            None  # the duration of a transaction is up to the caller; each statement has a timeout
        )
        timeout_s = server.statement_timeout_s
        if deadline is not None:
            deadline.wait_for(server.answer, server)
            timeout_s = min(timeout_s, deadline.left_s)
        opening = self._opening_sql(server, pooled)
        try:
            await pooled.conn.execute(
                RESET_SESSION_SQL + opening if pooled.is_dirty else opening, timeout=timeout_s
            )
        except BaseException as error:
            server.handle_failure(pool, pooled, error)
            if isinstance(error, TimeoutError):
                raise self._opening_exceeded(server, deadline) from error
            raise
        pooled.is_dirty = False
        self._server, self._pooled = server, pooled
        self._transaction = Transaction(pooled, server, self._number, opening, self._limit)
        return self._transaction

    def _opening_exceeded(self, server: ServerClient, deadline: Deadline | None) -> DeadlineExceeded:
        limit_s = server.statement_timeout_s
        if deadline is not None:
            return deadline.exceeded(self._name, min(limit_s, deadline.limit_s))
        deadline = Deadline(limit_s, monotonic() - limit_s)
        deadline.wait_for(server.answer)
        return deadline.exceeded(self._name)

    def _opening_sql(self, server: ServerClient, pooled: PooledConnection) -> str:
        settings = server.local_settings if pooled.is_behind_pooler else ""
        if self._limit is not None and 0 < self._limit.left_s < self._router.options.statement_timeout_s:
            # The server ends a statement too, should this process be gone by then.
            settings += f" SET LOCAL statement_timeout = {milliseconds(self._limit.left_s)};"
        return self._opening + settings

    async def _commit(self, server: ServerClient, pooled: PooledConnection) -> None:
        timeout_s = server.statement_timeout_s
        if self._limit is not None:
            timeout_s = min(timeout_s, self._limit.left_s)
            if timeout_s <= 0:
                server.point_pool.recover(pooled)
                raise self._limit.exceeded(self._name)  # nothing was sent, and recovery rolls back
        try:
            status = await pooled.commit(timeout_s)
        except _REFUSED_TO_SEND as error:
            server.point_pool.recover(pooled)
            raise self._connection_lost() from error
        except (TimeoutError, *CONNECTION_LOST) as error:
            server.handle_failure(server.point_pool, pooled, error)
            if isinstance(error, TimeoutError):
                raise self._commit_exceeded(server) from error
            raise OutcomeUnknown(f"COMMIT was sent to shard {self._number}, then: {error!r}") from error
        except BaseException as error:
            server.handle_failure(server.point_pool, pooled, error)
            await self._raise_if_not_owner(error)
            raise
        server.point_pool.release(pooled)
        if status != "COMMIT":
            raise TransactionLost(f"the transaction on shard {self._number} had failed before COMMIT")

    def _commit_exceeded(self, server: ServerClient) -> DeadlineExceeded:
        limit_s = server.statement_timeout_s
        deadline = self._limit or Deadline(limit_s, monotonic() - limit_s)
        deadline.wait_for(f"{server.answer} to COMMIT")
        return deadline.exceeded(self._name, is_unknown=True)

    async def _run_after_commit_hooks(self, server: ServerClient) -> None:
        for hook in self._transaction.hooks if self._transaction is not None else ():
            try:
                await hook(server.server.name)
            except Exception:
                log.exception("hook.failed: after a commit on shard %s", self._number)

    async def _roll_back(self, server: ServerClient, pooled: PooledConnection) -> None:
        try:
            left_s = server.statement_timeout_s if self._limit is None else self._limit.left_s
            timeout_s = min(server.statement_timeout_s, left_s)
            await pooled.conn.execute(pooled.with_reset("ROLLBACK"), timeout=timeout_s)
        except BaseException as error:
            if isinstance(error, _REFUSED_TO_SEND):
                pooled.conn.terminate()  # the server announced its shutdown; the closed socket is not noticed yet
            server.point_pool.recover(pooled)
            if not isinstance(error, (TimeoutError, asyncpg.PostgresError, *_REFUSED_TO_SEND, OSError)):
                raise
            return  # the connection is gone and the transaction with it; the block's own error is raised
        server.point_pool.release(pooled)

    def _connection_lost(self) -> ServerUnavailable:
        return ServerUnavailable(
            f"the connection to shard {self._number} was lost before COMMIT: nothing was changed"
        )

    async def _raise_if_not_owner(self, error: BaseException) -> None:
        """After a write refused by the shard's guard: refresh the map and raise `NotOwner`, so the caller can retry."""
        if getattr(error, "sqlstate", None) == SQLSTATE_NOT_OWNER:
            with contextlib.suppress(ServerUnavailable, TimeoutError):  # NotOwner is raised either way
                async with asyncio.timeout(None if self._limit is None else self._limit.left_s):
                    await self._router.refresh()
            raise NotOwner(
                f"shard {self._number} is being moved or has moved: repeat the transaction"
            ) from error

    async def _raise_if_misfit(self, error: BaseException, server: ServerClient) -> None:
        """After a named query that did not fit the shard's tables: raise `SchemaMismatch`, with the shard's version."""
        misfit = self._transaction.misfit if self._transaction is not None else None
        if misfit is not None and misfit[1] is error:
            version = await server.shard_version(self._number)
            raise schema_mismatch(misfit[1], misfit[0], server.server.name, self._number, version) from error


def _opening(number: int, isolation: Isolation | None, *, read_only: bool) -> str:
    level = f" ISOLATION LEVEL {isolation.upper()}" if isolation else ""
    access = " READ ONLY" if read_only else ""
    return (
        f"BEGIN{level}{access}; SET LOCAL search_path = {schema_name(number)}, common, shardwright, public;"
    )


def rows_in_status(status: str) -> int:
    """The number in a command's status, `INSERT 0 3` or `UPDATE 3`."""
    last = status.rpartition(" ")[2]
    return int(last) if last.isdigit() else 0
