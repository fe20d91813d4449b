"""The worker's SQL on `common.outbox`, which exists once per server, outside the shards.

Plain statements with `$1` parameters, not a `queries.sql`: the relay runs them on a connection of its own, past the
shard router.
"""

CLAIM = """
SELECT o.id, o.event, o.payload, o.request_id, s.source
FROM common.outbox AS o CROSS JOIN common.outbox_source AS s
WHERE o.stream_seq IS NULL
ORDER BY o.id
LIMIT $1
FOR UPDATE OF o SKIP LOCKED
"""

MARK_PUBLISHED = """
UPDATE common.outbox AS o SET stream_seq = sent.seq
FROM unnest($1::bigint[], $2::bigint[]) AS sent (id, seq)
WHERE o.id = sent.id
"""

READ_INCARNATION = "SELECT incarnation FROM common.outbox_source FOR UPDATE"

STORE_INCARNATION = "UPDATE common.outbox_source SET incarnation = $1 WHERE incarnation IS DISTINCT FROM $1"

# Sequences past the stream's end were acknowledged and then lost with the stream's tail.
UNMARK_AFTER = """
WITH unmarked AS (UPDATE common.outbox SET stream_seq = NULL WHERE stream_seq > $1 RETURNING 1)
SELECT count(*) FROM unmarked
"""

# Oldest first along the primary key, in batches that keep the transaction short.
SWEEP = """
WITH old AS (
    SELECT id FROM common.outbox
    WHERE stream_seq IS NOT NULL AND created_at < now() - make_interval(secs => $1)
    ORDER BY id LIMIT $2
), swept AS (DELETE FROM common.outbox AS o USING old WHERE o.id = old.id RETURNING 1)
SELECT count(*) FROM swept
"""
