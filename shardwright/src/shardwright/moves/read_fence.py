"""Copies of shards that a server does not own cannot be read by routers: their roles may not use the schema.

USAGE of the schema is taken from every role but its owner. PostgreSQL then refuses whatever names a table of the copy
(SQLSTATE 42501), or does not find it where the search path leads there (42P01): also statements that were prepared
before, which it analyses again after any change of a schema. On a replica the same holds from the moment on at which
it has replayed that. Nothing is added to a query, and so reads cost what they did.

The owner of the schema keeps its privileges, for in its name rows are applied and copied, and migrations run.
Superusers and members of `pg_read_all_data` are not asked for privileges at all.
"""

import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import asyncpg

from shardwright.topology import fetch_rows

if TYPE_CHECKING:
    from asyncpg import Connection

_ATTEMPTS = 10
_READ = """\
SELECT quote_ident(n.nspname) AS schema, g.is_grantable,
  CASE g.grantee WHEN 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(g.grantee)) END AS grantee
FROM pg_catalog.pg_namespace n
CROSS JOIN LATERAL aclexplode(coalesce(n.nspacl, acldefault('n', n.nspowner))) AS g
WHERE n.nspname = ANY ($1::text[]) AND g.privilege_type = 'USAGE' AND g.grantee <> n.nspowner
ORDER BY 1, 3
"""


class Usage(NamedTuple):
    """A role that may use a schema; names are quoted."""

    schema: str
    is_grantable: bool
    grantee: str


async def read_usage(conn: "Connection", schemas: Sequence[str]) -> list[Usage]:
    """Who may use these schemas, beside their owners."""
    return [Usage(*row) for row in await fetch_rows(conn, _READ, list(schemas))]


async def close_reads(conn: "Connection", schemas: Sequence[str]) -> None:
    """Let nobody but owners and superusers read these copies, from the commit on."""
    for attempt in itertools.count(1):
        found = await read_usage(conn, schemas)
        if not found:
            return
        try:
            await conn.execute(
                ";\n".join(
                    f"REVOKE USAGE ON SCHEMA {each.schema} FROM {each.grantee} CASCADE" for each in found
                )
            )
        except asyncpg.InternalServerError:  # "tuple concurrently updated": somebody else grants something
            if attempt >= _ATTEMPTS:
                raise
        else:
            return


async def open_reads(conn: "Connection", usage: Sequence[Usage]) -> None:
    """Let these roles use the schemas."""
    if usage:
        await conn.execute(
            ";\n".join(
                f"GRANT USAGE ON SCHEMA {each.schema} TO {each.grantee}"
                f"{' WITH GRANT OPTION' if each.is_grantable else ''}"
                for each in usage
            )
        )
