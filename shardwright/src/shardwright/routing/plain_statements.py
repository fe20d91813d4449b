"""Queries without a dispatch function, for roles that may not create one.

Each shard is a transaction with its own search_path: three round trips instead of one, and planned each time. It is
what a router falls back to when `shardwright install` was not run for a query.
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, cast

from shardwright.ids import schema_name
from shardwright.routing.dispatch_functions import COUNT_COLUMN, IDS, FunctionKind
from shardwright.routing.queries import Query

if TYPE_CHECKING:
    from asyncpg import Connection, Record

EVERYWHERE = "everywhere"


class PlainStatement:
    """Stands in for a prepared statement: takes the arguments that the dispatch function would."""

    def __init__(
        self, conn: "Connection", query: Query, form: str, settings: str, number: int | None = None
    ) -> None:
        self._conn = conn
        self._query = query
        self._settings = settings
        self._number = number
        self._split: Callable[..., list[tuple[int, str, tuple[Any, ...]]]] = {
            FunctionKind.GATHER.value: self._by_ids,
            EVERYWHERE: self._by_shard,
        }.get(str(form), self._one_shard)

    async def fetch(self, *args: Any, timeout: float | None = None) -> "list[Record]":  # noqa: ARG002, ASYNC109 - as asyncpg's
        """All rows; the pool's own limits apply."""
        rows: list[Record] = []
        for number, sql, own in self._split(*args):
            rows += await self._run(number, sql, own)
        return rows

    async def fetchrow(self, *args: Any, timeout: float | None = None) -> "Record | None":  # noqa: ARG002, ASYNC109 - likewise
        """The first row, if there is one."""
        rows = await self.fetch(*args)
        return rows[0] if rows else None

    def _one_shard(self, *args: Any) -> list[tuple[int, str, tuple[Any, ...]]]:
        if self._number is not None:
            return [(self._number, self._query.sql, args)]
        return [(args[0], self._query.sql, args[1:])]

    def _by_ids(
        self, numbers: Sequence[int], ends: Sequence[int], *args: Any
    ) -> list[tuple[int, str, tuple[Any, ...]]]:
        position = self._query.parameters.index(IDS)
        starts = (0, *ends)
        return [
            (
                number,
                self._query.sql,
                (*args[:position], args[position][start:end], *args[position + 1 :]),
            )
            for number, start, end in zip(numbers, starts, ends, strict=False)  # the last end starts nothing
        ]

    def _by_shard(self, numbers: Sequence[int], *args: Any) -> list[tuple[int, str, tuple[Any, ...]]]:
        wrapped = "SELECT part.*, {}::integer AS shard_number FROM ({}\n) AS part"
        return [(number, wrapped.format(number, self._query.sql), args) for number in numbers]

    async def _run(self, number: int, sql: str, args: tuple[Any, ...]) -> "list[Record]":
        """Run the statement in a transaction; one that fails is rolled back by the pool."""
        conn = self._conn
        path = f"{schema_name(number)}, common, shardwright, public"
        await conn.execute(f"BEGIN; SET LOCAL search_path = {path};{self._settings}")
        statement = await conn.prepare(sql)
        rows = cast("list[Record]", await statement.fetch(*args))
        if self._query.writes and not statement.get_attributes():
            count = int(statement.get_statusmsg().rpartition(" ")[2])
            rows = cast("list[Record]", await conn.fetch(f"SELECT $1::bigint AS {COUNT_COLUMN}", count))
        await conn.execute("COMMIT")
        return rows
