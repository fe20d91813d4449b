"""Carries the privileges on a shard and everything in it to its new server.

Default privileges of the owner give most of them there as well; this is for the rest, granted or revoked by hand.
Who may use the schema itself is decided when the target becomes the owner: see `read_fence`.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from shardwright.moves.models import Move
from shardwright.moves.session import Session
from shardwright.topology import fetch_rows

if TYPE_CHECKING:
    from asyncpg import Connection

_READ = """\
WITH homes AS (SELECT oid, nspname, nspowner, nspacl FROM pg_namespace WHERE nspname = ANY ($1::text[])),
objects (kind, name, of_column, owner, acl) AS (
  SELECT 'SCHEMA', quote_ident(nspname), '', nspowner, coalesce(nspacl, acldefault('n', nspowner)) FROM homes
  UNION ALL
  SELECT CASE c.relkind WHEN 'S' THEN 'SEQUENCE' ELSE 'TABLE' END, c.oid::regclass::text, '', c.relowner,
    coalesce(c.relacl, acldefault(CASE c.relkind WHEN 'S' THEN 's' ELSE 'r' END::"char", c.relowner))
  FROM homes h JOIN pg_class c ON c.relnamespace = h.oid AND c.relkind IN ('r', 'p', 'v', 'S')
  UNION ALL
  SELECT 'TABLE', c.oid::regclass::text, quote_ident(a.attname), c.relowner, a.attacl
  FROM homes h JOIN pg_class c ON c.relnamespace = h.oid AND c.relkind IN ('r', 'p', 'v')
  JOIN pg_attribute a ON a.attrelid = c.oid AND a.attacl IS NOT NULL AND NOT a.attisdropped
  UNION ALL
  SELECT 'ROUTINE', p.oid::regprocedure::text, '', p.proowner, coalesce(p.proacl, acldefault('f', p.proowner))
  FROM homes h JOIN pg_proc p ON p.pronamespace = h.oid
)
SELECT o.kind, o.name, o.of_column, CASE g.grantee WHEN 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(g.grantee)) END
  AS grantee, g.privilege_type AS privilege, g.is_grantable
FROM objects o CROSS JOIN LATERAL aclexplode(o.acl) AS g WHERE g.grantee <> o.owner
"""


class Grant(NamedTuple):
    """A privilege that a role has on an object; every name is quoted."""

    kind: str
    name: str
    of_column: str
    grantee: str
    privilege: str
    is_grantable: bool

    @property
    def on_what(self) -> str:
        """The part that GRANT and REVOKE share."""
        column = f" ({self.of_column})" if self.of_column else ""
        return f"{self.privilege}{column} ON {self.kind} {self.name}"

    @property
    def is_usage(self) -> bool:
        """Whether it lets a role name what is in the schema."""
        return (self.kind, self.privilege) == ("SCHEMA", "USAGE")


async def read_grants(conn: "Connection", schemas: Sequence[str]) -> set[Grant]:
    """The privileges on these schemas and on everything in them, of others than the owner."""
    async with conn.transaction():
        await conn.execute("SET LOCAL search_path = pg_catalog")  # every name is printed with its schema
        return {Grant(*row) for row in await fetch_rows(conn, _READ, list(schemas))}


async def carry_grants(session: Session, move: Move) -> None:
    """Give the roles the same privileges at the target as at the source, but for the use of the schemas."""
    wanted, found = [
        {each for each in await read_grants(conn, move.schemas) if not each.is_usage}
        for conn in (session.source, session.target)
    ]
    changes = [f"REVOKE {each.on_what} FROM {each.grantee}" for each in sorted(found - wanted)]
    changes += [
        f"GRANT {each.on_what} TO {each.grantee}{' WITH GRANT OPTION' if each.is_grantable else ''}"
        for each in sorted(wanted - found)
    ]
    if changes:
        await session.target.execute(";\n".join(changes))
