"""Checks of `shardwright doctor`, on the shard map and on every server."""

import asyncio
import time
from dataclasses import dataclass
from typing import Any

import asyncpg

from shardwright.cli.connection import open_connection
from shardwright.cli.doctor_guards import (
    Guards,
    check_copies,
    check_events,
    check_owned,
    check_tables,
    read_guards,
)
from shardwright.cli.doctor_ids import check_ids
from shardwright.cli.findings import Finding
from shardwright.cli.replicas import check_replicas, read_replicas
from shardwright.errors import ServerUnavailable
from shardwright.topology import MIN_POSTGRESQL, Directory, Server, ShardMap, locate_primary

# Ids of different shards sort by their servers' clocks; users notice skew from about here.
_MAX_CLOCK_SKEW_S = 0.25
_BUSY_SHARE = 0.8

_SETTINGS = """
SELECT name, setting FROM pg_settings WHERE name = ANY (ARRAY['fsync', 'full_page_writes', 'synchronous_commit',
  'max_connections', 'server_version_num', 'wal_level'])
"""
_BACKENDS = "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend'"
_UNFINISHED = "SELECT number FROM shardwright_directory.shards WHERE NOT is_ready"


@dataclass(frozen=True)
class ServerCheck:
    """What was found on one server: its clock and its guards, unless it did not answer."""

    name: str
    findings: list[Finding]
    offset_s: float | None = None
    guards: Guards | None = None


async def run_checks(directory: Directory, shard_map: ShardMap) -> list[Finding]:
    """Run all checks on the map and on every server."""
    planned = await _planned(directory)
    findings = [_check_years(shard_map), _check_unfinished(planned)]
    checked = await asyncio.gather(
        *(_check_server(server, shard_map) for server in shard_map.servers.values())
    )
    findings += _check_clocks({each.name: each.offset_s for each in checked if each.offset_s is not None})
    for each in checked:
        findings += each.findings
    return findings + check_copies(shard_map, {each.name: each.guards for each in checked}, planned)


def _check_years(shard_map: ShardMap) -> Finding:
    warning = shard_map.layout.find_warning()
    if warning is not None:
        return Finding("ids", "warning", warning, "plan the next id layout while both can be read")
    return Finding("ids", "ok", f"{shard_map.layout.years_left():.1f} years of ids left", "")


async def _planned(directory: Directory) -> frozenset[int]:
    async with directory.connect() as connection:
        raw: Any = connection  # asyncpg ships without types
        return frozenset(row[0] for row in await raw.fetch(_UNFINISHED))


def _check_unfinished(planned: frozenset[int]) -> Finding:
    if planned:
        return Finding(
            "shards",
            "warning",
            f"{len(planned)} shards were planned and never created",
            "run shardwright init",
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


async def _check_server(server: Server, shard_map: ShardMap) -> ServerCheck:
    numbers = shard_map.shards_on(server.name)
    try:
        primary = await locate_primary(server)
        async with open_connection(primary.dsn, name=server.name) as connection:
            offset_s = await _measure_clock(connection)
            found = await _check_settings(connection, server.name)
            found += check_replicas(server.name, await read_replicas(server))
            guards = await read_guards(connection)
            found += check_owned(server.name, numbers, guards)
            found += await check_tables(connection, server.name, guards)
            found += await check_events(connection, server.name)
            found += await check_ids(connection, server.name, shard_map.layout, numbers, guards)
    except (ServerUnavailable, asyncpg.PostgresError, OSError) as error:
        down = Finding("servers", "failure", str(error), "start it, or correct its address")
        return ServerCheck(server.name, [down])
    return ServerCheck(server.name, found, offset_s, guards)


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
    if major < MIN_POSTGRESQL:
        what = f"{name} runs PostgreSQL {major}"
        found.append(Finding("settings", "failure", what, f"upgrade it to {MIN_POSTGRESQL} or later"))
    used, limit = await connection.fetchval(_BACKENDS), int(settings["max_connections"])
    if used > _BUSY_SHARE * limit:
        what = f"{name} has {used} of {limit} connections in use"
        found.append(
            Finding("connections", "warning", what, "put PgBouncer in front, or raise max_connections")
        )
    return found or [Finding("settings", "ok", f"{name} has durable settings", "")]
