"""Executes one statement on one shard, with the retries that are safe.

The first attempt is written for speed: no task switch but the statement's own, and no timer. Everything else is in
`_Call`, which keeps to the call's deadline and repeats a statement only where that is safe:

- a write that the shard's guard refused (SW001), and whatever an old copy refused, did not happen: load the map and
  send it to the new owner, waiting while there is none;
- a statement that was never sent (no connection could be opened) did not happen;
- a read may be repeated after a lost connection; a write then raises `OutcomeUnknown`;
- a single statement that PostgreSQL rolled back for a deadlock or a serialization failure did not happen.
"""

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable, Coroutine
from time import monotonic
from typing import TYPE_CHECKING, Any, Protocol

import asyncpg

from shardwright.errors import InvalidId, NotOwner, ServerUnavailable
from shardwright.routing.deadlines import SCOPE, Deadline, seconds_left
from shardwright.routing.dispatch_functions import COUNT_COLUMN, FunctionKind
from shardwright.routing.errors import OutcomeUnknown, PoolExhausted
from shardwright.routing.moved_shards import MAY_HAVE_MOVED, is_elsewhere
from shardwright.routing.options import PoolOptions
from shardwright.routing.queries import Query
from shardwright.routing.schema_mismatch import SCHEMA_MISFIT, schema_mismatch
from shardwright.routing.server_client import CONNECTION_LOST, ServerClient
from shardwright.routing.sessions import SESSION, note_primary
from shardwright.topology import SQLSTATE_NOT_OWNER, ShardMap

if TYPE_CHECKING:
    from asyncpg import Record

log = logging.getLogger(__name__)

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
NOT_OWNER_PAUSE_S = (
    0.03  # of a shard that is being moved: its new owner is told to routers, mostly within this
)
MAX_PAUSE_S = 0.25
CLOCK_DIFFERENCE_S = 0.01  # the server counts whole milliseconds, and from a little later

# The last is the answer of a standby: the primary is elsewhere.
_ROLLED_BACK = (
    asyncpg.SerializationError,
    asyncpg.DeadlockDetectedError,
    asyncpg.ReadOnlySQLTransactionError,
)
# The dispatch function is gone or no longer fits its tables; raised before anything was executed.
FUNCTION_OUTDATED = (
    asyncpg.UndefinedFunctionError,
    asyncpg.DatatypeMismatchError,
    asyncpg.InvalidCachedStatementError,
    asyncpg.OutdatedSchemaCacheError,
)


AfterCommit = Callable[[str], Awaitable[None]]
"""Called after a commit with the name of the server that has it."""


class Router(Protocol):
    """The part of `Shards` that executing a statement needs."""

    map: ShardMap
    options: PoolOptions
    timer_s: float | None

    def server_for(self, number: int) -> ServerClient:
        """The client of the server that owns a shard."""
        ...

    async def locate(self, number: int) -> ServerClient:
        """The same, for a shard that the map did not have: it may be new."""
        ...

    async def refresh(self) -> None:
        """Load the latest map."""
        ...

    async def wait_for_map(self, timeout_s: float) -> None:
        """Return when a newer map has arrived, or after this time."""
        ...


def execute_on_shard(  # noqa: PLR0917  # called for every statement, without keywords
    router: Router,
    number: int,
    query: Query,
    args: tuple[Any, ...],
    limit: int,
    deadline_s: float | None = None,
    after_commit: AfterCommit | None = None,
) -> "Coroutine[Any, Any, list[Record]]":
    """Return the rows of a query on a shard; `limit` is 1 for at most one row, 0 for all."""
    execute = _execute if SESSION.get() is None else _execute_in_session
    return execute(router, number, query, args, limit, deadline_s, after_commit)


async def _execute_in_session(router: Router, number: int, *call: Any) -> "list[Record]":
    """Execute it, and have the session around it note that: also a failed write may have happened."""
    try:
        return await _execute(router, number, *call)
    finally:
        with contextlib.suppress(InvalidId):
            note_primary(router.server_for(number))


async def _execute(  # noqa: PLR0917  # likewise
    router: Router,
    number: int,
    query: Query,
    args: tuple[Any, ...],
    limit: int,
    deadline_s: float | None,
    after_commit: AfterCommit | None,
) -> "list[Record]":
    if deadline_s is not None or router.timer_s is not None or SCOPE.get() is not None:
        call = _Call(router, number, query, args, limit)
        rows = await call.within(seconds_left(deadline_s))
        server = call.server
    else:
        started_at, server = monotonic(), None
        try:
            server = router.server_for(number)
            rows = await attempt(server, number, query, args, limit)
        except (InvalidId, *FAILURES) as error:
            call = _Call(router, number, query, args, limit)
            rows = await call.after(error, server, started_at)
            server = call.server
    if after_commit is not None:
        await run_after_commit(after_commit, server.server.name, number)
    return rows


async def run_after_commit(hook: AfterCommit, server: str, number: int) -> None:
    """Call a hook; the commit stands whatever it does, so an exception is only logged."""
    try:
        await hook(server)
    except Exception:
        log.exception("hook.failed: after a commit on shard %s", number)


async def attempt(  # noqa: PLR0917  # likewise
    server: ServerClient,
    number: int,
    query: Query,
    args: tuple[Any, ...],
    limit: int,
    deadline: Deadline | None = None,
) -> "list[Record]":
    """Execute the statement once, in one round trip when it is already prepared on the connection."""
    pool = server.point_pool
    pooled = pool.acquire_nowait(number)
    if pooled is None or pooled.is_dirty:
        pooled = await server.finish_acquire(pool, pooled, number, deadline)
    if deadline is not None:
        deadline.wait_for(server.answer, server)
    try:
        if server.fit.misfits and server.fit.is_misfit(query, number):
            statement = server.plain(pooled, query, FunctionKind.POINT)
            args = (number, *args)
        elif query.is_hot and (found := pooled.hot.get(query, number)) is not None:
            statement = found
        elif query.is_hot and pooled.hot.admits(query, number):
            statement = await server.prepare_hot(pooled, query, number)
        else:
            statement = pooled.statements.get((query, "q")) or await server.prepare(
                pooled, query, FunctionKind.POINT, number
            )
            args = (number, *args)
        if deadline is not None:
            deadline.is_sent = True
        if limit and not query.writes:  # a write runs to its end, however many rows are wanted
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


class _Call:
    """One statement under a deadline: repeated until it succeeds, or another attempt is no longer safe or useful."""

    def __init__(self, router: Router, number: int, query: Query, args: tuple[Any, ...], limit: int) -> None:
        self._router = router
        self._call = (number, query, args, limit)
        self._number, self._query = number, query
        self._name = f"{query.name} on shard {number}"
        self._not_owner_since: float | None = None
        self._pause_s = FIRST_PAUSE_S
        self._is_looked_up_again = False
        self._is_plain = False
        self.server: ServerClient
        self._deadline: Deadline

    async def within(self, limit_s: float | None) -> "list[Record]":
        """Execute it within this limit, or the default."""
        self._deadline = Deadline(self._router.options.deadline_s if limit_s is None else limit_s)
        if self._deadline.left_s <= 0:
            raise self._deadline.exceeded(self._name)
        return await self._deadline.run(self._first, self._name, writes=self._query.writes)

    async def after(self, error: Exception, server: ServerClient | None, started_at: float) -> "list[Record]":
        """Continue after a first attempt without a timer, which failed."""
        self._deadline = Deadline(self._router.options.deadline_s, started_at)
        if server is not None:
            self.server = server
            self._deadline.wait_for(server.answer)
        if isinstance(error, ServerUnavailable):  # nothing was sent: all that time was spent acquiring
            self._deadline.acquiring_s = monotonic() - started_at
        return await self._deadline.run(lambda: self._repeat(error), self._name, writes=self._query.writes)

    async def _first(self) -> "list[Record]":
        try:
            return await self._attempt()
        except FAILURES as error:
            return await self._repeat(error)

    async def _repeat(self, error: Exception) -> "list[Record]":
        attempts = 1
        while True:
            await self._decide(error, attempts)
            try:
                return await self._attempt()
            except FAILURES as again:
                error = again
                attempts += 1

    async def _attempt(self) -> "list[Record]":
        try:
            self.server = self._router.server_for(self._number)
        except InvalidId:
            self._deadline.wait_for("the shard map")
            self.server = await self._router.locate(self._number)
        return await attempt(self.server, *self._call, self._deadline)

    async def _decide(self, error: Exception, attempts: int) -> None:
        """Return when the statement may be repeated; raise otherwise."""
        if isinstance(error, asyncpg.OutdatedSchemaCacheError) and self._query.writes:
            # The rows could not be decoded: the statement has been executed.
            self.server.discard_statements([self._query])
            raise OutcomeUnknown(
                f"{self._query.name} was sent to shard {self._number}, then: {error!r}"
            ) from error
        if await self._is_refused(error):
            await self._wait_for_new_owner(error)
            return
        if isinstance(error, InvalidId):
            return  # of an attempt that knew the cached map alone: the next one asks for a newer map
        if isinstance(error, TimeoutError):
            # The pool's own check, or a pooled connection's timer, found the statement overdue.
            limit_s = self._router.options.statement_timeout_s
            raise self._deadline.exceeded(self._name, limit_s, is_unknown=self._query.writes) from error
        if isinstance(error, asyncpg.QueryCanceledError) and self._deadline.left_s < CLOCK_DIFFERENCE_S:
            raise self._deadline.exceeded(self._name) from error  # the server rolled it back
        if isinstance(error, (*SCHEMA_MISFIT, *FUNCTION_OUTDATED)):
            if await self._adapt(error):
                return
        elif not self._is_safe_to_retry(error):
            raise self._lost_error(error)
        if attempts >= MAX_ATTEMPTS:
            raise error
        await self._pause("its next attempt")

    def _is_safe_to_retry(self, error: Exception) -> bool:
        if isinstance(error, PoolExhausted):
            return False  # another attempt would wait as long again
        if isinstance(error, ServerUnavailable):
            return self._deadline.acquiring_s < self._router.options.acquire_timeout_s  # it did not happen
        if isinstance(error, _ROLLED_BACK):
            return True  # likewise
        return isinstance(error, CONNECTION_LOST) and not self._query.writes

    def _lost_error(self, error: Exception) -> Exception:
        if isinstance(error, CONNECTION_LOST) and self._query.writes:
            return OutcomeUnknown(f"{self._query.name} was sent to shard {self._number}, then: {error!r}")
        return error

    async def _is_refused(self, error: Exception) -> bool:
        """Whether the server refused the statement since the shard is another's, or will be in a moment."""
        if getattr(error, "sqlstate", None) == SQLSTATE_NOT_OWNER:
            return True
        if not isinstance(error, MAY_HAVE_MOVED):
            return False
        self._deadline.wait_for("the shard map")
        return await is_elsewhere(self._router, self.server, self._number)

    async def _wait_for_new_owner(self, error: Exception) -> None:
        now = monotonic()
        self._not_owner_since = self._not_owner_since or now
        if now - self._not_owner_since > self._router.options.not_owner_wait_s:
            raise NotOwner(f"no server has owned shard {self._number} in time") from error
        if self._has_moved():
            return
        self._deadline.wait_for(f"a server that owns shard {self._number}")
        self._pause_s = max(self._pause_s, NOT_OWNER_PAUSE_S)
        await self._router.wait_for_map(self._pause_s)
        self._pause_s = min(self._pause_s * 2, MAX_PAUSE_S)
        if not self._has_moved():  # the notification may be lost, or the owner be the same again
            await self._refresh()

    def _has_moved(self) -> bool:
        return self._router.server_for(self._number) is not self.server

    async def _adapt(self, error: Exception) -> bool:
        """After a query that does not fit the shard's tables: whether to repeat it at once, in another way.

        First the function is looked up again, then the query is executed without it; what fails even so is raised.
        """
        server = self.server
        self._deadline.wait_for(server.answer, server)
        is_misfit = server.fit.is_misfit(self._query, self._number)
        if isinstance(error, FUNCTION_OUTDATED) and not (is_misfit or self._is_looked_up_again):
            self._is_looked_up_again = True
            server.discard_statements([self._query])
            return True
        if not self._is_plain:
            self._is_plain = True
            server.fit.mark_misfit(self._query, self._number)
            return True
        if isinstance(error, SCHEMA_MISFIT):
            version = await server.shard_version(self._number)
            raise schema_mismatch(error, self._query, server.server.name, self._number, version) from error
        return False

    async def _refresh(self) -> None:
        self._deadline.wait_for("the shard map")
        try:
            await self._router.refresh()
        except ServerUnavailable:
            return  # the directory is unreachable; the map may still be right, and a notification may come

    async def _pause(self, waits_for: str) -> None:
        self._deadline.wait_for(waits_for)
        await asyncio.sleep(self._pause_s)
        self._pause_s = min(self._pause_s * 2, MAX_PAUSE_S)
