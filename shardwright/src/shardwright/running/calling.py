"""Running one statement on one shard, and what to do when it fails.

The first attempt is written for speed: no task switch but the statement's own. Everything else is in `retry`,
which repeats a statement only where that is safe:

- a write the guard refused (SW001) did not happen: load the map, ask the new owner, wait if there is none yet;
- a statement that never left (no connection could be opened) did not happen;
- a read may be repeated after a lost connection; a write then raises `OutcomeUnknown`;
- a statement on its own that PostgreSQL rolled back for a deadlock or a serialization conflict did not happen.
"""

import asyncio
import time
from typing import TYPE_CHECKING, Any, Protocol, cast

import asyncpg

from shardwright.errors import NotOwner, ServerUnavailable
from shardwright.running.dispatch import COUNT_COLUMN, Form
from shardwright.running.errors import DeadlineExceeded, OutcomeUnknown
from shardwright.running.queries import Query
from shardwright.running.servers import LOST, ServerRouter
from shardwright.topology import SQLSTATE_NOT_OWNER, ShardMap

if TYPE_CHECKING:
    from asyncpg import Record

FAILURES = (
    OSError,
    TimeoutError,
    ServerUnavailable,
    asyncpg.PostgresError,
    asyncpg.InterfaceError,
    asyncpg.InternalClientError,
)
MOST_ATTEMPTS = 3
FIRST_PAUSE_S = 0.01
LONGEST_PAUSE_S = 0.25

_ROLLED_BACK = (asyncpg.SerializationError, asyncpg.DeadlockDetectedError)
# The shard is not here, or not any more: it moved, or it was never made.
MISSING = (asyncpg.UndefinedTableError, asyncpg.InvalidSchemaNameError)
# The dispatch function is gone or no longer fits its tables; raised before anything was done.
OUTDATED = (
    asyncpg.UndefinedFunctionError,
    asyncpg.DatatypeMismatchError,
    asyncpg.InvalidCachedStatementError,
    asyncpg.OutdatedSchemaCacheError,
)


class Routes(Protocol):
    """What a call needs of the router."""

    map: ShardMap
    refusal_wait_s: float

    def server_for(self, number: int) -> ServerRouter:
        """Where a shard's statements go."""
        ...

    async def refresh(self) -> None:
        """The map is the latest."""
        ...


async def call(
    routes: Routes, number: int, query: Query, args: tuple[Any, ...], limit: int
) -> "list[Record]":
    """The rows of a query on a shard; `limit` 1 for at most one row, 0 for all."""
    server = routes.server_for(number)
    try:
        return await attempt(server, number, query, args, limit)
    except FAILURES as error:
        return await _Retry(routes, number, query, args, limit).after(error, server)


async def attempt(
    server: ServerRouter, number: int, query: Query, args: tuple[Any, ...], limit: int
) -> "list[Record]":
    """Run the statement once, in one round trip when the connection is warm."""
    pool = server.points
    link = pool.take(number)
    if link is None or link.is_dirty:
        link = await server.finish_borrowing(pool, link, number)
    try:
        if query.is_hot and not link.is_pooled:
            statement = link.statements.get((query, number)) or await server.prepare_hot(link, query, number)
        else:
            statement = link.statements.get((query, "q")) or await server.prepare(link, query, Form.POINT)
            args = (number, *args)
        if limit:
            row = cast("Record | None", await statement.fetchrow(*args))
            rows = [] if row is None else [row]
        else:
            rows = cast("list[Record]", await statement.fetch(*args))
    except BaseException as error:
        server.settle(pool, link, error)
        raise
    pool.give(link)
    server.counts.calls += 1
    server.counts.rows += len(rows)
    return rows


def rows_of(rows: "list[Record]", query: Query) -> "list[Record]":
    """The rows a caller asked for: a write that returns none answers with a count."""
    return [] if query.writes and rows and COUNT_COLUMN in rows[0] else rows


def count_of(rows: "list[Record]") -> int:
    """How many rows a statement changed, or returned."""
    return rows[0][0] if rows and COUNT_COLUMN in rows[0] else len(rows)


class _Retry:
    """Repeats one statement until it succeeds, or until repeating is no longer safe or sensible."""

    def __init__(self, routes: Routes, number: int, query: Query, args: tuple[Any, ...], limit: int) -> None:
        self._routes = routes
        self._call = (number, query, args, limit)
        self._number, self._query = number, query
        self._started_at = time.monotonic()
        self._pause_s = FIRST_PAUSE_S

    async def after(self, error: Exception, server: ServerRouter) -> "list[Record]":
        attempts = 1
        while True:
            await self._decide(error, server, attempts)
            server = self._routes.server_for(self._number)
            try:
                return await attempt(server, *self._call)
            except FAILURES as again:
                error = again
                attempts += 1

    async def _decide(self, error: Exception, server: ServerRouter, attempts: int) -> None:
        """Return when the statement may be tried again; raise when not."""
        if getattr(error, "sqlstate", None) == SQLSTATE_NOT_OWNER:
            await self._follow_shard(error)
            return
        if isinstance(error, TimeoutError):
            raise self._timed_out() from error
        if isinstance(error, MISSING):
            await self._look_elsewhere(error, server)
        elif isinstance(error, OUTDATED):
            server.forget([self._query])
        elif not self._may_repeat(error):
            raise self._lost(error)
        if attempts >= MOST_ATTEMPTS:
            raise error
        await self._pause()

    def _may_repeat(self, error: Exception) -> bool:
        if isinstance(error, (ServerUnavailable, *_ROLLED_BACK)):
            return True  # it did not happen
        return isinstance(error, LOST) and not self._query.writes

    def _lost(self, error: Exception) -> Exception:
        if isinstance(error, LOST) and self._query.writes:
            return OutcomeUnknown(f"{self._query.name} was sent to shard {self._number}, then: {error!r}")
        return error

    def _timed_out(self) -> Exception:
        if self._query.writes:
            return OutcomeUnknown(f"{self._query.name} did not end in time on shard {self._number}")
        return DeadlineExceeded(f"{self._query.name} did not end in time on shard {self._number}")

    async def _follow_shard(self, error: Exception) -> None:
        if time.monotonic() - self._started_at > self._routes.refusal_wait_s:
            raise NotOwner(f"no server accepted a write to shard {self._number} in time") from error
        await self._pause()
        await self._refresh()

    async def _look_elsewhere(self, error: Exception, server: ServerRouter) -> None:
        await self._refresh()
        if self._routes.server_for(self._number) is server:
            raise error

    async def _refresh(self) -> None:
        try:
            await self._routes.refresh()
        except ServerUnavailable:
            return  # the directory is away; the map may still be right, and a notification may come

    async def _pause(self) -> None:
        await asyncio.sleep(self._pause_s)
        self._pause_s = min(self._pause_s * 2, LONGEST_PAUSE_S)
