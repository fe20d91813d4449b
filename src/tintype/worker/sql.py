"""The relay's statements on `common.outbox`, which lives once per server and outside the shards."""

CLAIM = """
SELECT o.id, o.event, o.payload, o.request_id, s.source
FROM common.outbox AS o CROSS JOIN common.outbox_source AS s
WHERE o.stream_seq IS NULL
ORDER BY o.id
LIMIT $1
FOR UPDATE OF o SKIP LOCKED
"""

MARK = """
UPDATE common.outbox AS o SET stream_seq = sent.seq
FROM unnest($1::bigint[], $2::bigint[]) AS sent (id, seq)
WHERE o.id = sent.id
"""

KNOWN_INCARNATION = "SELECT incarnation FROM common.outbox_source FOR UPDATE"

REMEMBER_INCARNATION = (
    "UPDATE common.outbox_source SET incarnation = $1 WHERE incarnation IS DISTINCT FROM $1"
)

# Sequences past the stream's end were acknowledged and then lost with the stream's tail.
FORGET_AFTER = """
WITH forgotten AS (UPDATE common.outbox SET stream_seq = NULL WHERE stream_seq > $1 RETURNING 1)
SELECT count(*) FROM forgotten
"""

# Oldest first along the primary key, in bites that keep the transaction short.
SWEEP = """
WITH old AS (
    SELECT id FROM common.outbox
    WHERE stream_seq IS NOT NULL AND created_at < now() - make_interval(secs => $1)
    ORDER BY id LIMIT $2
), swept AS (DELETE FROM common.outbox AS o USING old WHERE o.id = old.id RETURNING 1)
SELECT count(*) FROM swept
"""
