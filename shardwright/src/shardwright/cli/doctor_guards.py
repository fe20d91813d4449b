"""Checks of `shardwright doctor` on guards: who accepts writes to which shard, and which tables are not guarded."""

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any

import asyncpg

from shardwright.cli.connection import open_connection
from shardwright.cli.findings import Finding
from shardwright.errors import ServerUnavailable
from shardwright.ids import schema_name, shard_number
from shardwright.topology import (
    SQLSTATE_NOT_OWNER,
    Server,
    ShardMap,
    UnguardedTable,
    attach_guards,
    find_unguarded,
    has_guard_events,
    install_guard_events,
    locate_primary,
)

# A backend keeps what it has read of a shard's tables in its cache.
_SHARDS_PER_QUERY = 200
_SHOWN = 5
_GUARDS = f"""
SELECT n.nspname AS schema, p.prosrc NOT LIKE '%{SQLSTATE_NOT_OWNER}%' AS accepts_writes
FROM pg_catalog.pg_namespace n
LEFT JOIN pg_catalog.pg_proc p ON p.pronamespace = n.oid AND p.proname = 'guard'
WHERE n.nspname ~ '^s[0-9]{{4}}$'
"""  # noqa: S608 - a constant of the library

Guards = Mapping[int, bool | None]
"""The shards that a server has, and whether it accepts writes to each; None for one without a guard."""


async def read_guards(connection: Any) -> Guards:
    """Read which shards a server has and accepts writes to, whatever the map says."""
    rows = await connection.fetch(_GUARDS)
    return {shard_number(row["schema"]): row["accepts_writes"] for row in rows}


def check_owned(name: str, numbers: Sequence[int], guards: Guards) -> list[Finding]:
    """Whether a server has every shard that the map says it owns, and accepts writes to it."""
    found: list[Finding] = []
    for number in numbers:
        schema = schema_name(number)
        if number not in guards:
            what = f"{schema} should be on {name} and is not"
            found.append(Finding("shards", "failure", what, "restore it from a backup"))
        elif guards[number] is None:
            what = f"{schema} on {name} has no guard: any router can write to it, whatever its map says"
            found.append(Finding("guards", "failure", what, "restore its function guard() from a backup"))
        elif not guards[number]:
            what = f"{name} refuses to write {schema}, which the map says it owns"
            advice = "a move was interrupted: run it again to finish it"
            found.append(Finding("guards", "failure", what, advice))
    return found


def check_copies(
    shard_map: ShardMap, guards: Mapping[str, Guards | None], planned: frozenset[int]
) -> list[Finding]:
    """Whether a server accepts writes to a shard that is another one's according to the map."""
    found: list[Finding] = []
    for name, own in guards.items():
        for number in sorted(number for number, accepts in (own or {}).items() if accepts is not False):
            owner = shard_map.owners.get(number)
            if owner is None and number not in planned:
                what = f"{name} accepts writes to {schema_name(number)}, which is not in the map"
                advice = "find out where it comes from, then drop that schema"
                found.append(Finding("copies", "warning", what, advice))
            elif owner not in (name, None):
                found.append(_check_copy(number, name, owner, (guards.get(owner) or {}).get(number)))
    return found


def _check_copy(number: int, name: str, owner: str | None, owner_accepts: bool | None) -> Finding:
    schema = schema_name(number)
    if owner_accepts is False:
        what = f"{name} accepts writes to {schema}, and {owner}, which owns it according to the map, refuses them"
        return Finding("copies", "failure", what, "a move was interrupted: run it again to finish it")
    what = f"{name} has a second writable copy of {schema}, which {owner} owns according to the map"
    advice = (
        f"call set_owned(connection, {number}, owned=False) on {name} now, move rows that {owner} lacks, "
        f"then drop the schema on {name}"
    )
    return Finding("copies", "failure", what, advice)


async def check_tables(connection: Any, name: str, guards: Guards) -> list[Finding]:
    """Whether every table and partition of every shard on a server is guarded, also of shards it no longer owns."""
    found: list[Finding] = []
    for schema, tables in groupby(await _unguarded(connection, guards), key=lambda table: table.schema):
        names = [f"{table.name}{' (a partition)' if table.is_partition else ''}" for table in tables]
        more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
        what = f"{len(names)} tables of {schema} on {name} have no guard: {', '.join(names[:_SHOWN])}{more}"
        found.append(Finding("guards", "warning", what, "run shardwright doctor --fix, which attaches it"))
    return found or [Finding("guards", "ok", f"all tables of {len(guards)} shards on {name} are guarded", "")]


async def check_events(connection: Any, name: str) -> list[Finding]:
    """Whether tables that plain SQL creates on a server are guarded at once."""
    if await has_guard_events(connection):
        return [Finding("guards", "ok", f"{name} guards what plain SQL creates", "")]
    what = f"{name} has no event trigger: what is created without shardwright migrate has no guard"
    advice = "run shardwright doctor --fix as a superuser, or create tables by migrations only"
    return [Finding("guards", "note", what, advice)]


async def fix_guards(server: Server) -> list[str]:
    """Attach missing guards and install the event trigger, as far as the role may; returns what was done."""
    done: list[str] = []
    try:
        primary = await locate_primary(server)
        async with open_connection(primary.dsn, name=server.name) as connection:
            bare = await _unguarded(connection, await read_guards(connection))
            done += [await _attach(connection, server.name, table) for table in bare]
            if not await has_guard_events(connection) and await install_guard_events(connection):
                done.append(f"{server.name} guards what plain SQL creates from now on")
    except (ServerUnavailable, asyncpg.PostgresError, OSError) as error:
        done.append(f"{server.name}: not finished: {error}")
    return done


async def _attach(connection: Any, name: str, table: UnguardedTable) -> str:
    try:
        await attach_guards(connection, [table])
    except (asyncpg.InsufficientPrivilegeError, asyncpg.LockNotAvailableError) as error:
        return f"{table.name} on {name} could not be guarded: {error}"
    return f"{table.name} on {name} is guarded now"


async def _unguarded(connection: Any, guards: Guards) -> list[UnguardedTable]:
    schemas = [schema_name(number) for number in sorted(guards)]
    found: list[UnguardedTable] = []
    for start in range(0, len(schemas), _SHARDS_PER_QUERY):
        found += await find_unguarded(connection, schemas[start : start + _SHARDS_PER_QUERY])
    return found
