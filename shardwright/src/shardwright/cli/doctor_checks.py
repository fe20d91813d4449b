"""Checks of `shardwright doctor`, on the shard map and on every server."""

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import asyncpg

from shardwright.cli.connection import open_connection
from shardwright.errors import ServerUnavailable
from shardwright.ids import ahead_ms_sql, schema_name
from shardwright.topology import SQLSTATE_NOT_OWNER, Directory, Server, ShardMap

# Ids of different shards sort by their servers' clocks; users notice skew from about here.
_MAX_CLOCK_SKEW_S = 0.25
# More than a crash or a large batch explains: a clock was wrong once.
_MAX_AHEAD_MS = 60_000
_MIN_POSTGRESQL = 14
_SHARDS_PER_QUERY = 200
_BUSY_SHARE = 0.8

_GUARDS = f"""
SELECT n.nspname AS schema,
       count(*) FILTER (WHERE c.relkind IN ('r', 'p', 'f') AND t.oid IS NULL) AS bare_tables,
       (SELECT p.prosrc NOT LIKE '%{SQLSTATE_NOT_OWNER}%' FROM pg_proc p
        WHERE p.pronamespace = n.oid AND p.proname = 'guard') AS is_owned
FROM pg_namespace n
LEFT JOIN pg_class c ON c.relnamespace = n.oid
LEFT JOIN pg_trigger t ON t.tgrelid = c.oid AND t.tgname = 'shardwright_guard' AND t.tgenabled <> 'D'
WHERE n.nspname = ANY ($1::text[]) GROUP BY n.oid, n.nspname
"""  # noqa: S608 - a constant of the library
_SETTINGS = """
SELECT name, setting FROM pg_settings WHERE name = ANY (ARRAY['fsync', 'full_page_writes', 'synchronous_commit',
  'max_connections', 'server_version_num', 'wal_level'])
"""
_BACKENDS = "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend'"
_UNFINISHED = "SELECT count(*) FROM shardwright_directory.shards WHERE NOT is_ready"


@dataclass(frozen=True)
class Finding:
    """Result of one check, and what to do about it."""

    check: str
    level: Literal["ok", "warning", "failure"]
    what: str
    advice: str


async def run_checks(directory: Directory, shard_map: ShardMap) -> list[Finding]:
    """Run all checks on the map and on every server."""
    findings = [_check_years(shard_map), await _check_unfinished(directory)]
    checked = await asyncio.gather(
        *(_check_server(server, shard_map) for server in shard_map.servers.values())
    )
    findings += _check_clocks({name: offset_s for name, offset_s, _ in checked if offset_s is not None})
    for _, _, found in checked:
        findings += found
    return findings


def _check_years(shard_map: ShardMap) -> Finding:
    warning = shard_map.layout.find_warning()
    if warning is not None:
        return Finding("ids", "warning", warning, "plan the next id layout while both can be read")
    return Finding("ids", "ok", f"{shard_map.layout.years_left():.1f} years of ids left", "")


async def _check_unfinished(directory: Directory) -> Finding:
    async with directory.connect() as connection:
        raw: Any = connection  # asyncpg ships without types
        count = await raw.fetchval(_UNFINISHED)
    if count:
        return Finding(
            "shards", "warning", f"{count} shards were planned and never created", "run shardwright init"
        )
    return Finding("shards", "ok", "every planned shard exists", "")


def _check_clocks(offsets_s: dict[str, float]) -> list[Finding]:
    if not offsets_s:
        return []
    apart_s = max(offsets_s.values()) - min(offsets_s.values())
    if apart_s > _MAX_CLOCK_SKEW_S:
        slowest, fastest = (
            min(offsets_s, key=offsets_s.__getitem__),
            max(offsets_s, key=offsets_s.__getitem__),
        )
        what = f"{fastest} is {apart_s:.3f} s ahead of {slowest}"
        return [
            Finding("clocks", "warning", what, "synchronize all servers with NTP: ids sort by their clocks")
        ]
    return [Finding("clocks", "ok", f"the servers' clocks are within {apart_s:.3f} s", "")]


async def _check_server(server: Server, shard_map: ShardMap) -> tuple[str, float | None, list[Finding]]:
    numbers = shard_map.shards_on(server.name)
    try:
        async with open_connection(server.dsn, name=server.name) as connection:
            offset_s = await _measure_clock(connection)
            found = await _check_settings(connection, server.name)
            found += await _check_guards(connection, server.name, numbers)
            found += await _check_ahead(connection, server.name, shard_map, numbers)
    except (ServerUnavailable, asyncpg.PostgresError, OSError) as error:
        return (
            server.name,
            None,
            [Finding("servers", "failure", str(error), "start it, or correct its address")],
        )
    return server.name, offset_s, found


async def _measure_clock(connection: Any) -> float:
    """Return how far the server's clock is ahead of ours, from the fastest of a few round trips."""
    best: tuple[float, float] = (float("inf"), 0.0)
    for _ in range(5):
        before = time.time()
        there = await connection.fetchval("SELECT extract(epoch FROM clock_timestamp())::float8")
        after = time.time()
        best = min(best, (after - before, there - (before + after) / 2))
    return best[1]


async def _check_settings(connection: Any, name: str) -> list[Finding]:
    settings = {row["name"]: row["setting"] for row in await connection.fetch(_SETTINGS)}
    found: list[Finding] = []
    for setting in ("fsync", "full_page_writes"):
        if settings[setting] != "on":
            what = f"{name} runs with {setting} off: a power failure can corrupt it"
            found.append(Finding("settings", "failure", what, f"set {setting} = on"))
    if settings["synchronous_commit"] == "off":
        what = f"{name} acknowledges commits that a crash can lose"
        found.append(Finding("settings", "warning", what, "set synchronous_commit = on"))
    if settings["wal_level"] != "logical":
        what = f"{name} has wal_level {settings['wal_level']}: shards cannot be moved away from it"
        found.append(Finding("settings", "warning", what, "set wal_level = logical, and restart it"))
    major = int(settings["server_version_num"]) // 10_000
    if major < _MIN_POSTGRESQL:
        what = f"{name} runs PostgreSQL {major}"
        found.append(Finding("settings", "failure", what, f"upgrade it to {_MIN_POSTGRESQL} or later"))
    used, limit = await connection.fetchval(_BACKENDS), int(settings["max_connections"])
    if used > _BUSY_SHARE * limit:
        what = f"{name} has {used} of {limit} connections in use"
        found.append(
            Finding("connections", "warning", what, "put PgBouncer in front, or raise max_connections")
        )
    return found or [Finding("settings", "ok", f"{name} has durable settings", "")]


async def _check_guards(connection: Any, name: str, numbers: Sequence[int]) -> list[Finding]:
    found: list[Finding] = []
    for start in range(0, len(numbers), _SHARDS_PER_QUERY):
        wanted = [schema_name(number) for number in numbers[start : start + _SHARDS_PER_QUERY]]
        rows = {row["schema"]: row for row in await connection.fetch(_GUARDS, wanted)}
        for schema in wanted:
            finding = _check_guard(name, schema, rows.get(schema))
            if finding is not None:
                found.append(finding)
    return found or [
        Finding("guards", "ok", f"all tables of {len(numbers)} shards on {name} are guarded", "")
    ]


def _check_guard(name: str, schema: str, row: Any) -> Finding | None:
    if row is None:
        return Finding(
            "shards", "failure", f"{schema} should be on {name} and is not", "restore it from a backup"
        )
    if row["is_owned"] is not True:
        what = f"{name} refuses to write {schema}, which the map says it owns"
        return Finding("guards", "failure", what, "a move was interrupted: run it again to finish it")
    if row["bare_tables"]:
        what = f"{row['bare_tables']} tables of {schema} on {name} have no guard"
        return Finding("guards", "warning", what, "run shardwright migrate, which attaches missing guards")
    return None


async def _check_ahead(
    connection: Any, name: str, shard_map: ShardMap, numbers: Sequence[int]
) -> list[Finding]:
    ahead_ms = 0
    present = {row[0] for row in await connection.fetch("SELECT nspname FROM pg_namespace")}
    there = [number for number in numbers if schema_name(number) in present]
    for start in range(0, len(there), _SHARDS_PER_QUERY):
        some = there[start : start + _SHARDS_PER_QUERY]
        union = " UNION ALL ".join(ahead_ms_sql(number, shard_map.layout) for number in some)
        rows = await connection.fetch(union)
        ahead_ms = max([ahead_ms, *(row[0] or 0 for row in rows)])
    if ahead_ms > _MAX_AHEAD_MS:
        what = f"ids on {name} run {ahead_ms / 1000:.0f} s ahead of its clock, which was wrong once"
        return [Finding("ids", "warning", what, "nothing: they stay unique, and the clock catches up")]
    return []
