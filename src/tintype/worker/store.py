"""The worker's SQL on `common.outbox`, which exists once per server, outside the shards.

Plain statements with `$1` parameters, not a `queries.sql`: the relay runs them on a connection of its own, past the
shard router. What it repeats for every batch is in functions of the schema, whose plans a server connection keeps, also
behind a transaction pooler.
"""

LOCK_POSITION = "SELECT 1 FROM common.outbox_position FOR UPDATE SKIP LOCKED"

READ_EVENTS = """
SELECT o.id, o.xid::text AS xid, o.event, o.payload, o.request_id, o.until::text AS until, s.source::text AS source
FROM common.read_outbox($1) AS o CROSS JOIN common.outbox_source AS s
"""

IS_WAITING = """
SELECT p.target IS NOT NULL OR EXISTS (SELECT FROM common.read_outbox(1)) FROM common.outbox_position AS p
"""

# Nothing of the window is left.
END_WINDOW = """
UPDATE common.outbox_position SET done = target, target = NULL, last_xid = '0', last_id = 0 WHERE target IS NOT NULL
"""

ADD_CHECKPOINT = """
INSERT INTO common.outbox_checkpoints (stream_seq, done) SELECT stream_seq, done FROM common.outbox_position
ON CONFLICT (stream_seq) DO UPDATE SET done = excluded.done, created_at = excluded.created_at
"""

READ_POSITION = """
SELECT p.stream_seq, p.incarnation, p.cluster, c.system_identifier::text AS own_cluster
FROM common.outbox_position AS p CROSS JOIN pg_control_system() AS c FOR UPDATE OF p
"""

# The next three: numbers past the stream's end were acknowledged and then lost with its tail. Publishing resumes from
# the last position before the loss, from the beginning where none is known.
FORGET_CHECKPOINTS = "DELETE FROM common.outbox_checkpoints WHERE stream_seq > $1"

UNMARK_AFTER = "UPDATE common.outbox SET stream_seq = NULL WHERE stream_seq > $1"

RESUME_AFTER = """
UPDATE common.outbox_position AS p
SET done = coalesce((SELECT c.done FROM common.outbox_checkpoints AS c ORDER BY c.stream_seq DESC LIMIT 1), '3:3:'),
    target = NULL, last_xid = '0', last_id = 0, stream_seq = $1
"""

# The next two: the rows of a restored database carry transaction ids of another cluster, and the ids that follow may
# have been published by the original.
ADOPT_ROWS = "UPDATE common.outbox SET xid = pg_current_xact_id()"

RENEW_SOURCE = "UPDATE common.outbox_source SET source = gen_random_uuid()"

STORE_IDENTITY = """
UPDATE common.outbox_position SET incarnation = $1, cluster = $2
WHERE (incarnation, cluster) IS DISTINCT FROM ($1, $2)
"""

COUNT_WAITING = "SELECT common.count_waiting_events()"

SWEEP = "SELECT common.sweep_outbox($1, $2)"


def finish_window(until: str, sequence: int) -> str:
    """SQL: everything that this snapshot sees is published."""
    return (
        f"UPDATE common.outbox_position SET done = '{until}', target = NULL, last_xid = '0', last_id = 0, "  # noqa: S608 - what PostgreSQL itself returned, and a number
        f"stream_seq = greatest(stream_seq, {sequence})"
    )


def move_within_window(until: str, xid: str, row_id: int, sequence: int) -> str:
    """SQL: of what this snapshot sees, everything up to this row is published."""
    return (
        f"UPDATE common.outbox_position SET target = '{until}', last_xid = '{xid}', last_id = {row_id}, "  # noqa: S608 - likewise
        f"stream_seq = greatest(stream_seq, {sequence})"
    )
