-- name: request_erasure
-- Requesting it again keeps the first date.
INSERT INTO departures (account_id, due_at)
VALUES (:account_id, now() + make_interval(days => :grace_days::int))
ON CONFLICT (account_id) DO UPDATE SET touched_at = now()
RETURNING account_id, due_at, started_at, room, erased;

-- name: find_erasure
-- The requested deletion of an account, and its progress.
SELECT account_id, due_at, started_at, room, erased FROM departures WHERE account_id = :account_id;

-- name: cancel_erasure
-- An erasure that has started is not cancelled.
DELETE FROM departures WHERE account_id = :account_id AND started_at IS NULL;

-- name: list_due_erasures
-- Erasures to start, and started ones without progress for a while: their job was lost.
SELECT account_id FROM departures
WHERE due_at <= now() AND (started_at IS NULL OR touched_at < now() - make_interval(secs => :patience_s::float8))
ORDER BY due_at LIMIT :limit::int;

-- name: lock_erasure
-- Serialises starting and cancelling.
SELECT account_id FROM departures WHERE account_id = :account_id FOR UPDATE;

-- name: start_erasure
-- The erasure starts, or starts again.
UPDATE departures SET started_at = coalesce(started_at, now()), touched_at = now() WHERE account_id = :account_id;

-- name: delete_erasure
-- The erasure was cancelled or is complete.
DELETE FROM departures WHERE account_id = :account_id;

-- name: record_erasure_progress
-- The room that is being erased, and how many rows were erased so far.
UPDATE departures SET room = :room, erased = erased + :erased, touched_at = now() WHERE account_id = :account_id;

-- name: record_erased
-- The receipt, in the transaction that completes the erasure.
INSERT INTO departed (account_id, erased)
SELECT account_id, erased FROM departures WHERE account_id = :account_id
ON CONFLICT (account_id) DO NOTHING;

-- name: request_export
-- One at a time: no row while another is being made.
INSERT INTO exports (account_id, expires_at)
VALUES (:account_id, now() + make_interval(days => :kept_days::int))
ON CONFLICT (account_id) WHERE state IN ('waiting', 'running') DO NOTHING
RETURNING id, account_id, state, room, records, path, size_bytes, expires_at;

-- name: find_export
-- One export of an account, unless it has expired.
SELECT id, account_id, state, room, records, path, size_bytes, expires_at FROM exports
WHERE id = :id AND account_id = :account_id AND expires_at > now();

-- name: list_exports
-- Newest first.
SELECT id, account_id, state, room, records, path, size_bytes, expires_at FROM exports
WHERE account_id = :account_id AND expires_at > now() ORDER BY id DESC LIMIT 20;

-- name: start_export
-- From the beginning, also when an earlier worker died in the middle of it; no row when it is finished.
UPDATE exports SET state = 'running', room = '', records = 0, touched_at = now()
WHERE id = :id AND state IN ('waiting', 'running') RETURNING id;

-- name: record_export_progress
-- The room that is being exported, and how many records were written so far.
UPDATE exports SET room = :room, records = :records, touched_at = now() WHERE id = :id AND state = 'running';

-- name: finish_export
-- Of two workers that made the same archive, one gets a row.
UPDATE exports SET state = 'ready', room = '', records = :records, path = :path, size_bytes = :size_bytes,
                   touched_at = now(), expires_at = now() + make_interval(days => :kept_days::int)
WHERE id = :id AND state = 'running' RETURNING id;

-- name: fail_abandoned_exports
-- A job that died must not keep its owner from requesting another export.
UPDATE exports SET state = 'failed', touched_at = now()
WHERE state IN ('waiting', 'running') AND touched_at < now() - make_interval(secs => :patience_s::float8);

-- name: list_expired_exports
-- Exports whose files are to be deleted.
SELECT id, path FROM exports WHERE expires_at <= now() AND state IN ('ready', 'failed') LIMIT :limit::int;

-- name: list_earlier_exports
-- Finished exports of an account before this one, which replaces them.
SELECT id, path FROM exports WHERE account_id = :account_id AND id < :id AND state IN ('ready', 'failed');

-- name: list_all_exports
-- All exports of an account, in any state.
SELECT id, path FROM exports WHERE account_id = :account_id ORDER BY id LIMIT :limit::int;

-- name: delete_export
-- After its file is gone.
DELETE FROM exports WHERE id = :id;

-- name: count_exports
-- How many exports of an account there are.
SELECT count(*) AS exports FROM exports WHERE account_id = :account_id;
