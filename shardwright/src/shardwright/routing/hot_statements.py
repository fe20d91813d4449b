"""Statements that a connection keeps prepared for one shard each, within a limit of memory.

A prepared statement lives in one PostgreSQL backend with its parse tree and its plan. With thousands of shards and
many hot queries they would fill the server's memory, so each connection keeps those it uses most: the least recently
used is closed, and a full cache takes in only what was asked for twice of late. Everything else runs through the
dispatch function, which keeps nothing.
"""

from collections import OrderedDict
from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING, Any

from shardwright.routing.dispatch_functions import COUNT_COLUMN

if TYPE_CHECKING:
    from asyncpg import Record

    from shardwright.routing.pooled_connection import Statement
    from shardwright.routing.queries import Query

# Parse tree and plan grow with the text: 13 to 16 KB for a statement of one table, 55 for one that writes three.
BASE_BYTES = 4_000
BYTES_PER_CHARACTER = 90
MIN_ASKED = 256  # how many recent requests are remembered, at least


class HotStatements:
    """The hot statements of one connection, by query and shard."""

    __slots__ = ("_asked", "_bytes", "_max_bytes", "_statements")

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._bytes = 0
        self._statements: OrderedDict[tuple[Query, int], tuple[Statement, int]] = OrderedDict()
        self._asked: OrderedDict[tuple[Query, int], None] = OrderedDict()  # and not prepared at the time

    def get(self, query: "Query", number: int) -> "Statement | None":
        """The statement, if it is prepared."""
        key = query, number
        found = self._statements.get(key)
        if found is None:
            return None
        self._statements.move_to_end(key)
        return found[0]

    def admits(self, query: "Query", number: int) -> bool:
        """Whether to prepare a statement: it is hot and there is room, or it was asked for before, not long ago."""
        if query.is_hot and self._bytes < self._max_bytes:
            return True
        key = query, number
        if key in self._asked:
            del self._asked[key]
            return True
        if self._max_bytes > 0:
            self._asked[key] = None
            if len(self._asked) > max(MIN_ASKED, len(self._statements)):
                self._asked.popitem(last=False)
        return False

    def add(self, query: "Query", number: int, statement: "Statement", text: str) -> None:
        """Keep a statement; those used longest ago are closed when the connection prepares its next one."""
        size = BASE_BYTES + BYTES_PER_CHARACTER * len(text)
        self._statements[query, number] = statement, size
        self._bytes += size
        while self._bytes > self._max_bytes and len(self._statements) > 1:
            self._bytes -= self._statements.popitem(last=False)[1][1]

    def discard(self, queries: "Collection[Query]") -> None:
        """Close the statements of these queries."""
        for key in [key for key in self._statements if key[0] in queries]:
            self._bytes -= self._statements.pop(key)[1]

    def __iter__(self) -> "Iterator[tuple[Query, int]]":
        """What is prepared, the least recently used first."""
        return iter(self._statements)

    def __len__(self) -> int:
        return len(self._statements)

    @property
    def size_bytes(self) -> int:
        """The estimated memory of the statements in the backend."""
        return self._bytes


class ChangedRows(tuple[int]):
    """How many rows a write without RETURNING changed, in place of the row that its dispatch function returns."""

    __slots__ = ()

    def __contains__(self, key: object) -> bool:
        return key == COUNT_COLUMN


class CountingStatement:
    """A prepared write without RETURNING, which yields the number of rows that it changed."""

    __slots__ = ("_prepared",)

    def __init__(self, prepared: Any) -> None:
        self._prepared = prepared  # asyncpg's, whose types are incomplete

    async def fetch(self, *args: Any, timeout: float | None = None) -> "list[Record]":  # noqa: ASYNC109 - as asyncpg's own
        """The count, as a row."""
        await self._prepared.fetch(*args, timeout=timeout)
        rows: Any = [ChangedRows((rows_in_status(self._prepared.get_statusmsg()),))]
        return rows

    async def fetchrow(self, *args: Any, timeout: float | None = None) -> "Record | None":  # noqa: ASYNC109 - as asyncpg's own
        """The count, as a row."""
        return (await self.fetch(*args, timeout=timeout))[0]


def rows_in_status(status: str) -> int:
    """The number in a command's status, `INSERT 0 3` or `UPDATE 3`."""
    last = status.rpartition(" ")[2]
    return int(last) if last.isdigit() else 0
