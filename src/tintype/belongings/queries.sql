-- name: want_departure
-- Asking again keeps the first date.
INSERT INTO departures (account_id, due_at)
VALUES (:account_id, now() + make_interval(days => :grace_days::int))
ON CONFLICT (account_id) DO UPDATE SET touched_at = now()
RETURNING account_id, due_at, started_at, room, erased;

-- name: find_departure
-- How far somebody's departure has come.
SELECT account_id, due_at, started_at, room, erased FROM departures WHERE account_id = :account_id;

-- name: cancel_departure
-- Only for somebody who is in use again: a late event must not cancel a newer wish.
DELETE FROM departures WHERE account_id = :account_id AND started_at IS NULL
  AND EXISTS (SELECT FROM accounts WHERE id = :account_id AND status = 'active');

-- name: departures_due
-- Those to begin, and those begun that nobody has touched for a while: their job was lost.
SELECT account_id FROM departures
WHERE due_at <= now() AND (started_at IS NULL OR touched_at < now() - make_interval(secs => :patience_s::float8))
ORDER BY due_at LIMIT :limit::int;

-- name: lock_departure
-- Of two who want to begin it, or one who wants to begin and one who cancels, one comes first.
SELECT account_id FROM departures WHERE account_id = :account_id FOR UPDATE;

-- name: find_status
-- Whether somebody still wants to leave; no row when the account itself is gone already.
SELECT status FROM accounts WHERE id = :account_id FOR UPDATE;

-- name: close_account
-- From here on there is no way back in.
UPDATE accounts SET status = 'gone' WHERE id = :account_id;

-- name: start_departure
-- The work begins, or begins again.
UPDATE departures SET started_at = coalesce(started_at, now()), touched_at = now() WHERE account_id = :account_id;

-- name: drop_departure
-- Nobody leaves, or nobody is left.
DELETE FROM departures WHERE account_id = :account_id;

-- name: note_departure
-- How far the work has come.
UPDATE departures SET room = :room, erased = erased + :erased, touched_at = now() WHERE account_id = :account_id;

-- name: note_departed
-- The receipt, in the transaction that ends the departure.
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
-- One export of somebody's own that has not expired.
SELECT id, account_id, state, room, records, path, size_bytes, expires_at FROM exports
WHERE id = :id AND account_id = :account_id AND expires_at > now();

-- name: list_exports
-- The latest first.
SELECT id, account_id, state, room, records, path, size_bytes, expires_at FROM exports
WHERE account_id = :account_id AND expires_at > now() ORDER BY id DESC LIMIT 20;

-- name: start_export
-- From the beginning, also when an earlier worker died in the middle of it; no row when it is done.
UPDATE exports SET state = 'running', room = '', records = 0, touched_at = now()
WHERE id = :id AND state IN ('waiting', 'running') RETURNING id;

-- name: note_export
-- How far the work has come.
UPDATE exports SET room = :room, records = :records, touched_at = now() WHERE id = :id AND state = 'running';

-- name: end_export
-- Of two workers that made it, one hands it over.
UPDATE exports SET state = 'ready', room = '', records = :records, path = :path, size_bytes = :size_bytes,
                   touched_at = now(), expires_at = now() + make_interval(days => :kept_days::int)
WHERE id = :id AND state = 'running' RETURNING id;

-- name: fail_exports
-- A job that was given up must not keep its owner from asking again.
UPDATE exports SET state = 'failed', touched_at = now()
WHERE state IN ('waiting', 'running') AND touched_at < now() - make_interval(secs => :patience_s::float8);

-- name: expired_exports
-- What has had its time.
SELECT id, path FROM exports WHERE expires_at <= now() AND state IN ('ready', 'failed') LIMIT :limit::int;

-- name: exports_of
-- All of somebody's, whatever their state.
SELECT id, path FROM exports WHERE account_id = :account_id ORDER BY id LIMIT :limit::int;

-- name: drop_export
-- After its file is gone.
DELETE FROM exports WHERE id = :id;

-- name: count_exports
-- How many there are of somebody's.
SELECT count(*) AS exports FROM exports WHERE account_id = :account_id;
