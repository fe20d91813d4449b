"""Adds a server that is ready for shards at once: like those that the map has already.

It gets the library's own SQL, the extensions, the server migrations and the roles of another server. Roles keep their
passwords: what is copied is what PostgreSQL stores of them, so nobody has to know them.
"""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from shardwright.errors import SetupInvalid
from shardwright.migrations import COMMON_SCHEMA, Migrator, read_versions
from shardwright.topology import (
    Directory,
    RoleSet,
    Server,
    ShardMap,
    ensure_roles,
    fetch_rows,
    fetch_value,
    open_connection,
    open_primary,
)

if TYPE_CHECKING:
    from asyncpg import Connection

_OWNER = "SELECT nspowner::regrole::text FROM pg_catalog.pg_namespace WHERE nspname = 'shardwright'"
_ROLES = """\
SELECT rolname::text AS name, rolpassword AS verifier FROM pg_catalog.pg_authid WHERE rolname = ANY ($1::text[])
"""
_EXTENSIONS = """\
SELECT quote_ident(e.extname) AS name, quote_ident(n.nspname) AS schema
FROM pg_catalog.pg_extension e JOIN pg_catalog.pg_namespace n ON n.oid = e.extnamespace
WHERE n.nspname !~ '^pg_' ORDER BY e.oid
"""


@dataclass(frozen=True)
class NewServer:
    """What `add_server` did."""

    shard_map: ShardMap
    migrations: int
    """Server migrations that were applied."""
    roles: tuple[str, ...]
    """Roles that were created."""


async def add_server(
    directory: Directory, name: str, dsn: str, *, migrations: Path | None = None, weight: float | None = None
) -> NewServer:
    """Add a server to the map and make it like the others; safe to repeat and to interrupt.

    Both the new server and one of the others are signed in to as a superuser; `dsn` is the address that the map
    keeps, of which the directory's own overrides win. No shard is placed on the server before it is ready.
    """
    old = await directory.load()
    models = [server for each, server in sorted(old.servers.items()) if each != name]
    shard_map = await directory.add_server(name, dsn, accepts_new=False, weight=weight)
    server = shard_map.servers[name]
    applied, created = 0, tuple[str, ...]()
    if models:
        conn = await open_primary(models[0])
        try:
            await _copy_extensions(conn, server)
            applied = await _migrate(conn, models[0], shard_map, server, migrations)
            created = await _copy_roles(conn, server)
        finally:
            await conn.close()
    return NewServer(await directory.set_server(name, accepts_new=True), applied, created)


async def _copy_extensions(model: "Connection", server: Server) -> None:
    wanted = await fetch_rows(model, _EXTENSIONS)
    conn = await open_connection(server.dsn, f"server {server.name}")
    try:
        for row in wanted:
            await conn.execute(f"CREATE SCHEMA IF NOT EXISTS {row['schema']}")
            await conn.execute(f"CREATE EXTENSION IF NOT EXISTS {row['name']} WITH SCHEMA {row['schema']}")
    finally:
        await conn.close()


async def _migrate(
    model: "Connection", like: Server, shard_map: ShardMap, server: Server, folder: Path | None
) -> int:
    if folder is None:
        if (await read_versions(model, [COMMON_SCHEMA]))[COMMON_SCHEMA]:
            raise SetupInvalid(
                f"server {like.name} has server migrations, which server {server.name} needs as well: give the folder "
                "with --migrations"
            )
        return 0
    alone = replace(shard_map, servers={server.name: server}, owners={}, weights={})
    report = await Migrator(alone, folder).apply(lint=False)  # the others have them already
    return sum(len(each.applied) for each in report.outcomes)


async def _copy_roles(model: "Connection", server: Server) -> tuple[str, ...]:
    """Create the roles of the other server, if it has a set of them, with the same passwords."""
    owner = await fetch_value(model, _OWNER)
    roles = RoleSet(owner.removesuffix("_owner")) if owner.endswith("_owner") else None
    if roles is None:
        return ()
    found = {row["name"]: row["verifier"] for row in await fetch_rows(model, _ROLES, [*roles.logins])}
    if len(found) < len(roles.logins):
        return ()  # an owner that happens to be called so
    report = await ensure_roles(server.dsn, roles, {})
    conn = await open_connection(server.dsn, f"server {server.name}")
    try:
        for role in set(report.created) & found.keys():
            if found[role] is not None:
                await conn.execute(f"ALTER ROLE {role} PASSWORD '{found[role]}'")
    finally:
        await conn.close()
    return report.created
