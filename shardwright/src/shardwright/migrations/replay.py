"""Replays all migrations from scratch, in a temporary database that is dropped afterwards.

The replay is what a new shard gets. `schema.sql` is written from it, and drift can be compared with it. A separate
database hides the scratch shard from everything that works with the real ones.
"""

from __future__ import annotations

import secrets
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from urllib.parse import urlsplit, urlunsplit

import asyncpg

from shardwright.ids import DEFAULT_EPOCH_MS, Layout, install_functions
from shardwright.migrations.applier import Applier
from shardwright.migrations.catalog import Fact, read_facts
from shardwright.migrations.connections import Connection, connect, open_connection
from shardwright.migrations.files import Folder, Kind, Migration
from shardwright.migrations.options import MigratorOptions
from shardwright.migrations.targets import COMMON_SCHEMA, Target
from shardwright.migrations.versions import VERSION_TABLE
from shardwright.topology import Server, creation_sql

_SHARD = Target("scratch", 0)
_COMMON = Target("scratch")

Replayed = Mapping[Kind, Sequence[Fact]]


async def replay(folder: Folder, dsn: str, layout: Layout | None = None) -> Replayed:
    """Return the catalog facts of a server and a shard that have every migration.

    `dsn` names a server on which a database may be created.
    """
    async with scratch_database(dsn) as scratch, open_connection(Server("scratch", scratch)) as connection:
        await prepare_scratch(connection, layout)
        for target in (_COMMON, _SHARD):
            await _apply(connection, target, folder.of(target.kind))
        facts = await read_facts(connection, [_COMMON.schema, _SHARD.schema])
    return {"server": facts[_COMMON.schema], "shard": facts[_SHARD.schema]}


async def replay_repaired(
    folder: Folder, kind: Kind, stops: Sequence[int], dsn: str, layout: Layout | None = None
) -> Sequence[Fact] | None:
    """Return the facts of a target that stopped at each of these migrations, and got all the later ones afterwards.

    It has superseded migrations, as they were when nothing superseded them yet, and their repair. None when those
    cannot be applied to an empty target, so that they cannot be compared.
    """
    target = _SHARD if kind == "shard" else _COMMON
    async with scratch_database(dsn) as scratch, open_connection(Server("scratch", scratch)) as connection:
        await prepare_scratch(connection, layout)
        if kind == "shard":
            await _apply(connection, _COMMON, folder.server)
        for number in stops:
            try:
                await _apply(connection, target, folder.of(kind)[:number])
            except asyncpg.PostgresError:
                return None
        await _apply(connection, target, folder.of(kind))
        return (await read_facts(connection, [target.schema]))[target.schema]


async def _apply(connection: Connection, target: Target, migrations: Sequence[Migration]) -> None:
    await Applier(migrations, MigratorOptions()).apply_pending(connection, target, _ignore)


async def prepare_scratch(connection: Connection, layout: Layout | None) -> None:
    """Create what migrations rely on in an empty database: id functions, `common`, one empty shard."""
    layout = layout or Layout(DEFAULT_EPOCH_MS)
    await install_functions(connection, layout)
    await connection.execute(f"CREATE SCHEMA IF NOT EXISTS {COMMON_SCHEMA}; {creation_sql(0, layout)}")


@asynccontextmanager
async def scratch_database(dsn: str) -> AsyncGenerator[str]:
    """Create a database for the duration of the block; yields its address."""
    name = f"shardwright_scratch_{secrets.token_hex(6)}"
    async with open_connection(Server("scratch", dsn)) as connection:
        await connection.execute(f"CREATE DATABASE {name} TEMPLATE template0")
    try:
        yield urlunsplit(urlsplit(dsn)._replace(path=f"/{name}"))
    finally:
        connection = await connect(dsn, "scratch")
        await connection.execute(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")
        await connection.close()


def without_library(facts: Sequence[Fact]) -> list[Fact]:
    """Only what migrations created: without guards and the version table."""
    return [
        fact
        for fact in facts
        if fact.kind not in {"guard", "library"} and VERSION_TABLE not in (fact.name, fact.owner)
    ]


def _ignore(_what: str, _detail: str) -> None:
    """A replay reports no progress."""
