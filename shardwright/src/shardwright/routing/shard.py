"""One shard, as the router hands it out: single statements, transactions and SQL of the caller's own."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Coroutine
from typing import TYPE_CHECKING, Any, TypeVar

import asyncpg

from shardwright.errors import NotOwner
from shardwright.ids import schema_name
from shardwright.routing.deadlines import seconds_left
from shardwright.routing.durability import Durability
from shardwright.routing.errors import PrimaryElsewhere
from shardwright.routing.execute import AfterCommit, Router, affected_rows, execute_on_shard, returned_rows
from shardwright.routing.queries import Query
from shardwright.routing.raw_sql import ShardSql
from shardwright.routing.transaction_scope import TransactionScope
from shardwright.routing.transactions import Isolation, Transaction

if TYPE_CHECKING:
    from asyncpg import Record

T = TypeVar("T")
# float | None. Any, because what a caller unpacks with ** is checked against every named argument too.
Seconds = Any
AfterCommitHook = Any  # AfterCommit | None, likewise


class Shard:
    """One shard, on whichever server owns it at the moment."""

    __slots__ = ("_shards", "number", "schema")

    def __init__(self, shards: Router, number: int) -> None:
        self._shards = shards
        self.number = number
        self.schema = schema_name(number)

    @property
    def server(self) -> str:
        """The name of the server that owns it, according to this router's map."""
        return self._shards.server_for(self.number).server.name

    @property
    def raw(self) -> ShardSql:
        """SQL of your own on this shard: statements, executemany and COPY."""
        return ShardSql(self)

    async def fetch(
        self,
        query: Query,
        /,
        *,
        deadline_s: Seconds = None,
        after_commit: AfterCommitHook = None,
        **params: Any,
    ) -> "list[Record]":
        """All rows."""
        return returned_rows(await self._run(query, params, 0, deadline_s, after_commit), query)

    async def fetch_one(
        self,
        query: Query,
        /,
        *,
        deadline_s: Seconds = None,
        after_commit: AfterCommitHook = None,
        **params: Any,
    ) -> "Record | None":
        """The first row, if there is one."""
        rows = returned_rows(await self._run(query, params, 1, deadline_s, after_commit), query)
        return rows[0] if rows else None

    async def fetch_value(
        self,
        query: Query,
        /,
        *,
        deadline_s: Seconds = None,
        after_commit: AfterCommitHook = None,
        **params: Any,
    ) -> Any:
        """The first column of the first row, or None."""
        rows = returned_rows(await self._run(query, params, 1, deadline_s, after_commit), query)
        return rows[0][0] if rows else None

    async def execute(
        self,
        query: Query,
        /,
        *,
        deadline_s: Seconds = None,
        after_commit: AfterCommitHook = None,
        durable: Any = None,
        **params: Any,
    ) -> int:
        """Execute a statement in its own transaction; returns how many rows it changed or returned.

        `after_commit` is called afterwards, with the name of the server that has committed it. `durable` is that of
        `begin`, and costs two round trips more.
        """
        if durable is not None:
            return await self._execute_durably(query, params, deadline_s, after_commit, durable)
        return affected_rows(await self._run(query, params, 0, deadline_s, after_commit))

    def _run(
        self,
        query: Query,
        params: dict[str, Any],
        limit: int,
        deadline_s: float | None,
        after_commit: AfterCommit | None,
    ) -> "Coroutine[Any, Any, list[Record]]":
        return execute_on_shard(
            self._shards, self.number, query, query.bind(params), limit, deadline_s, after_commit
        )

    async def _execute_durably(
        self,
        query: Query,
        params: dict[str, Any],
        deadline_s: float | None,
        after_commit: AfterCommit | None,
        durable: Durability,
    ) -> int:
        async def body(transaction: Transaction) -> int:
            if after_commit is not None:
                transaction.after_commit(after_commit)
            return await transaction.execute(query, **params)

        return await self.transact(body, deadline_s=deadline_s, durable=durable)

    def begin(
        self,
        *,
        isolation: Isolation | None = None,
        read_only: bool = False,
        search_path: bool = False,
        deadline_s: float | None = None,
        durable: Durability | None = None,
    ) -> TransactionScope:
        """A transaction on this shard: `async with shard.begin() as transaction`.

        `search_path` sets the search path with BEGIN, which spares a block that has SQL of its own a round trip.
        `deadline_s` covers all of it, from acquiring a connection to COMMIT. Without it, and without a `deadline`
        block, the default covers its beginning: how long the rest takes is then up to the caller.
        `durable="replicated"` waits at COMMIT for a synchronous standby, and raises `NotReplicated` if none confirms
        it; `"local"` does not wait, whatever the server's default.
        """
        return TransactionScope(
            self._shards,
            self.number,
            isolation,
            read_only=read_only,
            search_path=search_path,
            deadline_s=deadline_s,
            durable=durable,
        )

    async def transact(
        self,
        body: Callable[[Transaction], Awaitable[T]],
        *,
        search_path: bool = False,
        deadline_s: float | None = None,
        durable: Durability | None = None,
    ) -> T:
        """Run `body` in a transaction and return its result.

        The whole is repeated while the shard is being moved, when the server turned out to be a standby (SQLSTATE
        25006), and when PostgreSQL refused a prepared statement because the types of columns differ between shards or
        were changed.
        """
        limit_s = seconds_left(deadline_s)
        started_at = time.monotonic()
        while True:
            left_s = None if limit_s is None else limit_s - (time.monotonic() - started_at)
            try:
                async with self.begin(
                    search_path=search_path, deadline_s=left_s, durable=durable
                ) as transaction:
                    return await body(transaction)
            except (NotOwner, PrimaryElsewhere, asyncpg.InvalidCachedStatementError):
                if time.monotonic() - started_at > self._shards.options.not_owner_wait_s:
                    raise
                await asyncio.sleep(0.02)

    def __repr__(self) -> str:
        return f"Shard({self.number})"
