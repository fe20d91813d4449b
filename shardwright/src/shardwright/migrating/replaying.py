"""All migrations replayed from nothing, in a database made for it and dropped afterwards.

The replay is what a new shard gets. `schema.sql` is written from it, and drift can be measured against it. A
database of its own keeps the scratch shard out of sight of everything that works with the real ones.
"""

from __future__ import annotations

import secrets
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from urllib.parse import urlsplit, urlunsplit

from shardwright.ids import DEFAULT_EPOCH_MS, Layout, install_functions
from shardwright.migrating.applying import Applier
from shardwright.migrating.catalog import Fact, read_facts
from shardwright.migrating.connecting import Connection, connect, connected
from shardwright.migrating.files import Folder, Kind
from shardwright.migrating.pace import Pace
from shardwright.migrating.targets import COMMON_SCHEMA, Target
from shardwright.migrating.versions import VERSION_TABLE
from shardwright.topology import Server, creation_sql

_SHARD = Target("scratch", 0)
_COMMON = Target("scratch")

Replayed = Mapping[Kind, Sequence[Fact]]


async def replay(folder: Folder, dsn: str, layout: Layout | None = None) -> Replayed:
    """What the catalogs say about a server and a shard that have every migration.

    `dsn` names a server on which a database may be created.
    """
    async with scratch_database(dsn) as scratch, connected(Server("scratch", scratch)) as connection:
        await prepare_scratch(connection, layout)
        for target in (_COMMON, _SHARD):
            await Applier(folder.of(target.kind), Pace()).bring_up(connection, target, _ignore)
        facts = await read_facts(connection, [_COMMON.schema, _SHARD.schema])
    return {"server": facts[_COMMON.schema], "shard": facts[_SHARD.schema]}


async def prepare_scratch(connection: Connection, layout: Layout | None) -> None:
    """A database without servers or directory has what migrations rely on: ids, `common`, one empty shard."""
    layout = layout or Layout(DEFAULT_EPOCH_MS)
    await install_functions(connection, layout)
    await connection.execute(f"CREATE SCHEMA IF NOT EXISTS {COMMON_SCHEMA}; {creation_sql(0, layout)}")


@asynccontextmanager
async def scratch_database(dsn: str) -> AsyncGenerator[str]:
    """A database that exists while the block runs; yields its address."""
    name = f"shardwright_scratch_{secrets.token_hex(6)}"
    async with connected(Server("scratch", dsn)) as connection:
        await connection.execute(f"CREATE DATABASE {name} TEMPLATE template0")
    try:
        yield urlunsplit(urlsplit(dsn)._replace(path=f"/{name}"))
    finally:
        connection = await connect(dsn, "scratch")
        await connection.execute(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")
        await connection.close()


def without_library(facts: Sequence[Fact]) -> list[Fact]:
    """Only what migrations made: neither guards nor the version table."""
    return [
        fact
        for fact in facts
        if fact.kind not in {"guard", "library"} and VERSION_TABLE not in (fact.name, fact.owner)
    ]


def _ignore(_what: str, _detail: str) -> None:
    """Nobody watches a replay."""
