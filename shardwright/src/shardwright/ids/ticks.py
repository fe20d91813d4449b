"""Generation of ticks: the SQL function that all shards of a server share.

An id is a *tick*, `milliseconds << 10 | n`, with the shard's number put in the middle. A shard's ticks come
from one sequence, `ids`, and strictly increase, because the sequence is only touched in two ways:

- **Draw**, without any lock: if the gate is open and the sequence has reached the clock, take `nextval`.
  More than 1,024 draws in a millisecond, or a clock that steps back, borrow from the future.
- **Advance**, under an exclusive lock: close the gate, read the sequence, `setval` it to the clock, open the
  gate. That is `shardwright.reserve_ticks`, below.

A draw that saw the gate open may come after it was closed, but only one of each backend, since its next draw
looks again. So `setval` goes above what was read by as many as there can be backends, and never lowers it. For a
single id it goes 16 milliseconds above, which is more than any server has backends, and lets the next draws of a
busy shard do without an advance: its ids run up to that far ahead of the clock.

`ids` and `ids_gate` are unlogged: draws write no WAL. `ids_horizon` is logged, always above every tick handed
out and a few seconds ahead of them; the gate's value is how far draws may go below it. PostgreSQL empties
unlogged sequences after a crash and when a standby is promoted. The next draw sees that and goes on above the
horizon and some seconds above the clock, which covers a standby that lost the last of the WAL and whose clock
is slower. Nobody has to notice a failover for ids to stay unique.

The lock is one of the transaction's, taken in a subtransaction that always ends by an exception of our own:
PostgreSQL itself releases it, whatever is cancelled or fails in between, and it never outlives the call, so
transaction pooling is safe. An advance costs 10 to 20 µs.
"""

from typing import Final

from shardwright.ids.layout import FIRST_MS, MAX_MS, SEQUENCE_BITS

IDS_EXHAUSTED_SQLSTATE: Final = "SW002"
"""What PostgreSQL reports when the last millisecond of the layout is past."""

MAX_BATCH: Final = 1 << 20
"""The most ids one call of `next_ids` gives: about a second of ticks."""

MAX_TICK: Final = (MAX_MS << SEQUENCE_BITS) - 1
_LOCK_CLASS = 0x73776964  # "swid"
_MAX_BACKENDS = 1 << 18  # PostgreSQL's own limit, whatever its settings
_STRIDE = 16 << SEQUENCE_BITS
_BACKENDS = " + ".join(
    f"current_setting('{limit}')::bigint"
    for limit in ("max_connections", "max_worker_processes", "max_wal_senders")
)
_DONE = "SW009"  # not SW000: a code that ends in 000 would catch every error of the class

TICKS_SQL: Final = f"""
-- Returns the first of as many consecutive ticks as wanted, all of them above every tick handed out before.
-- One function for all shards, because a backend keeps a compiled copy of each it has called; few and plain
-- expressions and no PERFORM, because that would run each call as a query of its own.
CREATE OR REPLACE FUNCTION shardwright.reserve_ticks(
    shard integer, ids regclass, gate regclass, horizon regclass,
    clock_tick bigint, ahead bigint, wanted bigint, at_least bigint
) RETURNS bigint
LANGUAGE plpgsql VOLATILE STRICT
AS $function$
DECLARE
    last_tick bigint;
    limit_tick bigint;
    first_tick bigint;
    final_tick bigint;
    ignored bigint;
BEGIN
    BEGIN
        -- The lock comes first: CASE evaluates its subject before anything else.
        IF (CASE pg_advisory_xact_lock({_LOCK_CLASS}, shard)::text WHEN '' THEN wanted = 1 AND at_least = 0
            AND width_bucket(pg_sequence_last_value(ids),
                ARRAY[clock_tick, coalesce(pg_sequence_last_value(gate), 0)]) = 1 END)
        THEN
            first_tick := nextval(ids);  -- somebody advanced it while we waited
        ELSE
            last_tick := CASE setval(gate, 0) WHEN 0 THEN pg_sequence_last_value(ids) END;
            limit_tick := pg_sequence_last_value(horizon) - {_MAX_BACKENDS};
            first_tick := greatest(at_least, {FIRST_MS << SEQUENCE_BITS}, clock_tick,
                last_tick + CASE wanted WHEN 1 THEN {_STRIDE} ELSE 1 + {_BACKENDS} END);
            final_tick := first_tick + wanted - 1;
            IF last_tick IS NULL OR final_tick > limit_tick OR wanted NOT BETWEEN 1 AND {MAX_BATCH} THEN
                IF wanted NOT BETWEEN 1 AND {MAX_BATCH} THEN
                    RAISE invalid_parameter_value USING MESSAGE = format('cannot make %s ids in one call', wanted),
                        HINT = 'Ask for 1 to {MAX_BATCH}.';
                END IF;
                IF {_BACKENDS} >= {_STRIDE} THEN
                    RAISE configuration_limit_exceeded USING MESSAGE = 'ids are not safe with so many backends',
                        HINT = 'Keep max_connections and the other limits below {_STRIDE} together.';
                END IF;
                IF last_tick IS NULL AND limit_tick IS NOT NULL THEN  -- after a crash or a failover
                    first_tick := greatest(first_tick, clock_tick + ahead, limit_tick + {_MAX_BACKENDS} + 1);
                    final_tick := first_tick + wanted - 1;
                END IF;
                IF final_tick > {MAX_TICK - _MAX_BACKENDS} THEN
                    RAISE SQLSTATE '{IDS_EXHAUSTED_SQLSTATE}' USING
                        MESSAGE = format('shard %s has no ids left: the last millisecond of the layout is past', shard),
                        HINT = 'Check the clock of the server and the epoch of the layout.';
                END IF;
                limit_tick := least(final_tick + ahead, {MAX_TICK - _MAX_BACKENDS});
                ignored := setval(horizon, limit_tick + {_MAX_BACKENDS});
            END IF;
            ignored := CASE WHEN setval(ids, final_tick) IS NOT NULL THEN setval(gate, limit_tick) END;
        END IF;
        RAISE SQLSTATE '{_DONE}';
    EXCEPTION WHEN SQLSTATE '{_DONE}' THEN
        NULL;  -- the lock is gone with the subtransaction, what setval did is not
    END;
    RETURN first_tick;
END
$function$;
"""
