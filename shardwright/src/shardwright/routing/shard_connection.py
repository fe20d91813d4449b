"""asyncpg's connection with two things of the router's: a search path that is set on demand, and known array types.

**Search path.** PostgreSQL plans a prepared statement anew whenever the search path differs from the one it was
planned under, whatever names it uses. So a transaction has none of its own until somebody sends SQL without schemas:
then it is set first.

**Types.** asyncpg knows PostgreSQL's own types, but not their arrays: the first `bigint[]` on every new connection
costs three statements, one of them a recursive query over the catalog. What it finds is the same in every database.
"""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, cast

import asyncpg

if TYPE_CHECKING:
    from asyncpg import Record

FIRST_VARYING_OID = 10_000
"""Types below have the same number in every database of every version of PostgreSQL."""

_known_types: "dict[int, list[Record]]" = {}


class _NoStatement:
    """In place of the introspection's statement: none was sent, so none was overwritten."""

    name = "none"


class ShardConnection(asyncpg.Connection):
    """A connection to a server, lent to one transaction at a time."""

    __slots__ = ("pending_path", "timeline")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.pending_path: str | None = None
        """The statement that sets the search path, if it must precede the next SQL that names no schemas."""
        self.timeline = 0
        """The timeline of the primary at the other end, when the connection was opened."""

    async def command(self, sql: str, timeout_s: float) -> str:
        """Execute a command of the router's own, which needs no search path; returns its status."""
        return await super().execute(sql, timeout=timeout_s)

    async def prepare_qualified(self, sql: str, timeout_s: float | None = None) -> Any:
        """Prepare a statement that names every schema, without the search path that others wait for."""
        pending, self.pending_path = self.pending_path, None
        try:
            return await self.prepare(sql, timeout=timeout_s)
        finally:
            self.pending_path = pending

    async def execute(self, query: str, *args: Any, timeout: float | None = None) -> str:  # noqa: ASYNC109 - asyncpg's own
        """Execute a statement, or without arguments several; see asyncpg."""
        if self.pending_path is not None:
            await self._set_pending_path(timeout)
        return await super().execute(query, *args, timeout=timeout)

    async def copy_from_table(self, *args: Any, timeout: float | None = None, **options: Any) -> str:  # noqa: ASYNC109 - likewise
        """COPY a table; see asyncpg."""
        if self.pending_path is not None:
            await self._set_pending_path(timeout)
        return await cast("Any", super()).copy_from_table(*args, timeout=timeout, **options)

    async def copy_from_query(self, *args: Any, timeout: float | None = None, **options: Any) -> str:  # noqa: ASYNC109 - likewise
        """COPY the rows of a query; see asyncpg."""
        if self.pending_path is not None:
            await self._set_pending_path(timeout)
        return await cast("Any", super()).copy_from_query(*args, timeout=timeout, **options)

    async def copy_to_table(self, *args: Any, timeout: float | None = None, **options: Any) -> str:  # noqa: ASYNC109 - likewise
        """COPY a file into a table; see asyncpg."""
        if self.pending_path is not None:
            await self._set_pending_path(timeout)
        return await cast("Any", super()).copy_to_table(*args, timeout=timeout, **options)

    async def copy_records_to_table(self, *args: Any, timeout: float | None = None, **options: Any) -> str:  # noqa: ASYNC109 - likewise
        """COPY records into a table; see asyncpg."""
        if self.pending_path is not None:
            await self._set_pending_path(timeout)
        return await cast("Any", super()).copy_records_to_table(*args, timeout=timeout, **options)

    async def _get_statement(self, query: str, timeout: float | None, **options: Any) -> Any:  # noqa: ASYNC109 - likewise
        """What `fetch`, `prepare`, `cursor` and everything else with arguments goes through."""
        if self.pending_path is not None:
            await self._set_pending_path(timeout)
        return await cast("Any", super())._get_statement(query, timeout, **options)  # noqa: SLF001 - asyncpg has no other seam

    async def _set_pending_path(self, timeout_s: float | None) -> None:
        await super().execute(cast("str", self.pending_path), timeout=timeout_s)
        self.pending_path = None

    async def _introspect_types(self, typeoids: Iterable[int], timeout: float | None) -> Any:  # noqa: ASYNC109 - likewise
        """Look types up once per process instead of once per connection, where they cannot differ."""
        introspect = cast("Any", super())._introspect_types  # noqa: SLF001 - asyncpg has no other seam
        wanted = set(typeoids)
        if any(oid >= FIRST_VARYING_OID for oid in wanted):
            return await introspect(wanted, timeout)
        statement: Any = _NoStatement
        for oid in wanted - _known_types.keys():
            _known_types[oid], statement = await introspect([oid], timeout)
        return [row for oid in wanted for row in _known_types[oid]], statement
