"""`shardwright add-replica` and `remove-replica`, and what `status` and `doctor` say of replicas."""

import asyncio
from dataclasses import dataclass
from typing import Annotated, Any

import asyncpg
import typer

from shardwright.cli.connection import open_connection
from shardwright.cli.findings import Finding
from shardwright.cli.output import print_message
from shardwright.cli.runner import open_directory, run
from shardwright.cli.settings import DirectoryOption, get_directory
from shardwright.errors import ServerUnavailable
from shardwright.topology import Server, ShardMap, replica_dsn

ServerArgument = Annotated[str, typer.Argument(help="The server, by its name in the map.")]
AddressArgument = Annotated[
    str, typer.Argument(help="host:port, with the server's user, password and database; or a DSN.")
]
_MAX_LAG_BYTES = 64 * 2**20

_REPLICA = """
SELECT pg_is_in_recovery() AS is_standby, server_name, r.timeline,
  CASE WHEN pg_is_in_recovery() THEN pg_last_wal_replay_lsn() ELSE pg_current_wal_flush_lsn() END
    - '0/0'::pg_lsn AS lsn,
  CASE WHEN NOT pg_is_in_recovery()
    THEN ('x' || left(pg_walfile_name(pg_current_wal_insert_lsn()), 8))::bit(32)::integer END AS own_timeline,
  pg_backend_pid() AS pid
FROM shardwright.identity, shardwright.replication AS r
"""


@dataclass
class ReplicaReport:
    """What one address of a server says of itself."""

    server: str
    address: str
    is_up: bool = False
    is_standby: bool = False
    is_behind_pooler: bool = False
    timeline: int = 0
    lag_bytes: int | None = None
    trouble: str | None = None
    lsn: int = 0


def add_replica(
    context: typer.Context,
    server: ServerArgument,
    address: AddressArgument,
    directory: DirectoryOption = None,
) -> None:
    """Tell every router of a streaming replica: reads that allow it are answered there from then on.

    What answers at the address must be a standby of that server. Which of a server's addresses is its primary is found
    by asking, so after a promotion nothing has to be changed.

        shardwright add-replica a db1-standby:5432
    """
    get_directory(context, directory)

    async def work() -> ShardMap:
        async with open_directory(context, directory) as found:
            return await found.add_replica(server, address)

    _say(run(work()), server)


def remove_replica(
    context: typer.Context,
    server: ServerArgument,
    address: AddressArgument,
    directory: DirectoryOption = None,
) -> None:
    """Make every router forget a replica; it may be stopped afterwards.

    shardwright remove-replica a db1-standby:5432
    """
    get_directory(context, directory)

    async def work() -> ShardMap:
        async with open_directory(context, directory) as found:
            return await found.remove_replica(server, address)

    _say(run(work()), server)


def _say(shard_map: ShardMap, server: str) -> None:
    count = len(shard_map.servers[server].replicas)
    print_message(
        f"server {server} has {count} {'replica' if count == 1 else 'replicas'}, map version {shard_map.version}."
    )


async def read_replicas(server: Server) -> list[ReplicaReport]:
    """What answers at each address of a server's replicas, and how far it is behind the primary; [] without any."""
    if not server.replicas:
        return []
    primary, *replicas = await asyncio.gather(
        *(_read(server, each, replica_dsn(server.dsn, each)) for each in (server.dsn, *server.replicas))
    )
    ends = [each.lsn for each in (primary, *replicas) if each.is_up and not each.is_standby]
    for each in replicas:
        if each.is_standby and ends:
            each.lag_bytes = max(0, max(ends) - each.lsn)
    return replicas


async def _read(server: Server, address: str, dsn: str) -> ReplicaReport:
    report = ReplicaReport(server.name, address)
    try:
        async with open_connection(dsn, name=f"a replica of {server.name}") as connection:
            row: Any = await connection.fetchrow(_REPLICA)
            report.is_behind_pooler = row["pid"] != connection.get_server_pid()
    except (ServerUnavailable, asyncpg.PostgresError, OSError) as error:
        report.trouble = str(error)
        return report
    if row["server_name"] != server.name:
        report.trouble = f"it is a copy of server {row['server_name']}"
        return report
    report.is_up, report.is_standby, report.lsn = True, row["is_standby"], int(row["lsn"])
    report.timeline = row["own_timeline"] or row["timeline"]
    return report


def check_replicas(name: str, reports: list[ReplicaReport]) -> list[Finding]:
    """What is wrong with a server's replicas."""
    found: list[Finding] = []
    for each in reports:
        what = f"the replica of {name} at {_place(each.address)}"
        if not each.is_up:
            advice = "start it, or shardwright remove-replica"
            found.append(Finding("replicas", "warning", f"{what} does not answer: {each.trouble}", advice))
        elif each.is_behind_pooler:
            advice = "give its own address: routers must know which backend answers"
            found.append(
                Finding("replicas", "warning", f"{what} is behind a pooler, and is not read from", advice)
            )
        elif (each.lag_bytes or 0) > _MAX_LAG_BYTES:
            advice = "see pg_stat_replication, and whether its replay is paused"
            found.append(
                Finding("replicas", "warning", f"{what} is {each.lag_bytes} bytes of WAL behind", advice)
            )
        elif not each.is_standby:
            found.append(
                Finding(
                    "replicas", "note", f"{what} is no standby: it was promoted, or is a former primary", ""
                )
            )
    if reports and not found:
        found.append(Finding("replicas", "ok", f"{len(reports)} of {name} answer and follow it", ""))
    return found


def show_replica(report: ReplicaReport) -> list[Any]:
    """A row of the table in `status`."""
    if not report.is_up:
        return [report.server, _place(report.address), "down", "", report.trouble or ""]
    role = "standby" if report.is_standby else "primary"
    lag = "" if report.lag_bytes is None else f"{report.lag_bytes} B"
    return [report.server, _place(report.address), role, lag, f"timeline {report.timeline}"]


def _place(address: str) -> str:
    """The address without what may be a password."""
    return (
        address.rpartition("@")[2]
        if "://" in address
        else " ".join(word for word in address.split() if not word.startswith("password="))
    )
