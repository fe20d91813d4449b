"""Installs the dispatch functions of query files ahead, so that the application's own role needs no DDL."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field

import asyncpg

from shardwright.errors import SetupInvalid
from shardwright.routing.dispatch_functions import IDS, FunctionKey, FunctionKind
from shardwright.routing.function_installer import UNUSED_DAYS, FunctionInstaller, drop_unused
from shardwright.routing.queries import Queries, Query
from shardwright.topology import Directory, Server, open_connection

BATCH = 16
"""Functions per transaction: an interrupted run loses at most these, and routers wait no longer for its lock."""


@dataclass
class Installed:
    """What `install_queries` did on one server."""

    server: str
    queries: int
    created: int = 0
    dropped: int = 0
    failed: dict[str, str] = field(default_factory=dict[str, str])
    """Queries that cannot be installed, with PostgreSQL's reason."""


async def install_queries(
    directory: Directory, queries: Sequence[Queries], *, unused_days: int = UNUSED_DAYS
) -> list[Installed]:
    """Install the dispatch functions of all queries on every server that has shards, servers in parallel.

    Safe to repeat and to interrupt. Functions that no router has used for `unused_days` days are dropped; one that
    still serves an older release is marked as used by its routers every day.
    """
    shard_map = await directory.load()
    wanted = [query for each in queries for query in each]
    works = [
        _install_on(server, numbers[0], wanted, unused_days)
        for server in shard_map.servers.values()
        if (numbers := shard_map.shards_on(server.name))
    ]
    return list(await asyncio.gather(*works))


async def _install_on(server: Server, sample: int, queries: Sequence[Query], unused_days: int) -> Installed:
    report = Installed(server.name, len(queries))
    conn = await open_connection(server.dsn, f"server {server.name}")
    try:
        installer = FunctionInstaller(sample)
        if not await installer.may_create(conn):
            raise SetupInvalid(
                f"the role that signs in to server {server.name} may not create functions: use the migrator"
            )
        keys = [key for query in queries for key in _keys(query)]
        for start in range(0, len(keys), BATCH):
            report.failed |= await _install_batch(conn, installer, keys[start : start + BATCH])
        report.created = installer.created
        report.dropped = await drop_unused(conn, unused_days=unused_days)
    finally:
        await conn.close()
    return report


def _keys(query: Query) -> list[FunctionKey]:
    """Every form in which a router may call the query."""
    kinds = [FunctionKind.POINT]
    if IDS in query.parameters and not query.writes:
        kinds.append(FunctionKind.GATHER)
    return [FunctionKey(query, kind) for kind in kinds]


async def _install_batch(
    conn: asyncpg.Connection, installer: FunctionInstaller, batch: Sequence[FunctionKey]
) -> dict[str, str]:
    """Install in one transaction, or one by one when one of them is wrong; return those that are, with the reason."""
    try:
        found = await installer.install(conn, batch)
    except (SetupInvalid, asyncpg.PostgresError) as error:
        if len(batch) > 1:
            failed: dict[str, str] = {}
            for key in batch:
                failed |= await _install_batch(conn, installer, [key])
            return failed
        if batch[0].form is FunctionKind.GATHER:
            return {}  # `:ids` of this query is no list of ids, so nobody gathers with it
        return {batch[0].query.name: str(error)}
    return {key.query.name: await _reason(conn, installer, key.query) for key in batch if key not in found}


async def _reason(conn: asyncpg.Connection, installer: FunctionInstaller, query: Query) -> str:
    try:
        await installer.shape(conn, query)
    except asyncpg.PostgresError as error:
        return str(error)
    return "the schema was changed meanwhile: try again"
