"""The scope of a transaction on one shard: opens it, commits or rolls it back, and says what became of it."""

import asyncio
import contextlib
import itertools
from time import monotonic
from types import TracebackType

import asyncpg

from shardwright.errors import InvalidId, NotOwner, ServerUnavailable
from shardwright.routing.deadlines import SCOPE, Deadline, earliest, seconds_left
from shardwright.routing.durability import (
    CommitWarnings,
    Durability,
    durability_sql,
    is_no_standby,
    no_standby,
)
from shardwright.routing.errors import (
    DeadlineExceeded,
    NotReplicated,
    OutcomeUnknown,
    PoolExhausted,
    PrimaryElsewhere,
    TransactionLost,
)
from shardwright.routing.execute import MAX_ATTEMPTS, Router, run_after_commit
from shardwright.routing.moved_shards import MAY_HAVE_MOVED, is_elsewhere, wait_for_owner
from shardwright.routing.pooled_connection import RESET_SESSION_SQL, PooledConnection, milliseconds
from shardwright.routing.schema_mismatch import schema_mismatch
from shardwright.routing.server_client import CONNECTION_LOST, ServerClient
from shardwright.routing.sessions import note_primary
from shardwright.routing.transactions import Isolation, Transaction, path_sql
from shardwright.topology import SQLSTATE_NOT_OWNER

# asyncpg did not send the statement, because the connection is closed or the server has announced its shutdown on it.
_REFUSED_TO_SEND = (asyncpg.InterfaceError, asyncpg.InternalClientError)
# BEGIN did not happen; the shard may be unknown because it is new.
_NOT_BEGUN = (InvalidId, ServerUnavailable, *CONNECTION_LOST)


class TransactionScope:
    """`async with` opens the transaction, commits at the end, and rolls back when the block raises."""

    __slots__ = (
        "_deadline_s",
        "_durable",
        "_has_path",
        "_is_read_only",
        "_limit",
        "_number",
        "_opening",
        "_pooled",
        "_refused_at",
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
        search_path: bool = False,
        deadline_s: float | None = None,
        durable: Durability | None = None,
    ) -> None:
        self._router = router
        self._number = number
        self._opening = _opening(isolation, read_only=read_only) + (path_sql(number) if search_path else "")
        self._opening += durability_sql(durable)
        self._durable = durable
        self._is_read_only = read_only
        self._has_path = search_path
        self._deadline_s = deadline_s
        self._limit: Deadline | None = None  # of the whole transaction, where the caller has set one
        self._server: ServerClient | None = None
        self._pooled: PooledConnection | None = None
        self._transaction: Transaction | None = None
        self._refused_at: float | None = None  # when a server first refused a statement, not owning the shard

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
        server, pooled, transaction = self._server, self._pooled, self._transaction
        if server is None or transaction is None:
            raise AssertionError("the transaction was never opened")
        if pooled is None:  # it was rolled back, and could not be begun again
            await self._raise_lost(error, server)
            return
        transaction.end()
        try:
            await self._end(error, server, pooled, transaction)
        finally:
            note_primary(server)

    async def _end(
        self,
        error: BaseException | None,
        server: ServerClient,
        pooled: PooledConnection,
        transaction: Transaction,
    ) -> None:
        if error is None and transaction.is_lost:
            await self._roll_back(server, pooled)
            await self._raise_lost(None, server)
        elif error is None:
            await self._commit(server, pooled)
            await self._run_after_commit_hooks(server, transaction)
        elif isinstance(error, Exception) and not self._is_over(error):
            await self._roll_back(server, pooled)
            await self._raise_if_not_owner(error, server)
            await self._raise_if_misfit(error, server)
            if (
                isinstance(error, asyncpg.ReadOnlySQLTransactionError)
                and not self._is_read_only
                and server.leave_standby(pooled)
            ):
                raise PrimaryElsewhere(
                    f"server {server.server.name} is a standby now: nothing was changed, repeat the transaction"
                ) from error
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

    async def _reopen(self, error: Exception) -> None:
        """Begin again at the owner of the shard, after a statement that this server refused, not owning it."""
        server, pooled, transaction = self._server, self._pooled, self._transaction
        if server is None or pooled is None or transaction is None:
            raise AssertionError("the transaction was never opened")
        transaction.end()
        self._pooled = None
        self._refused_at = self._refused_at or monotonic()
        await self._roll_back(server, pooled)
        limit = earliest(self._limit)
        deadline = Deadline(self._router.options.deadline_s if limit is None else limit.left_s)
        await deadline.run(lambda: self._open_at_owner(error, server, deadline), self._name)

    async def _open_at_owner(self, error: Exception, refused_by: ServerClient, deadline: Deadline) -> None:
        """Wait for an owner and open there; raises the error if the shard has not moved: something else is wrong."""
        deadline.wait_for(f"a server that owns shard {self._number}")
        is_refused = getattr(error, "sqlstate", None) == SQLSTATE_NOT_OWNER
        if not is_refused and not await is_elsewhere(self._router, refused_by, self._number):
            raise error
        ends_at = (self._refused_at or monotonic()) + self._router.options.not_owner_wait_s
        if not await wait_for_owner(self._router, refused_by, self._number, ends_at):
            raise NotOwner(f"no server has owned shard {self._number} in time") from error
        await self._open(deadline)

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
            if is_no_standby(error):
                raise no_standby(server.server.name) from error
            if isinstance(error, TimeoutError):
                raise self._opening_exceeded(server, deadline) from error
            raise
        pooled.is_dirty = False
        self._server, self._pooled = server, pooled
        if self._transaction is not None:  # it goes on, at the new owner of the shard
            self._transaction.enter(pooled, server, opening, has_path=self._has_path)
            return self._transaction
        self._transaction = Transaction(
            pooled, server, self._number, opening, self._limit, reopen=self._reopen, has_path=self._has_path
        )
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
            status = await self._send_commit(pooled, timeout_s)
        except _REFUSED_TO_SEND as error:
            server.point_pool.recover(pooled)
            raise self._connection_lost() from error
        except (TimeoutError, *CONNECTION_LOST) as error:
            server.handle_failure(server.point_pool, pooled, error)
            if isinstance(error, TimeoutError):
                raise self._commit_exceeded(server) from error
            raise OutcomeUnknown(f"COMMIT was sent to shard {self._number}, then: {error!r}") from error
        except NotReplicated:
            server.point_pool.release(pooled)
            raise
        except BaseException as error:
            server.handle_failure(server.point_pool, pooled, error)
            await self._raise_if_not_owner(error, server)
            raise
        server.point_pool.release(pooled)
        if status != "COMMIT":
            raise TransactionLost(f"the transaction on shard {self._number} had failed before COMMIT")

    async def _send_commit(self, pooled: PooledConnection, timeout_s: float) -> str:
        if self._durable != "replicated":
            return await pooled.commit(timeout_s)
        with CommitWarnings(pooled.conn) as warnings:
            status = await pooled.commit(timeout_s)
        warnings.raise_if_given_up(self._name)
        return status

    def _commit_exceeded(self, server: ServerClient) -> DeadlineExceeded:
        limit_s = server.statement_timeout_s
        deadline = self._limit or Deadline(limit_s, monotonic() - limit_s)
        deadline.wait_for(f"{server.answer} to COMMIT")
        return deadline.exceeded(self._name, is_unknown=True)

    async def _run_after_commit_hooks(self, server: ServerClient, transaction: Transaction) -> None:
        for hook in transaction.hooks:
            await run_after_commit(hook, server.server.name, self._number)

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

    async def _raise_lost(self, error: BaseException | None, server: ServerClient) -> None:
        """After a transaction that was rolled back within its block: raise, if the block has swallowed the reason."""
        if error is None:
            raise TransactionLost(f"the transaction on shard {self._number} had failed before COMMIT")
        await self._raise_if_misfit(error, server)

    async def _raise_if_not_owner(self, error: BaseException, server: ServerClient) -> None:
        """After what a server that does not own the shard refused: raise `NotOwner`, with a newer map loaded."""
        is_refused = getattr(error, "sqlstate", None) == SQLSTATE_NOT_OWNER
        if not is_refused and not isinstance(error, MAY_HAVE_MOVED):
            return
        with contextlib.suppress(ServerUnavailable, TimeoutError):  # a refused write is one either way
            async with asyncio.timeout(None if self._limit is None else self._limit.left_s):
                if is_refused:
                    await self._router.refresh()
                else:
                    is_refused = await is_elsewhere(self._router, server, self._number)
        if is_refused:
            raise NotOwner(
                f"shard {self._number} is being moved or has moved: repeat the transaction"
            ) from error

    async def _raise_if_misfit(self, error: BaseException, server: ServerClient) -> None:
        """After a named query that did not fit the shard's tables: raise `SchemaMismatch`, with the shard's version."""
        misfit = self._transaction.misfit if self._transaction is not None else None
        if misfit is not None and misfit[1] is error:
            version = await server.shard_version(self._number)
            raise schema_mismatch(misfit[1], misfit[0], server.server.name, self._number, version) from error


def _opening(isolation: Isolation | None, *, read_only: bool) -> str:
    level = f" ISOLATION LEVEL {isolation.upper()}" if isolation else ""
    access = " READ ONLY" if read_only else ""
    return f"BEGIN{level}{access};"
