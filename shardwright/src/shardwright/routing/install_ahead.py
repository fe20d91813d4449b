"""Installs the dispatch functions of query files ahead, so that the application's own role needs no DDL."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field

import asyncpg

from shardwright.errors import SetupInvalid
from shardwright.ids import schema_name
from shardwright.routing.dispatch_functions import IDS, FunctionKey, FunctionKind
from shardwright.routing.function_installer import UNUSED_DAYS, FunctionInstaller, drop_unused
from shardwright.routing.queries import Queries, Query
from shardwright.topology import Directory, Server, fetch_rows, open_connection

# One shard for each set of columns: while a migration is being rolled out there are two of them.
_SAMPLES = """\
SELECT min(number) FROM (
  SELECT substr(n.nspname, 2)::integer AS number,
    md5(string_agg(concat_ws(' ', c.relname, a.attname, a.atttypid), ',' ORDER BY c.relname, a.attnum)) AS columns
  FROM pg_catalog.pg_attribute a JOIN pg_catalog.pg_class c ON c.oid = a.attrelid
  JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
  WHERE n.nspname = ANY($1) AND c.relkind IN ('r', 'p', 'v', 'm', 'f') AND a.attnum > 0 AND NOT a.attisdropped
  GROUP BY n.nspname
) AS shards GROUP BY columns ORDER BY min(number)
"""

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
    """Queries that fit no shard of the server, with PostgreSQL's reason."""


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
        _install_on(server, numbers, wanted, unused_days)
        for server in shard_map.servers.values()
        if (numbers := shard_map.shards_on(server.name))
    ]
    return list(await asyncio.gather(*works))


async def _install_on(
    server: Server, numbers: Sequence[int], queries: Sequence[Query], unused_days: int
) -> Installed:
    report = Installed(server.name, len(queries))
    conn = await open_connection(server.dsn, f"server {server.name}")
    try:
        if not await FunctionInstaller(numbers[0]).may_create(conn):
            raise SetupInvalid(
                f"the role that signs in to server {server.name} may not create functions: use the migrator"
            )
        failed = await _install_all(conn, report, FunctionInstaller(numbers[0]), queries)
        for sample in await _other_samples(conn, numbers) if failed else ():
            remaining = [query for query in queries if query.name in failed]
            # The first shard's reason stays, unless the query fits another shard.
            left = await _install_all(conn, report, FunctionInstaller(sample), remaining)
            failed = {name: reason for name, reason in failed.items() if name in left}
        report.failed = failed
        report.dropped = await drop_unused(conn, unused_days=unused_days)
    finally:
        await conn.close()
    return report


async def _install_all(
    conn: asyncpg.Connection, report: Installed, installer: FunctionInstaller, queries: Sequence[Query]
) -> dict[str, str]:
    """Install what fits the installer's sample; return the other queries, with the reason."""
    failed: dict[str, str] = {}
    keys = [key for query in queries for key in _keys(query)]
    for start in range(0, len(keys), BATCH):
        failed |= await _install_batch(conn, installer, keys[start : start + BATCH])
    report.created += installer.created
    return failed


async def _other_samples(conn: asyncpg.Connection, numbers: Sequence[int]) -> list[int]:
    """Shards whose columns differ from those of the first one, one of each kind."""
    rows = await fetch_rows(conn, _SAMPLES, [schema_name(number) for number in numbers])
    return [row[0] for row in rows if row[0] != numbers[0]]


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
