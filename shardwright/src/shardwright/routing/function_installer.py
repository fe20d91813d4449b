"""Installs dispatch functions on a server, once for all routers, and drops the ones that are no longer used.

PostgreSQL itself parses the query: a temporary function with the query as its parsed body is created in one shard,
read back with every name qualified, and rolled back. A table on the server records which function serves which query,
when a router last requested it, and a fingerprint of the shard's columns, so that a changed column leads to a new
function.
"""

import contextlib
import logging
from collections.abc import AsyncGenerator, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from shardwright.errors import SetupInvalid
from shardwright.ids import schema_name
from shardwright.routing.dispatch_functions import (
    GENERATION,
    FunctionKey,
    FunctionKind,
    QueryShape,
    call_sql,
    everywhere_sql,
    full_tokens,
    function_name,
    function_sql,
)
from shardwright.routing.queries import Query
from shardwright.routing.schema_mismatch import PARSE_MISFIT
from shardwright.topology import fetch_rows, fetch_value, restrict_writes_sql

if TYPE_CHECKING:
    from asyncpg import Connection
    from asyncpg.types import Attribute, Type

log = logging.getLogger(__name__)

UNUSED_DAYS = 30

LOCK = "SELECT pg_advisory_xact_lock(hashtext('shardwright.dispatch'))"
_UNSHAPE = "ROLLBACK TO SAVEPOINT shape; RELEASE SAVEPOINT shape"
_MAY_CREATE = "SELECT has_schema_privilege('shardwright', 'CREATE')"
TABLE = """\
CREATE TABLE IF NOT EXISTS shardwright.dispatch_functions (
  key text,
  fingerprint text,
  function text NOT NULL,
  returns_rows boolean NOT NULL,
  pieces text[] NOT NULL,
  asked_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (key, fingerprint)
);
""" + restrict_writes_sql("shardwright.dispatch_functions")
FINGERPRINT = """\
SELECT coalesce(md5(string_agg(concat_ws(' ', c.relname, a.attname, a.atttypid), ',' ORDER BY c.relname, a.attnum)), '')
FROM pg_catalog.pg_attribute a JOIN pg_catalog.pg_class c ON c.oid = a.attrelid
JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
WHERE n.nspname IN ($1, 'common') AND c.relkind IN ('r', 'p', 'v', 'm', 'f') AND a.attnum > 0
  AND NOT a.attisdropped
"""
_TYPE_NAMES = """\
SELECT t.oid, CASE WHEN n.nspname = 'pg_catalog' THEN format_type(t.oid, NULL)
  WHEN e.oid IS NULL THEN format('%I.%I', n.nspname, t.typname)
  ELSE format('%I.%I[]', n.nspname, e.typname) END AS name
FROM pg_catalog.pg_type t JOIN pg_catalog.pg_namespace n ON n.oid = t.typnamespace
LEFT JOIN pg_catalog.pg_type e ON e.oid = t.typelem AND t.typcategory = 'A' WHERE t.oid = ANY($1)
"""
# A role that may not create functions makes do with one that was created for other columns: most changes of a schema
# leave a query as it is. The newest of them, if there is none for the columns of today.
_FIND = """\
SELECT DISTINCT ON (d.key) d.key, d.function, d.returns_rows, d.pieces, d.fingerprint = $2 AS is_exact,
  d.asked_at < now() - interval '1 day'
    AND has_column_privilege('shardwright.dispatch_functions', 'asked_at', 'UPDATE') AS is_old
FROM shardwright.dispatch_functions d
WHERE d.key = ANY($1) AND (d.fingerprint = $2 OR NOT $3)
  AND EXISTS (SELECT FROM pg_catalog.pg_proc p WHERE p.proname = d.function
              AND p.pronamespace = 'shardwright'::regnamespace)
ORDER BY d.key, d.fingerprint = $2 DESC, d.asked_at DESC
"""
_TOUCH = (
    "UPDATE shardwright.dispatch_functions SET asked_at = now() WHERE key = ANY($1) AND function = ANY($2)"
)
RECORD = """\
INSERT INTO shardwright.dispatch_functions (key, fingerprint, function, returns_rows, pieces)
VALUES ($1, $2, $3, $4, $5)
ON CONFLICT (key, fingerprint) DO UPDATE
SET function = excluded.function, returns_rows = excluded.returns_rows, pieces = excluded.pieces, asked_at = now()
"""
_UNUSED = """\
DELETE FROM shardwright.dispatch_functions WHERE asked_at < now() - make_interval(days => $1)
"""
# Dropped only when no row names it any more: two keys may share a function. What a router of another role created while
# this installation changed hands stays until it is the owner's.
_ORPHANS = """\
SELECT p.oid::regprocedure::text FROM pg_catalog.pg_proc p
WHERE p.pronamespace = 'shardwright'::regnamespace AND p.proname ~ '^[qg]_.*_[0-9a-f]{16}$'
  AND NOT EXISTS (SELECT FROM shardwright.dispatch_functions d WHERE d.function = p.proname)
  AND pg_catalog.pg_has_role(p.proowner, 'USAGE')
"""


@dataclass(frozen=True)
class InstalledFunction:
    """A dispatch function that is installed on a server."""

    function: str
    returns_rows: bool
    pieces: tuple[str, ...]
    is_exact: bool = True
    """Whether it was created for the columns that the tables have now."""

    def text(self, schema: str) -> str:
        """The query's text for one shard's schema."""
        return schema.join(self.pieces)

    def call(self, wanted: FunctionKey) -> str:
        """The statement that calls the function."""
        return call_sql(self.function, wanted, returns_rows=self.returns_rows)

    def call_everywhere(self, query: Query) -> str:
        """The statement that calls the function for many shards."""
        return everywhere_sql(self.function, query)


class FunctionInstaller:
    """Finds or creates dispatch functions on one server, using one of its shards as a sample of the schema."""

    def __init__(self, sample: int) -> None:
        self._sample = schema_name(sample)
        self.created = 0
        """How many functions this object has installed that were not there before."""

    async def find_older(self, conn: "Connection", wanted: FunctionKey) -> InstalledFunction | None:
        """The query's newest function that was created for other columns than the sample shard has now."""
        return (await self._find(conn, {_key(*wanted): wanted}, "", exact=False)).get(wanted)

    async def may_create(self, conn: "Connection") -> bool:
        """Whether the connection's role may create functions."""
        return await fetch_value(conn, _MAY_CREATE)

    async def install(
        self, conn: "Connection", wanted: Iterable[FunctionKey]
    ) -> dict[FunctionKey, InstalledFunction]:
        """Install the functions and return them.

        Left out are queries that do not fit the sample shard (its tables or columns may come later), and what is
        missing where the role may not create it.
        """
        keys = {_key(*each): each for each in wanted}
        async with _transaction(conn):
            fingerprint = await fetch_value(conn, FINGERPRINT, self._sample)
            may_create = await self.may_create(conn)
            found = await self._find(conn, keys, fingerprint, exact=may_create)
        missing = {key: each for key, each in keys.items() if each not in found}
        if missing and may_create:
            async with _transaction(conn):
                await conn.execute(LOCK)
                found |= await self._find(conn, missing, fingerprint, exact=True)
                if any(each not in found for each in missing.values()):
                    await conn.execute(TABLE)
                for key, each in missing.items():
                    if each not in found and (created := await self._create(conn, key, each, fingerprint)):
                        found[each] = created
            self.created += sum(each in found for each in missing.values())
        return found

    async def _find(
        self, conn: "Connection", keys: dict[str, FunctionKey], fingerprint: str, *, exact: bool
    ) -> dict[FunctionKey, InstalledFunction]:
        if not await fetch_value(conn, "SELECT to_regclass('shardwright.dispatch_functions') IS NOT NULL"):
            return {}
        rows = await fetch_rows(conn, _FIND, list(keys), fingerprint, exact)
        if old := [row for row in rows if row["is_old"]]:
            await conn.execute(_TOUCH, [row["key"] for row in old], [row["function"] for row in old])
        return {
            keys[row["key"]]: InstalledFunction(
                row["function"], row["returns_rows"], tuple(row["pieces"]), row["is_exact"]
            )
            for row in rows
        }

    async def _create(
        self, conn: "Connection", key: str, wanted: FunctionKey, fingerprint: str
    ) -> InstalledFunction | None:
        try:
            shape = await self._shape(conn, wanted.query)
        except PARSE_MISFIT as error:
            log.info("query.postponed: %s: %s", wanted.query.name, error)
            return None
        function = function_name(wanted, shape)
        exists = "SELECT 1 FROM pg_proc WHERE proname = $1 AND pronamespace = 'shardwright'::regnamespace"
        if not await fetch_value(conn, exists, function):
            await conn.execute(function_sql(function, wanted, shape))
        await conn.execute(RECORD, key, fingerprint, function, bool(shape.columns), shape.pieces)
        return InstalledFunction(function, bool(shape.columns), tuple(shape.pieces))

    async def shape(self, conn: "Connection", query: Query) -> QueryShape:
        """Parse a query with PostgreSQL; raises PostgreSQL's error when it is invalid."""
        async with _transaction(conn):
            return await self._shape(conn, query)

    async def _shape(self, conn: "Connection", query: Query) -> QueryShape:
        async with _transaction(conn, begin="SAVEPOINT shape", end=_UNSHAPE, undo=_UNSHAPE):
            await conn.execute(f"SET LOCAL search_path = {self._sample}, common, shardwright, public")
            statement = await conn.prepare(query.sql)
            parameters = cast("tuple[Type, ...]", statement.get_parameters())
            attributes = cast("tuple[Attribute, ...]", statement.get_attributes())
            type_names = await self._type_names(
                conn, {each.oid for each in parameters} | {each.type.oid for each in attributes}, query
            )
            types = [type_names[each.oid] for each in parameters]
            names = [(each.name, type_names[each.type.oid]) for each in attributes]
            text = await self._full_text(conn, query, types, names)
        return QueryShape(tuple(types), tuple(names), full_tokens(text, self._sample))

    async def _type_names(self, conn: "Connection", oids: set[int], query: Query) -> dict[int, str]:
        """Names that are valid with any search_path: only types of pg_catalog stay unqualified."""
        found = {row["oid"]: row["name"] for row in await fetch_rows(conn, _TYPE_NAMES, [*oids])}
        if of_shard := [name for name in found.values() if name.startswith(f"{self._sample}.")]:
            raise SetupInvalid(
                f"query {query.name}: type {of_shard[0]} exists per shard; create types in `common`"
            )
        return found

    async def _full_text(
        self, conn: "Connection", query: Query, types: list[str], columns: list[tuple[str, str]]
    ) -> str:
        names = [name for name, _ in columns]
        if repeated := {name for name in names if names.count(name) > 1 or name == "?column?"}:
            raise SetupInvalid(
                f"query {query.name}: give each column a name of its own, not {sorted(repeated)}"
            )
        # Named result columns would make PostgreSQL print parameters as (empty) names instead of $1, $2 …
        returns = "SETOF record" if columns else "void"
        await conn.execute(
            f"CREATE FUNCTION shardwright._shape({', '.join(types)}) RETURNS {returns} "
            f"BEGIN ATOMIC {query.sql}; END"
        )
        await conn.execute("SET LOCAL search_path = ''")
        text: str = await fetch_value(
            conn,
            "SELECT pg_get_function_sqlbody(oid) FROM pg_proc "
            "WHERE proname = '_shape' AND pronamespace = 'shardwright'::regnamespace",
        )
        return text.strip().removeprefix("BEGIN ATOMIC").removesuffix("END").strip().removesuffix(";")


@contextlib.asynccontextmanager
async def _transaction(
    conn: "Connection", *, begin: str = "BEGIN", end: str = "COMMIT", undo: str = "ROLLBACK"
) -> AsyncGenerator[None]:
    """A transaction on a pooled connection.

    asyncpg's own `transaction()` keeps its state when BEGIN was cancelled, and the next one would be a savepoint
    outside a transaction. Here a cancellation is left to the pool, which recovers the connection.
    """
    await conn.execute(begin)
    try:
        yield
    except Exception:
        await conn.execute(undo)
        raise
    await conn.execute(end)


def _key(query: Query, form: FunctionKind) -> str:
    return f"{GENERATION} {form} {query.name} {query.digest} {query.writes:d}"


async def drop_unused(conn: "Connection", *, unused_days: int = UNUSED_DAYS) -> int:
    """Drop functions that no router requested for a month; a router that still needs one installs it again.

    Does nothing where the role may not: then it is for `shardwright install`, which the owner runs.
    """
    dropped = 0
    async with _transaction(conn):
        await conn.execute(LOCK)
        exists = await fetch_value(conn, "SELECT to_regclass('shardwright.dispatch_functions') IS NOT NULL")
        if not exists or not await fetch_value(conn, _MAY_CREATE):
            return 0
        await conn.execute(_UNUSED, unused_days)
        for row in await fetch_rows(conn, _ORPHANS):
            await conn.execute(f"DROP FUNCTION {row[0]}")
            dropped += 1
    return dropped
