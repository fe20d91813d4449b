"""Generation of ticks: the SQL functions that all shards of a server share.

An id is a *tick*, `milliseconds << 10 | n`, with the shard's number put in the middle. A shard's ticks come
from one sequence, `ids`, and strictly increase, because the sequence is only touched in two ways:

- **Draw**, without any lock: if the gate is open and the sequence has reached the clock, take `nextval`.
  More than 1,024 draws in a millisecond, or a clock that steps back, borrow from the future.
- **Advance**, under an exclusive lock: close the gate, read the sequence, `setval` it to the clock, open the
  gate. That is `shardwright.allocate_ticks`, below.

A draw that saw the gate open may come after it was closed, but only one of each backend, since its next draw
looks again. So `setval` goes above what was read by as many as there can be backends, and never lowers it. For a
single id it goes 16 milliseconds above, which is more than any server has backends, and lets the next draws of a
busy shard do without an advance: its ids run up to that far ahead of the clock.

`ids` and `ids_gate` are unlogged: draws write no WAL. `ids_horizon` is logged and always above every tick handed
out; the gate's value is how far draws may go below it. `shardwright.ids.horizon` says how the horizon is raised, when
a call waits, and what happens after a crash, a fail-over, a move, or under a wrong clock.

The lock is one of the transaction's, taken in a subtransaction that always ends by an exception of our own:
PostgreSQL itself releases it, whatever is cancelled or fails in between, and it never outlives the call, so
transaction pooling is safe. An advance costs 10 to 20 µs.
"""

from typing import Final

from shardwright.ids.layout import FIRST_MS, MAX_MS, SEQUENCE_BITS

MAX_BATCH: Final = 1 << 20
"""The most ids one call of `next_ids` gives: about a second of ticks."""

MAX_TICK: Final = (MAX_MS << SEQUENCE_BITS) - 1
MAX_BACKENDS: Final = 1 << 18
"""PostgreSQL's own limit, whatever its settings."""

FENCE: Final = MAX_TICK + 1
"""Added to the horizon of a shard that this server does not own."""

FIRST_TICK: Final = FIRST_MS << SEQUENCE_BITS
STRIDE: Final = 16 << SEQUENCE_BITS
LEAD_PARTS: Final = 4
"""Batches may end a quarter of `ahead` above the clock."""

BACKENDS: Final = " + ".join(
    f"current_setting('{limit}')::bigint"
    for limit in ("max_connections", "max_worker_processes", "max_wal_senders")
)
LOCK: Final = f"pg_advisory_xact_lock({0x73776964}, shard)"  # "swid"
ABOVE_LAST: Final = f"last_tick + CASE wanted WHEN 1 THEN {STRIDE} ELSE 1 + {BACKENDS} END"
"""What `setval` may set: above the last tick by more than those who saw the gate open can still draw."""

DONE: Final = "SW009"  # not SW000: a code that ends in 000 would catch every error of the class
ARGUMENTS: Final = "shard integer, ids regclass, gate regclass, horizon regclass"

TICKS_SQL: Final = f"""
-- Returns the first of as many consecutive ticks as wanted, all of them above every tick handed out before.
-- One function for all shards, because a backend keeps a compiled copy of each it has called; few and plain
-- expressions and no PERFORM, because that would run each call as a query of its own.
CREATE OR REPLACE FUNCTION shardwright.allocate_ticks(
    {ARGUMENTS}, clock_tick bigint, ahead bigint, wanted bigint, at_least bigint
) RETURNS bigint
LANGUAGE plpgsql VOLATILE STRICT
AS $function$
DECLARE
    last_gate bigint;
    last_tick bigint;
    limit_tick bigint;
    first_tick bigint;
    ignored bigint;
    waited_since timestamptz;
BEGIN
    LOOP
        BEGIN
            -- The lock comes first: CASE evaluates its subject before anything else.
            IF (CASE {LOCK}::text WHEN '' THEN wanted = 1 AND at_least = 0
                AND width_bucket(pg_sequence_last_value(ids),
                    ARRAY[clock_tick, coalesce(pg_sequence_last_value(gate), 0)]) = 1 END)
            THEN
                first_tick := nextval(ids);  -- somebody advanced it while we waited
            ELSE
                last_gate := pg_sequence_last_value(gate);
                last_tick := CASE setval(gate, 0) WHEN 0 THEN pg_sequence_last_value(ids) END;
                limit_tick := pg_sequence_last_value(horizon) - {MAX_BACKENDS};
                first_tick := greatest(at_least, {FIRST_TICK}, clock_tick, {ABOVE_LAST});
                -- Null where a sequence is empty or not readable, which is not this case either.
                IF last_gate > 0 AND first_tick > last_tick AND wanted BETWEEN 1 AND {MAX_BATCH}
                    AND first_tick + wanted - 1 <= least(limit_tick, clock_tick + ahead / {LEAD_PARTS})
                    AND limit_tick < {MAX_TICK}
                THEN
                    ignored := CASE WHEN setval(ids, first_tick + wanted - 1) IS NOT NULL
                        THEN setval(gate, limit_tick) END;
                ELSE
                    first_tick := shardwright.extend_horizon(
                        shard, ids, gate, horizon, clock_tick, ahead, wanted, at_least, last_gate);
                END IF;
            END IF;
            RAISE SQLSTATE '{DONE}';
        EXCEPTION WHEN SQLSTATE '{DONE}' THEN
            NULL;  -- the lock is gone with the subtransaction, what setval did is not
        END;
        EXIT WHEN first_tick > 0;
        -- Too far ahead of the clock by this many ticks: wait, without the lock.
        waited_since := clock_timestamp();
        PERFORM pg_sleep(ceil(-first_tick / {1 << SEQUENCE_BITS}.0) / 1000.0);
        clock_tick := clock_tick
            + (floor(extract(epoch FROM clock_timestamp() - waited_since) * 1000)::bigint << {SEQUENCE_BITS});
    END LOOP;
    RETURN first_tick;
END
$function$;
"""
