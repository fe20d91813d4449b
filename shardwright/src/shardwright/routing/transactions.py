"""A transaction on one shard.

Named queries run as outside of one: hot ones as the statement that the connection keeps prepared for the shard, others
through their dispatch function, prepared once per connection. Neither depends on the search path, which would have
PostgreSQL plan everything anew. It is set, for the transaction alone, before the first SQL that needs it: the
caller's own, and queries whose function is missing or does not fit the shard.
"""

import contextlib
import itertools
from collections.abc import AsyncGenerator, Awaitable, Callable
from time import monotonic
from typing import TYPE_CHECKING, Any, Literal, cast

import asyncpg

from shardwright.errors import NotOwner
from shardwright.ids import schema_name
from shardwright.routing.deadlines import Deadline, earliest
from shardwright.routing.errors import DeadlineExceeded, TransactionLost
from shardwright.routing.execute import (
    CLOCK_DIFFERENCE_S,
    FUNCTION_OUTDATED,
    AfterCommit,
    affected_rows,
    returned_rows,
)
from shardwright.routing.function_installer import InstalledFunction
from shardwright.routing.hot_statements import ChangedRows, rows_in_status
from shardwright.routing.moved_shards import may_have_moved
from shardwright.routing.pooled_connection import PooledConnection
from shardwright.routing.queries import Query
from shardwright.routing.raw_sql import RawSql
from shardwright.routing.schema_mismatch import SCHEMA_MISFIT
from shardwright.routing.server_client import ServerClient
from shardwright.routing.statement_log import Statement, StatementLog

if TYPE_CHECKING:
    from asyncpg import Record

    from shardwright.routing.shard_connection import ShardConnection


Isolation = Literal["read committed", "repeatable read", "serializable"]
# The client's timer or the server's own limit ended the statement.
LATE = (TimeoutError, asyncpg.QueryCanceledError)
# The function or the prepared statement does not fit the shard's tables; the query itself may.
UNFIT = (*SCHEMA_MISFIT, *FUNCTION_OUTDATED)

Reopen = Callable[[Exception], Awaitable[None]]
"""Begins the transaction again where the shard is now; raises the error if it has not moved, or `NotOwner`."""


class Transaction:
    """A transaction on one shard."""

    __slots__ = (
        "_deadline",
        "_is_lent",
        "_is_untouched",
        "_log",
        "_opening",
        "_pooled",
        "_reopen",
        "_savepoints",
        "_server",
        "hooks",
        "is_lost",
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
        *,
        reopen: Reopen,
        has_path: bool = False,
    ) -> None:
        self._deadline = deadline
        self._reopen = reopen
        self._log = StatementLog()
        self._savepoints = itertools.count(1)
        self.hooks: list[AfterCommit] = []
        self.shard_number = shard_number
        self.is_lost = False
        """Whether it was rolled back because the shard has moved, and has not been begun again as it was."""
        self.enter(pooled, server, opening, has_path=has_path)

    def enter(self, pooled: PooledConnection, server: ServerClient, opening: str, *, has_path: bool) -> None:
        """Go on with this connection, on which BEGIN was executed and nothing else yet."""
        self._pooled, self._server, self._opening = pooled, server, opening
        self._is_untouched = True
        self._is_lent = has_path  # to SQL without schemas, for which the search path is set
        self.misfit: tuple[Query, asyncpg.PostgresError] | None = None
        """The query that did not fit the shard's tables, and the error."""

    def after_commit(self, hook: "AfterCommit") -> None:
        """Call `hook` after the commit, with the name of the server.

        The commit stands whatever the hook does, so an exception in a hook is only logged.
        """
        self.hooks.append(hook)

    @property
    def connection(self) -> "ShardConnection":
        """The raw asyncpg connection, for this block only; its search_path leads to the shard's tables.

        Session state (settings, locks, listeners, temporary tables) is reset before the connection's next use.
        For a part that may fail use `savepoint`: asyncpg refuses its own `transaction()` in one it did not begin.
        """
        self._raise_if_lost()
        self._log.abandon()
        self._pooled.is_dirty = True
        self._is_untouched = False
        self._lend()
        return self._pooled.conn

    @property
    def raw(self) -> RawSql:
        """SQL of your own in this transaction: statements, executemany and COPY."""
        return RawSql(self.connection, self.shard_number, lambda: self._timeout_s)

    async def fetch(self, query: Query, /, **params: Any) -> "list[Record]":
        """All rows."""
        return returned_rows(await self._run("fetch", query, params), query)

    async def fetch_one(self, query: Query, /, **params: Any) -> "Record | None":
        """The first row, if there is one."""
        rows = returned_rows(await self._run("fetchrow", query, params), query)
        return rows[0] if rows else None

    async def fetch_value(self, query: Query, /, **params: Any) -> Any:
        """The first column of the first row, or None."""
        row = await self.fetch_one(query, **params)
        return None if row is None else row[0]

    async def execute(self, query: Query, /, **params: Any) -> int:
        """Execute a statement; returns how many rows it changed or found."""
        return affected_rows(await self._run("execute", query, params))

    async def _run(self, method: str, query: Query, params: dict[str, Any]) -> "list[Record]":
        """Execute the query in the way that its method of asyncpg's connection would.

        If the shard has moved, the transaction goes on at its new owner.
        """
        self._raise_if_lost()
        statement = Statement(method, query, query.bind(params))
        try:
            rows = await self._attempt(statement)
        except asyncpg.PostgresError as error:
            if not (self._log.is_complete and may_have_moved(error)):
                raise
            rows = await self._run_at_new_owner(statement, error)
        self._log.add(statement, rows)
        return rows

    async def _run_at_new_owner(self, statement: Statement, error: Exception) -> "list[Record]":
        """Begin again at the shard's new owner, repeat what was done there, and then execute this statement.

        Whatever fails in between leaves the transaction lost: it must not be committed without its beginning.
        """
        self.is_lost = True
        while True:
            await self._reopen(error)
            try:
                if not await self._log.repeat(self._attempt):
                    raise NotOwner(
                        f"shard {self.shard_number} has moved, and rows have changed since: repeat the transaction"
                    )
                rows = await self._attempt(statement)
            except asyncpg.PostgresError as again:
                if not may_have_moved(again):
                    raise
                error = again
            else:
                self.is_lost = False
                return rows

    def _raise_if_lost(self) -> None:
        if self.is_lost:
            raise TransactionLost(f"the transaction on shard {self.shard_number} was rolled back: repeat it")

    async def _attempt(self, statement: Statement) -> "list[Record]":
        method, query, args = statement
        try:
            rows = await self._call(method, query, args)
        except SCHEMA_MISFIT as error:
            self.misfit = query, error
            raise
        except LATE as error:
            self._raise_if_exceeded(query.name, error)
            raise
        except Exception as error:
            if self._pooled.is_overdue:
                self._raise_if_exceeded(query.name, TimeoutError(str(error)))
            raise
        finally:
            self._is_untouched = False
        self._server.counts.calls += 1
        self._server.counts.rows += len(rows)
        return rows

    async def _call(self, method: str, query: Query, args: tuple[Any, ...]) -> "list[Record]":
        server, number = self._server, self.shard_number
        function = None if self._has_path else server.function_in_transaction(query, number)
        if function is None:
            return await self._call_plain(method, query, args)
        is_known_to_fit = server.fit.is_known_to_fit(query, number)
        try:
            if is_known_to_fit:
                return await self._call_prepared(method, query, args, function)
            rows = await self._call_first(method, query, args, function)
        except UNFIT as error:
            await self._prepare_plain(query, error, is_rolled_back=not is_known_to_fit)
            return await self._call_plain(method, query, args)
        server.fit.mark_fit(query, number)
        return rows

    async def _call_first(
        self, method: str, query: Query, args: tuple[Any, ...], function: InstalledFunction
    ) -> "list[Record]":
        """Call a function of which it is not known whether it fits the shard: if not, the transaction must go on.

        Any other error leaves the transaction failed, as it would without the savepoint.
        """
        if self._is_untouched:
            return await self._call_prepared(method, query, args, function)
        conn, name = self._pooled.conn, f"shardwright_{next(self._savepoints)}"
        await conn.command(f"SAVEPOINT {name}", self._timeout_s)
        try:
            rows = await self._call_prepared(method, query, args, function)
        except asyncpg.OutdatedSchemaCacheError:
            raise
        except UNFIT:
            await conn.command(f"ROLLBACK TO SAVEPOINT {name}; RELEASE SAVEPOINT {name}", self._timeout_s)
            raise
        await conn.command(f"RELEASE SAVEPOINT {name}", self._timeout_s)
        return rows

    async def _call_prepared(
        self, method: str, query: Query, args: tuple[Any, ...], function: InstalledFunction
    ) -> "list[Record]":
        statement, is_own = await self._server.prepare_in_transaction(
            self._pooled, query, self.shard_number, function, self._timeout_s
        )
        if not is_own:
            args = (self.shard_number, *args)
        pooled, timeout_s = self._pooled, self._timeout_s
        if earliest(self._deadline) is None and not pooled.is_behind_pooler:
            # The server has its own limit, and the pool looks for overdue connections: a timer would cost 10 µs.
            pooled.busy_since, timeout_s = monotonic(), None
        try:
            if method == "fetchrow" and not query.writes:
                row = await statement.fetchrow(*args, timeout=timeout_s)
                return [] if row is None else [row]
            return await statement.fetch(*args, timeout=timeout_s)
        finally:
            pooled.busy_since = None

    async def _prepare_plain(self, query: Query, error: Exception, *, is_rolled_back: bool) -> None:
        """After a function or prepared statement that does not fit: return when the query itself may be tried now."""
        server, number = self._server, self.shard_number
        if isinstance(error, FUNCTION_OUTDATED):
            server.discard_statements([query])
        if isinstance(error, asyncpg.OutdatedSchemaCacheError):
            raise error  # it was executed, and its rows could not be decoded
        if not isinstance(error, asyncpg.InvalidCachedStatementError):
            server.fit.mark_misfit(query, number)
        if self._is_untouched:
            await self._pooled.conn.command(f"ROLLBACK; {self._opening}", self._timeout_s)
        elif not is_rolled_back:
            raise asyncpg.InvalidCachedStatementError(
                f"query {query.name}: the tables of shard {number} have changed: repeat the transaction"
            ) from error

    async def _call_plain(self, method: str, query: Query, args: tuple[Any, ...]) -> "list[Record]":
        """Execute the query as it is written, in the shard's search path."""
        self._lend()
        try:
            return await self._call_text(method, query, args)
        except asyncpg.InvalidCachedStatementError:
            if not self._is_untouched:
                raise  # the tables have changed since this shard's statement was prepared
            await self._pooled.conn.command(f"ROLLBACK; {self._opening}", self._timeout_s)
            self._restore_path(had_path=False)
            return await self._call_text(method, query, args)

    async def _call_text(self, method: str, query: Query, args: tuple[Any, ...]) -> "list[Record]":
        # A text of this shard's: asyncpg's prepared one must not meet another shard's columns.
        sql = f"{query.sql}\n-- {self.shard_number}"
        conn = cast("Any", self._pooled.conn)  # asyncpg's types are incomplete
        if method == "fetchrow" and not query.writes:
            row = await conn.fetchrow(sql, *args, timeout=self._timeout_s)
            return [] if row is None else [row]
        if method != "execute":
            return await conn.fetch(sql, *args, timeout=self._timeout_s)
        status = await conn.execute(sql, *args, timeout=self._timeout_s)
        rows: Any = [ChangedRows((rows_in_status(status),))]
        return rows

    @contextlib.asynccontextmanager
    async def savepoint(self) -> AsyncGenerator[None]:
        """A savepoint: an error inside rolls this block back and is raised."""
        self._raise_if_lost()
        self._log.abandon()
        self._is_untouched = False
        name = f"shardwright_{next(self._savepoints)}"
        conn, had_path = self._pooled.conn, self._has_path
        await conn.command(f"SAVEPOINT {name}", self._timeout_s)
        try:
            yield
        except DeadlineExceeded:
            raise  # the whole transaction is over
        except Exception:
            await conn.command(f"ROLLBACK TO SAVEPOINT {name}; RELEASE SAVEPOINT {name}", self._timeout_s)
            self._restore_path(had_path=had_path)
            raise
        await conn.command(f"RELEASE SAVEPOINT {name}", self._timeout_s)

    def end(self) -> None:
        """Take the connection back from whoever has it: COMMIT and ROLLBACK need no search path."""
        self._pooled.conn.pending_path = None

    @property
    def _has_path(self) -> bool:
        """Whether the search path is set, so that prepared statements would be planned anew."""
        return self._is_lent and self._pooled.conn.pending_path is None

    def _lend(self) -> None:
        """Have the search path set before the next SQL that names no schemas."""
        if not self._is_lent:
            self._is_lent = True
            self._pooled.conn.pending_path = path_sql(self.shard_number)

    def _restore_path(self, *, had_path: bool) -> None:
        """A rollback has undone what was set since: have it set again when it is needed."""
        if self._is_lent and not had_path:
            self._pooled.conn.pending_path = path_sql(self.shard_number)

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


def path_sql(number: int) -> str:
    """The statement by which the rest of a transaction finds a shard's tables without their schema."""
    return f"SET LOCAL search_path = {schema_name(number)}, common, shardwright, public;"
