"""Executes one statement on one shard, with the retries that are safe.

The first attempt is written for speed: no task switch but the statement's own. Everything else is in `_Retry`,
which repeats a statement only where that is safe:

- a write that the shard's guard refused (SW001) did not happen: load the map and send it to the new owner, waiting
  while there is none;
- a statement that was never sent (no connection could be opened) did not happen;
- a read may be repeated after a lost connection; a write then raises `OutcomeUnknown`;
- a single statement that PostgreSQL rolled back for a deadlock or a serialization failure did not happen.
"""

import asyncio
import time
from typing import TYPE_CHECKING, Any, Protocol

import asyncpg

from shardwright.errors import NotOwner, ServerUnavailable
from shardwright.routing.dispatch_functions import COUNT_COLUMN, FunctionKind
from shardwright.routing.errors import DeadlineExceeded, OutcomeUnknown
from shardwright.routing.queries import Query
from shardwright.routing.schema_mismatch import SCHEMA_MISFIT, schema_mismatch
from shardwright.routing.server_client import CONNECTION_LOST, ServerClient
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
MAX_ATTEMPTS = 3
FIRST_PAUSE_S = 0.01
MAX_PAUSE_S = 0.25

_ROLLED_BACK = (asyncpg.SerializationError, asyncpg.DeadlockDetectedError)
# The shard's schema or table does not exist on this server: it moved, or was never created.
SHARD_MISSING = (asyncpg.UndefinedTableError, asyncpg.InvalidSchemaNameError)
# The dispatch function is gone or no longer fits its tables; raised before anything was executed.
FUNCTION_OUTDATED = (
    asyncpg.UndefinedFunctionError,
    asyncpg.DatatypeMismatchError,
    asyncpg.InvalidCachedStatementError,
    asyncpg.OutdatedSchemaCacheError,
)


class Router(Protocol):
    """The part of `Shards` that executing a statement needs."""

    map: ShardMap
    not_owner_wait_s: float

    def server_for(self, number: int) -> ServerClient:
        """The client of the server that owns a shard."""
        ...

    async def refresh(self) -> None:
        """Load the latest map."""
        ...


async def execute_on_shard(
    router: Router, number: int, query: Query, args: tuple[Any, ...], limit: int
) -> "list[Record]":
    """Return the rows of a query on a shard; `limit` is 1 for at most one row, 0 for all."""
    server = router.server_for(number)
    try:
        return await attempt(server, number, query, args, limit)
    except FAILURES as error:
        return await _Retry(router, number, query, args, limit).after(error, server)


async def attempt(
    server: ServerClient, number: int, query: Query, args: tuple[Any, ...], limit: int
) -> "list[Record]":
    """Execute the statement once, in one round trip when it is already prepared on the connection."""
    pool = server.point_pool
    pooled = pool.acquire_nowait(number)
    if pooled is None or pooled.is_dirty:
        pooled = await server.finish_acquire(pool, pooled, number)
    try:
        if server.misfits and server.is_misfit(query, number):
            statement = server.plain(pooled, query, FunctionKind.POINT)
            args = (number, *args)
        elif query.is_hot and not pooled.is_behind_pooler:
            statement = pooled.statements.get((query, number)) or await server.prepare_hot(
                pooled, query, number
            )
        else:
            statement = pooled.statements.get((query, "q")) or await server.prepare(
                pooled, query, FunctionKind.POINT, number
            )
            args = (number, *args)
        if limit:
            row = await statement.fetchrow(*args)
            rows = [] if row is None else [row]
        else:
            rows = await statement.fetch(*args)
    except BaseException as error:
        server.handle_failure(pool, pooled, error)
        raise
    pool.release(pooled)
    server.counts.calls += 1
    server.counts.rows += len(rows)
    return rows


def returned_rows(rows: "list[Record]", query: Query) -> "list[Record]":
    """The rows for the caller; the count that a write without RETURNING yields is removed."""
    return [] if query.writes and rows and COUNT_COLUMN in rows[0] else rows


def affected_rows(rows: "list[Record]") -> int:
    """How many rows a statement changed or returned."""
    return rows[0][0] if rows and COUNT_COLUMN in rows[0] else len(rows)


class _Retry:
    """Repeats one statement until it succeeds, or until another attempt is no longer safe or useful."""

    def __init__(self, router: Router, number: int, query: Query, args: tuple[Any, ...], limit: int) -> None:
        self._router = router
        self._call = (number, query, args, limit)
        self._number, self._query = number, query
        self._started_at = time.monotonic()
        self._pause_s = FIRST_PAUSE_S
        self._is_looked_up_again = False
        self._is_plain = False

    async def after(self, error: Exception, server: ServerClient) -> "list[Record]":
        attempts = 1
        while True:
            await self._decide(error, server, attempts)
            server = self._router.server_for(self._number)
            try:
                return await attempt(server, *self._call)
            except FAILURES as again:
                error = again
                attempts += 1

    async def _decide(self, error: Exception, server: ServerClient, attempts: int) -> None:
        """Return when the statement may be repeated; raise otherwise."""
        if getattr(error, "sqlstate", None) == SQLSTATE_NOT_OWNER:
            await self._wait_for_new_owner(error)
            return
        if isinstance(error, TimeoutError):
            raise self._timeout_error() from error
        if isinstance(error, (*SCHEMA_MISFIT, *FUNCTION_OUTDATED)):
            if await self._adapt(error, server):
                return
        elif not self._is_safe_to_retry(error):
            raise self._lost_error(error)
        if attempts >= MAX_ATTEMPTS:
            raise error
        await self._pause()

    def _is_safe_to_retry(self, error: Exception) -> bool:
        if isinstance(error, (ServerUnavailable, *_ROLLED_BACK)):
            return True  # it did not happen
        return isinstance(error, CONNECTION_LOST) and not self._query.writes

    def _lost_error(self, error: Exception) -> Exception:
        if isinstance(error, CONNECTION_LOST) and self._query.writes:
            return OutcomeUnknown(f"{self._query.name} was sent to shard {self._number}, then: {error!r}")
        return error

    def _timeout_error(self) -> Exception:
        if self._query.writes:
            return OutcomeUnknown(f"{self._query.name} timed out on shard {self._number}")
        return DeadlineExceeded(f"{self._query.name} timed out on shard {self._number}")

    async def _wait_for_new_owner(self, error: Exception) -> None:
        if time.monotonic() - self._started_at > self._router.not_owner_wait_s:
            raise NotOwner(f"no server accepted a write to shard {self._number} in time") from error
        await self._pause()
        await self._refresh()

    async def _adapt(self, error: Exception, server: ServerClient) -> bool:
        """After a query that does not fit the shard's tables: whether to repeat it at once, in another way.

        First the function is looked up again, then the query is executed without it; what fails even so is raised.
        """
        if isinstance(error, SHARD_MISSING):
            await self._refresh()
            if self._router.server_for(self._number) is not server:
                return False  # the shard has moved: repeat it there, after a pause
        is_misfit = server.is_misfit(self._query, self._number)
        if isinstance(error, FUNCTION_OUTDATED) and not (is_misfit or self._is_looked_up_again):
            self._is_looked_up_again = True
            server.discard_statements([self._query])
            return True
        if not self._is_plain:
            self._is_plain = True
            server.mark_misfit(self._query, self._number)
            return True
        if isinstance(error, SCHEMA_MISFIT):
            version = await server.shard_version(self._number)
            raise schema_mismatch(error, self._query, server.server.name, self._number, version) from error
        return False

    async def _refresh(self) -> None:
        try:
            await self._router.refresh()
        except ServerUnavailable:
            return  # the directory is unreachable; the map may still be right, and a notification may come

    async def _pause(self) -> None:
        await asyncio.sleep(self._pause_s)
        self._pause_s = min(self._pause_s * 2, MAX_PAUSE_S)
