"""SQL of a shard's id generator: three sequences, `next_id()` and `next_ids(n)`.

`shardwright.ids.ticks` says how they work together.
"""

from typing import Final

from shardwright.errors import SetupInvalid
from shardwright.ids.layout import SEQUENCE_BITS, SHARD_BITS, TIME_SHIFT, Layout, schema_name
from shardwright.ids.ticks import FENCE, MAX_BACKENDS, MAX_TICK

DEFAULT_AHEAD_MS: Final = 5_000
CLOCK_SQL: Final = "pg_catalog.clock_timestamp()"
_MAX_AHEAD_MS = 3_600_000
_TIME_BITS = 40
MAX_LSN: Final = (1 << 63) - 1

_SEQUENCES = f"""
CREATE UNLOGGED SEQUENCE %(schema)s.ids MINVALUE 0 MAXVALUE {MAX_TICK};
CREATE UNLOGGED SEQUENCE %(schema)s.ids_gate MINVALUE {-MAX_LSN} MAXVALUE {MAX_TICK} START 0;
CREATE SEQUENCE %(schema)s.ids_horizon MINVALUE 0 MAXVALUE {FENCE + MAX_TICK};

-- A moment before its creation, as if ids had been drawn then: what the clock of the first draw is compared with.
SELECT setval('%(schema)s.ids', tick), setval('%(schema)s.ids_horizon', tick)
FROM (VALUES (%(clock_tick)s - {1_000 << SEQUENCE_BITS})) AS made (tick) WHERE tick BETWEEN 1 AND {MAX_TICK};
"""  # noqa: S608 - every name in it comes from a checked shard number

_FUNCTIONS = f"""
CREATE OR REPLACE FUNCTION %(schema)s.reserve_ticks(wanted bigint, at_least bigint DEFAULT 0) RETURNS bigint
LANGUAGE sql VOLATILE
RETURN %(reserve)s, wanted, at_least);

-- One expression, so that PostgreSQL puts it into the calling statement instead of calling it. The tick is
-- evaluated once: `overlay` pushes the shard's bits in between those of the time and those of the sequence.
-- `width_bucket` compares one reading of the sequence with both bounds, the clock and the gate; an empty or
-- closed gate counts as 0 and an empty sequence gives null: either way there is no draw.
CREATE OR REPLACE FUNCTION %(schema)s.next_id() RETURNS bigint
LANGUAGE sql VOLATILE
RETURN overlay(
    (CASE WHEN width_bucket(pg_sequence_last_value('%(schema)s.ids'),
            ARRAY[%(clock_tick)s, coalesce(pg_sequence_last_value('%(schema)s.ids_gate'), 0)]) = 1
        THEN nextval('%(schema)s.ids')
        ELSE %(reserve)s, 1, 0) END)::bit({_TIME_BITS + SEQUENCE_BITS})
    PLACING B'%(shard_bits)s' FROM {_TIME_BITS + 1} FOR 0)::bigint;

CREATE OR REPLACE FUNCTION %(schema)s.next_ids(wanted integer) RETURNS SETOF bigint
LANGUAGE sql VOLATILE STRICT ROWS 1000
BEGIN ATOMIC
    SELECT ((tick >> {SEQUENCE_BITS}) << {TIME_SHIFT}) | %(shard_field)s | (tick & {(1 << SEQUENCE_BITS) - 1})
    FROM %(schema)s.reserve_ticks(wanted) AS first_tick, generate_series(first_tick, first_tick + wanted - 1) AS tick;
END;
"""  # noqa: S608 - every name in it comes from a checked shard number


def shard_sql(
    number: int, layout: Layout, *, clock_sql: str = CLOCK_SQL, ahead_ms: int = DEFAULT_AHEAD_MS
) -> str:
    """Return the statements that create the id generator in an empty shard schema, after `install_functions`.

    `clock_sql` is an expression of type timestamptz that replaces the clock in tests. Three quarters of `ahead_ms`
    must exceed how far the clocks of a primary and its standby may differ; batches may use the rest.
    """
    return sequences_sql(number, layout, clock_sql=clock_sql) + functions_sql(
        number, layout, clock_sql=clock_sql, ahead_ms=ahead_ms
    )


def sequences_sql(number: int, layout: Layout, *, clock_sql: str = CLOCK_SQL) -> str:
    """Return the statements that create the sequences of a shard's ids."""
    return _SEQUENCES % {"schema": schema_name(number), "clock_tick": _clock_tick(layout, clock_sql)}


def functions_sql(
    number: int, layout: Layout, *, clock_sql: str = CLOCK_SQL, ahead_ms: int = DEFAULT_AHEAD_MS
) -> str:
    """Return the statements that create or replace the functions of a shard's ids."""
    if not 1 <= ahead_ms <= _MAX_AHEAD_MS:
        raise SetupInvalid(f"ahead_ms is {ahead_ms}: choose between a millisecond and an hour.")
    schema = schema_name(number)
    clock_tick = _clock_tick(layout, clock_sql)
    return _FUNCTIONS % {
        "schema": schema,
        "clock_tick": clock_tick,
        "reserve": (
            f"shardwright.allocate_ticks({_sequences(number)}, {clock_tick}, {ahead_ms << SEQUENCE_BITS}"
        ),
        "shard_bits": f"{number:0{SHARD_BITS}b}",
        "shard_field": number << SEQUENCE_BITS,
    }


def advance_sql(number: int, *, by_ms: int = 0) -> str:
    """Return the statement that advances a shard's ids ahead of the clock by at least `by_ms`, never back.

    For a fail-over where the clocks may differ by more than `ahead_ms`: run it before the first write.
    """
    if by_ms < 0:
        raise SetupInvalid(f"Ids can only be advanced: by_ms is {by_ms}.")
    schema = schema_name(number)
    return f"SELECT {schema}.reserve_ticks(1, ({schema}.reserve_ticks(1) + {by_ms << SEQUENCE_BITS}))"


def last_tick_sql(number: int) -> str:
    """Return the query for the highest tick a shard may have used; run it on the server it is moved from.

    Once that is fenced, nobody draws any more but those who saw the gate open before; else it is the horizon.
    """
    schema = schema_name(number)
    return (
        f"SELECT CASE WHEN horizon >= {FENCE} AND ids IS NOT NULL"  # noqa: S608 - names come from a checked number
        f" THEN least(ids + {MAX_BACKENDS}, horizon & {FENCE - 1}) ELSE greatest(0, ids, horizon & {FENCE - 1}) END"
        f" FROM (SELECT pg_catalog.pg_sequence_last_value('{schema}.ids') AS ids"
        f", pg_catalog.pg_sequence_last_value('{schema}.ids_horizon') AS horizon) AS sequences"
    )


def resume_above_sql(number: int, tick: int) -> str:
    """Return the statement that makes a shard continue above a tick; run it on the server it is moved to.

    It may be fenced there, and should be until this is done.
    """
    return f"SELECT shardwright.resume_ids({_sequences(number)}, {DEFAULT_AHEAD_MS << SEQUENCE_BITS}, {tick})"


def fence_sql(number: int, *, is_fenced: bool) -> str:
    """Return the statement that closes a shard's ids at a server that does not own it, or opens them again.

    From then on `next_id`, batches and leases raise SW001, also after a crash. It takes effect at once, and a
    transaction that is rolled back does not undo it.
    """
    return f"SELECT shardwright.fence_ids({_sequences(number)}, {str(is_fenced).lower()})"


def is_fenced_sql(number: int) -> str:
    """Return the query for whether a shard's ids are fenced."""
    return f"SELECT coalesce(pg_catalog.pg_sequence_last_value('{schema_name(number)}.ids_horizon') >= {FENCE}, false)"


def lower_sql(number: int, layout: Layout) -> str:
    """Return the statement that lowers a shard's ids to a minute above the clock, fenced as it is.

    Only for `lower_ids`, which makes sure that no higher id is in use.
    """
    now = f"({_clock_tick(layout, CLOCK_SQL)} + {60_000 << SEQUENCE_BITS})"
    return f"SELECT shardwright.lower_ids({_sequences(number)}, {now})"


def ahead_ms_sql(number: int, layout: Layout) -> str:
    """Return the query for how many milliseconds a shard's ids run ahead of the server's clock.

    Up to a few thousand is normal after a crash, a failover or a large batch; much more means that the clock was wrong
    once, and ids will contain the wrong time until the clock has caught up.
    """
    last_tick = f"pg_catalog.pg_sequence_last_value('{schema_name(number)}.ids')"
    now_ms = "floor(pg_catalog.date_part('epoch', pg_catalog.clock_timestamp()) * 1000)::bigint"
    return f"SELECT greatest(0, ({last_tick} >> {SEQUENCE_BITS}) - ({now_ms} - {layout.epoch_ms}))"


def _clock_tick(layout: Layout, clock_sql: str) -> str:
    return f"((floor(date_part('epoch', {clock_sql}) * 1000)::bigint - {layout.epoch_ms}) << {SEQUENCE_BITS})"


def _sequences(number: int) -> str:
    """The arguments by which the server's functions know a shard."""
    schema = schema_name(number)
    return f"{number}, '{schema}.ids', '{schema}.ids_gate', '{schema}.ids_horizon'"
