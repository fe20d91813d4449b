"""SQL of the caller's own on a shard: statements, executemany and COPY, beside the named queries.

Methods are named as those of named queries where there are such, else as asyncpg's. Tables are named without a schema.
On a `Shard` each call is a transaction of its own; on a `Transaction` it is part of that. The session is reset before
anybody else uses the connection, so a SET in the SQL reaches nobody.
"""

import os
from collections.abc import AsyncIterable, Awaitable, Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, cast

import asyncpg

from shardwright.errors import ServerUnavailable, SetupInvalid
from shardwright.ids import schema_name
from shardwright.routing.errors import DeadlineExceeded
from shardwright.routing.execute import MAX_ATTEMPTS
from shardwright.routing.server_client import CONNECTION_LOST

if TYPE_CHECKING:
    from asyncpg import Connection, Record

T = TypeVar("T")
Records = Iterable[Sequence[Any]] | AsyncIterable[Sequence[Any]]

# PostgreSQL has rolled everything back, or asyncpg has noticed a changed table before it executed anything.
_REPEATABLE = (
    asyncpg.SerializationError,
    asyncpg.DeadlockDetectedError,
    asyncpg.InvalidCachedStatementError,
    asyncpg.OutdatedSchemaCacheError,
)


class RawSql:
    """SQL in an open transaction on a shard: `transaction.raw`.

    `timeout_s` replaces the router's statement timeout, for this statement and the rest of the transaction.
    """

    __slots__ = ("_conn", "_default_timeout_s", "_schema")

    def __init__(self, conn: "Connection", number: int, default_timeout_s: Callable[[], float]) -> None:
        self._conn = cast("Any", conn)  # asyncpg's types are incomplete; results get theirs here
        self._schema = schema_name(number)
        self._default_timeout_s = default_timeout_s

    async def fetch(self, sql: str, /, *args: Any, timeout_s: float | None = None) -> "list[Record]":
        """All rows; parameters are $1, $2 …."""
        limit_s = await self._limit(timeout_s)
        return await self._checked(self._conn.fetch(self._own(sql), *args, timeout=limit_s))

    async def fetch_one(self, sql: str, /, *args: Any, timeout_s: float | None = None) -> "Record | None":
        """The first row, if there is one."""
        limit_s = await self._limit(timeout_s)
        return await self._checked(self._conn.fetchrow(self._own(sql), *args, timeout=limit_s))

    async def fetch_value(self, sql: str, /, *args: Any, timeout_s: float | None = None) -> Any:
        """The first column of the first row, or None."""
        row = await self.fetch_one(sql, *args, timeout_s=timeout_s)
        return None if row is None else row[0]

    async def execute(self, sql: str, /, *args: Any, timeout_s: float | None = None) -> str:
        """Execute a statement, or without parameters several; returns the last one's status, `INSERT 0 3`."""
        limit_s = await self._limit(timeout_s)
        text = self._own(sql) if args else sql
        return await self._checked(self._conn.execute(text, *args, timeout=limit_s))

    async def executemany(
        self, sql: str, args: Iterable[Sequence[Any]], /, *, timeout_s: float | None = None
    ) -> None:
        """Execute a statement with each of these parameters, in few round trips."""
        limit_s = await self._limit(timeout_s)
        await self._checked(self._conn.executemany(self._own(sql), args, timeout=limit_s))

    async def copy_records_to_table(
        self, table: str, *, records: Records, timeout_s: float | None = None, **options: Any
    ) -> str:
        """COPY records into a table of the shard; `columns` names those that they have."""
        limit_s = await self._limit(timeout_s)
        return await self._checked(
            self._conn.copy_records_to_table(
                table, records=records, schema_name=self._schema, timeout=limit_s, **options
            )
        )

    async def copy_to_table(
        self, table: str, *, source: Any, timeout_s: float | None = None, **options: Any
    ) -> str:
        """COPY a file, or what an async iterator yields, into a table of the shard."""
        limit_s = await self._limit(timeout_s)
        return await self._checked(
            self._conn.copy_to_table(
                table, source=source, schema_name=self._schema, timeout=limit_s, **options
            )
        )

    async def copy_from_table(
        self, table: str, *, output: Any, timeout_s: float | None = None, **options: Any
    ) -> str:
        """COPY a table of the shard to a file or a coroutine function."""
        limit_s = await self._limit(timeout_s)
        return await self._checked(
            self._conn.copy_from_table(
                table, output=output, schema_name=self._schema, timeout=limit_s, **options
            )
        )

    async def copy_from_query(
        self, sql: str, /, *args: Any, output: Any, timeout_s: float | None = None, **options: Any
    ) -> str:
        """COPY the rows of a query to a file or a coroutine function."""
        limit_s = await self._limit(timeout_s)
        return await self._checked(
            self._conn.copy_from_query(sql, *args, output=output, timeout=limit_s, **options)
        )

    async def _limit(self, timeout_s: float | None) -> float:
        """Let the server enforce the caller's own timeout; returns the client's, which comes a little later."""
        default_s = self._default_timeout_s()
        if timeout_s is None:
            return default_s
        await self._conn.execute(f"SET LOCAL statement_timeout = {int(timeout_s * 1000)}", timeout=default_s)
        return timeout_s + 1.0

    def _own(self, sql: str) -> str:
        """The statement as a text of this shard's: a prepared one must not meet another shard's columns."""
        return f"{sql}\n/* {self._schema} */"

    async def _checked(self, call: Awaitable[Any]) -> Any:
        try:
            result = await call
        except TimeoutError as error:
            raise DeadlineExceeded(f"SQL on shard {self._schema} timed out: nothing was changed") from error
        if not self._conn.is_in_transaction():
            raise SetupInvalid("SQL on a shard must not end its transaction: leave out COMMIT and ROLLBACK")
        return result


class _Transaction(Protocol):
    @property
    def raw(self) -> RawSql: ...


class _Shard(Protocol):
    number: int

    async def transact(self, body: Callable[[Any], Awaitable[T]], *, search_path: bool) -> T: ...
    def begin(self, *, search_path: bool) -> Any: ...


class ShardSql:
    """SQL on a shard, each call in a transaction of its own: `shard.raw`.

    It is repeated where it cannot have had an effect: after a write that the guard refused (SW001), a table that cannot
    be read because the shard has moved, a deadlock or a serialization failure. What can be read only once, an iterator
    or an open file, is not sent a second time.
    """

    __slots__ = ("_shard",)

    def __init__(self, shard: _Shard) -> None:
        self._shard = shard

    async def fetch(self, sql: str, /, *args: Any, timeout_s: float | None = None) -> "list[Record]":
        """All rows; parameters are $1, $2 …."""
        return await self._run(lambda raw: raw.fetch(sql, *args, timeout_s=timeout_s))

    async def fetch_one(self, sql: str, /, *args: Any, timeout_s: float | None = None) -> "Record | None":
        """The first row, if there is one."""
        return await self._run(lambda raw: raw.fetch_one(sql, *args, timeout_s=timeout_s))

    async def fetch_value(self, sql: str, /, *args: Any, timeout_s: float | None = None) -> Any:
        """The first column of the first row, or None."""
        return await self._run(lambda raw: raw.fetch_value(sql, *args, timeout_s=timeout_s))

    async def execute(self, sql: str, /, *args: Any, timeout_s: float | None = None) -> str:
        """Execute a statement, or without parameters several; returns the last one's status, `INSERT 0 3`."""
        return await self._run(lambda raw: raw.execute(sql, *args, timeout_s=timeout_s))

    async def executemany(
        self, sql: str, args: Iterable[Sequence[Any]], /, *, timeout_s: float | None = None
    ) -> None:
        """Execute a statement with each of these parameters: all of them, or none."""
        await self._run(
            lambda raw: raw.executemany(sql, args, timeout_s=timeout_s),
            can_repeat=isinstance(args, Sequence),
        )

    async def copy_records_to_table(
        self, table: str, *, records: Records, timeout_s: float | None = None, **options: Any
    ) -> str:
        """COPY records into a table: all of them, or none."""
        return await self._run(
            lambda raw: raw.copy_records_to_table(table, records=records, timeout_s=timeout_s, **options),
            can_repeat=isinstance(records, Sequence),
        )

    async def copy_to_table(
        self, table: str, *, source: Any, timeout_s: float | None = None, **options: Any
    ) -> str:
        """COPY a file, or what an async iterator yields, into a table: all of it, or nothing."""
        return await self._run(
            lambda raw: raw.copy_to_table(table, source=source, timeout_s=timeout_s, **options),
            can_repeat=isinstance(source, str | bytes | os.PathLike),
        )

    async def copy_from_table(
        self, table: str, *, output: Any, timeout_s: float | None = None, **options: Any
    ) -> str:
        """COPY a table of the shard to a file or a coroutine function."""
        return await self._run(
            lambda raw: raw.copy_from_table(table, output=output, timeout_s=timeout_s, **options)
        )

    async def copy_from_query(
        self, sql: str, /, *args: Any, output: Any, timeout_s: float | None = None, **options: Any
    ) -> str:
        """COPY the rows of a query to a file or a coroutine function."""
        return await self._run(
            lambda raw: raw.copy_from_query(sql, *args, output=output, timeout_s=timeout_s, **options)
        )

    async def _run(self, body: Callable[[RawSql], Awaitable[T]], *, can_repeat: bool = True) -> T:
        attempts = 1
        while True:
            try:
                return await self._attempt(body, can_repeat=can_repeat)
            except _REPEATABLE:
                if not can_repeat or attempts >= MAX_ATTEMPTS:
                    raise
            except CONNECTION_LOST as error:
                raise ServerUnavailable(
                    f"the connection to shard {self._shard.number} was lost before COMMIT: nothing was changed"
                ) from error
            attempts += 1

    async def _attempt(self, body: Callable[[RawSql], Awaitable[T]], *, can_repeat: bool) -> T:
        if can_repeat:
            return await self._shard.transact(
                lambda transaction: body(cast("_Transaction", transaction).raw), search_path=True
            )
        async with self._shard.begin(search_path=True) as transaction:
            return await body(cast("_Transaction", transaction).raw)
