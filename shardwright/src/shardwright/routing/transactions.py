"""A transaction on one shard.

It opens in one round trip, BEGIN and search_path together, and search_path is local to the transaction, so no session
state outlives it, also behind a transaction pooler.
"""

import contextlib
import itertools
from collections.abc import AsyncGenerator, Awaitable, Callable
from time import monotonic
from typing import TYPE_CHECKING, Any, Literal, cast

import asyncpg

from shardwright.routing.deadlines import Deadline, earliest
from shardwright.routing.errors import DeadlineExceeded
from shardwright.routing.execute import CLOCK_DIFFERENCE_S
from shardwright.routing.pooled_connection import PooledConnection
from shardwright.routing.queries import Query
from shardwright.routing.raw_sql import RawSql
from shardwright.routing.schema_mismatch import SCHEMA_MISFIT
from shardwright.routing.server_client import ServerClient

if TYPE_CHECKING:
    from asyncpg import Connection, Record


Isolation = Literal["read committed", "repeatable read", "serializable"]
# The client's timer or the server's own limit ended the statement.
LATE = (TimeoutError, asyncpg.QueryCanceledError)
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


def rows_in_status(status: str) -> int:
    """The number in a command's status, `INSERT 0 3` or `UPDATE 3`."""
    last = status.rpartition(" ")[2]
    return int(last) if last.isdigit() else 0
