"""The horizon: how far a shard's ids may go, and why no fault makes them repeat.

`ids_horizon` is a logged sequence above every tick handed out. `shardwright.extend_horizon` is what an advance calls,
under its lock, whenever the ordinary case does not hold.

**A crash** empties the unlogged sequences; ids go on above the horizon. So a horizon may be used only once its WAL is
on disk, or by transactions whose own commit puts it there. Whoever raises it therefore leaves the gate closed, with
the negative position of the WAL in it; the next advance that finds the WAL flushed up to there opens it. A draw in a
transaction that will write no commit record flushes it itself.

**A fail-over** may lose the last WAL: then the new primary does not know the last horizon, and goes on `ahead` above
its clock. That is enough as long as ids run ahead of the clock by less than `ahead` minus the difference of the clocks.
So batches and leases may end a quarter of `ahead` above the clock at most, and the horizon is raised only for ids that
do: what wants more (also after the clock was set back a little) waits. A clock that was set back by far stops
nobody: ids go on above the horizon, and whoever takes over and sees a horizon that far above its own clock goes on a
minute of ticks above it.

**A move** fences the old server: `FENCE` is added to its horizon, for good, and the gate is closed. Every call then
raises SW001, also after a crash. `resume_ids` raises the horizon of the new server, fenced or not, before it is opened.

**A wrong clock**, more than a year ahead of this shard and of the others on the server, is refused (SW003): the ids
would carry that time for ever. A grant that lets a role write the sequences and not read them is refused as well.
"""

from typing import Final

from shardwright.ids.layout import SEQUENCE_BITS
from shardwright.ids.ticks import (
    ABOVE_LAST,
    ARGUMENTS,
    BACKENDS,
    DONE,
    FENCE,
    FIRST_TICK,
    LEAD_PARTS,
    LOCK,
    MAX_BACKENDS,
    MAX_BATCH,
    MAX_TICK,
    STRIDE,
)

NOT_OWNER_SQLSTATE: Final = "SW001"
"""What PostgreSQL reports when the server does not own the shard."""

IDS_EXHAUSTED_SQLSTATE: Final = "SW002"
"""What PostgreSQL reports when the last millisecond of the layout is past."""

CLOCK_WRONG_SQLSTATE: Final = "SW003"
"""What PostgreSQL reports when its clock is implausibly far ahead."""

MAX_STEP: Final = (366 * 86_400_000) << SEQUENCE_BITS
"""How far the clock may be ahead of everything that this server has seen."""

MAX_WAIT: Final = 25_000 << SEQUENCE_BITS
"""A clock that was set back by more than this is not waited for."""

FAR_AHEAD_PARTS: Final = 4
"""A horizon that is this many times `ahead` above the clock belongs to a shard whose clock was set back."""

SKIP: Final = 60_000 << SEQUENCE_BITS
"""What the lost WAL of such a shard may have used, at most."""

FLUSH_EVERY: Final = 64
"""While the WAL of the horizon is not flushed, one in so many draws flushes it."""

_LEAD = f"greatest(ahead / {LEAD_PARTS}, wanted + {STRIDE})"
_LSN = "(pg_current_wal_{}_lsn() - '0/0')::bigint"


def _under_lock(name: str, arguments: str, body: str, declare: str = "") -> str:
    """A function that changes a shard's sequences under their lock, with the gate closed and the horizon read."""
    return f"""
CREATE OR REPLACE FUNCTION shardwright.{name}({ARGUMENTS}, {arguments}) RETURNS void
LANGUAGE plpgsql VOLATILE STRICT
AS $function$
DECLARE
    last_horizon bigint;
{declare}    ignored bigint;
BEGIN
    BEGIN
        PERFORM {LOCK};
        last_horizon := CASE setval(gate, 0) WHEN 0 THEN coalesce(pg_sequence_last_value(horizon), 0) END;
{body}        RAISE SQLSTATE '{DONE}';
    EXCEPTION WHEN SQLSTATE '{DONE}' THEN
        NULL;
    END;
END
$function$;
"""


_EXTEND = f"""
-- Whether another two shards of this server have ids of about this time: one alone may have been misled before.
CREATE OR REPLACE FUNCTION shardwright.is_clock_plausible(clock_tick bigint) RETURNS boolean
LANGUAGE sql VOLATILE
RETURN coalesce(clock_tick <= {MAX_STEP} + (
    SELECT pg_sequence_last_value(c.oid) & {FENCE - 1} AS tick FROM pg_class AS c
    WHERE c.relkind = 'S' AND c.relname = 'ids_horizon' ORDER BY tick DESC NULLS LAST OFFSET 1 LIMIT 1), false);

-- Allocates ticks as `allocate_ticks` does, whatever the state of the sequences; call it under the lock, with the gate
-- closed. Returns the first tick or, when the clock is too far behind, by how many ticks, negative.
CREATE OR REPLACE FUNCTION shardwright.extend_horizon(
    {ARGUMENTS}, clock_tick bigint, ahead bigint, wanted bigint, at_least bigint, last_gate bigint
) RETURNS bigint
LANGUAGE plpgsql VOLATILE
AS $function$
DECLARE
    last_tick bigint := pg_sequence_last_value(ids);
    last_horizon bigint := pg_sequence_last_value(horizon);
    limit_tick bigint := last_horizon - {MAX_BACKENDS};
    first_tick bigint := greatest(at_least, {FIRST_TICK}, clock_tick, {ABOVE_LAST});
    final_tick bigint;
    is_jump boolean := at_least > 0 OR last_tick IS NULL;
    is_drawn boolean := false;
    is_raised boolean;
    is_flushed boolean := false;
    pending_lsn bigint;
    ignored bigint;
BEGIN
    IF wanted NOT BETWEEN 1 AND {MAX_BATCH} THEN
        ignored := setval(gate, coalesce(last_gate, 0));
        RAISE invalid_parameter_value USING MESSAGE = format('cannot make %s ids in one call', wanted),
            HINT = 'Ask for 1 to {MAX_BATCH}.';
    END IF;
    IF {BACKENDS} >= {STRIDE} THEN
        RAISE configuration_limit_exceeded USING MESSAGE = 'ids are not safe with so many backends',
            HINT = 'Keep max_connections and the other limits below {STRIDE} together.';
    END IF;
    IF (last_tick IS NULL OR last_gate IS NULL OR last_horizon IS NULL)
        AND NOT (has_sequence_privilege(ids, 'SELECT, USAGE')
        AND has_sequence_privilege(gate, 'SELECT, USAGE') AND has_sequence_privilege(horizon, 'SELECT, USAGE'))
    THEN
        RAISE insufficient_privilege USING
            MESSAGE = format('role %s may write the id sequences of shard %s and not read them', current_user, shard),
            HINT = format('Grant it USAGE, SELECT and UPDATE on %s, %s and %s, or run shardwright roles.',
                ids, gate, horizon);
    END IF;
    IF last_horizon >= {FENCE} THEN
        RAISE SQLSTATE '{NOT_OWNER_SQLSTATE}' USING MESSAGE = format('shard %s is not owned by this server', shard),
            HINT = 'load the shard map again and ask the owner';
    END IF;
    IF at_least = 0 AND clock_tick BETWEEN greatest(last_tick, last_horizon) + {MAX_STEP + 1} AND {MAX_TICK}
        AND NOT shardwright.is_clock_plausible(clock_tick)
    THEN
        ignored := setval(gate, coalesce(last_gate, 0));
        RAISE SQLSTATE '{CLOCK_WRONG_SQLSTATE}' USING
            MESSAGE = format('the clock of this server is over a year ahead of the last id of shard %s', shard),
            HINT = format('Set the clock. If it is right, run: SELECT %s.reserve_ticks(1, 1)',
                (SELECT relnamespace::regnamespace FROM pg_class WHERE oid = ids));
    END IF;
    IF last_tick IS NULL AND last_horizon IS NOT NULL THEN  -- after a crash or a fail-over
        first_tick := greatest(first_tick, clock_tick + ahead, last_horizon + 1
            + CASE WHEN last_horizon > clock_tick + {FAR_AHEAD_PARTS} * ahead THEN {SKIP} ELSE 0 END);
    ELSIF wanted = 1 AND at_least = 0 AND last_tick BETWEEN clock_tick AND limit_tick - 1 THEN
        first_tick := nextval(ids);
        is_drawn := true;
    END IF;
    final_tick := first_tick + wanted - 1;
    is_raised := final_tick > limit_tick IS NOT FALSE;
    IF NOT is_jump AND (is_raised OR wanted > 1)
        AND final_tick - clock_tick BETWEEN {_LEAD} + 1 AND {_LEAD} + {MAX_WAIT}
    THEN
        ignored := setval(gate, coalesce(last_gate, 0));
        RETURN clock_tick + {_LEAD} - final_tick;
    END IF;
    IF final_tick > {MAX_TICK - MAX_BACKENDS} THEN
        RAISE SQLSTATE '{IDS_EXHAUSTED_SQLSTATE}' USING
            MESSAGE = format('shard %s has no ids left: the last millisecond of the layout is past', shard),
            HINT = 'Check the clock of the server and the epoch of the layout.';
    END IF;
    IF is_raised THEN
        limit_tick := least(final_tick + ahead, {MAX_TICK - MAX_BACKENDS});
        ignored := setval(horizon, limit_tick + {MAX_BACKENDS});
    END IF;
    ignored := CASE WHEN NOT is_drawn THEN setval(ids, final_tick) END;
    pending_lsn := CASE WHEN is_raised OR last_gate < 0 IS NOT TRUE THEN {_LSN.format("insert")} ELSE -last_gate END;
    IF NOT is_raised THEN
        is_flushed := coalesce(last_gate > 0, false) OR pending_lsn <= {_LSN.format("flush")};
    END IF;
    IF NOT is_flushed AND (pg_current_xact_id_if_assigned() IS NULL OR first_tick % {FLUSH_EVERY} = 0
        OR current_setting('synchronous_commit') = 'off')
    THEN
        IF current_setting('server_version_num')::integer >= 170000 THEN
            is_flushed := pg_logical_emit_message(false, 'shardwright', '', true) IS NOT NULL;
        ELSE  -- the commit of this transaction flushes it
            ignored := setval(horizon, limit_tick + {MAX_BACKENDS});
            PERFORM set_config('synchronous_commit', 'local', true)
            WHERE current_setting('synchronous_commit') = 'off';
        END IF;
    END IF;
    ignored := setval(gate, CASE WHEN is_flushed THEN limit_tick ELSE -pending_lsn END);
    RETURN first_tick;
END
$function$;
"""  # noqa: S608 - its names and numbers are constants

# Closes a shard's ids at a server that does not own it, or opens them again.
_FENCE = _under_lock(
    "fence_ids",
    "is_fenced boolean",
    f"""\
        IF is_fenced <> (last_horizon >= {FENCE}) THEN
            ignored := setval(horizon, last_horizon + CASE WHEN is_fenced THEN {FENCE} ELSE -{FENCE} END);
        END IF;
""",
)
# Makes a shard's ids go on above a tick, which another server may have handed out; fenced or not.
_RESUME = _under_lock(
    "resume_ids",
    "ahead bigint, tick bigint",
    f"""\
        last_tick := greatest(pg_sequence_last_value(ids) + {STRIDE}, last_horizon & {FENCE - 1}, tick);
        ignored := setval(horizon, least(last_tick + ahead + {MAX_BACKENDS}, {MAX_TICK})
            + (last_horizon & {FENCE}));
        ignored := setval(ids, least(last_tick, {MAX_TICK}));
""",
    declare="    last_tick bigint;\n",
)
# Lowers a shard's ids to a tick, for a shard whose clock was wrong and none of whose later ids is in use.
_LOWER = _under_lock(
    "lower_ids",
    "tick bigint",
    f"""\
        IF tick < last_horizon & {FENCE - 1} THEN
            ignored := setval(ids, tick);
            ignored := setval(horizon, tick + (last_horizon & {FENCE}));
        END IF;
""",
)
HORIZON_SQL: Final = _EXTEND + _FENCE + _RESUME + _LOWER
