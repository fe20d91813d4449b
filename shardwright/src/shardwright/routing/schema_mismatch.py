"""Queries that do not fit the tables of a shard, as happens while a migration has reached only some shards.

A dispatch function is created from one shard's columns and serves every shard of its server. Where the columns of a
shard differ so much that the function fails, the query itself is executed in that shard. If that fails as well, the
shard lacks what the query names, and the caller gets a `SchemaMismatch` for that shard alone.
"""

import contextlib
from collections.abc import Generator, Sequence
from functools import cache
from typing import TYPE_CHECKING, cast

import asyncpg

from shardwright.errors import ShardwrightError
from shardwright.ids import schema_name
from shardwright.routing.queries import Query
from shardwright.topology import fetch_rows, fetch_value

if TYPE_CHECKING:
    from asyncpg import Connection, Record

PARSE_MISFIT = (
    asyncpg.UndefinedTableError,
    asyncpg.InvalidSchemaNameError,
    asyncpg.UndefinedColumnError,
    asyncpg.UndefinedFunctionError,
    asyncpg.UndefinedObjectError,
    asyncpg.AmbiguousColumnError,
    asyncpg.AmbiguousFunctionError,
    asyncpg.DatatypeMismatchError,
    asyncpg.CannotCoerceError,
)
"""PostgreSQL's errors for a query that does not fit the schema it is parsed for, though it may fit another shard's."""
# ON CONFLICT without a matching unique index is found out only when the statement is planned.
SCHEMA_MISFIT = (*PARSE_MISFIT, asyncpg.InvalidColumnReferenceError)
"""PostgreSQL's errors for a statement that names what a schema does not have; raised before anything is executed."""

_CURE = (
    "finish the roll-out (`shardwright migrate`) before the release that needs it, drop things only after the last "
    "release that names them, or correct the query if no migration adds it"
)
_SHOWN = 10


class SchemaMismatch(ShardwrightError):
    """A shard lacks what a query names: the shard is behind in its migrations, or the query is wrong.

    Other shards are not affected. PostgreSQL's own error is the cause, and the error is an instance of its class too,
    so that `except asyncpg.UndefinedColumnError` and `sqlstate` work as well.
    """

    def __init__(
        self, text: str, *, query: str, server: str, shards: tuple[int, ...], version: str | None
    ) -> None:
        super().__init__(text)
        self.query = query
        self.server = server
        self.shards = shards
        self.version = version
        """The last migration of the first of these shards, such as `0006_captions`; None when it has none."""


async def read_version(conn: "Connection", number: int) -> str | None:
    """The shard's last migration, such as `0006_captions`; None when it was never migrated."""
    table = f"{schema_name(number)}.schema_version"
    if not await fetch_value(conn, "SELECT to_regclass($1) IS NOT NULL", table):
        return None
    last = (
        f"SELECT number, name FROM {table} WHERE applied_at IS NOT NULL "  # noqa: S608 - names come from the library
        "ORDER BY number DESC LIMIT 1"
    )
    rows = await fetch_rows(conn, last)
    return f"{rows[0]['number']:04}_{rows[0]['name']}" if rows else None


def schema_mismatch(
    error: asyncpg.PostgresError, query: Query, server: str, number: int, version: str | None
) -> SchemaMismatch:
    """The error for one shard."""
    at = f"is at migration {version}" if version else "has no migrations"
    where = f"shard {number} ({schema_name(number)} on server {server})"
    return _class_for(type(error))(
        f"query {query.name}: {error}: {where} {at}: {_CURE}",
        query=query.name,
        server=server,
        shards=(number,),
        version=version,
    )


def combine(mismatches: Sequence[SchemaMismatch]) -> SchemaMismatch:
    """One error for several shards of a server: that of the first, with the numbers of all."""
    first = mismatches[0]
    if len(mismatches) == 1:
        return first
    shards = tuple(number for each in mismatches for number in each.shards)
    named = ", ".join(map(str, shards[1:_SHOWN])) + (" …" if len(shards) > _SHOWN else "")
    text = f"{first} (and {len(shards) - 1} more shards of this server: {named})"
    combined = type(first)(text, query=first.query, server=first.server, shards=shards, version=first.version)
    combined.__cause__ = first.__cause__
    return combined


class ServerAnswer:
    """What the shards of one server answered: rows, and the errors of those that lack what the query names."""

    def __init__(self, server: str) -> None:
        self.server = server
        self.rows: list[Record] = []
        self.has_answer = False
        self.mismatches: list[SchemaMismatch] = []

    def add(self, rows: "list[Record]") -> None:
        """Add the rows of shards that answered."""
        self.has_answer = True
        self.rows += rows

    @contextlib.contextmanager
    def collect_mismatch(self) -> Generator[None]:
        """Keep a `SchemaMismatch` raised in the block, instead of failing the other shards too."""
        try:
            yield
        except SchemaMismatch as error:
            self.mismatches.append(error)


def mismatches_by_server(answers: Sequence[ServerAnswer]) -> dict[str, SchemaMismatch]:
    """The mismatches of each server; raised when no shard at all could answer."""
    found = {each.server: combine(each.mismatches) for each in answers if each.mismatches}
    if found and not any(each.has_answer for each in answers):
        raise next(iter(found.values()))
    return found


@cache
def _class_for(kind: type[Exception]) -> type[SchemaMismatch]:
    """`SchemaMismatch`, as a subclass of PostgreSQL's own error too."""
    return cast(
        "type[SchemaMismatch]", type("SchemaMismatch", (SchemaMismatch, kind), {"__module__": __name__})
    )
