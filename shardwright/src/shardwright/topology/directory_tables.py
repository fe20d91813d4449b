"""The directory's tables, and how the shard map is read from and written to them."""

import json
from typing import TYPE_CHECKING, Any

import asyncpg

from shardwright.errors import SetupInvalid
from shardwright.ids import MAX_SHARDS, Layout
from shardwright.topology.connections import fetch_rows, fetch_value
from shardwright.topology.library_version import (
    LIBRARY_VERSION,
    read_library_versions,
    refuse_newer,
    version_sql,
)
from shardwright.topology.role_grants import restrict_writes_sql
from shardwright.topology.shard_map import Server, ShardMap

if TYPE_CHECKING:
    from asyncpg import Connection

SCHEMA = "shardwright_directory"
CHANNEL = "shardwright_map"
NO_TABLES = "the directory has no tables yet: create it first"

# A shard is planned before it exists and becomes ready (part of the map) once its schema is created: an interrupted
# creation stays recorded and can be finished.
LOCK = f"SELECT pg_advisory_xact_lock(hashtext('{SCHEMA}'))"  # concurrent set-ups take turns
CREATE = f"""\
CREATE SCHEMA IF NOT EXISTS {SCHEMA};
CREATE TABLE IF NOT EXISTS {SCHEMA}.settings (
  only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
  directory_id uuid NOT NULL DEFAULT gen_random_uuid(),
  map_version bigint NOT NULL DEFAULT 1,
  epoch_ms bigint NOT NULL,
  lookup_shards integer CHECK (lookup_shards BETWEEN 1 AND {MAX_SHARDS})
);
-- Servers that were removed: a host application that registers its servers at every start leaves these out.
ALTER TABLE {SCHEMA}.settings ADD COLUMN IF NOT EXISTS removed_servers text[] NOT NULL DEFAULT '{{}}';
CREATE TABLE IF NOT EXISTS {SCHEMA}.servers (
  name text PRIMARY KEY,
  dsn text NOT NULL,
  weight double precision NOT NULL CHECK (weight >= 0),
  accepts_new boolean NOT NULL
);
-- Addresses of streaming replicas.
ALTER TABLE {SCHEMA}.servers ADD COLUMN IF NOT EXISTS replicas text[] NOT NULL DEFAULT '{{}}';
CREATE TABLE IF NOT EXISTS {SCHEMA}.shards (
  number integer PRIMARY KEY CHECK (number BETWEEN 0 AND {MAX_SHARDS - 1}),
  server text NOT NULL REFERENCES {SCHEMA}.servers,
  weight double precision NOT NULL DEFAULT 1 CHECK (weight >= 0),
  is_ready boolean NOT NULL DEFAULT false
);
-- The journal of moves: what each is doing now, and since when. Written by `shardwright.moves`.
CREATE TABLE IF NOT EXISTS {SCHEMA}.moves (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  name text NOT NULL UNIQUE,
  shards integer[] NOT NULL CHECK (cardinality(shards) > 0),
  source text NOT NULL,
  target text NOT NULL CHECK (target <> source),
  turn integer NOT NULL DEFAULT 0,
  step text NOT NULL,
  attempt integer NOT NULL DEFAULT 0,
  details jsonb NOT NULL DEFAULT '{{}}',
  started_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  ended_at timestamptz
);
-- Servers may be removed, and what was moved from and to them stays on record.
ALTER TABLE {SCHEMA}.moves DROP CONSTRAINT IF EXISTS moves_source_fkey, DROP CONSTRAINT IF EXISTS moves_target_fkey;
CREATE TABLE IF NOT EXISTS {SCHEMA}.move_steps (
  move_id bigint NOT NULL REFERENCES {SCHEMA}.moves ON DELETE CASCADE,
  number integer NOT NULL,
  turn integer NOT NULL,
  step text NOT NULL,
  attempt integer NOT NULL,
  at timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (move_id, number)
);
-- The journal of adoptions of unsharded databases, and how far each stream of changes was applied. Written by
-- `shardwright.adopt`.
CREATE TABLE IF NOT EXISTS {SCHEMA}.adoptions (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  name text NOT NULL UNIQUE,
  plan jsonb NOT NULL,
  step text NOT NULL,
  turn integer NOT NULL DEFAULT 0,
  attempt integer NOT NULL DEFAULT 0,
  details jsonb NOT NULL DEFAULT '{{}}',
  started_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  ended_at timestamptz
);
CREATE TABLE IF NOT EXISTS {SCHEMA}.adoption_steps (
  adoption_id bigint NOT NULL REFERENCES {SCHEMA}.adoptions ON DELETE CASCADE,
  number integer NOT NULL,
  turn integer NOT NULL,
  step text NOT NULL,
  attempt integer NOT NULL,
  at timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (adoption_id, number)
);
CREATE TABLE IF NOT EXISTS {SCHEMA}.adoption_streams (
  adoption_id bigint NOT NULL REFERENCES {SCHEMA}.adoptions ON DELETE CASCADE,
  database text NOT NULL,
  applying pg_lsn NOT NULL,
  applied pg_lsn NOT NULL,
  PRIMARY KEY (adoption_id, database)
);
""" + "".join(
    restrict_writes_sql(f"{SCHEMA}.{table}")
    for table in (
        "settings",
        "servers",
        "shards",
        "moves",
        "move_steps",
        "adoptions",
        "adoption_steps",
        "adoption_streams",
    )
)

# One statement, hence one snapshot: the map is never a mixture of two versions. The replicas as a part of the whole
# row, because a directory of release 0.1.0 has no such column.
LOAD_MAP_SQL = f"""\
SELECT map_version, epoch_ms, coalesce(lookup_shards, 0) AS lookup_shards,
  ARRAY(SELECT ROW(name, dsn, weight, accepts_new, to_jsonb(s) ->> 'replicas')
    FROM {SCHEMA}.servers AS s ORDER BY name) AS servers,
  ARRAY(SELECT ROW(number, server, weight) FROM {SCHEMA}.shards WHERE is_ready ORDER BY number) AS shards
FROM {SCHEMA}.settings
"""  # noqa: S608  # the schema is a constant

_UPSERT_SERVERS = f"""\
INSERT INTO {SCHEMA}.servers (name, dsn, weight, accepts_new) VALUES ($1, $2, $3, $4)
ON CONFLICT (name) DO UPDATE
SET dsn = excluded.dsn, weight = excluded.weight, accepts_new = excluded.accepts_new
"""  # noqa: S608  # likewise

_HAS_REMOVED = f"SELECT to_jsonb(s) ? 'removed_servers' FROM {SCHEMA}.settings AS s"  # noqa: S608  # likewise
# Names of servers that are in the map, and of those that no longer are.
_KNOW_SERVERS = f"""\
UPDATE {SCHEMA}.settings SET removed_servers = ARRAY(
  SELECT DISTINCT name FROM unnest(removed_servers || $2::text[]) AS name WHERE NOT name = ANY ($1::text[]) ORDER BY 1)
"""  # noqa: S608  # likewise

_SET_REPLICAS = f"UPDATE {SCHEMA}.servers SET replicas = $2 WHERE name = $1"  # noqa: S608  # likewise

_UPSERT_SHARDS = f"""\
INSERT INTO {SCHEMA}.shards (number, server, weight, is_ready)
SELECT *, true FROM unnest($1::integer[], $2::text[], $3::double precision[])
ON CONFLICT (number) DO UPDATE SET server = excluded.server, weight = excluded.weight, is_ready = true
"""  # noqa: S608  # likewise


async def create_tables(conn: "Connection") -> None:
    """Create the tables of a new directory; those of an earlier release stay until `shardwright upgrade`."""
    await conn.execute(LOCK)
    is_new = not await fetch_value(conn, f"SELECT to_regclass('{SCHEMA}.settings') IS NOT NULL")
    version = LIBRARY_VERSION if is_new else (await read_library_versions(conn, [SCHEMA]))[SCHEMA]
    refuse_newer("the directory", version)
    if version == LIBRARY_VERSION:
        await install_directory_sql(conn)


async def install_directory_sql(conn: "Connection", version: int = LIBRARY_VERSION) -> None:
    """Create what the directory's schema lacks, and record the version; hold `LOCK`."""
    await conn.execute(CREATE + version_sql(SCHEMA, version))


async def read_map(conn: "Connection") -> ShardMap:
    """Read the latest map."""
    try:
        rows = await fetch_rows(conn, LOAD_MAP_SQL)
    except asyncpg.UndefinedTableError as error:
        raise SetupInvalid(NO_TABLES) from error
    return map_from_row(rows[0])


def map_from_row(row: Any) -> ShardMap:  # asyncpg's record or psycopg's dictionary
    """The map in the row that `LOAD_MAP_SQL` returns, by whichever driver."""
    return ShardMap(
        version=row["map_version"],
        layout=Layout(row["epoch_ms"]),
        servers={
            name: Server(name, dsn, weight, accepts, tuple(json.loads(replicas or "[]")))
            for name, dsn, weight, accepts, replicas in row["servers"]
        },
        owners={number: server for number, server, _ in row["shards"]},
        weights={number: weight for number, _, weight in row["shards"] if weight != 1.0},
        lookup_shards=row["lookup_shards"],
    )


async def write_map(conn: "Connection", new: ShardMap, old: ShardMap) -> None:
    """Write the differences as the next version, and notify every router on commit."""
    for name, server in new.servers.items():
        if old.servers.get(name) != server:
            await conn.execute(_UPSERT_SERVERS, name, server.dsn, server.weight, server.accepts_new)
            if server.replicas != (old.servers[name].replicas if name in old.servers else ()):
                await conn.execute(_SET_REPLICAS, name, list(server.replicas))
    if new.servers.keys() != old.servers.keys():
        gone = sorted(old.servers.keys() - new.servers.keys())
        await conn.execute(f"DELETE FROM {SCHEMA}.servers WHERE name = ANY ($1::text[])", gone)  # noqa: S608 - a constant
        if await fetch_value(conn, _HAS_REMOVED):
            await conn.execute(_KNOW_SERVERS, sorted(new.servers), gone)
    changed = [
        number
        for number, owner in new.owners.items()
        if old.owners.get(number) != owner or old.weight_of(number) != new.weight_of(number)
    ]
    if changed:
        owners = [new.owners[number] for number in changed]
        await conn.execute(_UPSERT_SHARDS, changed, owners, [new.weight_of(number) for number in changed])
    await conn.execute(
        f"UPDATE {SCHEMA}.settings SET map_version = $1, lookup_shards = nullif($2, 0)",  # noqa: S608 - names come from the library, values are parameters
        new.version,
        new.lookup_shards,
    )
    await conn.execute("SELECT pg_notify($1, $2)", CHANNEL, str(new.version))
