"""A transaction on one shard.

It opens in one round trip, BEGIN and the search path together, and the path is the transaction's own, so
nothing of it outlives the transaction, behind a transaction pooler either.
"""

import contextlib
import itertools
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, cast

import asyncpg

from shardwright.errors import NotOwner, ServerUnavailable
from shardwright.ids import schema_name
from shardwright.running.calling import MOST_ATTEMPTS, Routes
from shardwright.running.errors import OutcomeUnknown, TransactionLost
from shardwright.running.links import CLEANING, Link
from shardwright.running.queries import Query
from shardwright.running.servers import LOST, ServerRouter
from shardwright.topology import SQLSTATE_NOT_OWNER

if TYPE_CHECKING:
    from asyncpg import Connection, Record

log = logging.getLogger(__name__)

Isolation = Literal["read committed", "repeatable read", "serializable"]
# asyncpg did not send the statement, because the connection is closed or the server has said farewell on it.
_REFUSED_TO_SEND = (asyncpg.InterfaceError, asyncpg.InternalClientError)
AfterCommit = Callable[[str], Awaitable[None]]


class Transaction:
    """Statements that happen together or not at all, on one shard."""

    __slots__ = ("_link", "_savepoints", "_server", "hooks", "shard_number")

    def __init__(self, link: Link, server: ServerRouter, shard_number: int) -> None:
        self._link = link
        self._server = server
        self._savepoints = itertools.count(1)
        self.hooks: list[AfterCommit] = []
        self.shard_number = shard_number

    def after_commit(self, hook: "AfterCommit") -> None:
        """`hook` runs once this has committed, with the name of the server it committed on.

        The write stands whatever the hook does, so a hook that raises is logged and no more.
        """
        self.hooks.append(hook)

    @property
    def connection(self) -> "Connection":
        """The asyncpg connection itself, for this block only: the search path leads to the shard's tables.

        What a session keeps (settings, locks, listeners, temporary tables) is swept before anyone else uses it.
        For a part that may fail use `savepoint`: asyncpg refuses its own `transaction()` in one it did not begin.
        """
        self._link.is_dirty = True
        return self._link.conn

    async def fetch(self, query: Query, /, **params: Any) -> "list[Record]":
        """All rows."""
        conn = self._link.conn
        rows = cast("list[Record]", await conn.fetch(query.sql, *query.bind(params), timeout=self._timeout_s))
        self._count(len(rows))
        return rows

    async def fetch_one(self, query: Query, /, **params: Any) -> "Record | None":
        """The first row, if there is one."""
        conn = self._link.conn
        row = cast(
            "Record | None", await conn.fetchrow(query.sql, *query.bind(params), timeout=self._timeout_s)
        )
        self._count(row is not None)
        return row

    async def fetch_value(self, query: Query, /, **params: Any) -> Any:
        """The first column of the first row, or None."""
        row = await self.fetch_one(query, **params)
        return None if row is None else row[0]

    async def execute(self, query: Query, /, **params: Any) -> int:
        """The statement ran; returns how many rows it changed or found."""
        status = await self._link.conn.execute(query.sql, *query.bind(params), timeout=self._timeout_s)
        self._count(0)
        return rows_in(status)

    @contextlib.asynccontextmanager
    async def savepoint(self) -> AsyncGenerator[None]:
        """A part that may fail on its own: an error inside undoes this block and passes on."""
        name = f"shardwright_{next(self._savepoints)}"
        conn = self._link.conn
        await conn.execute(f"SAVEPOINT {name}")
        try:
            yield
        except Exception:
            await conn.execute(f"ROLLBACK TO SAVEPOINT {name}; RELEASE SAVEPOINT {name}")
            raise
        await conn.execute(f"RELEASE SAVEPOINT {name}")

    @property
    def _timeout_s(self) -> float:
        return self._server.statement_timeout_s

    def _count(self, rows: int) -> None:
        self._server.counts.calls += 1
        self._server.counts.rows += rows


class Begin:
    """`async with` opens the transaction, commits at the end, and rolls back when the block raises."""

    __slots__ = ("_link", "_number", "_opening", "_routes", "_server", "_transaction")

    def __init__(self, routes: Routes, number: int, isolation: Isolation | None, *, read_only: bool) -> None:
        self._routes = routes
        self._number = number
        self._opening = _opening(number, isolation, read_only=read_only)
        self._server: ServerRouter | None = None
        self._link: Link | None = None
        self._transaction: Transaction | None = None

    async def __aenter__(self) -> Transaction:
        for attempts in itertools.count(1):
            try:
                return await self._begin()
            except (ServerUnavailable, *LOST):
                # Nothing has happened yet, so a connection that turns out to be broken is simply replaced.
                if attempts >= MOST_ATTEMPTS:
                    raise
        raise AssertionError("unreachable")

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        server, link = self._server, self._link
        if server is None or link is None:
            raise AssertionError("the transaction was never opened")
        if error is None:
            await self._commit(server, link)
            await self._tell_committed(server)
        elif isinstance(error, Exception):
            await self._roll_back(server, link)
            await self._tell_refusal(error)
            if isinstance(error, _REFUSED_TO_SEND) and link.conn.is_closed():
                raise self._gone() from error
        else:
            server.points.heal(link)  # cancelled: the task must not wait any more, healing rolls back

    async def _begin(self) -> Transaction:
        server = self._routes.server_for(self._number)
        pool = server.points
        link = pool.take(self._number) or await pool.wait(self._number)
        link.busy_since = None  # how long a transaction takes is the caller's affair; each statement is timed
        opening = self._opening + (server.local_settings if link.is_pooled else "")
        try:
            await link.conn.execute(
                CLEANING + opening if link.is_dirty else opening, timeout=server.statement_timeout_s
            )
        except BaseException as error:
            server.settle(pool, link, error)
            raise
        link.is_dirty = False
        self._server, self._link = server, link
        self._transaction = Transaction(link, server, self._number)
        return self._transaction

    async def _commit(self, server: ServerRouter, link: Link) -> None:
        try:
            status = await link.conn.execute("COMMIT", timeout=server.statement_timeout_s)
        except _REFUSED_TO_SEND as error:
            server.points.heal(link)
            raise self._gone() from error
        except (TimeoutError, *LOST) as error:
            server.settle(server.points, link, error)
            raise OutcomeUnknown(f"COMMIT was sent to shard {self._number}, then: {error!r}") from error
        except BaseException as error:
            server.settle(server.points, link, error)
            await self._tell_refusal(error)
            raise
        server.points.give(link)
        if status != "COMMIT":
            raise TransactionLost(
                f"the transaction on shard {self._number} had failed before it was to commit"
            )

    async def _tell_committed(self, server: ServerRouter) -> None:
        for hook in self._transaction.hooks if self._transaction is not None else ():
            try:
                await hook(server.server.name)
            except Exception:
                log.exception("hook.failed: after a commit on shard %s", self._number)

    async def _roll_back(self, server: ServerRouter, link: Link) -> None:
        try:
            await link.conn.execute("ROLLBACK", timeout=server.statement_timeout_s)
        except BaseException as error:
            if isinstance(error, _REFUSED_TO_SEND):
                link.conn.terminate()  # the server's farewell was read, its end not yet seen: it is over all the same
            server.points.heal(link)
            if not isinstance(error, (TimeoutError, asyncpg.PostgresError, *_REFUSED_TO_SEND, OSError)):
                raise
            return  # the connection is gone and the transaction with it; the block's own error is what counts
        server.points.give(link)

    def _gone(self) -> ServerUnavailable:
        return ServerUnavailable(
            f"the connection to shard {self._number} was lost before COMMIT: nothing happened"
        )

    async def _tell_refusal(self, error: BaseException) -> None:
        """A write at a server that is no longer the owner: learn the owner, and let the caller try again."""
        if getattr(error, "sqlstate", None) == SQLSTATE_NOT_OWNER:
            with contextlib.suppress(ServerUnavailable):  # the refusal is told either way
                await self._routes.refresh()
            raise NotOwner(f"shard {self._number} is moving or has moved: begin again") from error


def _opening(number: int, isolation: Isolation | None, *, read_only: bool) -> str:
    level = f" ISOLATION LEVEL {isolation.upper()}" if isolation else ""
    access = " READ ONLY" if read_only else ""
    return (
        f"BEGIN{level}{access}; SET LOCAL search_path = {schema_name(number)}, common, shardwright, public;"
    )


def rows_in(status: str) -> int:
    """The number in a command's status, `INSERT 0 3` or `UPDATE 3`."""
    last = status.rpartition(" ")[2]
    return int(last) if last.isdigit() else 0
