"""SQL functions that every server has: decoding of ids, and reservation of ticks."""

from typing import cast

import asyncpg

from shardwright.errors import SetupInvalid
from shardwright.ids.horizon import HORIZON_SQL
from shardwright.ids.layout import LEGACY_LIMIT, MAX_ID, MAX_MS, SEQUENCE_BITS, SHARD_BITS, TIME_SHIFT, Layout
from shardwright.ids.ticks import TICKS_SQL

_TEMPLATE = f"""
CREATE SCHEMA IF NOT EXISTS shardwright;

CREATE OR REPLACE FUNCTION shardwright.epoch_ms() RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN %(epoch_ms)s::bigint;

-- Not STRICT, and NULL for NULL all the same: PostgreSQL inlines no strict function with a CASE.
CREATE OR REPLACE FUNCTION shardwright.id_time(id bigint) RETURNS timestamptz
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN id >= {LEGACY_LIMIT}
    THEN to_timestamp(((id >> {TIME_SHIFT}) + %(epoch_ms)s) / 1000.0::double precision) END;

CREATE OR REPLACE FUNCTION shardwright.id_shard(id bigint) RETURNS integer
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN CASE WHEN id < {LEGACY_LIMIT} THEN 0 ELSE ((id >> {SEQUENCE_BITS}) & {(1 << SHARD_BITS) - 1})::integer END;

CREATE OR REPLACE FUNCTION shardwright.id_sequence(id bigint) RETURNS integer
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN (id & {(1 << SEQUENCE_BITS) - 1})::integer;

-- Through a time zone and back, because only the part of a plain timestamp is immutable to PostgreSQL.
CREATE OR REPLACE FUNCTION shardwright.ms_at(moment timestamptz) RETURNS bigint
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN CASE
    WHEN moment < to_timestamp(%(epoch_ms)s / 1000.0::double precision) THEN -1
    WHEN moment >= to_timestamp((%(epoch_ms)s + {MAX_MS}) / 1000.0::double precision) THEN {MAX_MS}
    ELSE floor(extract(epoch FROM moment AT TIME ZONE 'UTC') * 1000)::bigint - %(epoch_ms)s END;

CREATE OR REPLACE FUNCTION shardwright.min_id_at(moment timestamptz) RETURNS bigint
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN CASE shardwright.ms_at(moment)
    WHEN -1 THEN 0
    WHEN {MAX_MS} THEN {MAX_ID}
    ELSE shardwright.ms_at(moment) << {TIME_SHIFT} END;
"""


def server_functions_sql(layout: Layout) -> str:
    """Return the statements that create or replace the functions of schema `shardwright`."""
    return _TEMPLATE % {"epoch_ms": layout.epoch_ms} + TICKS_SQL + HORIZON_SQL


async def install_functions(conn: asyncpg.Connection, layout: Layout) -> None:
    """Create the schema `shardwright` with `id_time`, `id_shard`, `min_id_at` and the other functions.

    A database with another epoch is refused: its ids would change their meaning.
    """
    known = await _find_epoch(conn)
    if known is not None and known != layout.epoch_ms:
        raise SetupInvalid(
            f"This database has the epoch {known}, not {layout.epoch_ms}: an epoch cannot be changed."
        )
    await conn.execute(server_functions_sql(layout))


async def _find_epoch(conn: asyncpg.Connection) -> int | None:
    if await conn.fetchval("SELECT to_regprocedure('shardwright.epoch_ms()')") is None:
        return None
    return cast("int", await conn.fetchval("SELECT shardwright.epoch_ms()"))
