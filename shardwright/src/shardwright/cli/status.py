"""`shardwright status`: every server with its shards, size, connections, replication lag and schema versions."""

import asyncio
from dataclasses import asdict, dataclass, field
from typing import Any

import asyncpg
import typer

from shardwright.cli.connection import open_connection
from shardwright.cli.output import format_size, make_console, print_json, print_table
from shardwright.cli.replicas import ReplicaReport, read_replicas, show_replica
from shardwright.cli.runner import EXIT_FAILED, open_directory, run
from shardwright.cli.settings import (
    DirectoryOption,
    JsonOption,
    MigrationsOption,
    find_migrations,
    get_directory,
)
from shardwright.cli.unfinished_moves import judge_moves
from shardwright.command_names import as_called
from shardwright.errors import ServerUnavailable
from shardwright.migrations import Folder, LibraryStatus, Migrator, read_library_status
from shardwright.migrations import Status as MigrationStatus
from shardwright.moves import Judgement
from shardwright.topology import Server, ShardMap, locate_primary

_SERVER_STATUS = """
SELECT current_setting('server_version') AS postgresql,
       pg_database_size(current_database()) AS size_bytes,
       -- Of other roles' connections a role without privileges sees little more than that they exist.
       (SELECT count(*) FROM pg_stat_activity
          WHERE coalesce(backend_type, 'client backend') = 'client backend' AND datid IS NOT NULL) AS connections,
       current_setting('max_connections')::int AS max_connections,
       pg_is_in_recovery() AS is_standby,
       CASE WHEN pg_is_in_recovery()
            THEN extract(epoch FROM clock_timestamp() - pg_last_xact_replay_timestamp())::float8
            ELSE (SELECT max(extract(epoch FROM replay_lag))::float8 FROM pg_stat_replication) END AS lag_s,
       (SELECT count(*) FROM pg_stat_replication) AS standbys,
       EXISTS (SELECT FROM pg_event_trigger WHERE evtname = 'shardwright_guard_tables'
                 AND evtenabled IN ('O', 'A')) AS guards_plain_sql
"""


@dataclass
class ServerReport:
    """Status of one server."""

    name: str
    shards: int
    is_up: bool = False
    postgresql: str | None = None
    size_bytes: int | None = None
    connections: int | None = None
    max_connections: int | None = None
    is_standby: bool | None = None
    standbys: int | None = None
    lag_s: float | None = None
    guards_plain_sql: bool | None = None
    schema_versions: dict[int, int] = field(default_factory=dict[int, int])
    replicas: list[ReplicaReport] = field(default_factory=list[ReplicaReport])
    trouble: str | None = None


def status(
    context: typer.Context,
    directory: DirectoryOption = None,
    migrations: MigrationsOption = None,
    is_json: JsonOption = False,
) -> None:
    """Show every server: its shards, size, connections, lag, and which migrations its shards have.

    With a migrations folder it also lists pending migrations and drift between shards. It says when shardwright's own
    SQL is older than this release (see `shardwright upgrade`). The exit code is 1 if a server does not answer, or a
    shard is behind or has drifted.

        shardwright status
        shardwright status --json | jq '.servers[] | {name, shards, size_bytes}'
    """
    get_directory(context, directory)
    folder = find_migrations(context, migrations)

    async def work() -> tuple[ShardMap, list[ServerReport], MigrationStatus, LibraryStatus, list[Judgement]]:
        async with open_directory(context, directory) as found:
            shard_map = await found.load()
            library = await read_library_status(found)
            moves = await judge_moves(found)
        reports = await asyncio.gather(
            *(_read_server(each, shard_map) for each in shard_map.servers.values())
        )
        # An empty folder still gives the versions; pending migrations mean nothing then.
        migrator = Migrator(shard_map, folder if folder is not None else Folder(server=(), shard=()))
        return shard_map, list(reports), await migrator.status(drift=folder is not None), library, moves

    shard_map, reports, migration_status, library, moves = run(work())
    _count_versions(reports, migration_status)
    findings = [as_called(f"{each}: {library.advice}") for each in library.findings()]
    findings += _findings(migration_status) if folder is not None else []
    if is_json:
        _print_json(shard_map, reports, findings, library, moves)
    else:
        _print_tables(shard_map, reports, [*(each.what for each in moves), *findings])
    if findings or not all(each.is_up for each in reports):
        raise typer.Exit(EXIT_FAILED)


async def _read_server(server: Server, shard_map: ShardMap) -> ServerReport:
    report = ServerReport(server.name, len(shard_map.shards_on(server.name)))
    report.replicas = await read_replicas(server)
    try:
        primary = await locate_primary(server)
        async with open_connection(primary.dsn, name=server.name) as connection:
            row = await connection.fetchrow(_SERVER_STATUS)
    except (ServerUnavailable, asyncpg.PostgresError, OSError) as error:
        report.trouble = str(error)
        return report
    for name, value in row.items():
        setattr(report, name, value)
    report.is_up = True
    return report


def _count_versions(reports: list[ServerReport], status: MigrationStatus) -> None:
    by_name = {each.name: each for each in reports}
    for each in status.targets:
        if each.target.number is not None:
            versions = by_name[each.target.server].schema_versions
            versions[each.version] = versions.get(each.version, 0) + 1


def _findings(status: MigrationStatus) -> list[str]:
    behind = [
        f"{each.target} lacks {', '.join(str(some) for some in each.pending)}" for each in status.behind
    ]
    conflicts = [f"{each.target} {each.conflict}" for each in status.conflicts]
    return [*behind, *conflicts, *(str(each) for each in status.drift)]


def _print_json(
    shard_map: ShardMap,
    reports: list[ServerReport],
    findings: list[str],
    library: LibraryStatus,
    moves: list[Judgement],
) -> None:
    print_json(
        {
            "map_version": shard_map.version,
            "epoch_ms": shard_map.layout.epoch_ms,
            "shards": len(shard_map.owners),
            "lookup_shards": shard_map.lookup_shards,
            "library_version": library.directory,
            "servers": [asdict(each) for each in reports],
            "moves": [each.what for each in moves],
            "findings": findings,
        }
    )


def _print_tables(shard_map: ShardMap, reports: list[ServerReport], findings: list[str]) -> None:
    console = make_console()
    console.print(
        f"{len(shard_map.owners)} shards on {len(reports)} servers, map version {shard_map.version}"
    )
    columns = ["server", "shards", "size", "schema", "connections", "lag", "postgresql"]
    print_table(columns, [_row(each) for each in reports])
    if replicas := [show_replica(replica) for each in reports for replica in each.replicas]:
        print_table(["server", "replica", "role", "behind", ""], replicas)
    for each in findings:
        console.print(f"- {each}", soft_wrap=True)
    if unguarded := [each.name for each in reports if each.guards_plain_sql is False]:
        console.print(
            f"tables made by plain SQL get no guard on {', '.join(unguarded)}: see {as_called('`shardwright doctor`')}",
            soft_wrap=True,
        )


def _row(report: ServerReport) -> list[Any]:
    if not report.is_up:
        return [report.name, report.shards, "down", "", "", "", report.trouble or ""]
    return [
        report.name,
        report.shards,
        format_size(report.size_bytes or 0),
        _show_versions(report.schema_versions),
        f"{report.connections}/{report.max_connections}",
        _show_lag(report),
        report.postgresql,
    ]


def _show_versions(versions: dict[int, int]) -> str:
    if len(versions) == 1:
        return f"{next(iter(versions)):04}"
    return ", ".join(f"{version:04} ({count})" for version, count in sorted(versions.items()))


def _show_lag(report: ServerReport) -> str:
    if not report.standbys and not report.is_standby:
        return "no standby"
    return f"{report.lag_s or 0:.1f} s"
