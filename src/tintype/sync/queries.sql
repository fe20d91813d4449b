-- name: append hot
-- Updates of all accounts of a shard get the next numbers of their accounts, in the order given. Keys that are logged
-- already add nothing; each key is given once. Accounts that are gone get no rows. Returns what is logged under the keys,
-- new or not: who repeats an append may have died before it was published.
--
-- The row of sync_positions is locked until the commit, so numbers are assigned in the order in which they become
-- visible, and a failed statement takes its numbers back: the sequence has no gaps. A key that another transaction logs
-- at the same moment is not in this snapshot and violates the unique index: the caller repeats the statement.
WITH given AS (
    SELECT g.account_id, g.key, g.kind, g.payload, g.people, g.number
    FROM unnest(:account_ids::bigint[], :keys::text[], :kinds::text[], :payloads::text[], :people::text[])
         WITH ORDINALITY AS g (account_id, key, kind, payload, people, number)
    JOIN accounts AS a ON a.id = g.account_id AND a.status <> 'gone'
), known AS (
    SELECT u.account_id, u.seq, u.key, u.kind, u.payload, u.created_at
    FROM given AS g JOIN sync_updates AS u ON u.account_id = g.account_id AND u.key = g.key
), fresh AS (
    SELECT g.account_id, g.key, g.kind, g.payload, g.people, g.number FROM given AS g
    WHERE NOT EXISTS (SELECT FROM known AS k WHERE k.account_id = g.account_id AND k.key = g.key)
), moved AS (
    INSERT INTO sync_positions (account_id, seq)
    SELECT f.account_id, count(*) FROM fresh AS f GROUP BY f.account_id ORDER BY f.account_id
    ON CONFLICT (account_id) DO UPDATE SET seq = sync_positions.seq + excluded.seq
    RETURNING account_id, seq
), numbered AS (
    SELECT f.account_id, f.key, f.kind, f.payload, f.people::bigint[] AS people,
           m.seq + 1 - row_number() OVER (PARTITION BY f.account_id ORDER BY f.number DESC) AS seq
    FROM fresh AS f JOIN moved AS m ON m.account_id = f.account_id
), logged AS (
    INSERT INTO sync_updates (account_id, seq, key, kind, payload, people)
    SELECT n.account_id, n.seq, n.key, n.kind, n.payload, n.people FROM numbered AS n
    RETURNING account_id, seq, kind, payload, created_at
)
SELECT l.account_id, l.seq, l.kind, l.payload, l.created_at FROM logged AS l
UNION ALL
SELECT k.account_id, k.seq, k.kind, k.payload, k.created_at FROM known AS k;

-- name: append_new hot
-- `append` for updates whose keys are new, one per account: a third of the work. A key that is logged already violates
-- the unique index, and nothing is written: the caller falls back on `append`.
WITH given AS (
    SELECT g.account_id, g.key, g.kind, g.payload, g.people
    FROM unnest(:account_ids::bigint[], :keys::text[], :kinds::text[], :payloads::text[], :people::text[])
         AS g (account_id, key, kind, payload, people)
    JOIN accounts AS a ON a.id = g.account_id AND a.status <> 'gone'
), moved AS (
    INSERT INTO sync_positions (account_id, seq) SELECT g.account_id, 1 FROM given AS g ORDER BY g.account_id
    ON CONFLICT (account_id) DO UPDATE SET seq = sync_positions.seq + 1
    RETURNING account_id, seq
)
INSERT INTO sync_updates (account_id, seq, key, kind, payload, people)
SELECT m.account_id, m.seq, g.key, g.kind, g.payload, g.people::bigint[]
FROM moved AS m JOIN given AS g ON g.account_id = m.account_id
RETURNING account_id, seq, kind, payload, created_at;

-- name: read_updates hot
-- Updates after a position, oldest first, each with the bounds of the log; one row without an update where there is none.
SELECT bounds.oldest, bounds.latest, u.seq, u.kind, u.payload, u.created_at
FROM (
    SELECT coalesce((SELECT p.seq FROM sync_positions AS p WHERE p.account_id = :account_id), 0) AS latest,
           (SELECT min(o.seq) FROM sync_updates AS o WHERE o.account_id = :account_id) AS oldest
) AS bounds
LEFT JOIN LATERAL (
    SELECT s.seq, s.kind, s.payload, s.created_at FROM sync_updates AS s
    WHERE s.account_id = :account_id AND s.seq > :since ORDER BY s.seq LIMIT :limit
) AS u ON true
ORDER BY u.seq;

-- name: redact
-- Empties updates by their keys. The rows stay: the sequence has no gaps, and a repeated append still adds nothing.
UPDATE sync_updates AS u SET kind = 'redacted', payload = '{}', people = '{}'
FROM unnest(:account_ids::bigint[], :keys::text[]) AS g (account_id, key)
WHERE u.account_id = g.account_id AND u.key = g.key;

-- name: sweep_old
-- Deletes updates of a shard that are older than a moment, some at a time. Positions stay: numbers are never reused.
WITH swept AS (
    DELETE FROM sync_updates AS u USING (
        SELECT o.account_id, o.seq FROM sync_updates AS o WHERE o.created_at < :before ORDER BY o.created_at LIMIT :limit
    ) AS old
    WHERE u.account_id = old.account_id AND u.seq = old.seq
    RETURNING 1 AS one
)
SELECT count(*)::int AS count FROM swept;

-- name: sweep_excess
-- Deletes what is beyond the newest `kept` updates of each account of a shard, some at a time, but nothing younger than a
-- moment: a repeated append within that time must still find its key.
WITH swept AS (
    DELETE FROM sync_updates AS u USING (
        SELECT o.account_id, o.seq FROM sync_positions AS p
        JOIN LATERAL (
            SELECT s.account_id, s.seq FROM sync_updates AS s
            WHERE s.account_id = p.account_id AND s.seq <= p.seq - :kept::bigint AND s.created_at < :before
            ORDER BY s.seq LIMIT :limit
        ) AS o ON true
        WHERE p.seq > :kept::bigint LIMIT :limit
    ) AS old
    WHERE u.account_id = old.account_id AND u.seq = old.seq
    RETURNING 1 AS one
)
SELECT count(*)::int AS count FROM swept;

-- name: export_updates
-- A person's log, oldest first.
SELECT seq, kind, payload, created_at FROM sync_updates
WHERE account_id = :account_id AND seq > :after ORDER BY seq LIMIT :limit;

-- name: erase_updates
-- Deletes some of a person's log, the position with the last of it; returns how many rows.
WITH erased AS (
    DELETE FROM sync_updates AS u USING (
        SELECT o.account_id, o.seq FROM sync_updates AS o WHERE o.account_id = :account_id ORDER BY o.seq LIMIT :limit
    ) AS old
    WHERE u.account_id = old.account_id AND u.seq = old.seq
    RETURNING 1 AS one
), ended AS (
    DELETE FROM sync_positions AS p WHERE p.account_id = :account_id
      AND NOT EXISTS (SELECT FROM sync_updates AS u WHERE u.account_id = :account_id)
    RETURNING 1 AS one
)
SELECT (SELECT count(*) FROM erased) + (SELECT count(*) FROM ended) AS count;

-- name: redact_naming
-- Empties what updates of this shard's people tell of an account, key included; returns how many.
WITH redacted AS (
    UPDATE sync_updates SET kind = 'redacted', payload = '{}', people = '{}', key = 'redacted ' || seq
    WHERE people @> ARRAY[:account_id::bigint]
    RETURNING 1 AS one
)
SELECT count(*)::int AS count FROM redacted;

-- name: count_naming
-- How many updates of this shard's people name an account.
SELECT count(*)::int AS count FROM sync_updates WHERE people @> ARRAY[:account_id::bigint];

-- name: count_left
-- How many rows of a person are stored.
SELECT (SELECT count(*) FROM sync_updates AS u WHERE u.account_id = :account_id)
     + (SELECT count(*) FROM sync_positions AS p WHERE p.account_id = :account_id) AS count;
